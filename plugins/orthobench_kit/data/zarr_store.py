"""Samples in Zarr stores: folders with an array in chunks.

Stores may come from strangers. So codecs must be known decoders of numbers, since others may run
code, and links and special files are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from orthobench.contract import DataError, UsageError
from orthobench.tools.files import opened
from orthobench_kit.data import npy
from orthobench_kit.rows import OpenRows, Rows, refuse_unwritten

CODECS = frozenset(
    {
        "bytes", "transpose", "sharding_indexed", "crc32c", "blosc", "zstd", "gzip", "zlib", "lz4",
        "bz2", "lzma", "shuffle", "delta",
    }
)  # fmt: skip
"""Codecs that only decode numbers."""

METADATA = ("zarr.json", ".zarray")
"""Files that describe an array, in versions 3 and 2 of the format."""

LARGEST_METADATA = 2**20
"""Maximum bytes of such a file."""


def rows_in(folder: Path, name: str) -> Rows:
    """Return the rows of an array in a Zarr store; without a name, of its only matrix.

    Raises
    ------
    DataError
        If there is no such array, it is not a matrix of real numbers, it has a codec outside
        `CODECS`, or a file is not regular.
    UsageError
        If zarr is not installed.
    """
    place = folder / name if name else _only_matrix(folder)
    described = _described(place)
    if not any("shape" in one for one in described):
        raise DataError(f"there is no Zarr array {place}")
    for codec in (codec for one in described for codec in _codecs(one)):
        if codec.removeprefix("numcodecs.") not in CODECS:
            raise DataError(
                f"{place} has the codec {codec!r}, which is not among those that only decode "
                f"numbers ({', '.join(sorted(CODECS))}): write it with one of them"
            )
    size = _bytes_of_files(place, place.stat().st_mtime_ns)
    try:
        import zarr
        from zarr.storage import LocalStore
    except ImportError as error:
        raise UsageError("Zarr stores need zarr: pip install 'orthobench[zarr]'") from error
    try:
        array = zarr.open_array(store=LocalStore(place, read_only=True), mode="r")
    except Exception as error:
        raise npy.unreadable(place, error, "a Zarr array") from error
    if array.ndim == 2:
        refuse_unwritten(array.shape, size, f"the samples in {place}")
    return OpenRows(array, str(place))


@lru_cache(maxsize=16)
def _bytes_of_files(place: Path, modified: int) -> int:
    """Return the size of an array, cached; refuse links and special files."""
    del modified
    size = 0
    for file in place.rglob("*"):
        if file.is_symlink() or not (file.is_file() or file.is_dir()):
            raise DataError(f"{file} is no regular file: a Zarr array is read from such files only")
        size += file.stat().st_size
    return size


def _only_matrix(folder: Path) -> Path:
    if any("shape" in one for one in _described(folder)):
        return folder
    children = sorted(folder.iterdir()) if folder.is_dir() else []
    found = [
        child
        for child in children
        if child.is_dir() and any(len(one.get("shape", ())) == 2 for one in _described(child))
    ]
    if len(found) != 1:
        named = f": name one, such as {found[0]}" if found else ""
        raise DataError(f"{folder} holds {len(found)} matrices{named}")
    return found[0]


def _described(place: Path) -> list[dict[str, Any]]:
    """Return the description of an array's folder; empty if it is none."""
    found = []
    for name in METADATA:
        if not (place / name).exists():
            continue
        try:
            with opened(place / name) as stream:
                one = json.loads(stream.read(LARGEST_METADATA))
        except (OSError, ValueError, RecursionError) as error:
            raise npy.unreadable(place / name, error, "the description of a Zarr array") from error
        if not isinstance(one, dict):
            raise DataError(f"{place / name} describes no Zarr array")
        found.append(one)
    return found


def _codecs(described: object) -> Iterator[str]:
    if isinstance(described, list):
        for one in described:
            yield from _codecs(one)
    if not isinstance(described, dict):
        return
    for key in ("codecs", "index_codecs", "filters", "compressor", "configuration"):
        inner = described.get(key)
        if isinstance(inner, dict) and key != "configuration":
            yield str(inner.get("id", inner.get("name")))
        for one in inner if isinstance(inner, list) else ():
            yield str(one.get("id", one.get("name")) if isinstance(one, dict) else one)
        yield from _codecs(inner)

"""The import of results: the format of each file is recognised, and its runs join a store."""

from __future__ import annotations

import json
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from orthobench._version import __version__
from orthobench.errors import DataError
from orthobench.results.store import Store
from orthobench.tools.files import hide_home, opened
from orthobench_bridges import archives, tables
from orthobench_bridges.curves import Curve, runs_of

LARGEST = 2**31
"""Maximum bytes of all files at a path together."""

FORMATS: tuple[tuple[tuple[str, ...], Callable[[Mapping[str, bytes], str], list[Curve]]], ...] = (
    ((*tables.READERS,), tables.curves), ((".info",), archives.coco), ((".json",), archives.ioh),
)  # fmt: skip
"""The endings of each format, and its reader; the first format that has curves is read."""

ENDINGS = (*(ending for endings, _ in FORMATS for ending in endings), ".dat")
"""The endings of the files that are read."""

TARS = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")

DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError,
)  # fmt: skip
"""The errors of damaged archives."""


def import_results(
    paths: Sequence[Path], store: Path, suite: str = "imported", command: str = ""
) -> int:
    """Read results of another harness into a store, as one suite, in place of its last import.

    Parameters
    ----------
    paths : sequence of Path
        Tables, and folders or archives of COCO or IOHprofiler.
    store : Path
    suite : str
    command : str
        The command line that the store keeps.

    Returns
    -------
    int
        Number of runs.

    Raises
    ------
    DataError, UsageError
        If they cannot be read; nothing is written then.
    """
    source = ", ".join(path.name for path in paths)
    runs = runs_of([curve for path in paths for curve in _curves(_contents(path))], source)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    session = {
        "suite": suite, "text": f"description = {json.dumps(f'imported from {source}')}\n",
        "command": hide_home(command), "environment": {"orthobench": __version__},
        "started": now, "ended": now,
    }  # fmt: skip
    with Store(store, write=True) as kept:
        kept.take(session, runs)
    return len(runs)


def _curves(files: Mapping[str, bytes]) -> list[Curve]:
    for endings, reader in FORMATS:
        names = sorted(name for name in files if name.endswith(endings))
        if found := [curve for name in names for curve in reader(files, name)]:
            return found
    return []


def _contents(path: Path) -> Mapping[str, bytes]:
    """Return the contents of files by name; nothing is unpacked to the disk."""
    found, left = dict[str, bytes](), LARGEST
    try:
        for name, content in _files(path):
            found[name], left = content, left - len(content)
            if left < 0:
                raise DataError(f"{path} has more than {LARGEST >> 30} GiB of data: import parts")
    except DAMAGE as error:
        raise DataError(f"{path} is a damaged archive ({error}): fetch it again") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    if not found:
        raise DataError(f"{path} has no file that ends in {', '.join(ENDINGS)}")
    return found


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for at in sorted(path.rglob("*")):
            if at.name.endswith(ENDINGS) and at.is_file() and not at.is_symlink():
                with opened(at) as file:
                    yield at.relative_to(path).as_posix(), file.read(LARGEST + 1)
        return
    with opened(path) as file:
        if path.name.endswith(ENDINGS):
            yield path.name, file.read(LARGEST + 1)
        elif path.name.endswith((".zip", *TARS)):
            yield from _members(file, path.name.endswith(".zip"))


def _members(file: IO[bytes], is_zip: bool) -> Iterator[tuple[str, bytes]]:
    if is_zip:
        with zipfile.ZipFile(file) as packed:
            for name in packed.namelist():
                if name.endswith(ENDINGS):
                    with packed.open(name) as member:
                        yield name, member.read(LARGEST + 1)
    else:
        with tarfile.open(fileobj=file) as archive:
            for entry in archive:
                if entry.name.endswith(ENDINGS) and (part := archive.extractfile(entry)):
                    yield entry.name, part.read(LARGEST + 1)

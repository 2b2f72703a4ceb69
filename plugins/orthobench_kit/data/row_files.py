"""Samples in files, read by blocks.

Paths are ``X.npy``; ``parts/*.npy`` or ``parts/*.parquet`` in natural order; ``X.h5/NAME`` and
``X.zarr/NAME``, an array inside, with an optional name if there is one matrix.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import DataError
from orthobench.tools import datasets
from orthobench_kit.data import npy, zarr_store
from orthobench_kit.data.hdf5 import HDF5Rows
from orthobench_kit.data.parquet import ParquetRows
from orthobench_kit.rows import Rows

AnyRows: TypeAlias = "NDArray[np.generic] | Rows"
"""Rows of one mapped file, or read by blocks."""

PATH_HELP = (
    "the samples: X.npy, parts/*.npy, parts/*.parquet, X.h5/NAME or X.zarr/NAME, a matrix "
    "(samples, features) of real numbers"
)

IO = ("untimed", "timed")
"""Whether reading blocks is timed."""

IO_HELP = "whether reading is on the clock, where solvers compute on blocks or dask"

PARQUET = (".parquet", ".pq")
"""Suffixes of Parquet files; all others are .npy files."""

CONTAINERS: Mapping[str, Callable[[Path, str], Rows]] = {
    ".h5": HDF5Rows,
    ".hdf5": HDF5Rows,
    ".zarr": zarr_store.rows_in,
}
"""Readers of an array inside a file or a folder, by suffix."""


class Stacked(Rows):
    """The rows of several parts with the same columns; no block crosses their borders."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = tuple(parts)
        self.firsts = np.cumsum([0, *map(len, parts)]).astype(np.intp)
        self.shape, self.dtype = (int(self.firsts[-1]), parts[0].shape[1]), parts[0].dtype
        self.random = all(part.random for part in parts)  # type: ignore[misc]
        self.fresh = all(part.fresh for part in parts)  # type: ignore[misc]
        own = [first + part.borders[:-1] for first, part in zip(self.firsts, parts, strict=False)]
        self.borders = np.append(np.concatenate(own), len(self)).astype(np.intp)

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        pieces = []
        while begin < end:
            which = self._part(begin)
            first, stop = self.firsts[which], min(end, int(self.firsts[which + 1]))
            pieces.append(self.parts[which].read(int(begin - first), int(stop - first)))
            begin = stop
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def gather(self, numbers: NDArray[np.intp]) -> NDArray[np.generic]:
        rows = np.empty((len(numbers), self.shape[1]), self.dtype)
        of = np.searchsorted(self.firsts, numbers, side="right") - 1
        for which in np.unique(of):
            here = of == which
            rows[here] = self.parts[which].gather(numbers[here] - self.firsts[which])
        return rows

    def place(self, row: int) -> tuple[str, int]:
        which = self._part(row)
        return self.parts[which].place(int(row - self.firsts[which]))

    def _part(self, row: int) -> int:
        return int(np.searchsorted(self.firsts, row, side="right")) - 1


def rows_at(path: str, in_order: bool = True) -> AnyRows:
    """Return the rows of a path: a memory map of one .npy file, `Rows` of anything else.

    With `in_order` one .npy file in Fortran order is refused.

    Raises
    ------
    DataError
        If there is no such file, one cannot be read or has no matrix of real numbers, or files
        differ in columns or types.
    UsageError
        If the library for the format is not installed.
    """
    container, name = _container(path)
    if container is not None:
        return CONTAINERS[container.suffix](container.absolute(), name)
    files = files_at(path)
    if _is_npy(files):
        return (npy.row_major if in_order else npy.mapped)(str(files[0]))
    return _stacked(tuple(file.absolute() for file in files), tuple(map(_state, files)))


def files_at(path: str) -> list[Path]:
    """Return the files of a path, in natural order.

    Raises
    ------
    DataError
        If a pattern matches nothing, or the path names a folder.
    """
    own = Path(path).expanduser()
    if own.is_dir():
        raise DataError(f"{own} is a folder: name the files in it, such as {own / '*.npy'}")
    if own.exists() or not glob.has_magic(path):
        return [own]
    found = sorted(map(Path, glob.glob(str(own))), key=_natural)  # noqa: PTH207 - of any root
    if not found:
        raise DataError(f"there is no file {own}")
    return found


def checksum(path: str) -> str:
    """Return a digest of the names, sizes and contents of the files of a path.

    A single .npy file is read in part, others once in a process.

    Raises
    ------
    DataError
        If there is no such file, or it cannot be read.
    """
    container, _ = _container(path)
    if container is not None and container.is_dir():
        files = sorted(file for file in container.rglob("*") if file.is_file())
    else:
        files = files_at(path) if container is None else [container]
    if container is None and _is_npy(files):
        return npy.checksum(str(files[0]))
    digest = sha256()
    for file in files:
        name = file.relative_to(container or file.parent).as_posix()
        try:
            line = f"{name}\0{file.stat().st_size}\0{datasets.checksum(file)}\n"
        except OSError as error:
            raise npy.unreadable(file, error) from error
        digest.update(line.encode())
    return digest.hexdigest()


@lru_cache(maxsize=4)
def _stacked(files: tuple[Path, ...], states: tuple[tuple[int, int], ...]) -> Rows:
    """Return the rows of all files; changed files are opened again."""
    del states
    parts = [_part(file) for file in files]
    for file, part in zip(files, parts, strict=True):
        for what, its, first in (
            ("columns", part.shape[1], parts[0].shape[1]),
            ("dtype", part.dtype, parts[0].dtype),
        ):
            if its != first:
                raise DataError(
                    f"{file} has {what} {its} where {files[0]} has {first}: all files of "
                    "one matrix must agree"
                )
    return Stacked(parts)


def _state(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError as error:
        raise npy.unreadable(file, error) from error
    return status.st_mtime_ns, status.st_size


def _part(file: Path) -> Rows:
    return ParquetRows(file) if file.suffix in PARQUET else npy.NpyRows(file)


def _is_npy(files: Sequence[Path]) -> bool:
    return len(files) == 1 and files[0].suffix not in PARQUET


def _container(path: str) -> tuple[Path | None, str]:
    """Return the file or folder with arrays inside, and a name; or None."""
    own = Path(path).expanduser()
    for folder in (own, *own.parents):
        if folder.suffix in CONTAINERS and (folder.suffix == ".zarr" or not folder.is_dir()):
            return folder, own.relative_to(folder).as_posix().removeprefix(".")
    return None, ""


def _natural(file: Path) -> tuple[list[tuple[int, str]], str]:
    pieces = re.split(r"(\d+)", str(file))
    return [(int(p), "") if p.isdecimal() else (-1, p) for p in pieces if p], str(file)

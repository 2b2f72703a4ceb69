"""Samples in HDF5 files.

Links, and data sets with numbers in other files, are refused: files may come from strangers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import DataError, UsageError
from orthobench.tools.arrays import matrix
from orthobench.tools.files import opened
from orthobench_kit.data import npy
from orthobench_kit.rows import Rows, borders, chunk_rows, refuse_unwritten


class HDF5Rows(Rows):
    """The rows of a data set, read by blocks of whole chunks; the file is closed between reads.

    An empty `name` stands for the only matrix in the file.

    Raises
    ------
    DataError
        If the file cannot be read, or has no such matrix of real numbers of its own.
    UsageError
        If h5py is not installed.
    """

    fresh: ClassVar[bool] = True

    def __init__(self, file: Path, name: str = "") -> None:
        self.file = file
        with self._opened() as root:
            self.dataset = name or _only_matrix(root, file)
            found = _own(root, self.dataset, file)
            self.shape, self.dtype = found.shape, found.dtype
            what = f"the samples in {file}/{self.dataset}"
            matrix(self, what)
            refuse_unwritten(self.shape, file.stat().st_size, what)
            self.borders = borders(self.shape, what, chunk_rows(found))

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        with self._opened() as root:
            return np.asarray(_own(root, self.dataset, self.file)[begin:end])

    def place(self, row: int) -> tuple[str, int]:
        return f"{self.file}/{self.dataset}", row

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            import h5py
        except ImportError as error:
            raise UsageError("HDF5 files need h5py: pip install 'orthobench[hdf5]'") from error
        try:
            opened(self.file).close()
            with h5py.File(self.file, "r") as root:
                yield root
        except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
            raise npy.unreadable(self.file, error, "an HDF5 file") from error


def _only_matrix(root: Any, file: Path) -> str:
    import h5py

    found: list[str] = []

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.ndim == 2:
            found.append(name)

    root.visititems(note)  # which follows no links
    if len(found) != 1:
        named = f": name one, such as {file}/{found[0]}" if found else ""
        raise DataError(f"{file} holds {len(found)} matrices{named}")
    return found[0]


def _own(root: Any, name: str, file: Path) -> Any:
    import h5py

    item = root
    for part in name.split("/"):
        link = item.get(part, getlink=True) if isinstance(item, h5py.Group) else None
        if link is None:
            raise DataError(f"{file} has no data set {name}")
        if not isinstance(link, h5py.HardLink):
            raise DataError(f"{part} in {file} is a link, and none is followed: name the data set")
        item = item[part]
    if not isinstance(item, h5py.Dataset):
        raise DataError(f"{name} in {file} is no data set")
    if item.external or item.is_virtual:
        raise DataError(f"the numbers of {name} are in other files than {file}: copy them into it")
    return item

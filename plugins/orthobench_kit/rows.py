"""Rows of matrices that are read or computed in blocks."""

from __future__ import annotations

import mmap
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import DataError
from orthobench.tools.arrays import matrix
from orthobench.tools.files import file_state
from orthobench_kit.sparse import checked_sparse, dense

BLOCK_BYTES = 8 * 2**20
"""Maximum size of a block in float64, in bytes; a chunk may be larger."""

BLOCK_ROWS = 2048
"""Maximum number of rows of a block; a chunk may have more."""

LARGEST_CHUNK = 512 * 2**20
"""Maximum size of a chunk in float64, in bytes."""

DENSEST = 10_000
"""Maximum number of numbers per byte of a file; compressed zeros come close."""


class Rows(ABC):
    """The rows of a real matrix, in blocks; a pickle reads the same rows.

    Attributes
    ----------
    shape : (int, int)
        Samples and features.
    dtype : numpy.dtype
    borders : ndarray of int, shape (blocks + 1,)
        The first row of each block, in ascending order, and the number of all rows.

    Class attributes
    ----------------
    random : bool
        Whether `gather` reads single rows.
    fresh : bool
        Whether `read` returns a new array.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    borders: NDArray[np.intp]
    random: ClassVar[bool] = False
    fresh: ClassVar[bool] = False

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return rows begin to end - 1; fast if both are borders.

        Raises
        ------
        DataError
            If they cannot be read.
        """

    def columns(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return columns begin to end - 1 of all rows; by default reads all columns."""
        blocks = pairwise(self.borders.tolist())
        return np.concatenate([self.read(first, last)[:, begin:end] for first, last in blocks])

    def gather(self, numbers: NDArray[np.intp]) -> NDArray[np.generic]:
        """Return rows by number, if `random`."""
        raise NotImplementedError

    def place(self, row: int) -> tuple[str, int]:
        """Return the file of a row, if any, and its number in it."""
        return "", row


class ElsewhereRows(Rows):
    """Rows whose content a cluster or an open file has: they equal no other rows."""

    def content_identity(self) -> object:
        """Refuse: a digest of the content would read all of it."""
        raise TypeError("their content is elsewhere")


def borders(shape: Sequence[int], what: str = "the samples", chunk: int = 1) -> NDArray[np.intp]:
    """Return the borders of blocks of rows: within `BLOCK_ROWS` and `BLOCK_BYTES`, whole chunks.

    Parameters
    ----------
    shape : sequence of int
        Samples and features.
    what : str
        The rows in messages, in the plural.
    chunk : int
        Rows that are read together.

    Raises
    ------
    DataError
        If a chunk is larger than `LARGEST_CHUNK`.
    """
    rows, row_bytes = int(shape[0]), 8 * int(shape[1])
    if chunk > 1 and chunk * row_bytes > LARGEST_CHUNK:
        raise DataError(
            f"{what} are in chunks of {chunk} rows, {chunk * row_bytes / 2**20:,.0f} MiB in "
            f"float64: write them in chunks of at most {max(1, LARGEST_CHUNK // row_bytes)} rows"
        )
    most = min(BLOCK_ROWS, BLOCK_BYTES // row_bytes)
    step = chunk * max(1, most // chunk)
    return np.append(np.arange(0, rows, step), rows).astype(np.intp)


def refuse_unwritten(shape: Sequence[int], size: int, what: str) -> None:
    """Raise a `DataError` if a file of `size` bytes is much too small for its shape.

    Some formats do not store unwritten values, so that a small file may claim any shape.
    """
    numbers = int(shape[0]) * int(shape[1])
    if numbers > DENSEST * size:
        raise DataError(
            f"{what} would be {numbers:.3g} numbers, and there are {size:,} bytes of them: most "
            "were never written, so write the file again"
        )


@dataclass(frozen=True)
class MappedFile:
    """The position of a memory map's rows in a file, for another process to map them again.

    `offset` is the number of bytes before the first row.
    """

    file: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, rows: object) -> MappedFile | None:
        """Return the position of rows; None if they are not a map of a file, or have gaps."""
        if not isinstance(rows, np.memmap) or not rows.flags.c_contiguous:
            return None
        at: object = rows
        while isinstance(at, np.ndarray):
            at = at.base
        if not isinstance(at, mmap.mmap) or rows.filename is None or rows.mode == "c":
            return None
        # NumPy maps from the beginning of a page, and views keep the offset
        page = rows.offset - rows.offset % mmap.ALLOCATIONGRANULARITY
        begin = np.frombuffer(at, np.uint8).ctypes.data
        return cls(str(rows.filename), rows.dtype, rows.shape, page + rows.ctypes.data - begin)

    def content_identity(self) -> object:
        """Return what identifies the rows in the identity of a run."""
        return file_state(Path(self.file), self.offset)

    def mapped(self) -> NDArray[np.generic]:
        """Map the rows; raise a `DataError` if this machine does not have the file."""
        try:
            return np.memmap(self.file, self.dtype, "r", self.offset, self.shape)
        except (OSError, ValueError) as error:
            raise DataError(f"{self.file} cannot be mapped here: {error}") from error


class SparseRows(Rows):
    """The rows of a scipy.sparse matrix, kept in CSR; rows become dense when they are read."""

    random: ClassVar[bool] = True
    fresh: ClassVar[bool] = True

    def __init__(self, array: Any) -> None:
        self.matrix = checked_sparse(array, "the samples").tocsr()
        self.shape, self.dtype = self.matrix.shape, self.matrix.dtype
        self.borders = borders(self.shape)

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return rows begin to end - 1, dense."""
        return np.asarray(self.matrix[begin:end].toarray())

    def gather(self, numbers: NDArray[np.intp]) -> NDArray[np.generic]:
        """Return rows by number, dense."""
        return np.asarray(self.matrix[numbers].toarray())


class DaskRows(ElsewhereRows):
    """The rows of a Dask array, computed chunk by chunk.

    Parameters
    ----------
    array : dask.array.Array
        Its shape is known. Chunks along its columns are joined.

    Raises
    ------
    DataError
        On another array, with the remedy.
    """

    def __init__(self, array: Any) -> None:
        if not hasattr(array, "chunks"):
            raise DataError("the samples are no Dask array: pass data.to_dask_array(lengths=True)")
        if np.isnan(array.shape).any():
            raise DataError(
                "the chunks of the Dask array are of unknown length: call compute_chunk_sizes() on "
                "it"
            )
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        matrix(self, "the samples")
        rows, row_bytes = max(array.chunks[0]), 8 * self.shape[1]
        if rows * row_bytes > LARGEST_CHUNK:
            fitting = max(1, BLOCK_BYTES // row_bytes)
            raise DataError(
                f"the Dask array has chunks of {rows} rows, {rows * row_bytes / 2**20:,.0f} MiB "
                f"in float64: pass data.rechunk({{0: {fitting}, 1: -1}})"
            )
        filled = [size for size in array.chunks[0] if size]
        self.borders = np.cumsum([0, *filled]).astype(np.intp)

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return rows begin to end - 1, computed here or by the cluster."""
        return self._computed(self.array[begin:end])

    def columns(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return columns begin to end - 1, computed here or by the cluster."""
        return self._computed(self.array[:, begin:end])

    def _computed(self, part: Any) -> NDArray[np.generic]:
        found = part.compute() if _in_client() else part.compute(scheduler="sync")
        return dense(found, "the samples")


def _in_client() -> bool:
    """Return whether this process is connected to a cluster, and is not one of its workers."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    for ask, answer in ((distributed.get_worker, False), (distributed.default_client, True)):
        try:
            ask()
        except ValueError:
            continue
        return answer
    return False


class OpenRows(ElsewhereRows):
    """The rows of an open array on disk: h5py, zarr, or anything with shape, dtype and slices.

    ``name`` is its name in messages.
    """

    def __init__(self, array: Any, name: str = "") -> None:
        self.array, self.name = array, name
        self.shape, self.dtype = array.shape, array.dtype
        matrix(self, self._what)
        self.borders = borders(self.shape, self._what, chunk_rows(array))

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return rows begin to end - 1."""
        return self._read((slice(begin, end),))

    def columns(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return columns begin to end - 1."""
        return self._read((slice(None), slice(begin, end)))

    def _read(self, part: tuple[slice, ...]) -> NDArray[np.generic]:
        try:
            return dense(self.array[part], self._what)
        except DataError:
            raise
        except Exception as error:  # of codecs and filters
            said = " ".join(str(error).split())
            raise DataError(f"{self._what} cannot be read: {said}") from error

    def place(self, row: int) -> tuple[str, int]:
        """Return the name of the array, and the number of the row."""
        return self.name, row

    @property
    def _what(self) -> str:
        return f"the samples in {self.name}" if self.name else "the samples"


def chunk_rows(array: Any) -> int:
    """Return the rows that an array on disk reads together."""
    return int((getattr(array, "chunks", None) or (1,))[0])

"""Rows of matrices that are read, or made, when they are asked for; also of other libraries."""

from __future__ import annotations

import mmap
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import DataError
from orthobench.tools.arrays import matrix
from orthobench.tools.sparse import checked_sparse, dense

BLOCK_BYTES = 8 * 2**20
"""The most memory of a block in float64, but for a chunk that is larger."""

BLOCK_ROWS = 2048
"""The most rows of a block, but for a chunk that has more."""

LARGEST_CHUNK = 512 * 2**20
"""Most bytes, in float64, of what a format reads as a whole: a block must fit in memory."""

DENSEST = 10_000
"""The maximum number of numbers in a byte of a file; compressed zeros may have nearly as many."""


class Rows(ABC):
    """The rows of a real matrix, in blocks; a copy in another process reads the same rows.

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
        Whether `gather` reads single rows without what is around them.
    fresh : bool
        Whether `read` returns an array that nobody else has, and that may be written to.
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
        """Return rows begin to end - 1; fast where both are borders.

        Raises
        ------
        DataError
            Where they cannot be read; names the file.
        """

    def columns(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return columns begin to end - 1 of all rows; reads all columns unless a format can less.

        Raises
        ------
        DataError
            As `read`.
        """
        blocks = pairwise(self.borders.tolist())
        return np.concatenate([self.read(first, last)[:, begin:end] for first, last in blocks])

    def gather(self, numbers: NDArray[np.intp]) -> NDArray[np.generic]:
        """Return rows by number; only where `random`."""
        raise NotImplementedError

    def place(self, row: int) -> tuple[str, int]:
        """Return the file of a row, empty where there is none, and its number in it."""
        return "", row


def borders(shape: Sequence[int], what: str = "the samples", chunk: int = 1) -> NDArray[np.intp]:
    """Return the borders of blocks of rows: within `BLOCK_ROWS` and `BLOCK_BYTES`, whole chunks.

    Parameters
    ----------
    shape : sequence of int
        Samples and features.
    what : str
        The name of the rows in messages, in the plural.
    chunk : int
        Rows that are read together.

    Raises
    ------
    DataError
        Where a chunk is larger than `LARGEST_CHUNK`.
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
    """Refuse rows of which a file can hold next to nothing, before all of them are read.

    Some formats keep no bytes of what was never written, and so a small file may claim to be
    larger than any disk.

    Parameters
    ----------
    shape : sequence of int
        Samples and features.
    size : int
        Bytes of the file.
    what : str
        The name of the rows in messages, in the plural.

    Raises
    ------
    DataError
    """
    numbers = int(shape[0]) * int(shape[1])
    if numbers > DENSEST * size:
        raise DataError(
            f"{what} would be {numbers:.3g} numbers, and there are {size:,} bytes of them: most "
            "were never written, so write the file again"
        )


@dataclass(frozen=True)
class MappedFile:
    """Where the rows of a memory map are in a file, for another process to map them again.

    Attributes
    ----------
    file : str
    dtype : numpy.dtype
    shape : tuple of int
    offset : int
        Bytes before the first row.
    """

    file: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, rows: object) -> MappedFile | None:
        """Return where rows are; None of what is no map of a file, or has gaps."""
        if not isinstance(rows, np.memmap) or not rows.flags.c_contiguous:
            return None
        at: object = rows
        while isinstance(at, np.ndarray):
            at = at.base
        if not isinstance(at, mmap.mmap) or rows.filename is None or rows.mode == "c":
            return None
        # NumPy maps from the page on in which the array begins, and views keep its offset
        page = rows.offset - rows.offset % mmap.ALLOCATIONGRANULARITY
        begin = np.frombuffer(at, np.uint8).ctypes.data
        return cls(str(rows.filename), rows.dtype, rows.shape, page + rows.ctypes.data - begin)

    def mapped(self) -> NDArray[np.generic]:
        """Map the rows.

        Raises
        ------
        DataError
            Where this machine has no such file.
        """
        try:
            return np.memmap(self.file, self.dtype, "r", self.offset, self.shape)
        except (OSError, ValueError) as error:
            raise DataError(f"{self.file} cannot be mapped here: {error}") from error


class SparseRows(Rows):
    """The rows of a scipy.sparse matrix, of which only those that are read become dense.

    Parameters
    ----------
    array : scipy.sparse matrix or array
        Kept in CSR format; any other format is converted.

    Raises
    ------
    DataError
        If it is no real matrix, or its indices are out of range.
    """

    random: ClassVar[bool] = True

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


class DaskRows(Rows):
    """The rows of a Dask array, computed chunk by chunk.

    Parameters
    ----------
    array : dask.array.Array
        Of known shape. Chunks along its columns are put together; those along the rows stay.

    Raises
    ------
    DataError
        On anything else; says how to make it of this form.
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
        """Return rows begin to end - 1: computed here, or by the cluster that holds them."""
        return self._computed(self.array[begin:end])

    def columns(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return columns begin to end - 1, computed likewise."""
        return self._computed(self.array[:, begin:end])

    def _computed(self, part: Any) -> NDArray[np.generic]:
        found = part.compute() if _in_client() else part.compute(scheduler="sync")
        return dense(found, "the samples")


def _in_client() -> bool:
    """Return whether this process has a connection to a cluster, and is none of its workers."""
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


class OpenRows(Rows):
    """The rows of an open array on disk, read when they are asked for.

    Parameters
    ----------
    array : h5py.Dataset, zarr.Array, or anything with a shape, a dtype and slices
    name : str
        Where it is, for messages.
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
        except Exception as error:  # codecs and filters fail in their own ways
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

"""Rows of matrices that are read, or made, when they are asked for."""

from __future__ import annotations

import mmap
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import DataError

BLOCK_BYTES = 8 * 2**20
"""The most memory of a block in float64, but for a chunk that is larger."""

BLOCK_ROWS = 2048
"""The most rows of a block, but for a chunk that has more."""

LARGEST_CHUNK = 512 * 2**20
"""Most bytes, in float64, of what a format reads as a whole: a block must fit in memory."""


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

    def gather(self, numbers: NDArray[np.intp]) -> NDArray[np.generic]:
        """Return rows by number; only where `random`."""
        raise NotImplementedError

    def place(self, row: int) -> tuple[str, int]:
        """Return the file of a row, empty where there is none, and its number in it."""
        return "", row


def check_matrix(rows: Rows, what: str) -> None:
    """Refuse rows that are no real matrix with at least one row and one column.

    Parameters
    ----------
    rows : Rows
    what : str
        Its name in messages, in the plural: ``"the samples"``.

    Raises
    ------
    DataError
    """
    if len(rows.shape) != 2:
        raise DataError(f"{what} must be a matrix (samples, features), not of shape {rows.shape}")
    if 0 in rows.shape:
        raise DataError(f"{what} are empty: shape {rows.shape}")
    if rows.dtype.kind not in "fiub":
        raise DataError(f"{what} must be real numbers, not of dtype {rows.dtype}")


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


class Stacked(Rows):
    """The rows of several parts, one part after another; no block crosses their borders.

    Parameters
    ----------
    parts : sequence of Rows
        With equally many columns and one dtype.
    """

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = tuple(parts)
        self.firsts = np.cumsum([0, *map(len, parts)]).astype(np.intp)
        self.shape, self.dtype = (int(self.firsts[-1]), parts[0].shape[1]), parts[0].dtype
        self.random = all(part.random for part in parts)  # type: ignore[misc]
        self.fresh = all(part.fresh for part in parts)  # type: ignore[misc]
        own = [first + part.borders[:-1] for first, part in zip(self.firsts, parts, strict=False)]
        self.borders = np.append(np.concatenate(own), len(self)).astype(np.intp)

    def read(self, begin: int, end: int) -> NDArray[np.generic]:
        """Return rows begin to end - 1, without a copy where they are in one part."""
        pieces = []
        while begin < end:
            which = self._part(begin)
            first, stop = self.firsts[which], min(end, int(self.firsts[which + 1]))
            pieces.append(self.parts[which].read(int(begin - first), int(stop - first)))
            begin = stop
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def gather(self, numbers: NDArray[np.intp]) -> NDArray[np.generic]:
        """Return rows by number, those of one part together."""
        found = np.empty((len(numbers), self.shape[1]), self.dtype)
        of = np.searchsorted(self.firsts, numbers, side="right") - 1
        for which in np.unique(of):
            here = of == which
            found[here] = self.parts[which].gather(numbers[here] - self.firsts[which])
        return found

    def place(self, row: int) -> tuple[str, int]:
        """Return where a row is in its part."""
        which = self._part(row)
        return self.parts[which].place(int(row - self.firsts[which]))

    def _part(self, row: int) -> int:
        return int(np.searchsorted(self.firsts, row, side="right")) - 1

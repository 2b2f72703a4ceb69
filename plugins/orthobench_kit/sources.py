"""Sources of samples from arrays and memory maps, read off the clock in blocks of a fixed size."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthobench.contract.samples import BlockSource, block_rows
from orthobench.errors import DataError
from orthobench.tools.arrays import Array, check_rows, matrix, whole
from orthobench_kit.arrays import is_frozen, release
from orthobench_kit.rows import MappedFile, Rows, SparseRows, borders

FloatT = TypeVar("FloatT", bound=np.floating[Any])
"""A type of floating-point numbers."""

GATHERED = 32
"""Number of rows of a memory map to copy at once."""


class ArraySource(BlockSource):
    """The rows of an array, of a memory map, or of `Rows`, one or several times.

    Pages of a memory map are released after copying, so that files may be larger than memory.

    Parameters
    ----------
    rows : ndarray, shape (n, d), or Rows
        Any real dtype.
    order : array_like of int, shape (m,), or range, optional
        The numbers of the rows to read, in this order; default: all. For `Rows` an ascending range,
        or any order if they are `random`.
    passes : int
        Number of passes over the rows.
    scale, centre : float or ndarray, shape (d,)
        Each row x becomes ``(x - centre) * scale``.

    Raises
    ------
    DataError
        If the rows are not a real matrix, or cannot be read in `order`.
    """

    def __init__(
        self,
        rows: NDArray[np.generic] | Rows,
        order: ArrayLike | range | None = None,
        passes: int = 1,
        scale: float | Array = 1.0,
        centre: float | Array = 0.0,
    ) -> None:
        self.rows = rows if isinstance(rows, Rows) else matrix(rows, "the samples")
        self.passes = whole(passes, "passes")
        self.order = None if order is None else _row_numbers(order, len(rows))
        self.scale, self.centre = scale, centre
        self.d = rows.shape[1]
        self.length = len(rows) if self.order is None else len(self.order)
        self.size = float(self.length * passes)
        self._borders = self._block_borders()
        self.count = len(self._borders) - 1

    def __getstate__(self) -> dict[str, Any]:
        """Return the state, with the place of a mapped file for its rows."""
        return vars(self) | {"rows": MappedFile.of(self.rows) or self.rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Map the file again."""
        rows = state["rows"]
        vars(self).update(state, rows=rows.mapped() if isinstance(rows, MappedFile) else rows)

    @property
    def is_frozen(self) -> bool:
        """Whether the rows are in memory and stay the same: read-only, or of `SparseRows`."""
        rows = self.rows
        return isinstance(rows, SparseRows) if isinstance(rows, Rows) else is_frozen(rows)

    def row_number(self, index: int) -> int | str:
        file, row = self._place(index % self.length)
        return f"{row} of {file}" if file else row

    def height(self, index: int) -> int:
        return self._borders[index + 1] - self._borders[index]

    def label(self, index: int) -> str:
        begin, end = self._borders[index : index + 2]
        if isinstance(self.order, np.ndarray):
            return f"samples {begin} to {end - 1} of their order"
        (file, first), (_, last) = self._place(begin), self._place(end - 1)
        return f"{file}, rows {first} to {last}" if file else f"rows {first} to {last}"

    def block(self, index: int) -> NDArray[np.floating[Any]]:
        begin, end = self._borders[index : index + 2]
        single = self.rows.dtype.newbyteorder("=") == np.float32
        kept: type[np.floating[Any]] = np.float32 if single else np.float64
        return next(self._pieces(begin, end, end - begin, kept))

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        del rng
        for _ in range(self.passes):
            yield from self.one_pass()

    def one_pass(self) -> Iterator[Array]:
        """Yield each row once, in blocks."""
        size = block_rows(self.d)
        together = self._borders
        if not isinstance(self.rows, Rows):
            together = [*range(0, self.length, size), self.length]
        for begin, end in pairwise(together):
            yield from self._pieces(begin, end, size, np.float64)

    def checked_pass(self) -> Iterator[Array]:
        """Yield each row once, in checked blocks."""
        first = 0
        for block in self.one_pass():
            check_rows(block, first, self.row_number)
            yield block
            first += len(block)

    def _block_borders(self) -> list[int]:
        which = self._numbers(0, self.length)
        if not isinstance(self.rows, Rows):
            found = borders((self.length, self.d))
        elif isinstance(which, range):
            if which.step < 0:
                raise DataError("samples that are read by whole blocks are read in ascending order")
            inside = -((which.start - self.rows.borders) // which.step)
            found = np.unique(np.clip(inside, 0, self.length))
        elif self.rows.random:
            found = borders((self.length, self.d))
        else:
            raise DataError(
                "these samples are read by whole blocks, and cannot be drawn one by one: shuffle "
                "them when they are written, and read them in order"
            )
        return [int(border) for border in found]

    def _pieces(
        self, begin: int, end: int, size: int, kept: type[FloatT]
    ) -> Iterator[NDArray[FloatT]]:
        """Yield samples begin to end - 1 in pieces that are read together."""
        which = self._numbers(begin, end)
        stored = self._stored(which) if isinstance(which, range) else None
        copy = None if isinstance(self.rows, Rows) and self.rows.fresh else True
        for at in range(0, end - begin, size):
            part = slice(at, at + size)
            with np.errstate(over="ignore", invalid="ignore"):
                if stored is None:
                    block = self._gathered(np.asarray(which[part]), kept)
                else:
                    block = np.array(stored[part], dtype=kept, order="C", copy=copy)
                block -= self.centre
                block *= self.scale
            if isinstance(self.rows, np.ndarray):
                release(self.rows)
            yield block
            del block  # before the next one is read

    def _numbers(self, begin: int, end: int) -> range | NDArray[np.intp]:
        return range(begin, end) if self.order is None else self.order[begin:end]

    def _place(self, at: int) -> tuple[str, int]:
        row = int(self._numbers(at, at + 1)[0])
        return self.rows.place(row) if isinstance(self.rows, Rows) else ("", row)

    def _stored(self, which: range) -> NDArray[np.generic]:
        if isinstance(self.rows, Rows):
            return self.rows.read(which[0], which[-1] + 1)[:: which.step]
        # in a slice, -1 means the last row
        stop = None if which.stop < 0 else which.stop
        return self.rows[which.start : stop : which.step]

    def _gathered(self, which: NDArray[np.intp], kept: type[FloatT]) -> NDArray[FloatT]:
        block = np.empty((len(which), self.d), kept)
        for begin in range(0, len(which), GATHERED):
            part = which[begin : begin + GATHERED]
            if isinstance(self.rows, Rows):
                block[begin : begin + GATHERED] = self.rows.gather(part)
            else:
                block[begin : begin + GATHERED] = self.rows[part]
                release(self.rows)
        return block


def _row_numbers(order: ArrayLike | range, count: int) -> NDArray[np.intp] | range:
    numbers = order if isinstance(order, range) else _integers(order)
    if len(numbers) == 0:
        raise DataError("there is no row in this part of the samples")
    # the ends of a range are enough
    ends = (numbers[0], numbers[-1]) if isinstance(numbers, range) else numbers
    if not 0 <= np.min(ends) <= np.max(ends) < count:
        raise DataError(f"the order names rows that are not among the {count} rows of the data")
    return numbers


def _integers(order: ArrayLike) -> NDArray[np.intp]:
    numbers = np.asarray(order)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise DataError(
            "the order must be a range or integers of shape (m,), the numbers of the rows, not of "
            f"shape {numbers.shape} and dtype {numbers.dtype}; of a mask take np.flatnonzero"
        )
    return numbers.astype(np.intp, copy=False)

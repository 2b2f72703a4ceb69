"""Sources of samples for `SampleOracle`: arrays, memory maps, iterators and samplers.

A source yields samples in blocks of a fixed size, so that the samples of a run do not depend on how
it is cut into chunks. All of this happens off the clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthobench.contract.blocks import RowBlocks, SampleSource, block_rows
from orthobench.errors import DataError, UsageError
from orthobench.tools.arrays import Array, check_rows, is_whole, matrix, release

GATHERED = 32
"""Rows of a memory map that are copied by index before its pages are given back."""

Sampler: TypeAlias = "Callable[[np.random.Generator, int], Array]"
"""``sampler(rng, count)`` draws samples from `rng` alone, as an array ``(count, d)``."""


class ArraySource(RowBlocks):
    """The rows of an array or a memory map, one or several times.

    Pages of a memory map are given back once they are copied, so that reading a file larger than
    memory takes the memory of a few blocks.

    Parameters
    ----------
    rows : ndarray, shape (n, d)
        Of any real dtype; a memory map stays on disk.
    order : array_like of int, shape (m,), or range, optional
        The numbers of the rows to read, in this order; by default all. Parts of a permutation
        split the data.
    passes : int
        How many times the rows are read.
    scale, centre : float or ndarray, shape (d,)
        Each row x becomes ``(x - centre) * scale``.

    Raises
    ------
    DataError
        Where the rows are not a real matrix, or `order` is empty or names rows that do not exist.
    UsageError
        Where `passes` is not a whole number >= 1.
    """

    def __init__(
        self,
        rows: NDArray[np.generic],
        order: ArrayLike | range | None = None,
        passes: int = 1,
        scale: float | Array = 1.0,
        centre: float | Array = 0.0,
    ) -> None:
        self.rows, self.passes = matrix(rows, "the samples"), passes
        self.order = None if order is None else _row_numbers(order, len(rows))
        self.scale, self.centre = scale, centre
        self.d = rows.shape[1]
        self.length = len(rows) if self.order is None else len(self.order)
        if not is_whole(passes) or passes < 1:
            raise UsageError(f"passes must be a whole number >= 1, not {passes}")
        self.size = float(self.length * passes)

    def row_number(self, index: int) -> int:
        """Return the row of the array that sample `index` of a run is."""
        at = index % self.length
        return at if self.order is None else int(self.order[at])

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield the rows of all passes in blocks; `rng` is not used."""
        del rng
        for _ in range(self.passes):
            yield from self.one_pass()

    def block(self, index: int) -> Array:
        """Return the rows of a block in float64."""
        return self._block(self.part(index))

    def one_pass(self) -> Iterator[Array]:
        """Yield each row once, in blocks."""
        size = block_rows(self.d)
        for begin in range(0, self.length, size):
            end = min(begin + size, self.length)
            yield self._block(slice(begin, end))

    def checked_pass(self) -> Iterator[Array]:
        """Yield each row once, in blocks, and refuse rows that `check_rows` refuses."""
        first = 0
        for block in self.one_pass():
            check_rows(block, first, self.row_number)
            yield block
            first += len(block)

    def _block(self, part: slice) -> Array:
        which = part if self.order is None else self.order[part]
        with np.errstate(over="ignore", invalid="ignore"):
            block = self._gathered(which) if isinstance(which, np.ndarray) else self._copied(which)
            block -= self.centre
            block *= self.scale
        return block

    def _copied(self, which: slice | range) -> Array:
        # a range that descends to row 0 stops at -1, which for a slice means the last row
        stop = None if which.stop < 0 else which.stop
        rows = self.rows[which.start : stop : which.step]
        block: Array = np.array(rows, dtype=np.float64, order="C")
        release(self.rows)
        return block

    def _gathered(self, which: NDArray[np.intp]) -> Array:
        """Copy rows by index, few at a time: each may map megabytes of the file around it."""
        block = np.empty((len(which), self.d))
        for begin in range(0, len(which), GATHERED):
            part = slice(begin, begin + GATHERED)
            block[part] = self.rows[which[part]]
            release(self.rows)
        return block


def _row_numbers(order: ArrayLike | range, count: int) -> NDArray[np.intp] | range:
    """Return the numbers of rows to read as a range or an array; refuse what is neither."""
    numbers = order if isinstance(order, range) else _integers(order)
    if len(numbers) == 0:
        raise DataError("there is no row in this part of the samples")
    # of a range the ends are enough, without making an array of it
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


class SamplerSource(SampleSource):
    """Samples drawn from a distribution, without end.

    Parameters
    ----------
    sampler : callable
        ``sampler(rng, count)`` returns `count` samples, drawn from `rng` alone, as an array
        ``(count, d)``.
    d : int
        Length of a sample.
    """

    def __init__(self, sampler: Sampler, d: int) -> None:
        self.sampler, self.d, self.size = sampler, d, math.inf

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield blocks of samples drawn from `rng`.

        Raises
        ------
        DataError
            Where the sampler returns anything but real numbers of shape ``(count, d)``.
        """
        count = block_rows(self.d)
        while True:
            block = matrix(np.asarray(self.sampler(rng, count)), "the sampler's draws")
            if block.shape != (count, self.d):
                raise DataError(
                    f"the sampler returned shape {block.shape} where ({count}, {self.d}) was asked"
                )
            yield np.array(block, dtype=np.float64, order="C")  # the sampler may reuse its array


class IteratorSource(SampleSource):
    """Samples from an iterable of rows or blocks, which need not fit in memory together.

    What can be iterated several times, such as a list, serves several runs. A generator serves
    one: the samples that the first `SampleOracle.prepare` reads, for the warm-up, are kept and
    read again by the run.

    Parameters
    ----------
    rows : iterable of ndarray
        Each item is a sample ``(d,)`` or a block of samples ``(rows, d)``; it is copied at once.

    Raises
    ------
    DataError
        Where there is no item, or the first is not a row or a block of real numbers.
    """

    def __init__(self, rows: Iterable[Array]) -> None:
        self.rows, self.size = rows, math.inf
        stream = iter(rows)
        self._once = stream is rows
        self._stream = _regrouped(stream)
        head = next(self._stream, None)
        if head is None:
            raise DataError("the sample iterator is empty")
        self.d = head.shape[1]
        self._kept, self._keeps = [head], True
        self._failure: Exception | None = None

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield the samples in blocks; `rng` is not used.

        Raises
        ------
        DataError
            On a second run of a generator.
        """
        del rng
        if not self._once:
            return _regrouped(iter(self.rows))
        if not self._keeps:
            raise DataError("the sample iterator is used up; pass a list or an array to run again")
        return self._only_run(tuple(self._kept))

    def forget(self) -> None:
        """Drop the samples kept for the warm-up: from here on a generator cannot restart."""
        self._keeps = not self._once
        self._kept.clear()

    def _only_run(self, kept: tuple[Array, ...]) -> Iterator[Array]:
        yield from kept
        if self._failure is not None:
            raise self._failure
        try:
            for block in self._stream:
                if self._keeps:
                    self._kept.append(block)
                yield block
        except Exception as error:
            self._failure = error
            raise


def _regrouped(items: Iterator[Array]) -> Iterator[Array]:
    """Yield rows and blocks of any length as fresh blocks of one length."""
    block: Array = np.empty((0, 0))
    filled = count = 0
    for item in items:
        piece = _piece(item, count)
        count += len(piece)
        if not block.size:
            block = np.empty((block_rows(piece.shape[1]), piece.shape[1]))
        elif piece.shape[1] != block.shape[1]:
            raise DataError(
                f"sample {count - len(piece)} (counted from 0) has {piece.shape[1]} features, "
                f"those before it have {block.shape[1]}"
            )
        while len(piece):
            part = piece[: len(block) - filled]
            block[filled : filled + len(part)] = part
            filled, piece = filled + len(part), piece[len(part) :]
            if filled == len(block):
                yield block
                block, filled = np.empty_like(block), 0
    if filled:
        yield block[:filled]


def _piece(item: Array, count: int) -> NDArray[np.generic]:
    try:
        rows = np.atleast_2d(np.asarray(item))
    except ValueError:
        rows = np.empty((1, 0), dtype=object)
    if rows.ndim != 2 or rows.shape[1] == 0 or rows.dtype.kind not in "fiub":
        raise DataError(
            f"sample {count} (counted from 0) is no row (d,) or block (rows, d) of real numbers"
        )
    return rows

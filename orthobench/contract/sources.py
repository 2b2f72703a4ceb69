"""Where samples come from: arrays, memory maps, iterators, samplers.

A source yields blocks of rows of a fixed size, so that the stream never depends on how a run
is cut into chunks. Everything here happens off the clock.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthobench.errors import DataError, UsageError
from orthobench.tools.arrays import Array, check_rows, matrix, release

BLOCK = 256
"""Rows that a source yields at once, or fewer where they are long: see `block_rows`."""

WINDOW_BYTES = 32 * 2**20
"""Most memory that prepared samples take, unless one step draws more."""

GATHERED = 32
"""Rows copied by index at once."""

Sampler: TypeAlias = "Callable[[np.random.Generator, int], Array]"
"""Draws samples: ``sampler(rng, count)`` returns ``(count, d)``, from `rng` alone."""


def block_rows(d: int) -> int:
    """Return how many samples of length `d` make a block: `BLOCK`, within `WINDOW_BYTES`."""
    return max(1, min(BLOCK, WINDOW_BYTES // (8 * d)))


class SampleSource(ABC):
    """A stream of samples that can begin anew.

    Attributes
    ----------
    d : int
        Length of a sample.
    size : float
        Number of samples in one run; infinite for a sampler or an unbounded iterator.
    """

    d: int
    size: float

    @abstractmethod
    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield blocks ``(rows, d)``, float64, of sizes that depend on the data alone."""

    def number(self, index: int) -> int:
        """Return the number that the user knows sample `index` of a run by, from 0."""
        return index

    def forget(self) -> None:  # noqa: B027 - most keep nothing
        """Drop what was kept to begin anew: the run is under way."""


class ArraySource(SampleSource):
    """The rows of an array or a memory map, in their order, `passes` times.

    Pages of a memory map are given back once they are copied, so that a pass over a file
    larger than memory stays within a few blocks.

    Parameters
    ----------
    rows : ndarray, shape (n, d)
        Any real dtype.
    order : array_like of int, shape (m,), or range, optional
        Visit these rows in this order instead; a permutation of a part of them gives a split.
    passes : int
        How often the data are gone through.
    scale, centre
        Each row x becomes ``(x - centre) * scale``: a number, or one value a feature.

    Raises
    ------
    DataError
        Where there is no row to visit or one that is not there, the order is no list of row
        numbers, or the rows are not real numbers.
    UsageError
        On less than one pass, or a part of one.
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
        if not hasattr(passes, "__index__") or passes < 1:
            raise UsageError(f"passes must be a whole number >= 1, not {passes}")
        self.size = float(self.length * passes)

    def number(self, index: int) -> int:
        """Return the row of the array that sample `index` of a run is."""
        at = index % self.length
        return at if self.order is None else int(self.order[at])

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield the rows in order; `rng` is not used."""
        del rng
        for _ in range(self.passes):
            yield from self.one_pass()

    def one_pass(self) -> Iterator[Array]:
        """Yield every row once."""
        size = block_rows(self.d)
        for begin in range(0, self.length, size):
            end = min(begin + size, self.length)
            yield self._block(slice(begin, end))

    def checked_pass(self) -> Iterator[Array]:
        """Yield every row once, and refuse those that `check_rows` refuses."""
        first = 0
        for block in self.one_pass():
            check_rows(block, first, self.number)
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
        # a descending range down to row 0 stops below it, which a slice takes for the far end
        stop = None if which.stop < 0 else which.stop
        rows = self.rows[which.start : stop : which.step]
        block: Array = np.array(rows, dtype=np.float64, order="C")
        release(self.rows)
        return block

    def _gathered(self, which: NDArray[np.intp]) -> Array:
        """Copy rows by index, few at once: each may map megabytes of a file around it."""
        block = np.empty((len(which), self.d))
        for begin in range(0, len(which), GATHERED):
            part = slice(begin, begin + GATHERED)
            block[part] = self.rows[which[part]]
            release(self.rows)
        return block


def _row_numbers(order: ArrayLike | range, count: int) -> NDArray[np.intp] | range:
    """Return an order of some of `count` rows, as it can be sliced; refuse any other."""
    numbers = order if isinstance(order, range) else _integers(order)
    if len(numbers) == 0:
        raise DataError("there is no row in this part of the samples")
    # NumPy would make an array of a whole range to find its ends
    ends = (numbers[0], numbers[-1]) if isinstance(numbers, range) else numbers
    if not 0 <= np.min(ends) <= np.max(ends) < count:
        raise DataError(f"the order names rows that are not among the {count} there are")
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
    """An endless stream of draws from a distribution.

    Parameters
    ----------
    sampler : callable
        ``sampler(rng, count)`` returns ``(count, d)``.
    d : int
        Length of a sample.
    """

    def __init__(self, sampler: Sampler, d: int) -> None:
        self.sampler, self.d, self.size = sampler, d, math.inf

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield blocks drawn from `rng`.

        Raises
        ------
        DataError
            Where the sampler returns anything but ``(count, d)`` real numbers.
        """
        count = block_rows(self.d)
        while True:
            block = matrix(np.asarray(self.sampler(rng, count)), "the sampler's draws")
            if block.shape != (count, self.d):
                raise DataError(
                    f"the sampler returned shape {block.shape} where ({count}, {self.d}) was asked"
                )
            yield np.array(block, dtype=np.float64, order="C")  # the sampler may reuse its own


class IteratorSource(SampleSource):
    """Samples from an iterable of rows or of blocks, that never need to fit in memory.

    A list gives a fresh iterator for every run. A generator can be run once; what the first
    `SampleOracle.prepare` takes from it is kept until the second, so that a warm-up costs no
    sample.

    Parameters
    ----------
    rows : iterable of ndarray
        Each item is a sample ``(d,)`` or a block ``(rows, d)``; it is copied at once.

    Raises
    ------
    DataError
        Where there is none, or the first is not a row or a block of real numbers.
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
        """Yield the samples regrouped into blocks; `rng` is not used.

        Raises
        ------
        DataError
            Where a generator is asked for a second run.
        """
        del rng
        if not self._once:
            return _regrouped(iter(self.rows))
        if not self._keeps:
            raise DataError("the sample iterator is spent; pass a list or an array to run again")
        return self._only_run(tuple(self._kept))

    def forget(self) -> None:
        """Drop the samples kept: from here on a generator cannot begin anew."""
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
    """Copy rows and blocks of any lengths into fresh blocks of one size."""
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

"""Where samples come from: arrays, memory maps, iterators, samplers, behind one oracle.

A source yields blocks of rows of a fixed size, so that the stream never depends on how a run
is cut into chunks. Everything here happens off the clock but `SampleOracle.take`.
"""

from __future__ import annotations

import math
import mmap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from orthobench.arrays import Array
from orthobench.errors import DataError
from orthobench.problem import Oracle

BLOCK = 256
"""Rows that a source yields at once."""

WINDOW_BYTES = 32 * 2**20
"""Most memory that prepared samples take."""

Sampler = Callable[[np.random.Generator, int], Array]
"""Draws samples: ``sampler(rng, count)`` returns ``(count, d)``."""


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
        """Yield blocks ``(rows, d)``, float64; all but the last have `BLOCK` rows."""


class ArraySource(SampleSource):
    """The rows of an array or a memory map, in their order, `passes` times.

    Pages of a memory map are given back once they are copied, so that a pass over a file
    larger than memory stays within a few blocks.

    Parameters
    ----------
    rows : ndarray, shape (n, d)
        Any real dtype.
    order : ndarray of int, optional
        Visit the rows in this order instead; a permutation of a part of them gives a split.
    passes : int
        How often the data are gone through.
    scale, centre
        Each row x becomes ``(x - centre) * scale``: a number, or one value a feature.
    """

    def __init__(
        self,
        rows: NDArray[np.generic],
        order: NDArray[np.intp] | None = None,
        passes: int = 1,
        scale: float | Array = 1.0,
        centre: float | Array = 0.0,
    ) -> None:
        self.rows, self.order, self.passes = matrix(rows, "the samples"), order, passes
        self.scale, self.centre = scale, centre
        self.d = rows.shape[1]
        self.length = len(rows) if order is None else len(order)
        self.size = float(self.length * passes)

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield the rows in order; `rng` is not used."""
        del rng
        for _ in range(self.passes):
            yield from self.one_pass()

    def one_pass(self) -> Iterator[Array]:
        """Yield every row once."""
        for begin in range(0, self.length, BLOCK):
            end = min(begin + BLOCK, self.length)
            which = slice(begin, end) if self.order is None else self.order[begin:end]
            block = np.array(self.rows[which], dtype=np.float64, order="C")
            release(self.rows)
            block -= self.centre
            block *= self.scale
            yield block


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
        """Yield blocks drawn from `rng`."""
        while True:
            yield self.sampler(rng, BLOCK)


class IteratorSource(SampleSource):
    """Samples from an iterable of rows or of blocks, that never need to fit in memory.

    A list gives a fresh iterator for every run. A generator can be run once; its first block is
    kept, so that a warm-up on it costs nothing.

    Parameters
    ----------
    rows : iterable of ndarray
        Each item is a sample ``(d,)`` or a block ``(rows, d)``.
    """

    def __init__(self, rows: Iterable[Array]) -> None:
        self.rows, self.size = rows, math.inf
        stream = iter(rows)
        self._once = stream is rows
        self._stream = _regrouped(stream)
        head = next(self._stream, None)
        if head is None:
            raise DataError("the sample iterator is empty")
        self._head, self._spent = head, False
        self.d = head.shape[1]

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield the samples regrouped into blocks; `rng` is not used."""
        del rng
        if not self._once:
            return _regrouped(iter(self.rows))
        if self._spent:
            raise DataError("the sample iterator is spent; pass a list or an array to run again")
        return self._only_run()

    def _only_run(self) -> Iterator[Array]:
        yield self._head
        for block in self._stream:
            self._spent = True
            yield block


class SampleOracle(Oracle):
    """Samples, one after the other, each seen once.

    Parameters
    ----------
    source : SampleSource
        Where they come from.
    k : int
        Columns of the point sought.
    """

    def __init__(self, source: SampleSource, k: int) -> None:
        self.source, self.n, self.k = source, source.d, k
        self.window = max(BLOCK, WINDOW_BYTES // (8 * source.d) // BLOCK * BLOCK)
        self.rewind(np.random.default_rng(0))

    def rewind(self, rng: np.random.Generator) -> None:
        """Go back to the first sample; a sampler draws from `rng` from here on."""
        self._blocks = self.source.blocks(rng)
        self._ready: Array = np.empty((0, self.n))
        self._at = 0
        self._taken = 0
        self._exhausted = False

    def prepare(self, samples: int) -> None:
        """Copy the next samples into one contiguous array, and check that they are finite.

        Raises
        ------
        DataError
            On a sample that is not finite or so large that its square overflows; names the row.
        """
        held = [self._ready[self._at :]]
        count = len(held[0])
        while count < samples and not self._exhausted:
            block = next(self._blocks, None)
            if block is None:
                self._exhausted = True
            else:
                self._check(block, self._taken + count)
                held.append(block)
                count += len(block)
        self._ready = np.ascontiguousarray(np.concatenate(held))
        self._at = 0

    def take(self, count: int) -> Array:
        """Return the next `count` prepared samples, ``(count, n)``, C order; do not write into it.

        Raises
        ------
        RuntimeError
            Where fewer samples were prepared: a solver asked for more than its `batch` says.
        """
        end = self._at + count
        if end > len(self._ready):
            have = len(self._ready) - self._at
            raise RuntimeError(
                f"the solver took {count} samples where {have} were prepared: "
                "its `batch` must be the number of samples that one step draws"
            )
        taken = self._ready[self._at : end]
        self._at, self._taken = end, self._taken + count
        return taken

    def remaining(self) -> float:
        """Return how many samples are left, infinite for a sampler."""
        ready = len(self._ready) - self._at
        return float(ready) if self._exhausted else self.source.size - self._taken

    def _check(self, block: Array, first: int) -> None:
        if block.ndim != 2 or block.shape[1] != self.n:
            raise DataError(
                f"samples from row {first} on have shape {block.shape}, not (rows, {self.n})"
            )
        check_rows(block, first)


def _regrouped(items: Iterator[Array]) -> Iterator[Array]:
    held: list[Array] = []
    count = 0
    for item in items:
        held.append(np.atleast_2d(np.asarray(item, dtype=np.float64)))
        count += len(held[-1])
        while count >= BLOCK:
            rows = np.concatenate(held)
            yield rows[:BLOCK]
            held, count = [rows[BLOCK:]], count - BLOCK
    if count:
        yield np.concatenate(held)


def matrix(rows: NDArray[np.generic], what: str) -> NDArray[np.generic]:
    """Return `rows` where it is a real matrix with at least one row and one column.

    Raises
    ------
    DataError
        Where it is anything else; says what it is.
    """
    if rows.ndim != 2:
        raise DataError(f"{what} must be a matrix (samples, features), not of shape {rows.shape}")
    if 0 in rows.shape:
        raise DataError(f"{what} are empty: shape {rows.shape}")
    if rows.dtype.kind not in "fiub":
        raise DataError(f"{what} must be real numbers, not of dtype {rows.dtype}")
    return rows


def check_rows(block: Array, first: int = 0) -> None:
    """Refuse rows that hold NaN, an infinity, or entries whose squares overflow.

    Parameters
    ----------
    block : ndarray, shape (rows, d)
    first : int
        Number of the first row, for the message.

    Raises
    ------
    DataError
        Names the row, the column and the value.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", block, block)
    bad = np.flatnonzero(~np.isfinite(squares))
    if bad.size == 0:
        return
    row = block[bad[0]]
    wrong = np.flatnonzero(~np.isfinite(row))
    column = int(wrong[0]) if wrong.size else int(np.argmax(np.abs(row)))
    reason = "is not finite" if wrong.size else "is too large to be squared"
    more = f" ({bad.size} such rows in its block)" if bad.size > 1 else ""
    raise DataError(
        f"sample {first + int(bad[0])} (counted from 0) {reason}: "
        f"feature {column} is {row[column]!r}{more}; clean or rescale the data"
    )


def release(rows: NDArray[np.generic]) -> None:
    """Let the operating system take back the pages of a read-only or shared memory map."""
    base: object = rows.base
    if isinstance(rows, np.memmap) and isinstance(base, mmap.mmap) and rows.mode != "c":
        advice = getattr(mmap, "MADV_DONTNEED", None)
        if advice is not None:
            base.madvise(advice)

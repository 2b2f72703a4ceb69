"""Sources of samples: samplers, iterators and generators."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.samples import SampleSource, block_rows
from orthobench.errors import DataError, UsageError
from orthobench.tools.arrays import Array, matrix
from orthobench_kit.arrays import unshared
from orthobench_kit.reading import array_of, is_data, rows_of
from orthobench_kit.rows import Rows
from orthobench_kit.sources import ArraySource

Sampler: TypeAlias = "Callable[[np.random.Generator, int], Array]"
"""``sampler(rng, count)`` draws an array ``(count, d)`` from `rng` alone."""


class SamplerSource(SampleSource):
    """Samples drawn from a distribution, without end.

    ``sampler(rng, count)`` draws an array ``(count, d)`` from `rng` alone.
    """

    def __init__(self, sampler: Sampler, d: int) -> None:
        self.sampler, self.d, self.size = sampler, d, math.inf

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        """Yield blocks of samples drawn from `rng`.

        Raises
        ------
        DataError
            If the sampler returns anything but real numbers of shape ``(count, d)``.
        """
        count = block_rows(self.d)
        while True:
            what = "the sampler's draws"
            block = matrix(array_of(self.sampler(rng, count), what), what)
            if block.shape != (count, self.d):
                raise DataError(
                    f"the sampler returned shape {block.shape} where ({count}, {self.d}) was asked"
                )
            yield np.array(block, dtype=np.float64, order="C")  # the sampler may reuse its array


class IteratorSource(SampleSource):
    """Samples from an iterable of rows ``(d,)`` or blocks ``(rows, d)``, which are copied at once.

    A list serves several runs. A generator serves one; samples of the warm-up are kept and read
    again.

    Raises
    ------
    DataError
        If there is no item, or the first is not a row or a block of real numbers.
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
        """Yield the samples in blocks.

        Raises
        ------
        DataError
            If a generator is run twice.
        """
        del rng
        if not self._once:
            return _regrouped(iter(self.rows))
        if not self._keeps:
            raise DataError("the sample iterator is used up; pass a list or an array to run again")
        return self._only_run(tuple(self._kept))

    def forget(self) -> None:
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
    rows = np.atleast_2d(array_of(item, f"the values of sample {count} (counted from 0)"))
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise DataError(
            f"sample {count} (counted from 0) is no row (d,) or block (rows, d) of real numbers"
        )
    return rows


def source_of(
    data: NDArray[np.generic] | Rows | SampleSource | Sampler | Iterable[Array],
    passes: int = 1,
    width: int | None = None,
) -> SampleSource:
    """Return the source of data that a user passes.

    Parameters
    ----------
    data : array, table, `Rows`, iterable of rows or blocks, sampler, or source
        An array is copied, unless it is read-only or a memory map.
    passes : int
        Number of passes over an array.
    width : int, optional
        Length of a sample, for a sampler.

    Raises
    ------
    UsageError
        If the data can be read only once, but several passes are asked for; if a sampler has no
        width.
    DataError
        If it is not a real matrix.
    """
    stream = callable(data) or isinstance(data, (Iterable, SampleSource))
    if isinstance(data, Rows) or is_data(data) or not stream:
        rows = rows_of(data, "the samples")
        if not isinstance(rows, Rows):
            own = unshared(rows)
            if own is not rows:
                own.flags.writeable = False
            rows = own
        return ArraySource(rows, passes=passes)
    if passes != 1:
        raise UsageError("only an array can be gone through several times: leave passes at 1")
    if isinstance(data, SampleSource):
        return data
    if not callable(data):
        blocks: Any = data  # no array: `is_data` says so
        return IteratorSource(blocks)
    if width is None:
        raise UsageError("a sampler needs its covariance or a test part to be judged by")
    return SamplerSource(data, width)

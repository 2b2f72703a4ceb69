"""Traces as a store keeps them: one compressed block of columns, read when it is asked for."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.solver import Work
from orthobench.errors import StoreError
from orthobench.harness.trace import Mark
from orthobench.tools.arrays import Array

COUNTS = ("steps", "samples", "flops")
TIMES = ("seconds", "reading")
WIDTH = len(COUNTS) + len(TIMES)

ABSENT = np.array([0x7FF8_6162_7365_6E74], dtype="<u8").view("<f8")
"""The NaN that stands for a metric that the judge did not report at a checkpoint."""

LONGEST = 2**20
"""Most checkpoints of a trace: log-spaced, they would be more steps than anybody can run."""

RATIO, SMALL = 500, 2**16
"""How many times its bytes a block may unpack to, and what it may in any case.

Clocks do not repeat themselves, so that nothing that was measured packs as densely.
"""


class Trace(Sequence[Mark]):
    """The checkpoints of a cell, unpacked on first use; the last one is there without it.

    Parameters
    ----------
    points : int
        How many there are.
    names : tuple of str
        The metrics.
    final : Mark, optional
        The last checkpoint; there is one unless `points` is 0.
    block : bytes
        All checkpoints, as `packed` makes it.
    where : str
        The store and the run, for errors.
    """

    def __init__(
        self, points: int, names: tuple[str, ...], final: Mark | None, block: bytes, where: str = ""
    ) -> None:
        self._points, self._names, self._final, self._block = points, names, final, block
        self._where = where

    def __len__(self) -> int:
        return self._points

    @overload
    def __getitem__(self, index: int) -> Mark: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Mark, ...]: ...
    def __getitem__(self, index: int | slice) -> Mark | tuple[Mark, ...]:
        if self._final is not None and index in (-1, slice(-1, None)):
            return self._final if index == -1 else (self._final,)
        return self._marks[index]

    def __iter__(self) -> Iterator[Mark]:
        return iter(self._marks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Trace of {self._points} checkpoints of {', '.join(self._names)}>"

    @cached_property
    def columns(self) -> Any:
        """The trace as one `Mark` whose every number is an array over the checkpoints.

        So what reads a value off a checkpoint reads it off all of them. A metric is NaN where it
        was not reported.
        """
        counts, times, metrics = self._columns
        named = dict(zip(self._names, metrics, strict=True))
        return Mark(times[0], times[1], Work(*counts), named)

    @cached_property
    def _columns(self) -> tuple[NDArray[np.int64], Array, Array]:
        try:
            columns = unpacked(self._block, self._points, len(self._names))
            self._check_last(*columns)
        except (ValueError, zlib.error) as error:
            raise StoreError(
                f"{self._where}: its trace cannot be read ({error}); restore a copy or start anew"
            ) from error
        return columns

    def _check_last(self, counts: NDArray[np.int64], times: Array, metrics: Array) -> None:
        if self._final is None:
            return
        work, told = self._final.work, self._final.metrics
        last = np.array([told.get(name, ABSENT[0]) for name in self._names], dtype="<f8")
        clock = zip(times[:, -1].tolist(), (self._final.seconds, self._final.reading), strict=True)
        if (
            counts[:, -1].tolist() != [work.steps, work.samples, work.flops]
            or metrics[:, -1].tobytes() != last.tobytes()
            or any(abs(kept - told) > 1e-6 * (1 + told) for kept, told in clock)
        ):
            raise ValueError("its last checkpoint is another one than in the result")

    @cached_property
    def _marks(self) -> tuple[Mark, ...]:
        counts, times, metrics = (part.T.tolist() for part in self._columns)
        absent = (self._columns[2].view("<u8") == ABSENT.view("<u8")).T.tolist()
        return tuple(
            Mark(clock[0], clock[1], Work(*work), {
                name: value for name, value, gone in zip(self._names, values, lacks, strict=True)
                if not gone
            })
            for clock, work, values, lacks in zip(times, counts, metrics, absent, strict=True)
        )  # fmt: skip


def read(trace: Sequence[Mark], value: Callable[[Mark], float]) -> Array:
    """Return a value at all checkpoints of a trace, shape (len(trace),).

    Parameters
    ----------
    trace : sequence of Mark
    value : callable
        Reads it off a checkpoint, by arithmetic that arrays can do as well.
    """
    if isinstance(trace, Trace):
        found = np.asarray(value(trace.columns), dtype=np.float64)
        return np.broadcast_to(found, len(trace))
    return np.array([value(mark) for mark in trace], dtype=np.float64)


def packed(trace: Sequence[Mark]) -> tuple[tuple[str, ...], bytes]:
    """Return the names of the metrics of a trace, and all checkpoints in one compressed block.

    Counts are kept as differences, times as differences in whole nanoseconds, metrics bit for bit;
    the bytes of a column are grouped by their place in the number, the better to be compressed.
    """
    names = tuple(dict.fromkeys(name for mark in trace for name in mark.metrics))
    counts = [[mark.work.steps, mark.work.samples, mark.work.flops] for mark in trace]
    times = [[round(mark.seconds * 1e9), round(mark.reading * 1e9)] for mark in trace]
    whole = np.array([(*c, *t) for c, t in zip(counts, times, strict=True)], dtype="<i8")
    steps = np.diff(whole.reshape(len(trace), WIDTH), axis=0, prepend=0)
    absent = ABSENT[0]
    metrics = np.array(
        [[mark.metrics.get(name, absent) for name in names] for mark in trace], dtype="<f8"
    ).reshape(len(trace), len(names))
    columns = [*steps.T, *metrics.T]
    return names, zlib.compress(b"".join(map(_planes, columns)), 9)


def unpacked(block: bytes, points: int, metrics: int) -> tuple[NDArray[np.int64], Array, Array]:
    """Return the counts (3, points), times (2, points) and metrics (metrics, points) of a block.

    Raises
    ------
    ValueError
        Where the block does not hold just these, or counts and times that a run cannot have.
    """
    size = 8 * points * (WIDTH + metrics)
    if not 0 <= points <= LONGEST or size > max(SMALL, RATIO * len(block)):
        raise ValueError(
            f"a trace cannot have {points} checkpoints of {metrics} metrics in {len(block)} bytes"
        )
    unzip = zlib.decompressobj()
    raw = unzip.decompress(block, size + 1)
    if len(raw) != size or not unzip.eof:
        raise ValueError(f"a trace of {points} checkpoints does not have {len(block)} bytes")
    planes = np.frombuffer(raw, dtype=np.uint8).reshape(WIDTH + metrics, 8, points)
    words = np.ascontiguousarray(planes.swapaxes(1, 2)).reshape(WIDTH + metrics, 8 * points)
    whole = np.cumsum(words[:WIDTH].view("<i8"), axis=1)
    if points and whole.min() < 0:
        raise ValueError("a count or a time is negative")
    return whole[: len(COUNTS)], whole[len(COUNTS) :] * 1e-9, words[WIDTH:].view("<f8")


def _planes(column: NDArray[np.int64] | Array) -> bytes:
    words = np.ascontiguousarray(column).view(np.uint8).reshape(len(column), 8)
    return words.T.tobytes()

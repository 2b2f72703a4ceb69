"""Traces as a store keeps them: a compressed block of columns, read on first use."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.solver import Work
from orthobench.errors import StoreError
from orthobench.harness.trace import Checkpoint
from orthobench.results.schema import REMEDY
from orthobench.tools.arrays import Array

COUNTS = ("steps", "samples", "flops")
TIMES = ("seconds", "reading")
WIDTH = len(COUNTS) + len(TIMES)

TOP = 2
"""Number of bytes of a metric, the highest, that repeat: its sign, exponent and first digits."""

BARE = -15
"""zlib's window, without header or checksum: the row has a better one."""

ABSENT = np.array([0x7FF8_6162_7365_6E74], dtype="<u8").view("<f8")
"""The NaN of a metric that was not reported."""

LONGEST = 2**20
"""Maximum number of checkpoints; they are log-spaced, so that no run has more."""

RATIO, SMALL = 500, 2**16
"""Maximum bytes that each byte of a block unpacks to, and bytes that any block may unpack to.

Clocks do not repeat, so that no trace packs as densely.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Sequence[Checkpoint]):
    """The checkpoints of a run, of which only the last is known before they are unpacked.

    Attributes
    ----------
    points : int
        Their number.
    names : tuple of str
        The metrics.
    final : Checkpoint
        The last one.
    block : bytes
        The others, as `packed` makes it.
    primary : str
    start : float
        The primary metric at the first; NaN if it was not reported.
    where : str
        Store and run, for errors.
    """

    points: int
    names: tuple[str, ...]
    final: Checkpoint
    block: bytes
    primary: str = ""
    start: float = math.nan
    where: str = ""

    def __len__(self) -> int:
        return self.points

    def __getitem__(self, index: Any) -> Any:
        if index in (-1, slice(-1, None)):
            return self.final if index == -1 else (self.final,)
        return self._marks[index]

    def __iter__(self) -> Iterator[Checkpoint]:
        return iter(self._marks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    @cached_property
    def columns(self) -> Any:
        """The trace as one `Checkpoint` of arrays; unreported metrics are NaN."""
        counts, times, metrics = self._columns
        named = dict(zip(self.names, metrics, strict=True))
        return Checkpoint(times[0], times[1], Work(*counts), named)

    @cached_property
    def _columns(self) -> tuple[NDArray[np.int64], Array, Array]:
        """The counts, times and metrics of all checkpoints."""
        last, work = self.final, self.final.work
        finals = (
            np.array([work.steps, work.samples, work.flops]),
            np.array([last.seconds, last.readout_seconds]),
            numbers_of(last.metrics, self.names),
        )
        try:
            before = unpacked(self.block, self.points - 1, len(self.names), last)
            counts, times, metrics = map(np.column_stack, zip(before, finals, strict=True))
            self._check_start(metrics)
        except (ValueError, zlib.error) as error:
            raise StoreError(
                f"{self.where}: its trace cannot be read ({error}); {REMEDY}"
            ) from error
        return counts, times, metrics

    def _check_start(self, metrics: Array) -> None:
        if self.primary in self.names:
            first = metrics[self.names.index(self.primary), 0]
            if not np.array_equal(first, self.start, equal_nan=True):
                raise ValueError("it does not begin as the result says")

    @cached_property
    def _marks(self) -> tuple[Checkpoint, ...]:
        counts, times, metrics = (part.T.tolist() for part in self._columns)
        absent = (self._columns[2].view("<u8") == ABSENT.view("<u8")).T.tolist()
        return tuple(
            Checkpoint(clock[0], clock[1], Work(*work), {
                name: value for name, value, gone in zip(self.names, values, lacks, strict=True)
                if not gone
            })
            for clock, work, values, lacks in zip(times, counts, metrics, absent, strict=True)
        )  # fmt: skip


def read(trace: Sequence[Checkpoint], value: Callable[[Checkpoint], float]) -> Array:
    """Return a value at all checkpoints of a trace, shape (len(trace),).

    Parameters
    ----------
    trace : sequence of Checkpoint
    value : callable
        Reads it off a checkpoint or `Trace.columns`.
    """
    if isinstance(trace, Trace):
        values = np.asarray(value(trace.columns), dtype=np.float64)
        return values if values.ndim else np.full(len(trace), values)
    return np.array([value(mark) for mark in trace], dtype=np.float64)


def finite(trace: Sequence[Checkpoint]) -> bool:
    """Return whether all reported metrics are finite."""
    return all(math.isfinite(value) for mark in trace for value in mark.metrics.values())


def numbers_of(metrics: Mapping[str, float], names: Sequence[str]) -> Array:
    """Return the metrics of those names at a checkpoint; `ABSENT` is one that was not reported."""
    return np.array([metrics.get(name, ABSENT[0]) for name in names], dtype="<f8")


def metrics_of(numbers: bytes, names: Sequence[str]) -> dict[str, float]:
    """Return the metrics that were reported.

    Raises
    ------
    ValueError
        If there are not as many numbers as names.
    """
    if len(numbers) != 8 * len(names):
        raise ValueError(f"its metrics are not {len(names)} numbers")
    found = np.frombuffer(numbers, dtype="<f8")
    gone = found.view("<u8") == ABSENT.view("<u8")
    return {
        name: value
        for name, value, lacks in zip(names, found.tolist(), gone.tolist(), strict=True)
        if not lacks
    }


def packed(trace: Sequence[Checkpoint]) -> tuple[tuple[str, ...], bytes]:
    """Return the names of the metrics, and all checkpoints but the last as a block.

    `docs/store.md` has the format.
    """
    if isinstance(trace, Trace):
        return trace.names, trace.block
    names = tuple(dict.fromkeys(name for mark in trace for name in mark.metrics))
    kept = trace[:-1]
    times = [[round(t * 1e9) for t in (m.seconds, m.readout_seconds)] for m in kept]
    works = [[m.work.steps, m.work.samples, m.work.flops] for m in kept]
    numbers = [work + time for work, time in zip(works, times, strict=True)]
    whole = np.array(numbers, dtype="<i8").reshape(len(kept), WIDTH).T
    if kept:
        whole[1:-1] -= _rates(trace[-1]) * whole[0]
    absent = ABSENT[0]
    metrics = np.array(
        [[mark.metrics.get(name, absent) for mark in kept] for name in names], dtype="<f8"
    ).reshape(len(names), len(kept))
    return names, _deflated(_planes(np.vstack([whole, metrics.view("<i8")])))


def unpacked(
    block: bytes, points: int, metrics: int, final: Checkpoint
) -> tuple[NDArray[np.int64], Array, Array]:
    """Return the counts (3, points), times (2, points) and metrics (metrics, points) of a block.

    `final` is the checkpoint that follows.

    Raises
    ------
    ValueError
        If it has other numbers, or impossible counts or times.
    """
    size = metrics + 8 * points * (WIDTH + metrics)
    if not 0 <= points <= LONGEST or size > max(SMALL, RATIO * len(block)):
        raise ValueError(
            f"a trace cannot have {points} checkpoints of {metrics} metrics in {len(block)} bytes"
        )
    unzip = zlib.decompressobj(wbits=BARE, zdict=_schedule())
    raw = unzip.decompress(block, size + 1) + unzip.unused_data
    if len(raw) != size or not unzip.eof:
        raise ValueError(f"a trace of {points} checkpoints does not have {len(block)} bytes")
    columns = _columns(raw, points, metrics)
    whole = columns[:WIDTH]
    whole[1:-1] += _rates(final) * whole[0]
    if points and whole.min() < 0:
        raise ValueError("a count or a time is negative")
    times = np.multiply(whole[len(COUNTS) :], 1e-9, dtype="<f8")
    return whole[: len(COUNTS)], times, columns[WIDTH:].view("<f8")


def _rates(final: Checkpoint) -> NDArray[np.int64]:
    """Return samples, flops and nanoseconds of a step, shape (3, 1): most steps take the same."""
    work = final.work
    totals = [[work.samples], [work.flops], [round(final.seconds * 1e9)]]
    return np.array(totals, dtype="<i8") // max(1, work.steps)


def _planes(columns: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the bytes of the differences in all columns, shape (columns, 8, points).

    The sign of a difference is its lowest bit, so that the high bytes of small ones are zero.
    """
    steps = np.diff(columns, axis=1, prepend=0)
    signed = np.ascontiguousarray((steps << 1) ^ (steps >> 63))
    return signed.view(np.uint8).reshape(*columns.shape, 8).swapaxes(1, 2)


def _deflated(planes: NDArray[np.uint8]) -> bytes:
    """Return all bytes, but those in which nothing repeats are behind what is deflated."""
    low = planes[WIDTH:, :-TOP]
    changed = low[:, 1:] != low[:, :-1]
    noisy = np.count_nonzero(changed, axis=(1, 2)) > changed[0:1].size / 2
    parts = (noisy, planes[:WIDTH], planes[WIDTH:, -TOP:], low[~noisy])
    zipped = zlib.compressobj(wbits=BARE, zdict=_schedule())
    block = zipped.compress(b"".join(part.tobytes() for part in parts))
    return b"".join([block, zipped.flush(), low[noisy].tobytes()])


def _columns(raw: bytes, points: int, metrics: int) -> NDArray[np.int64]:
    """Return the columns whose bytes these are, shape (columns, points)."""
    noisy = np.frombuffer(raw, dtype=np.uint8, count=metrics)
    rows = np.frombuffer(raw, dtype=np.uint8, offset=metrics)
    rows = rows.reshape(8 * (WIDTH + metrics), points)
    high, low = 8 * WIDTH, 8 * WIDTH + TOP * metrics
    planes = np.empty((WIDTH + metrics, 8, points), dtype=np.uint8)
    planes[:WIDTH] = rows[:high].reshape(WIDTH, 8, points)
    planes[WIDTH:, -TOP:] = rows[high:low].reshape(metrics, TOP, points)
    # noisy ones are last
    order = WIDTH + noisy.argsort(kind="stable")
    planes[order, :-TOP] = rows[low:].reshape(metrics, 8 - TOP, points)
    signed = np.ascontiguousarray(planes.swapaxes(1, 2)).view("<u8")[..., 0]
    return ((signed >> 1) ^ -(signed & 1)).view("<i8").cumsum(axis=1)


@cache
def _schedule() -> bytes:
    """Return the usual column of steps, a part of the format."""
    steps = [0, 1]
    while len(steps) < 60:
        steps.append(max(steps[-1] + 1, int(1.3 * steps[-1])))
    return _planes(np.array([steps], dtype="<i8")).tobytes()

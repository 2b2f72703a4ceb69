"""Curves over seeds: median and spread of a metric along the runs of one solver, on one grid.

A run that failed, is infeasible or is missing counts as infinitely bad, and so does one whose
metric is no longer finite: it is never dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.panel import Series
from orthobench.errors import unknown
from orthobench.harness.judging import excess_violation
from orthobench.harness.trace import Checkpoint
from orthobench.results.runs import Run
from orthobench.results.traces import read
from orthobench.stats.bootstrap import spread
from orthobench.stats.costs import COSTS
from orthobench.tools.arrays import Array

JUMP = 1e6
"""A change of value by more than this factor between two checkpoints is a jump."""

LONGEST = 300
"""The most points of a curve."""

KEPT = 10_000
"""The most numbers of an alignment that is kept for other metrics, so that memory stays bounded."""


def curve(records: Sequence[Run], x: str, metric: str, seeds: Iterable[int] = ()) -> Series:
    """Align the traces of several seeds on one grid, and take median and spread there.

    Between two checkpoints a trace is interpolated linearly in log x and log value. The earlier
    value is held instead where one of the two is not positive, and where they differ by more than
    `JUMP`, as those of an exact method do: no solution in between ever existed. The start's value
    is held until the first step is done.

    After the last checkpoint the last value is carried forward, or infinity where the run failed. A
    run that left the constraint has failed from its first infeasible point on, and one whose metric
    is not finite from the first such point on.

    The grid consists of all checkpoints from the first one on that every run has reached. Points at
    x = 0 are left out, since a log axis cannot show them.

    Parameters
    ----------
    records : sequence of Run
        The runs of one solver on one problem.
    x : str
        One of `orthobench.stats.costs.COSTS`.
    metric : str
    seeds : iterable of int
        The planned seeds; a missing run is infinite everywhere.

    Returns
    -------
    Series
        Without a label. x is positive and ascending. y, low and high are infinite where too many
        runs have failed by then. For each run that failed, there is a cross at the last feasible
        point at which the metric was finite.

    Raises
    ------
    UsageError
        On an unknown `x`.
    """
    return Traces(records, seeds).curve(x, metric)


class Traces:
    """The traces of one solver on one problem, as arrays.

    The grid, and the checkpoints around each of its points, are computed once for all metrics.

    Parameters
    ----------
    records : sequence of Run
    seeds : iterable of int
        The planned seeds; a missing run is infinite everywhere.
    """

    def __init__(self, records: Sequence[Run], seeds: Iterable[int] = ()) -> None:
        self.records = records
        self._missing = len(set(seeds) - {record.seed for record in records})
        self._costs: dict[str, list[Array]] = {}
        self._values: dict[str, list[Array]] = {}
        self._alignments: dict[tuple[str, tuple[int, ...]], _Alignment] = {}

    def costs(self, x: str) -> list[Array]:
        """Return one of `COSTS` at the checkpoints of each run, never descending.

        Seconds are the clock and the time of reading: a reading that took longer than the next step
        and its reading would let them run backwards.
        """
        if x not in COSTS:
            raise unknown("cost", x, COSTS)
        if x not in self._costs:
            self._costs[x] = [np.maximum.accumulate(run) for run in self._read(COSTS[x])]
        return self._costs[x]

    def values(self, metric: str) -> list[Array]:
        """Return a metric at the checkpoints of each run; NaN where the judge reported none."""
        if metric not in self._values:
            self._values[metric] = self._read(lambda mark: mark.metrics.get(metric, math.nan))
        return self._values[metric]

    def curve(self, x: str, metric: str) -> Series:
        """Return a metric along the runs; see `curve`."""
        values = self.values(metric)
        # the checkpoints of each run that count: finite, and before it leaves the constraint
        lengths = tuple(
            _leading(np.isfinite(run[:n])) for run, n in zip(values, self._feasible, strict=True)
        )
        aligned = self._alignments.get((x, lengths)) or self._alignment(x, lengths)
        if aligned.weight.size <= KEPT:
            self._alignments[x, lengths] = aligned
        counted = [run[:n] for run, n in zip(values, lengths, strict=True)]
        last = [(float(run[-1]) if len(run) else math.nan) for run in counted]
        ends = tuple((aligned.last[i], last[i]) for i in aligned.failed)
        grid = aligned.grid
        if not len(grid):
            return Series("", grid, grid, grid, grid, crosses=ends)
        rows = aligned.interpolated(np.concatenate([*counted, [math.inf]]))
        return Series("", grid, *spread(rows), crosses=ends)

    @cached_property
    def _feasible(self) -> list[int]:
        """The number of checkpoints of each run before it leaves the constraint."""
        return [_leading(run <= 0) for run in self._read(excess_violation)]

    def _read(self, value: Callable[[Checkpoint], float]) -> list[Array]:
        return [read(record.trace, value) for record in self.records]

    def _alignment(self, x: str, lengths: Sequence[int]) -> _Alignment:
        """Return the alignment of all runs, of which so many checkpoints count."""
        costs = zip(self.records, self.costs(x), lengths, strict=True)
        points = [_points(record, at[:n]) for record, at, n in costs]
        grid = _grid([at for at, _ in points if len(at)])
        infinite, offsets = sum(lengths), np.cumsum([0, *lengths])
        before = np.full((len(points) + self._missing, len(grid)), infinite)
        after, weight = before.copy(), np.zeros(before.shape)
        failed = [
            i
            for i, (record, n) in enumerate(zip(self.records, lengths, strict=True))
            if n and (not record.ok or n < len(record.trace))
        ]
        for i, (at, index) in enumerate(points):
            if len(at):
                left, right, weight[i] = _neighbours(at, grid)
                before[i], after[i] = offsets[i] + index[left], offsets[i] + index[right]
        for i in failed:
            ended = grid > points[i][0][-1]
            before[i, ended] = after[i, ended] = infinite
        last = [float(at[-1]) if len(at) else math.nan for at, _ in points]
        return _Alignment(grid, before, after, weight, last, failed)


@dataclass(frozen=True)
class _Alignment:
    """The checkpoints of R runs around each of G grid points; the same for every metric.

    Attributes
    ----------
    grid : ndarray, shape (G,)
    before, after : ndarray of int, shape (R, G)
        Indices of the checkpoints before and after each grid point, into the concatenated values
        of all runs; one past the last of them where the run has failed.
    weight : ndarray, shape (R, G)
        The position of the grid point between the two, in the logarithm: 0 at the one before, or
        where its value is held.
    last : list of float
        The cost at which each run ended.
    failed : list of int
        The runs that failed, and those of which not all checkpoints count.
    """

    grid: Array
    before: NDArray[np.intp]
    after: NDArray[np.intp]
    weight: Array
    last: list[float]
    failed: list[int]

    def interpolated(self, values: Array) -> Array:
        """Return the values of all runs on the grid, shape (R, G)."""
        found, after = values[self.before], values[self.after]
        near = (found > 0) & (after > 0) & (found <= JUMP * after) & (after <= JUMP * found)
        between = np.nonzero(near & (self.weight > 0))
        weight = self.weight[between]
        found[between] = found[between] ** (1 - weight) * after[between] ** weight
        return found


def _leading(good: NDArray[np.bool_]) -> int:
    """Return the number of values before the first that is not good."""
    return len(good) if good.all() else int(good.argmin())


def _points(record: Run, at: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the costs of the points of a trace, ascending, and whose value each of them has.

    Just before the end of the first step there is an additional point, up to which the start's
    value is held.
    """
    index = np.arange(len(at))
    started = (read(record.trace, lambda mark: mark.work.steps)[: len(at)] == 0) & (at > 0)
    held = np.flatnonzero(started[:-1])
    if len(held):
        at = np.insert(at, held + 1, at[held + 1] * (1 - 1e-6))
        index = np.insert(index, held + 1, held)
        at = np.maximum.accumulate(at)
    last_of_equals = np.append(at[1:] > at[:-1], True)[: len(at)]
    return at[last_of_equals], index[last_of_equals]


def _grid(xs: Sequence[Array]) -> Array:
    """Return the positive costs of all checkpoints, from where every run has begun, thinned."""
    if not xs:
        return np.empty(0)
    begin = max(at[0] for at in xs)
    grid: Array = np.unique(np.concatenate(xs))
    grid = grid[(grid >= begin) & (grid > 0)]
    if len(grid) <= LONGEST:
        return grid
    return np.geomspace(grid[0], grid[-1], LONGEST)


def _neighbours(at: Array, grid: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return the points of a trace before and after each grid point, and its position between.

    The grid begins no earlier than the trace. The position is that in the logarithm: 0 at the
    point before, and where that has cost 0.
    """
    before = np.searchsorted(at, grid, side="right") - 1
    after = np.minimum(before + 1, len(at) - 1)
    weight = np.zeros(len(grid))
    apart = (after > before) & (at[before] > 0)
    left, right = at[before[apart]], at[after[apart]]
    weight[apart] = np.log(grid[apart] / left) / np.log(right / left)
    return before, after, weight

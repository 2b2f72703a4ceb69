"""Curves over seeds: a metric along the run, on one grid; pure functions of records.

A run that failed, is infeasible or is missing counts as infinitely bad, and so does one whose
metric is no longer finite: it is never dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import unknown
from orthobench.harness.judging import FEASIBLE, VIOLATION
from orthobench.harness.trace import Mark
from orthobench.results.record import Record
from orthobench.results.traces import read
from orthobench.stats.seeds import spread
from orthobench.tools.arrays import Array

JUMP = 1e6
"""A change of value by more than this factor between two checkpoints is a jump."""

LONGEST = 300
"""Most points of a curve."""

AXES: Mapping[str, Callable[[Mark], float]] = {
    "samples": lambda mark: mark.work.samples,
    "seconds": lambda mark: mark.seconds + mark.reading,
    "flops": lambda mark: mark.work.flops,
    "steps": lambda mark: mark.work.steps,
}
"""What a curve can be drawn against. Seconds are those of the solver's clock plus those of
reading this one solution: the time at which it could have been had."""


@dataclass(frozen=True)
class Curve:
    """A metric along the run: median and spread over seeds on one grid.

    Attributes
    ----------
    x : ndarray, shape (m,)
        Positive, ascending.
    median, low, high : ndarray, shape (m,)
        Infinite where too many runs have failed by then.
    ends : tuple of (float, float)
        The last feasible points of the runs that failed; those at which the metric was finite.
    """

    x: Array
    median: Array
    low: Array
    high: Array
    ends: tuple[tuple[float, float], ...]


def curve(records: Sequence[Record], x: str, metric: str, seeds: Iterable[int] = ()) -> Curve:
    """Align the traces of several seeds on one grid, and take median and spread there.

    Between two checkpoints a trace is interpolated linearly in log x and log value; held at
    the earlier value where one of them is not positive, or where it jumps by more than `JUMP`,
    as an exact method's does: nothing in between was ever had. The start's value is held until
    the first step is done, since nothing can be had before. After the last checkpoint its value is
    carried forward, or infinity where the run failed. A run that left the constraint has
    failed from its first infeasible point on, and one whose metric is not finite from the first
    such point on. The grid is that of all checkpoints at which every run has begun; points at
    x = 0 have no place on a log axis and are left out.

    Parameters
    ----------
    records : sequence of Record
        The runs of one solver on one problem.
    x : str
        One of `AXES`.
    metric : str
    seeds : iterable of int
        The seeds planned; a missing run is infinite everywhere.

    Raises
    ------
    UsageError
        On an unknown `x`.
    """
    return Traces(records, seeds).curve(x, metric)


class Traces:
    """The runs of one solver on one problem, as arrays.

    What curves of several metrics share is found once: the grid, and where on it the checkpoints
    are.

    Parameters
    ----------
    records : sequence of Record
    seeds : iterable of int
        The seeds planned; a missing run is infinite everywhere.
    """

    def __init__(self, records: Sequence[Record], seeds: Iterable[int] = ()) -> None:
        self.records = records
        self._missing = len(set(seeds) - {record.seed for record in records})
        self._costs: dict[str, list[Array]] = {}
        self._values: dict[str, list[Array]] = {}
        self._alignments: dict[tuple[str, tuple[int, ...]], _Alignment] = {}

    def costs(self, x: str) -> list[Array]:
        """Return the costs at the checkpoints of each run: one of `AXES`."""
        if x not in AXES:
            raise unknown("axis", x, AXES)
        if x not in self._costs:
            self._costs[x] = self._read(AXES[x])
        return self._costs[x]

    def values(self, metric: str) -> list[Array]:
        """Return a metric at the checkpoints of each run; NaN where the judge has none."""
        if metric not in self._values:
            self._values[metric] = self._read(lambda mark: mark.metrics.get(metric, math.nan))
        return self._values[metric]

    def curve(self, x: str, metric: str) -> Curve:
        """Return a metric along the runs: see `curve`."""
        values = self.values(metric)
        lengths = tuple(map(_sound, values, self._feasible))
        if (x, lengths) not in self._alignments:
            self._alignments[x, lengths] = self._alignment(x, lengths)
        at = self._alignments[x, lengths]
        counted = [of_one[:n] for of_one, n in zip(values, lengths, strict=True)]
        last = [(float(of_one[-1]) if len(of_one) else math.nan) for of_one in counted]
        ends = tuple((at.last[i], last[i]) for i in at.failed)
        if not len(at.grid):
            return Curve(at.grid, at.grid, at.grid, at.grid, ends)
        rows = at.interpolated(np.concatenate([*counted, [math.inf]]))
        return Curve(at.grid, *spread(rows), ends)

    @cached_property
    def _feasible(self) -> list[int]:
        """How many checkpoints of each run come before it leaves the constraint."""
        violations = self._read(lambda mark: mark.metrics.get(VIOLATION, 0.0))
        return [_before(of_one <= FEASIBLE) for of_one in violations]

    def _read(self, value: Callable[[Mark], float]) -> list[Array]:
        return [read(record.trace, value) for record in self.records]

    def _alignment(self, x: str, lengths: Sequence[int]) -> _Alignment:
        """Return where checkpoints are on one grid, of runs that count up to so many of them."""
        parts = zip(self.records, self.costs(x), lengths, strict=True)
        points = [_points(record, at[:n]) for record, at, n in parts]
        grid = _grid([at for at, _ in points if len(at)])
        nowhere, begin = sum(lengths), np.cumsum([0, *lengths])
        here = np.full((len(points) + self._missing, len(grid)), nowhere)
        there, weight = here.copy(), np.zeros(here.shape)
        failed = [
            i
            for i, (record, n) in enumerate(zip(self.records, lengths, strict=True))
            if n and (record.failed or n < len(record.trace))
        ]
        for i, (at, place) in enumerate(points):
            if len(at):
                before, after, weight[i] = _between(at, grid)
                here[i], there[i] = begin[i] + place[before], begin[i] + place[after]
        for i in failed:
            here[i, grid > points[i][0][-1]] = there[i, grid > points[i][0][-1]] = nowhere
        last = [float(at[-1]) if len(at) else math.nan for at, _ in points]
        return _Alignment(grid, here, there, weight, last, failed)


@dataclass(frozen=True)
class _Alignment:
    """Where on one grid the checkpoints of R runs are; it does not depend on what was measured.

    Attributes
    ----------
    grid : ndarray, shape (G,)
    here, there : ndarray of int, shape (R, G)
        The places of the checkpoints around each point of the grid, among those of all runs one
        after the other; behind the last where there is none, since the run failed.
    weight : ndarray, shape (R, G)
        How far the point is from here to there, by the logarithm; 0 where the value here is held.
    last : list of float
        Where each run ended.
    failed : list of int
        The runs that failed, and those of which not all checkpoints count.
    """

    grid: Array
    here: NDArray[np.intp]
    there: NDArray[np.intp]
    weight: Array
    last: list[float]
    failed: list[int]

    def interpolated(self, values: Array) -> Array:
        """Return the values of all runs on the grid, shape (R, G)."""
        found, after = values[self.here], values[self.there]
        near = (found > 0) & (after > 0) & (found <= JUMP * after) & (after <= JUMP * found)
        between = np.nonzero(near & (self.weight > 0))
        weight = self.weight[between]
        found[between] = found[between] ** (1 - weight) * after[between] ** weight
        return found


def _before(good: NDArray[np.bool_]) -> int:
    """Return how many come before the first that is not good."""
    return len(good) if good.all() else int(good.argmin())


def _sound(values: Array, feasible: int) -> int:
    """Return how many checkpoints count: finite, and before the run leaves the constraint."""
    return _before(np.isfinite(values[:feasible]))


def _points(record: Record, at: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the costs of the points of a trace, ascending, and whose value each of them has.

    Before the first step is done there is a point more, where the start's value is held.
    """
    place = np.arange(len(at))
    started = (read(record.trace, lambda mark: mark.work.steps)[: len(at)] == 0) & (at > 0)
    held = np.flatnonzero(started[:-1])
    if len(held):
        at = np.insert(at, held + 1, at[held + 1] * (1 - 1e-6))
        place = np.insert(place, held + 1, held)
    at = np.maximum.accumulate(at)
    last_of_equals = np.append(at[1:] > at[:-1], True)[: len(at)]
    return at[last_of_equals], place[last_of_equals]


def _grid(xs: Sequence[Array]) -> Array:
    if not xs:
        return np.empty(0)
    begin = max(at[0] for at in xs)
    grid: Array = np.unique(np.concatenate(xs))
    grid = grid[(grid >= begin) & (grid > 0)]
    if len(grid) <= LONGEST:
        return grid
    thinned = np.geomspace(grid[0], grid[-1], LONGEST)
    thinned[[0, -1]] = grid[[0, -1]]
    return thinned


def _between(at: Array, grid: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return, for a grid that begins no earlier than a trace, the points around each of its own.

    And how far it is from one to the other by the logarithm; 0 where that has no value.
    """
    before = np.searchsorted(at, grid, side="right") - 1
    after = np.minimum(before + 1, len(at) - 1)
    weight = np.zeros(len(grid))
    apart = (after > before) & (at[before] > 0)
    here, there = at[before[apart]], at[after[apart]]
    weight[apart] = np.log(grid[apart] / here) / np.log(there / here)
    return before, after, weight

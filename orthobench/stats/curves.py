"""Curves over seeds: a metric along the run, on one grid; pure functions of records.

A run that failed, is infeasible or is missing counts as infinitely bad: it is never dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.arrays import Array
from orthobench.errors import unknown
from orthobench.harness import FEASIBLE, VIOLATION
from orthobench.record import Record
from orthobench.stats.seeds import spread
from orthobench.trace import Mark

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
        The last feasible points of the runs that failed.
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
    failed from its first infeasible point on. The grid is that of all checkpoints at which
    every run has begun; points at x = 0 have no place on a log axis and are left out.

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
    if x not in AXES:
        raise unknown("axis", x, AXES)
    traces = [_series(record, x, metric) for record in records]
    grid = _grid([at for at, _ in traces if len(at)])
    rows = [
        _aligned(at, values, grid, math.inf if record.status.failed else values[-1:])
        for record, (at, values) in zip(records, traces, strict=True)
    ]
    missing = len(set(seeds) - {record.seed for record in records})
    rows += [np.full(len(grid), math.inf)] * missing
    ends = tuple(
        (float(at[-1]), float(values[-1]))
        for record, (at, values) in zip(records, traces, strict=True)
        if record.status.failed and len(at)
    )
    if not len(grid):
        return Curve(grid, grid, grid, grid, ends)
    return Curve(grid, *spread(rows), ends)


def _series(record: Record, x: str, metric: str) -> tuple[Array, Array]:
    """Return the x and the values of a trace, ascending, up to where it leaves the constraint."""
    points: list[tuple[float, float]] = []
    started = False
    for mark in record.trace:
        value, here = mark.metrics.get(metric, math.nan), AXES[x](mark)
        if not math.isfinite(value) or not mark.metrics.get(VIOLATION, 0.0) <= FEASIBLE:
            break
        if started:
            points.append((here * (1 - 1e-6), points[-1][1]))
        points.append((here, value))
        started = mark.work.steps == 0 and here > 0
    at, values = np.array(points, dtype=np.float64).reshape(-1, 2).T
    at = np.maximum.accumulate(at)
    last_of_equals = np.diff(at, append=math.inf) > 0
    return at[last_of_equals], values[last_of_equals]


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


def _aligned(at: Array, values: Array, grid: Array, after: float | Array) -> Array:
    """Return a trace's values on a grid that begins no earlier than the trace."""
    if not len(at):
        return np.full(len(grid), math.inf)
    here = np.searchsorted(at, grid, side="right") - 1
    there = np.minimum(here + 1, len(at) - 1)
    y0, y1 = values[here], values[there]
    near = (y0 > 0) & (y1 > 0) & (y0 <= JUMP * y1) & (y1 <= JUMP * y0)
    between = (there > here) & near & (at[here] > 0)
    found = y0.copy()
    weight = np.log(grid[between] / at[here[between]]) / np.log(
        at[there[between]] / at[here[between]]
    )
    found[between] = y0[between] ** (1 - weight) * y1[between] ** weight
    found[grid > at[-1]] = after
    return found

"""Curves over seeds: median and spread of a metric along the runs of one solver, on one grid.

A run that failed, is infeasible or is not finite counts as infinite; none is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.panel import Series
from orthobench.harness.judging import excess_violation
from orthobench.results.runs import Run
from orthobench.results.traces import read
from orthobench.stats.bootstrap import spread
from orthobench.stats.costs import costs_of
from orthobench.stats.values import metric_of
from orthobench.tools.arrays import Array

JUMP = 1e6
"""A change of value by more than this factor between two checkpoints is a jump."""

LONGEST = 300
"""Maximum number of points of a curve."""


def curve(records: Sequence[Run], x: str, metric: str) -> Series:
    """Align the traces of several seeds on one grid, and take median and spread there.

    Between two checkpoints a trace is interpolated linearly in log x and log value; the earlier
    value is held if one is not positive, if they differ by more than `JUMP`, and until the first
    step is done. After the last checkpoint the last value is carried forward, or infinity if the
    run failed. A run that left the constraint, or whose metric is not finite, has failed from there
    on.

    Parameters
    ----------
    records : sequence of Run
        The runs of one solver on one problem.
    x, metric : str
        One of `orthobench.stats.costs.costs_of`, and a metric.

    Returns
    -------
    Series
        On all positive checkpoints from the first one on that every run has reached; without a
        label, with a cross at the last sound point of each failed run.
    """
    cost, parts, crosses = costs_of(records)[x], [], []
    for run in records:
        # a reading that takes longer than the next step and its reading would let seconds fall
        at = np.maximum.accumulate(read(run.trace, cost))
        values = read(run.trace, metric_of(metric))
        sound = np.isfinite(values) & (read(run.trace, excess_violation) <= 0)
        n = len(sound) if sound.all() else int(sound.argmin())
        failed = n > 0 and (not run.ok or n < len(run.trace))
        places, index = _points(run, at[:n])
        parts.append((places, values[index], failed))
        if failed:
            crosses.append((float(places[-1]), float(values[n - 1])))
    grid = _grid([at for at, _, _ in parts if len(at)])
    if not len(grid):
        return Series("", grid, grid, grid, grid, crosses=tuple(crosses))
    rows = [_on_grid(*part, grid) for part in parts]
    return Series("", grid, *spread(np.array(rows)), crosses=tuple(crosses))


def _points(record: Run, at: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the costs of the points of a trace, ascending, and the place of each one's value.

    Just before the end of the first step there is an additional point with the start's value.
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
    if not xs:
        return np.empty(0)
    begin = max(at[0] for at in xs)
    grid: Array = np.unique(np.concatenate(xs))
    grid = grid[(grid >= begin) & (grid > 0)]
    if len(grid) <= LONGEST:
        return grid
    return np.geomspace(grid[0], grid[-1], LONGEST)


def _on_grid(at: Array, values: Array, failed: bool, grid: Array) -> Array:
    if not len(at):
        return np.full(len(grid), math.inf)
    before = np.searchsorted(at, grid, side="right") - 1
    after = np.minimum(before + 1, len(at) - 1)
    left, right = values[before], values[after]
    between = (after > before) & (at[before] > 0) & (left > 0) & (right > 0)
    between &= (left <= JUMP * right) & (right <= JUMP * left)
    found: Array = left.copy()
    a, b = at[before[between]], at[after[between]]
    weight = np.log(grid[between] / a) / np.log(b / a)
    found[between] = left[between] ** (1 - weight) * right[between] ** weight
    if failed:
        found[grid > at[-1]] = math.inf
    return found

"""The cost curve of a run: the value at each checkpoint against the cost up to it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from orthobench.harness.judging import excess_violation
from orthobench.harness.stopping import RunStatus, Target, Termination
from orthobench.results.runs import Run
from orthobench.results.traces import read
from orthobench.stats.bootstrap import CEILING
from orthobench.stats.costs import cost_of
from orthobench.stats.values import metric_of
from orthobench.tools.arrays import Array

ENDED = RunStatus.DONE, RunStatus.NOT_STATIONARY, RunStatus.TARGET
"""The statuses of runs that more time would not change."""


@dataclass(frozen=True)
class CostCurve:
    """A run that did not fail, at the checkpoints that count.

    Attributes
    ----------
    steps, values : ndarray, shape (m,)
        At each checkpoint; a value is infinite if it does not keep a level.
    ended : bool
        Whether more time would not change it.
    limits : mapping
        The budget that ended it; empty if it ended by itself or by time.
    start : float
        The value at its first checkpoint.
    run : Run, optional
    """

    steps: NDArray[np.int64]
    values: Array
    ended: bool
    limits: Mapping[str, float] = field(default_factory=dict)
    start: float = math.nan
    run: Run | None = None

    @property
    def cut(self) -> bool:
        """Whether its time was over before anything else ended it."""
        return not (self.ended or self.limits)

    @property
    def stopped(self) -> bool:
        """Whether a target ended it."""
        return self.run is not None and self.run.stop.status is RunStatus.TARGET

    @property
    def end(self) -> float:
        """The value at its last checkpoint."""
        return float(self.values[-1])

    @property
    def lowest(self) -> float:
        """Its smallest value."""
        return float(self.values.min())

    def spent(self, cost: str) -> Array:
        """Return a cost up to each checkpoint; infinite if it was not measured."""
        return _spent(self.run, cost)[: len(self.values)] if self.run else np.zeros(0)


def cost_curve(run: Run, level: Target | None = None, metric: str = "") -> CostCurve | None:
    """Return the cost curve of a run up to its first infeasible point.

    None if the run failed, is infeasible from the start, or its final value is not finite.

    Parameters
    ----------
    run : Run
    level : Target, optional
        Only checkpoints that keep it count, or are no further from it than the end.
    metric : str
        By default the metric of the run's target, or else the primary one.
    """
    if not run.ok:
        return None
    values = read(run.trace, metric_of(metric or run.target or run.problem.primary))
    finite = np.isfinite(values)
    counts = finite & (read(run.trace, excess_violation) <= 0)
    values = np.clip(values, -CEILING, CEILING)  # so that differences are finite
    end = len(values) if counts.all() else int(counts.argmin())
    if not end or not finite[-1]:
        return None
    start = float(values[0])
    if level is not None:
        at_level = read(run.trace, lambda mark: mark.metrics.get(level.metric, math.inf))
        values = np.where(at_level <= max(level.value, at_level[-1]), values, math.inf)
    steps = read(run.trace, lambda mark: mark.work.steps)[:end].astype(np.int64)
    return CostCurve(steps, values[:end], run.stop.status in ENDED, _limits(run), start, run)


def gap_of(curves: Sequence[CostCurve]) -> tuple[float, float]:
    """Return the largest start of the curves of a seed, and the smallest end; NaN without any.

    A dip before the end does not count: no call ends there without the judge, and the smallest of
    many noisy values is below what any call gives again. The end of a run that was cut counts.
    """
    start = max((curve.start for curve in curves), default=math.nan)
    return start, min((curve.end for curve in curves), default=math.nan)


def cut_short(run: Run) -> Run:
    """Return a run that a limit of time cut, as one with a budget in seconds alone.

    Its other limits ended nothing, so that no call has them as its stop.
    """
    budget = {"seconds": run.budget.get("seconds", math.inf)}
    return replace(run, stop=Termination(RunStatus.BUDGET, run.stop.reason), budget=budget)


def _limits(run: Run) -> dict[str, float]:
    if run.stop.status is not RunStatus.BUDGET:
        return {}
    limits = {name: limit for name, limit in run.budget.items() if name != "seconds"}
    if "seconds" not in run.budget:
        return limits
    # a limit ended it if there was no room for another step, or for twice the steps from the start
    work = run.trace[-1].work
    longer = 2.0 if run.solver.reruns else 1 + 1 / max(work.steps, 1)
    return {n: limit for n, limit in limits.items() if longer * getattr(work, n) > limit}


def cheapest(values: Array, spent: Array, target: float) -> float:
    """Return the cost of the cheapest checkpoint at or below a target; infinite without any.

    A later checkpoint can be cheaper than an earlier one, since the time to read a solution varies.
    """
    return float(spent[values <= target].min(initial=math.inf))


def settled(values: Array, amounts: Array, target: float) -> float:
    """Return the amount from which on all values are at or below a target; infinite without one."""
    above = np.flatnonzero(values > target)
    place = above[-1] + 1 if len(above) else 0
    return float(amounts[place]) if place < len(amounts) else math.inf


def whole_cost(run: Run, cost: str) -> float:
    """Return the cost of a run to its end, one unit at least."""
    return float(_spent(run, cost).max(initial=cost_of(cost).unit))


def _spent(run: Run, cost: str) -> Array:
    """Return a cost up to each checkpoint, one unit at least; infinite if it was not measured."""
    amounts = read(run.trace, cost_of(cost))
    if cost == "flops" and not amounts.any():
        amounts = np.full(len(amounts), math.nan)
    return np.maximum(np.where(np.isnan(amounts), math.inf, amounts), cost_of(cost).unit)

"""Trials: what the runs of a race say, as curves of what is to be small."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from orthobench.decide.rule import EXACT
from orthobench.harness.run import RATIO
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.results.runs import Run
from orthobench.stats.calls import Stop, ratio_of
from orthobench.stats.cost_curve import CostCurve, cost_curve, settled
from orthobench.tools.arrays import Array

FRESH = RunStatus.TIMEOUT, RunStatus.NOTHING_DONE
"""How runs end that had too little time, which is no failure in a race."""


@dataclass(frozen=True)
class Trial:
    """A run of a configuration on a seed.

    Attributes
    ----------
    configuration : str
    seed : int
    cap : float
        The seconds that it had.
    values : ndarray, shape (m,)
        What is to be small, at each checkpoint; empty where the run failed, infinite where it does
        not keep a level of another metric.
    seconds, spent : ndarray, shape (m,)
        The seconds and the cost up to each checkpoint.
    ended : bool
        Whether it ended by itself, so that more time would change nothing.
    failed : str
        Why it failed; empty where it did not.
    start : float
        The value where it began, if that is not its first: a start may be out of what counts.
    steps : ndarray of int, shape (m,), optional
        The steps up to each checkpoint; by default 0, 1, 2 and so on.
    certified : bool
        Whether a value of zero is known to be the optimum.
    ratio : float
        The ratio of the numbers of steps of two checkpoints.
    """

    configuration: str
    seed: int
    cap: float
    values: Array
    seconds: Array
    spent: Array
    ended: bool = False
    failed: str = ""
    start: float = math.nan
    steps: NDArray[np.int64] | None = None
    certified: bool = False
    ratio: float = RATIO

    @property
    def curve(self) -> CostCurve | None:
        """What it says about calls; None if it failed."""
        if not len(self.values):
            return None
        steps = np.arange(len(self.values)) if self.steps is None else self.steps
        return CostCurve(steps, self.values, self.ended)

    @property
    def exact(self) -> bool:
        """Whether it ended by itself, at a known optimum."""
        start = np.fmin(self.start, self.values[0]) if len(self.values) else math.nan
        return bool(self.certified and self.ended and abs(self.values[-1]) <= EXACT * abs(start))

    @property
    def end(self) -> float:
        """The value at its end: infinite if it failed, NaN if it was killed before its first."""
        if len(self.values):
            return float(self.values[-1])
        return math.inf if self.failed else math.nan

    def at_stop(self, stop: Stop) -> float:
        """Return the value at which a call ends; infinite if there is none."""
        curve, steps = self.curve, dict(stop.limits).get("steps", math.inf)
        return math.inf if curve is None else float(curve.values[curve.steps <= steps][-1])

    @property
    def lowest(self) -> float:
        """The smallest value that it reached."""
        return float(self.values.min(initial=math.inf))

    def cost(self, target: float) -> float:
        """Return the cost of the first checkpoint from which on all are at or below a value."""
        return settled(self.values, self.spent, target)

    def seconds_to(self, target: float) -> float:
        """Return the seconds of the first checkpoint from which on all are at or below a value."""
        return settled(self.values, self.seconds, target)

    def at(self, seconds: float) -> float:
        """Return the smallest value that was there after some seconds."""
        return float(self.values[self.seconds <= seconds].min(initial=math.inf))


def trial_of(run: Run, cost: str) -> Trial:
    """Return what a stored run says in a race."""
    stop, cap = run.stop, run.budget.get("seconds", math.inf)
    counted = run
    if stop.status in FRESH:
        counted = replace(run, stop=Termination(RunStatus.BUDGET, stop.reason))
    level = run.problem.levels[0] if run.problem.levels else None
    path = cost_curve(counted, level, measured(run))
    nothing = np.zeros(0)
    if path is None:
        failed = "" if stop.status in FRESH else stop.reason
        return Trial(run.solver.label, run.seed, cap, nothing, nothing, nothing, False, failed)
    values, seconds = path.values, path.spent("seconds")
    if level and run.trace[-1].metrics.get(level.metric, math.inf) > level.value:
        values = np.full_like(values, math.inf)
    ended = stop.status in (RunStatus.DONE, RunStatus.NOT_STATIONARY)
    return Trial(
        run.solver.label, run.seed, cap, values, seconds, path.spent(cost), ended,
        start=path.start,
        steps=path.steps,
        certified=measured(run) == run.problem.primary,
        ratio=ratio_of(run),
    )  # fmt: skip


def measured(run: Run) -> str:
    """Return the metric that a race is about: the primary one of the problem, where it is known.

    A function of one's own has no known optimum, so its value is compared.
    """
    known = run.trace[0].metrics if run.trace else {}
    primary, other = run.problem.primary, run.problem.tuned_by
    return other if primary not in known and other in known else primary

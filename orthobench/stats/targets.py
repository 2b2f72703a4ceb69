"""Targets over all problems: costs to reach them, performance profiles and expected costs.

An instance is a problem with a seed. A run that failed, or whose metric is not finite at its end,
never reaches a target. An instance that was not run with all solvers of its problem is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.stats.cost_curve import CostCurve, cheapest, cost_curve, gap_of, whole_cost
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped

ROUNDING = 1e-12
"""Maximum difference of equal values, as a fraction of their size."""

RESAMPLES = 1000
"""Bootstrap resamples of the seeds."""

LEVEL = 0.95
"""Nominal coverage of the intervals."""

Instance: TypeAlias = tuple[str, int]
"""Problem and seed."""


@dataclass(frozen=True)
class RunMatrix:
    """The runs of S solvers on I instances.

    Attributes
    ----------
    solvers : tuple of str
        Those that take part in any of the problems.
    instances : tuple of (str, int)
        Problem and seed.
    runs, curves : mapping
        The run of each solver and instance, by their places, and its curve if it did not fail.
    start, lowest : ndarray, shape (I,)
        The value at the start, the largest of all solvers, and the smallest that any run reached;
        if targets ended runs, the largest value at which one did. NaN if no run finished.
    absent : tuple of (str, str)
        Each solver that does not take part in a problem, with the problem.
    """

    solvers: tuple[str, ...]
    instances: tuple[Instance, ...]
    runs: Mapping[tuple[int, int], Run]
    curves: Mapping[tuple[int, int], CostCurve]
    start: Array
    lowest: Array
    absent: tuple[tuple[str, str], ...]

    @property
    def failed(self) -> tuple[int, ...]:
        """For each solver, the number of its runs that failed."""
        failed = Counter(i for i, _ in self.runs.keys() - self.curves.keys())
        return tuple(failed[i] for i in range(len(self.solvers)))

    @property
    def unsolved(self) -> int:
        """Number of instances on which no run got below the start."""
        return int(np.isneginf(self.targets(0.0)).sum())

    def targets(self, tau: float) -> Array:
        """Return the value at or below which each instance is solved to an accuracy, shape (I,).

        That is f_L + tau (f_0 - f_L), with f_0 the value at the start and f_L the smallest one
        reached: Moré and Wild 2009, "Benchmarking derivative-free optimization algorithms", SIAM J.
        Optim. 20(1), convergence test (2.2). Values that equal f_L up to rounding always pass. It
        is negative infinity if no run got below the start.
        """
        gap = self.start - self.lowest
        rounding = ROUNDING * np.maximum(np.abs(self.start), np.abs(self.lowest))
        return np.where(gap > rounding, self.lowest + np.maximum(tau * gap, rounding), -math.inf)

    def costs(self, cost: str, tau: float) -> Array:
        """Return the cost of each run up to the cheapest checkpoint at or below the target.

        Shape (S, I), positive, and infinite if the target was never reached. The cost is one of
        `orthobench.stats.costs.costs_of`.
        """
        targets = self.targets(tau)
        found = np.full((len(self.solvers), len(self.instances)), math.inf)
        for (i, j), curve in self.curves.items():
            found[i, j] = cheapest(curve.values, curve.spent(cost), targets[j])
        return found

    def whole(self, cost: str) -> Array:
        """Return the cost of each run to its end, of failed ones too; NaN without a run."""
        found = np.full((len(self.solvers), len(self.instances)), math.nan)
        for at, run in self.runs.items():
            found[at] = whole_cost(run, cost)
        return found


def run_matrix(results: Sequence[SolverResult]) -> RunMatrix:
    """Collect the chosen runs of all solvers on the problems of one family."""
    begun = [result for result in results if result.takes_part]
    solvers = tuple(dict.fromkeys(result.solver for result in begun))
    instances = _instances(results)
    row = {solver: i for i, solver in enumerate(solvers)}
    column = {instance: j for j, instance in enumerate(instances)}
    runs, curves = dict[tuple[int, int], Run](), dict[tuple[int, int], CostCurve]()
    for result in begun:
        for run in result.finished:
            if (result.problem, run.seed) in column:
                at = row[result.solver], column[result.problem, run.seed]
                runs[at] = run
                if curve := cost_curve(run, result.level):
                    curves[at] = curve
    of_instance = grouped(curves, lambda at: at[1])
    groups = [[curves[at] for at in of_instance.get(j, ())] for j in range(len(instances))]
    taking_part = {(result.solver, result.problem) for result in begun}
    problems = dict.fromkeys(problem for problem, _ in instances)
    start = np.array([gap_of(own)[0] for own in groups])
    lowest = np.array([_lowest(own) for own in groups])
    absent = tuple((s, p) for s in solvers for p in problems if (s, p) not in taking_part)
    return RunMatrix(solvers, instances, runs, curves, start, lowest, absent)


def _instances(results: Sequence[SolverResult]) -> tuple[Instance, ...]:
    """Return problems with the seeds that were run with all solvers that take part in any."""
    begun = {result.solver for result in results if result.takes_part}
    found = list[Instance]()
    for problem, own in grouped(results, lambda r: r.problem).items():
        seeds = dict.fromkeys(seed for result in own for seed in result.seeds)
        running = [r for r in own if r.solver in begun and not r.refused]
        done = [{run.seed for run in result.finished} for result in running]
        found += [(problem, seed) for seed in seeds if all(seed in of_solver for of_solver in done)]
    return tuple(found)


def _lowest(curves: Sequence[CostCurve]) -> float:
    stopped = [curve.lowest for curve in curves if curve.stopped]
    return max(stopped) if stopped else min((curve.lowest for curve in curves), default=math.nan)


def performance_ratios(costs: Array) -> Array:
    """Return the cost of each solver on each instance over that of the cheapest solver there.

    Their distribution is the performance profile of a solver: Dolan and Moré 2002, "Benchmarking
    optimization software with performance profiles", Math. Program. 91, section 2.

    `costs` has shape (S, I), is positive, and not finite if an instance was never solved.
    """
    least = np.where(np.isfinite(costs), costs, math.inf).min(axis=0, initial=math.inf)
    ratios: Array = costs / np.where(np.isfinite(least), least, 1.0)
    return ratios


def expected_costs(
    runs: RunMatrix, cost: str, tau: float
) -> dict[tuple[str, str], tuple[float, float, float, int, int]]:
    """Return the expected cost to reach a target, with restarts after runs that miss it.

    It is the cost of all runs, to the target or else to their end, over the number of runs that
    reached it: the average runtime of COCO (Hansen et al. 2021, Optim. Methods Softw. 36(1),
    section 4).

    Returns
    -------
    dict
        By solver and problem: the estimate, the ends of its bootstrap interval, all infinite if no
        run reached the target, the number of runs that did, and that of all runs.
    """
    hits, whole = runs.costs(cost, tau), runs.whole(cost)
    found: dict[tuple[str, str], tuple[float, float, float, int, int]] = {}
    for problem, own in grouped(range(len(runs.instances)), lambda i: runs.instances[i][0]).items():
        for solver, at_end, to_target in zip(runs.solvers, whole, hits, strict=True):
            if at := [i for i in own if np.isfinite(at_end[i])]:
                reached = np.isfinite(to_target[at])
                spent = np.where(reached, to_target[at], at_end[at])
                low, high = _interval(spent, reached)
                found[solver, problem] = (
                    float(_ratio(spent, reached)), low, high, int(reached.sum()), len(at),
                )  # fmt: skip
    return found


def _ratio(spent: Array, reached: NDArray[np.bool_]) -> Array:
    with np.errstate(divide="ignore"):
        ratio: Array = spent.sum(axis=-1) / reached.sum(axis=-1)
    return ratio


@cache
def _draws(n: int) -> NDArray[np.int_]:
    return np.random.default_rng(0).integers(n, size=(RESAMPLES, n))


def _interval(spent: Array, reached: NDArray[np.bool_]) -> tuple[float, float]:
    draws = _draws(len(spent))
    ordered = np.sort(_ratio(spent[draws], reached[draws]))
    edge = int(RESAMPLES * (1 - LEVEL) / 2)
    return float(ordered[edge]), float(ordered[-1 - edge])

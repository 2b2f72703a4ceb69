"""Targets: the least cost at which each run reaches a target value, over all problems.

An instance is a problem with a seed. A run that failed, or whose metric is not finite at its end,
never reaches a target. An instance that no run solved counts as unsolved for every solver; one that
was not run yet with all solvers of its problem is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import unknown
from orthobench.results.tuning import SolverResult
from orthobench.stats.cost_curve import CostCurve, cheapest, cost_curve, whole_cost
from orthobench.stats.costs import costs_of
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped

ROUNDING = 1e-12
"""Values that differ by less than this fraction of their size are equal."""

Instance: TypeAlias = tuple[str, int]
"""Problem and seed."""


@dataclass(frozen=True)
class RunMatrix:
    """The runs of S solvers on I instances, of at most M checkpoints each.

    Attributes
    ----------
    solvers : tuple of str
        Those that take part in any of the problems.
    instances : tuple of (str, int)
        Problem and seed.
    values : ndarray, shape (S, I, M)
        The value of each run at each checkpoint; infinite if the run failed, and after its end.
    spent : mapping
        For each of `orthobench.stats.costs.costs_of`, the cost up to each checkpoint: shape
        (S, I, M), infinite after the end.
    whole : mapping
        For each cost, that of each run to its end, of failed runs too: shape (S, I). NaN if
        there is no run.
    start : ndarray, shape (I,)
        The value at the start; the largest one if solvers do some work before their first
        checkpoint. NaN if no run finished.
    lowest : ndarray, shape (I,)
        The smallest value that any run reached. If a stopping rule ended runs, the largest
        value at which it ended one: no run is asked for more than what runs were stopped at. NaN
        if no run finished.
    absent : tuple of (str, str)
        Each solver that does not take part in a problem, with the problem.
    failed : tuple of int
        For each solver, its failed runs on the problems that it takes part in.
    """

    solvers: tuple[str, ...]
    instances: tuple[Instance, ...]
    values: Array
    spent: Mapping[str, Array]
    whole: Mapping[str, Array]
    start: Array
    lowest: Array
    absent: tuple[tuple[str, str], ...]
    failed: tuple[int, ...]

    @property
    def unfinished(self) -> int:
        """Instances that no run finished."""
        return int(np.isnan(self.start).sum())

    @property
    def unimproved(self) -> int:
        """Instances on which runs finished, but none of them below the start."""
        return int((~self._improved).sum()) - self.unfinished

    @property
    def _improved(self) -> NDArray[np.bool_]:
        improved: NDArray[np.bool_] = self.start - self.lowest > self._rounding
        return improved

    @property
    def _rounding(self) -> Array:
        return ROUNDING * np.maximum(np.abs(self.start), np.abs(self.lowest))

    def targets(self, tau: float) -> Array:
        """Return the value at or below which each instance is solved to an accuracy.

        That is f_L + tau (f_0 - f_L), with f_0 the value at the start and f_L the smallest one
        reached: Moré and Wild 2009, "Benchmarking derivative-free optimization algorithms", SIAM J.
        Optim. 20(1), convergence test (2.2). Of the reduction that is known to be possible, at
        most the fraction tau is missing. Values that equal f_L up to rounding pass at every tau.

        Parameters
        ----------
        tau : float
            In (0, 1).

        Returns
        -------
        ndarray, shape (I,)
            Negative infinity, which no run reaches, if no run finished or got below the start.
        """
        slack = np.maximum(tau * (self.start - self.lowest), self._rounding)
        return np.where(self._improved, self.lowest + slack, -math.inf)

    def costs(self, cost: str, tau: float) -> Array:
        """Return the cost of each run up to the cheapest checkpoint at or below the target.

        Parameters
        ----------
        cost : str
            One of `spent`.
        tau : float
            In (0, 1): see `targets`.

        Returns
        -------
        ndarray, shape (S, I)
            Positive; infinite if the target was never reached.

        Raises
        ------
        UsageError
            On an unknown cost.
        """
        return self.cheapest(cost, self.targets(tau))

    def cheapest(self, cost: str, targets: Array) -> Array:
        """Return the cost of each run up to the cheapest checkpoint at or below a value.

        Parameters
        ----------
        cost : str
        targets : ndarray, shape (I,)
            The value of each instance; see `costs`.
        """
        if cost not in self.spent:
            raise unknown("cost", cost, self.spent)
        return cheapest(self.values, self.spent[cost], targets)


def run_matrix(entries: Sequence[SolverResult]) -> RunMatrix:
    """Collect the chosen runs of all solvers on all problems.

    What counts of a run is said by `orthobench.stats.cost_curve.cost_curve`.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of the problems of one family. A problem at several levels is several problems.
    """
    begun = [entry for entry in entries if entry.takes_part]
    solvers = tuple(dict.fromkeys(entry.solver for entry in begun))
    instances = _instances(entries, solvers)
    row = {solver: i for i, solver in enumerate(solvers)}
    column = {instance: j for j, instance in enumerate(instances)}
    shape = len(solvers), len(instances)
    costs = costs_of(run for entry in begun for run in entry.records)
    whole = {cost: np.full(shape, math.nan) for cost in costs}
    curves: dict[tuple[int, int], CostCurve] = {}
    for entry in begun:
        for run in entry.finished:
            if (entry.problem, run.seed) in column:
                at = row[entry.solver], column[entry.problem, run.seed]
                for cost, table in whole.items():
                    table[at] = whole_cost(run, cost)
                if (curve := cost_curve(run, entry.level)) is not None:
                    curves[at] = curve
    of_instance = grouped(curves, lambda at: at[1])
    groups = [[curves[at] for at in of_instance.get(j, ())] for j in range(len(instances))]
    taking_part = {(entry.solver, entry.problem) for entry in begun}
    problems = dict.fromkeys(problem for problem, _ in instances)
    planned = [sum((solver, p) in taking_part for p, _ in instances) for solver in solvers]
    finished = Counter(i for i, _ in curves)
    return RunMatrix(
        solvers,
        instances,
        *_stacked(shape, curves, [*costs]),
        whole,
        np.array([max((curve.start for curve in own), default=math.nan) for own in groups]),
        np.array([_lowest(own) for own in groups]),
        absent=tuple((s, p) for s in solvers for p in problems if (s, p) not in taking_part),
        failed=tuple(n - finished[i] for i, n in enumerate(planned)),
    )


def _instances(entries: Sequence[SolverResult], solvers: Sequence[str]) -> tuple[Instance, ...]:
    """Return problems with the seeds that were run with all solvers that take part there."""
    seeds: dict[str, dict[int, None]] = {entry.problem: {} for entry in entries}
    for entry in entries:
        seeds[entry.problem].update(dict.fromkeys(entry.seeds))
    for entry in entries:
        if entry.solver in solvers and not entry.refused:
            done = {run.seed for run in entry.finished}
            seeds[entry.problem] = {s: None for s in seeds[entry.problem] if s in done}
    return tuple((problem, seed) for problem, own in seeds.items() for seed in own)


def _stacked(
    shape: tuple[int, int], curves: Mapping[tuple[int, int], CostCurve], costs: Sequence[str]
) -> tuple[Array, dict[str, Array]]:
    """Return the values and costs of all runs in arrays, infinite after their ends."""
    longest = max((len(curve.values) for curve in curves.values()), default=0)
    values = np.full((*shape, longest), math.inf)
    spent = {cost: values.copy() for cost in costs}
    for at, curve in curves.items():
        values[at][: len(curve.values)] = curve.values
        for cost, table in spent.items():
            table[at][: len(curve.values)] = curve.spent(cost)
    return values, spent


def _lowest(curves: Sequence[CostCurve]) -> float:
    stopped = [curve.lowest for curve in curves if curve.stopped]
    return max(stopped) if stopped else min((curve.lowest for curve in curves), default=math.nan)

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
from orthobench.harness.judging import excess_violation
from orthobench.harness.stopping import RunStatus, Target
from orthobench.results.runs import Run
from orthobench.results.traces import read
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import CEILING
from orthobench.stats.costs import ALL_COSTS, COSTS
from orthobench.stats.values import metric_of
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
        The value of each run at each checkpoint; infinite where the run failed, and after its end.
    spent : mapping
        For each of `orthobench.stats.costs.COSTS`, the cost up to each checkpoint: shape
        (S, I, M), infinite after the end.
    whole : mapping
        For each cost, that of each run to its end, of failed runs too: shape (S, I). NaN where
        there is no run.
    start : ndarray, shape (I,)
        The value at the start; the largest one where solvers do some work before their first
        checkpoint. NaN where no run finished.
    lowest : ndarray, shape (I,)
        The smallest value that any run reached. Where a stopping rule ended runs, the largest
        value at which it ended one: no run is asked for more than what runs were stopped at. NaN
        where no run finished.
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
    def reached(self) -> Array:
        """The smallest value of each run, shape (S, I); infinite where it failed."""
        reached: Array = self.values.min(axis=-1, initial=math.inf)
        return reached

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
            Negative infinity, which no run reaches, where no run finished or got below the start.
        """
        slack = np.maximum(tau * (self.start - self.lowest), self._rounding)
        return np.where(self._improved, self.lowest + slack, -math.inf)

    def values_within(self, precision: float) -> Array:
        """Return the value at or below which each instance is solved to an absolute precision.

        That is f_L plus the precision; see `targets`.

        Parameters
        ----------
        precision : float
            Positive.
        """
        slack = np.maximum(precision, self._rounding)
        return np.where(self._improved, self.lowest + slack, -math.inf)

    def costs(self, cost: str, tau: float) -> Array:
        """Return the cost of each run up to the cheapest checkpoint at or below the target.

        There is no interpolation: a solution was there only at the checkpoint. A later one can be
        cheaper, as what it takes to read a solution varies.

        Parameters
        ----------
        cost : str
            One of `orthobench.stats.costs.COSTS`.
        tau : float
            In (0, 1): see `targets`.

        Returns
        -------
        ndarray, shape (S, I)
            Positive; infinite where the target was never reached.

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
        if cost not in COSTS:
            raise unknown("cost", cost, COSTS)
        reached = self.values <= targets[:, None]
        least: Array = np.where(reached, self.spent[cost], math.inf).min(axis=-1, initial=math.inf)
        return least


def run_matrix(entries: Sequence[SolverResult]) -> RunMatrix:
    """Collect the chosen runs of all solvers on all problems.

    The values are those of the metric that the runs have a target for, or else of the problem's
    primary metric. A run counts up to where it leaves the constraint, and not at all where the
    metric is not finite at its end. Where entries are compared at a level, a checkpoint counts if
    it keeps the level, or is no further from it than the end of the run.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of the problems of one family. A problem at several levels is several problems.
    """
    begun = [entry for entry in entries if entry.takes_part]
    solvers = tuple(dict.fromkeys(entry.solver for entry in begun))
    seeds: dict[str, dict[int, None]] = {entry.problem: {} for entry in entries}
    for entry in entries:
        seeds[entry.problem].update(dict.fromkeys(entry.seeds))
    for entry in entries:
        if entry.solver in solvers and not entry.refused:
            done = {record.seed for record in entry.finished}
            seeds[entry.problem] = {s: None for s in seeds[entry.problem] if s in done}
    instances = tuple((problem, seed) for problem, own in seeds.items() for seed in own)
    row = {solver: i for i, solver in enumerate(solvers)}
    column = {instance: j for j, instance in enumerate(instances)}
    runs = [
        (row[entry.solver], column[entry.problem, run.seed], run, entry.level)
        for entry in begun
        for run in entry.finished
        if (entry.problem, run.seed) in column
    ]
    shape = len(solvers), len(instances)
    whole = {cost: np.full(shape, math.nan) for cost in COSTS}
    for i, j, run, _ in runs:
        for cost, table in whole.items():
            table[i, j] = whole_cost(run, cost)
    found = {(i, j): path_of(run, level) for i, j, run, level in runs}
    paths = {at: path for at, path in found.items() if path is not None}
    of_instance = grouped(paths, lambda at: at[1])
    groups = [[paths[at] for at in of_instance.get(j, ())] for j in range(len(instances))]
    taking_part = {(entry.solver, entry.problem) for entry in begun}
    planned = [sum((solver, p) in taking_part for p, _ in instances) for solver in solvers]
    finished = Counter(i for i, _ in paths)
    return RunMatrix(
        solvers,
        instances,
        *_stacked(shape, paths),
        whole,
        np.array([max((path.start for path in own), default=math.nan) for own in groups]),
        np.array([_lowest(own) for own in groups]),
        absent=tuple(
            (s, p) for s in solvers for p, own in seeds.items() if own and (s, p) not in taking_part
        ),
        failed=tuple(n - finished[i] for i, n in enumerate(planned)),
    )


@dataclass(frozen=True)
class Path:
    """A run that did not fail, up to where it counts.

    Attributes
    ----------
    start : float
        The value at its first checkpoint.
    values : ndarray, shape (m,)
        The value at each checkpoint; infinite where it does not keep a level.
    run : Run
    """

    start: float
    values: Array
    run: Run

    @property
    def stopped(self) -> bool:
        """Whether a target ended it."""
        return self.run.stop.status is RunStatus.TARGET

    @property
    def lowest(self) -> float:
        """The smallest value that it reached."""
        return float(self.values.min())

    def spent(self, cost: str) -> Array:
        """Return a cost up to each checkpoint; infinite where it was not measured."""
        return spent(self.run, cost)[: len(self.values)]

    def cheapest(self, cost: str, target: float) -> float:
        """Return the least cost of a checkpoint at or below a value; infinite without any."""
        return float(self.spent(cost)[self.values <= target].min(initial=math.inf))


def path_of(record: Run, level: Target | None, metric: str = "") -> Path | None:
    """Return a run up to where it counts; None where it failed, or nothing of it counts.

    Parameters
    ----------
    record : Run
    level : Target, optional
        Only checkpoints that keep it count, or are no further from it than the end of the run.
    metric : str
        Where none is named, that of the run's target, or else the problem's primary metric.
    """
    if not record.ok:
        return None
    values = read(record.trace, metric_of(metric or record.target or record.problem.primary))
    finite = np.isfinite(values)
    counts = finite & (read(record.trace, excess_violation) <= 0)
    values = np.clip(values, -CEILING, CEILING)  # so that differences are finite
    end = len(values) if counts.all() else int(counts.argmin())
    if not end or not finite[-1]:
        return None
    start = float(values[0])
    if level is not None:
        bound = level.metric
        at_level = read(record.trace, lambda mark: mark.metrics.get(bound, math.inf))
        values = np.where(at_level <= max(level.value, at_level[-1]), values, math.inf)
    return Path(start, values[:end], record)


def _stacked(
    shape: tuple[int, int], paths: Mapping[tuple[int, int], Path]
) -> tuple[Array, dict[str, Array]]:
    """Return the values and costs of all runs in arrays, infinite after their ends."""
    longest = max((len(path.values) for path in paths.values()), default=0)
    values = np.full((*shape, longest), math.inf)
    spent = {cost: values.copy() for cost in COSTS}
    for at, path in paths.items():
        values[at][: len(path.values)] = path.values
        for cost, table in spent.items():
            table[at][: len(path.values)] = path.spent(cost)
    return values, spent


def spent(record: Run, cost: str) -> Array:
    """Return a cost up to each checkpoint of a run, one unit at least.

    It is infinite where it was not measured: flops of a solver that counts none, too.
    """
    amounts = read(record.trace, ALL_COSTS[cost])
    if cost == "flops" and not amounts.any():
        amounts = np.full(len(amounts), math.nan)
    return np.maximum(np.where(np.isnan(amounts), math.inf, amounts), ALL_COSTS[cost].unit)


def whole_cost(record: Run, cost: str) -> float:
    """Return what a run cost to its end; one that recorded nothing took one unit."""
    return float(spent(record, cost).max(initial=ALL_COSTS[cost].unit))


def _lowest(paths: Sequence[Path]) -> float:
    stopped = [path.lowest for path in paths if path.stopped]
    return max(stopped) if stopped else min((path.lowest for path in paths), default=math.nan)

"""Targets: the cost at which each run first reaches a target value, over all problems.

An instance is a problem with a seed. A run that failed, or whose metric is not finite at its end,
never reaches a target. An instance that no run solved counts as unsolved for every solver; one that
was not run yet with all solvers of its problem is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import unknown
from orthobench.harness.judging import beyond
from orthobench.harness.stopping import RunStatus
from orthobench.harness.suite import Level
from orthobench.results.runs import Run
from orthobench.results.traces import read
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import CEILING
from orthobench.stats.values import COSTS, metric_of
from orthobench.tools.arrays import Array

UNITS: Mapping[str, float] = {"samples": 1.0, "seconds": 1e-9, "flops": 1.0, "steps": 1.0}
"""One unit of each cost, for seconds the clock's resolution. Smaller costs count as one unit, so
that the ratio of two costs always exists."""

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
    best : ndarray, shape (S, I, M)
        The smallest value of each run up to each checkpoint; infinite where the run failed.
    spent : mapping
        For each of `orthobench.stats.values.COSTS`, the cost up to each checkpoint: shape
        (S, I, M + 1), the last one infinite, for targets that were never reached.
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
    best: Array
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
        """Return the cost of each run up to its first checkpoint at or below the target.

        There is no interpolation: a solution was there only at the checkpoint.

        Parameters
        ----------
        cost : str
            One of `orthobench.stats.values.COSTS`.
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
        return self.first_hits(cost, self.targets(tau))

    def first_hits(self, cost: str, targets: Array) -> Array:
        """Return the cost of each run up to its first checkpoint at or below a value; see `costs`.

        Parameters
        ----------
        cost : str
        targets : ndarray, shape (I,)
            The value of each instance.
        """
        if cost not in COSTS:
            raise unknown("cost", cost, COSTS)
        first = (self.best > targets[:, None]).sum(axis=-1)
        found: Array = np.take_along_axis(self.spent[cost], first[..., None], axis=-1)[..., 0]
        return found


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
    taking_part = {(entry.solver, entry.problem) for entry in begun}
    paths = {key: path for key, path in _paths(begun).items() if key[2] in seeds[key[1]]}
    finished = [sum(solver == one for one, _, _ in paths) for solver in solvers]
    planned = [sum((solver, p) in taking_part for p, _ in instances) for solver in solvers]
    return RunMatrix(
        solvers,
        instances,
        *_stacked(solvers, instances, paths),
        _whole(solvers, instances, begun),
        *_starts_and_lowest(instances, paths),
        absent=tuple(
            (s, p) for s in solvers for p, own in seeds.items() if own and (s, p) not in taking_part
        ),
        failed=tuple(n - done for n, done in zip(planned, finished, strict=True)),
    )


@dataclass(frozen=True)
class _Path:
    """A finished run up to where it counts: the smallest value so far, and the costs."""

    start: float
    best: Array
    spent: Mapping[str, Array]
    stopped: bool


def _paths(entries: Sequence[SolverResult]) -> dict[tuple[str, str, int], _Path]:
    """Return the finished runs by solver, problem and seed."""
    paths: dict[tuple[str, str, int], _Path] = {}
    for entry in entries:
        for record in entry.records:
            path = _path(record, entry.level) if record.ok else None
            if path is not None:
                paths[entry.solver, entry.problem, record.seed] = path
    return paths


def _path(record: Run, level: Level | None) -> _Path | None:
    metric = record.target or record.problem.primary
    values = read(record.trace, metric_of(metric))
    finite = np.isfinite(values)
    counts = finite & (read(record.trace, beyond) <= 0)
    values = np.clip(values, -CEILING, CEILING)  # so that differences are finite
    end = len(values) if counts.all() else int(counts.argmin())
    if not end or not finite[-1]:
        return None
    start = float(values[0])
    if level is not None:
        bound = level.metric
        at_level = read(record.trace, lambda mark: mark.metrics.get(bound, math.inf))
        values = np.where(at_level <= max(level.most, at_level[-1]), values, math.inf)
    spent = {
        cost: np.maximum(read(record.trace, value)[:end], UNITS[cost])
        for cost, value in COSTS.items()
    }
    stopped = record.stop.status is RunStatus.TARGET
    return _Path(start, np.minimum.accumulate(values[:end]), spent, stopped)


def _stacked(
    solvers: Sequence[str],
    instances: Sequence[Instance],
    paths: Mapping[tuple[str, str, int], _Path],
) -> tuple[Array, dict[str, Array]]:
    """Return the values and costs of all runs in arrays, the last value repeated to the end."""
    longest = max((len(path.best) for path in paths.values()), default=0)
    shape = len(solvers), len(instances)
    best = np.full((*shape, longest), math.inf)
    spent = {cost: np.full((*shape, longest + 1), math.inf) for cost in COSTS}
    row = {solver: i for i, solver in enumerate(solvers)}
    column = {instance: i for i, instance in enumerate(instances)}
    for (solver, problem, seed), path in paths.items():
        at = row[solver], column[problem, seed]
        best[at] = path.best[-1]
        best[at][: len(path.best)] = path.best
        for cost, values in path.spent.items():
            spent[cost][at][: len(values)] = values
    return best, spent


def _whole(
    solvers: Sequence[str], instances: Sequence[Instance], entries: Sequence[SolverResult]
) -> dict[str, Array]:
    """Return what each run cost to its end; one that recorded nothing took one unit."""
    row = {solver: i for i, solver in enumerate(solvers)}
    column = {instance: i for i, instance in enumerate(instances)}
    whole = {cost: np.full((len(solvers), len(instances)), math.nan) for cost in COSTS}
    for entry in entries:
        for record in entry.finished:
            if (instance := (entry.problem, record.seed)) not in column:
                continue
            for cost, value in COSTS.items():
                spent = read(record.trace, value).max(initial=UNITS[cost])
                whole[cost][row[entry.solver], column[instance]] = spent
    return whole


def _starts_and_lowest(
    instances: Sequence[Instance], paths: Mapping[tuple[str, str, int], _Path]
) -> tuple[Array, Array]:
    """Return the value at the start of each instance, and the smallest one reached."""
    groups: dict[Instance, list[_Path]] = {instance: [] for instance in instances}
    for (_, problem, seed), path in paths.items():
        groups[problem, seed].append(path)
    start = [max((path.start for path in group), default=math.nan) for group in groups.values()]
    return np.array(start), np.array([_lowest(group) for group in groups.values()])


def _lowest(paths: Sequence[_Path]) -> float:
    stopped = [path.best[-1] for path in paths if path.stopped]
    return float(max(stopped) if stopped else min((p.best[-1] for p in paths), default=math.nan))

"""Performance profiles and ECDFs: what each solver costs to get to targets, over all problems.

An instance is a problem with a seed. A run that failed or is missing, or ends where its metric is
not finite, never reaches a target, and no instance is ever left out: one that nobody solved is
solved by nobody.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthobench.errors import unknown
from orthobench.harness.judging import FEASIBLE, VIOLATION
from orthobench.harness.stopping import Ending
from orthobench.harness.suite import Level
from orthobench.results.record import Record
from orthobench.results.traces import read
from orthobench.results.tuning import Entry
from orthobench.stats.curves import AXES
from orthobench.stats.seeds import CEILING, metric_of
from orthobench.tools.arrays import Array

LADDER = tuple(10 ** (-k / 4) for k in range(1, 21))
"""The accuracies of an ECDF's targets: 0.56 to 1e-5, four to a decade."""

LEAST: Mapping[str, float] = {"samples": 1.0, "seconds": 1e-9, "flops": 1.0, "steps": 1.0}
"""One unit of each cost, the clock's resolution for seconds. What was had for less counts as one:
a ratio to nothing is none."""

ROUNDING = 1e-12
"""Values that differ by less than this part of their size are equal."""


@dataclass(frozen=True)
class Runs:
    """The runs of S solvers on I instances, of at most M checkpoints each.

    Attributes
    ----------
    solvers : tuple of str
        Those that take part in any of the problems.
    instances : tuple of (str, int)
        Problem and seed.
    best : ndarray, shape (S, I, M)
        The smallest value that a run had up to each checkpoint; infinite where it failed.
    spent : mapping
        Of each of `orthobench.stats.curves.AXES`, the cost up to each checkpoint; shape
        (S, I, M + 1), the last infinite: what was never reached.
    start : ndarray, shape (I,)
        The value at the start; the largest, where solvers had done some work before it.
    least : ndarray, shape (I,)
        The smallest value that any run reached. Where a rule ended runs, the largest that it
        ended one at: no more is asked of a run than what it was stopped for. Both are NaN where
        nobody finished.
    absent : tuple of (str, str)
        Each solver that takes no part, with the problem.
    failed : tuple of int
        The failed and missing runs of each solver, of the problems that it takes part in.
    """

    solvers: tuple[str, ...]
    instances: tuple[tuple[str, int], ...]
    best: Array
    spent: Mapping[str, Array]
    start: Array
    least: Array
    absent: tuple[tuple[str, str], ...]
    failed: tuple[int, ...]

    @property
    def unfinished(self) -> int:
        """Instances that no run finished."""
        return int(np.isnan(self.start).sum())

    @property
    def unimproved(self) -> int:
        """Instances that runs finished, none of them below the start but for rounding."""
        return int((~self._improved).sum()) - self.unfinished

    @property
    def _improved(self) -> NDArray[np.bool_]:
        improved: NDArray[np.bool_] = self.start - self.least > self._rounding
        return improved

    @property
    def _rounding(self) -> Array:
        return ROUNDING * np.maximum(np.abs(self.start), np.abs(self.least))

    def targets(self, tau: float) -> Array:
        """Return the value that solves each instance to an accuracy.

        That is f <= f_L + tau (f_0 - f_L), with f_0 the value at the start and f_L the smallest
        reached, as Moré and Wild 2009, "Benchmarking derivative-free optimization algorithms",
        SIAM J. Optim. 20(1), convergence test (2.2): all but the share tau of the reduction that
        is known to be possible. Values that equal f_L but for rounding pass at every tau.

        Parameters
        ----------
        tau : float
            In (0, 1).

        Returns
        -------
        ndarray, shape (I,)
            Minus infinity, which nobody reaches, where nobody finished or got below the start:
            there is nothing to be solved to.
        """
        slack = np.maximum(tau * (self.start - self.least), self._rounding)
        return np.where(self._improved, self.least + slack, -math.inf)

    def costs(self, axis: str, tau: float) -> Array:
        """Return what each run cost up to its first checkpoint at or below the target.

        There is no interpolation: what was had at a checkpoint was had for its cost.

        Parameters
        ----------
        axis : str
            One of `orthobench.stats.curves.AXES`.
        tau : float
            In (0, 1): see `targets`.

        Returns
        -------
        ndarray, shape (S, I)
            Positive; infinite where the target was never reached.

        Raises
        ------
        UsageError
            On an unknown axis.
        """
        if axis not in AXES:
            raise unknown("axis", axis, AXES)
        first = (self.best > self.targets(tau)[:, None]).sum(axis=-1)
        found: Array = np.take_along_axis(self.spent[axis], first[..., None], axis=-1)[..., 0]
        return found


@dataclass(frozen=True)
class Distribution:
    """A step function: the share of all values that are at most x.

    Attributes
    ----------
    x : ndarray, shape (m,)
        Where it steps up, ascending.
    share : ndarray, shape (m,)
        Its value from there on, in (0, 1], ascending; below 1 at the end where some values are
        infinite.
    """

    x: Array
    share: Array

    def at(self, x: ArrayLike) -> Array:
        """Return the share of values that are at most x."""
        steps = np.searchsorted(self.x, x, side="right")
        found: Array = np.concatenate([[0.0], self.share])[steps]
        return found


def gather(entries: Sequence[Entry]) -> Runs:
    """Gather the chosen runs of all solvers on all problems.

    What is compared is the metric of a problem's target, where its runs have one, or else its
    primary one. A run counts up to where it leaves the constraint, and not at all where that
    metric is not finite at its end. At a level, a checkpoint counts where it keeps the level, or
    is no further from it than the run's end.

    Parameters
    ----------
    entries : sequence of Entry
        Of the problems of one family. A problem at several levels is several problems.
    """
    solvers = tuple(dict.fromkeys(entry.solver for entry in entries if not entry.refused))
    seeds: dict[str, dict[int, None]] = {}
    for entry in entries:
        seeds.setdefault(entry.problem, {}).update(dict.fromkeys(entry.seeds))
    instances = tuple((problem, seed) for problem, of_it in seeds.items() for seed in of_it)
    taking = {(entry.solver, entry.problem) for entry in entries if not entry.refused}
    paths = _paths(entries)
    finished = [sum(solver == one for one, _, _ in paths) for solver in solvers]
    planned = [sum((solver, problem) in taking for problem, _ in instances) for solver in solvers]
    return Runs(
        solvers,
        instances,
        *_packed(solvers, instances, paths),
        *_ends(instances, paths),
        tuple((s, p) for s in solvers for p in seeds if (s, p) not in taking),
        tuple(all_ - some for all_, some in zip(planned, finished, strict=True)),
    )


def performance_profile(costs: Array) -> list[Distribution]:
    """Return the performance profile of each solver.

    The share of instances that it solves at no more than x times the cost of the cheapest solver
    there: Dolan and Moré 2002, "Benchmarking optimization software with performance profiles",
    Math. Program. 91, section 2.

    Parameters
    ----------
    costs : ndarray, shape (S, I)
        Positive; what is not finite was never solved.

    Returns
    -------
    list of Distribution
        Of cost ratios, which are at least 1.

    Raises
    ------
    ValueError
        Where a cost is not positive.
    """
    if (costs <= 0).any():
        raise ValueError("a cost must be positive: the ratio to nothing is none")
    least = np.where(np.isfinite(costs), costs, math.inf).min(axis=0, initial=math.inf)
    return [distribution(row / np.where(np.isfinite(least), least, 1.0)) for row in costs]


def distribution(values: ArrayLike) -> Distribution:
    """Return the empirical distribution of values, of which some may be infinite.

    Parameters
    ----------
    values : array_like
        Of any shape; what is not finite is never reached.
    """
    all_of_them = np.asarray(values, dtype=np.float64)
    x, counts = np.unique(all_of_them[np.isfinite(all_of_them)], return_counts=True)
    return Distribution(x, np.cumsum(counts) / all_of_them.size)


def ecdf(costs: Array) -> list[Distribution]:
    """Return, for each solver, the share of targets that it reached within a cost.

    Targets of all instances count alike, as in COCO: Hansen, Auger, Brockhoff and Tušar 2022,
    "Anytime performance assessment in blackbox optimization benchmarking", IEEE Trans. Evol.
    Comput. 26(6).

    Parameters
    ----------
    costs : ndarray, shape (S, I, T)
        Of each solver, instance and target; infinite where it was never reached.
    """
    return [distribution(of_solver) for of_solver in costs]


@dataclass(frozen=True)
class _Path:
    """One finished run: the smallest value so far and the costs, up to where it counts."""

    start: float
    best: Array
    spent: Mapping[str, Array]
    stopped: bool


def _paths(entries: Sequence[Entry]) -> dict[tuple[str, str, int], _Path]:
    """Return the finished runs by solver, problem and seed."""
    found: dict[tuple[str, str, int], _Path] = {}
    for entry in entries:
        for record in entry.records:
            path = None if record.failed else _path(record, entry.level)
            if path is not None:
                found[entry.solver, entry.problem, record.seed] = path
    return found


def _path(record: Record, level: Level | None) -> _Path | None:
    metric = record.target or record.problem.primary
    values = read(record.trace, metric_of(metric))
    finite = np.isfinite(values)
    sound = finite & (read(record.trace, lambda mark: mark.metrics.get(VIOLATION, 0.0)) <= FEASIBLE)
    values = np.clip(values, -CEILING, CEILING)  # so that differences are finite
    end = len(values) if sound.all() else int(sound.argmin())
    if not end or not finite[-1]:
        return None
    start = float(values[0])
    if level is not None:
        bound = level.metric
        kept = read(record.trace, lambda mark: mark.metrics.get(bound, math.inf))
        values = np.where(kept <= max(level.most, kept[-1]), values, math.inf)
    spent = {
        axis: np.maximum(read(record.trace, cost)[:end], LEAST[axis]) for axis, cost in AXES.items()
    }
    stopped = record.stop.status is Ending.TARGET
    return _Path(start, np.minimum.accumulate(values[:end]), spent, stopped)


def _packed(
    solvers: Sequence[str],
    instances: Sequence[tuple[str, int]],
    paths: Mapping[tuple[str, str, int], _Path],
) -> tuple[Array, dict[str, Array]]:
    """Return the values and costs of all runs in arrays, the last value repeated to the end."""
    longest = max((len(path.best) for path in paths.values()), default=0)
    shape = len(solvers), len(instances)
    best = np.full((*shape, longest), math.inf)
    spent = {axis: np.full((*shape, longest + 1), math.inf) for axis in AXES}
    row = {solver: i for i, solver in enumerate(solvers)}
    column = {instance: i for i, instance in enumerate(instances)}
    for (solver, problem, seed), path in paths.items():
        at = row[solver], column[problem, seed]
        best[at] = path.best[-1]
        best[at][: len(path.best)] = path.best
        for axis, values in path.spent.items():
            spent[axis][at][: len(values)] = values
    return best, spent


def _ends(
    instances: Sequence[tuple[str, int]], paths: Mapping[tuple[str, str, int], _Path]
) -> tuple[Array, Array]:
    """Return the value at the start of each instance, and the smallest reached."""
    groups: dict[tuple[str, int], list[_Path]] = {instance: [] for instance in instances}
    for (_, problem, seed), path in paths.items():
        groups[problem, seed].append(path)
    start = [max((path.start for path in group), default=math.nan) for group in groups.values()]
    return np.array(start), np.array([_least(group) for group in groups.values()])


def _least(paths: Sequence[_Path]) -> float:
    stopped = [path.best[-1] for path in paths if path.stopped]
    return float(max(stopped) if stopped else min((p.best[-1] for p in paths), default=math.nan))

"""Performance profiles, ECDFs and expected costs of solvers up to targets; pure functions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthobench.stats.targets import RunMatrix
from orthobench.tools.arrays import Array

LADDER = tuple(10 ** (-k / 4) for k in range(1, 21))
"""The accuracies of an ECDF's targets: 0.56 to 1e-5, four to a decade."""

PRECISIONS = tuple(10 ** (2 - k / 5) for k in range(51))
"""COCO's default targets: 51 absolute precisions from 100 to 1e-8, five to a decade."""


RESAMPLES = 1000
"""Bootstrap resamples of the seeds."""

LEVEL = 0.95
"""Nominal coverage of the intervals."""


@dataclass(frozen=True)
class Distribution:
    """An empirical distribution function: the share of all values that are at most x.

    Attributes
    ----------
    x : ndarray, shape (m,)
        The finite values, ascending: the function steps up at each.
    share : ndarray, shape (m,)
        The share from there on, in (0, 1], ascending; the last one is below 1 where some values
        are infinite.
    """

    x: Array
    share: Array

    def at(self, x: ArrayLike) -> Array:
        """Return the share of values that are at most x."""
        steps = np.searchsorted(self.x, x, side="right")
        found: Array = np.concatenate([[0.0], self.share])[steps]
        return found


def distribution(values: ArrayLike) -> Distribution:
    """Return the empirical distribution of values, of which some may be infinite.

    Parameters
    ----------
    values : array_like
        Of any shape; a value that is not finite counts as larger than any x.
    """
    array = np.asarray(values, dtype=np.float64)
    x, counts = np.unique(array[np.isfinite(array)], return_counts=True)
    return Distribution(x, np.cumsum(counts) / array.size)


def performance_profile(costs: Array) -> list[Distribution]:
    """Return the performance profile of each solver.

    The share of instances that it solves at no more than x times the cost of the cheapest solver
    there: Dolan and Moré 2002, "Benchmarking optimization software with performance profiles",
    Math. Program. 91, section 2.

    Parameters
    ----------
    costs : ndarray, shape (S, I)
        The cost of each solver on each instance, positive; not finite where it was never solved.

    Returns
    -------
    list of Distribution
        Of cost ratios, which are at least 1.

    Raises
    ------
    ValueError
        If a cost is not positive.
    """
    if (costs <= 0).any():
        raise ValueError("costs must be positive, since performance profiles are of their ratios")
    least = np.where(np.isfinite(costs), costs, math.inf).min(axis=0, initial=math.inf)
    return [distribution(row / np.where(np.isfinite(least), least, 1.0)) for row in costs]


def ecdf(costs: Array) -> list[Distribution]:
    """Return, for each solver, the share of targets that it reached within a cost.

    The targets of all instances count alike, as in COCO: Hansen, Auger, Brockhoff and Tušar 2022,
    "Anytime performance assessment in blackbox optimization benchmarking", IEEE Trans. Evol.
    Comput. 26(6).

    Parameters
    ----------
    costs : ndarray, shape (S, I, T)
        The cost of each solver on each instance up to each target; infinite where it was never
        reached.
    """
    return [distribution(of_solver) for of_solver in costs]


@dataclass(frozen=True)
class ExpectedCosts:
    """The expected costs of S solvers on P problems.

    Attributes
    ----------
    problems : tuple of str
    cost, low, high : ndarray, shape (S, P)
        The estimate and its bootstrap interval; infinite where no run reached the target, NaN where
        there is no run.
    reached, runs : ndarray of int, shape (S, P)
        How many runs reached the target, of how many.
    """

    problems: tuple[str, ...]
    cost: Array
    low: Array
    high: Array
    reached: NDArray[np.int_]
    runs: NDArray[np.int_]


def expected_costs(runs: RunMatrix, cost: str, tau: float) -> ExpectedCosts:
    """Return what it costs to reach a target, with restarts after runs that miss it.

    The sum of what all runs took, to the target or, where they missed it, to their end, over the
    number of those that reached it: COCO's average runtime (Hansen, Auger, Ros, Mersmann, Tusar and
    Brockhoff 2021, "COCO: a platform for comparing continuous optimizers in a black-box setting",
    Optim. Methods Softw. 36(1), section 4). Runs that failed count with all they took.

    Parameters
    ----------
    runs : RunMatrix
    cost : str
        One of `orthobench.stats.values.COSTS`.
    tau : float
        In (0, 1): see `RunMatrix.targets`.
    """
    hits, whole = runs.costs(cost, tau), runs.whole[cost]
    there, reached = np.isfinite(whole), np.isfinite(hits)
    spent = np.where(there, np.where(reached, hits, whole), 0.0)
    problems = tuple(dict.fromkeys(problem for problem, _ in runs.instances))
    shape = len(runs.solvers), len(problems)
    found = ExpectedCosts(
        problems,
        *(np.full(shape, np.nan) for _ in range(3)),
        *(np.zeros(shape, dtype=np.int_) for _ in range(2)),
    )
    for column, problem in enumerate(problems):
        own = [i for i, (name, _) in enumerate(runs.instances) if name == problem]
        for row in range(len(runs.solvers)):
            at = [i for i in own if there[row, i]]
            values = spent[row, at], reached[row, at]
            found.runs[row, column], found.reached[row, column] = len(at), values[1].sum()
            if at:
                found.cost[row, column] = _ratio(*values)
                found.low[row, column], found.high[row, column] = _interval(*values)
    return found


def _ratio(spent: Array, reached: NDArray[np.bool_]) -> Array:
    """Return the sum of costs over the number of successes, along the last axis."""
    with np.errstate(divide="ignore"):
        ratio: Array = spent.sum(axis=-1) / reached.sum(axis=-1)
    return ratio


@cache
def _draws(n: int) -> NDArray[np.int_]:
    """Return the places of n values in each resample."""
    return np.random.default_rng(0).integers(n, size=(RESAMPLES, n))


def _interval(spent: Array, reached: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the percentile-bootstrap interval over seeds; infinite where resamples have no hit."""
    draws = _draws(len(spent))
    ordered = np.sort(_ratio(spent[draws], reached[draws]))
    edge = int(RESAMPLES * (1 - LEVEL) / 2)
    return float(ordered[edge]), float(ordered[-1 - edge])

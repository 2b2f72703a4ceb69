"""Performance profiles and expected costs of solvers up to targets; pure functions."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthobench.stats.targets import RunMatrix
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped

RESAMPLES = 1000
"""Bootstrap resamples of the seeds."""

LEVEL = 0.95
"""Nominal coverage of the intervals."""


def distribution(values: ArrayLike) -> tuple[Array, Array]:
    """Return the steps of the empirical distribution of values.

    Parameters
    ----------
    values : array_like
        Of any shape; a value that is not finite counts as larger than any x.

    Returns
    -------
    x, share : ndarray, shape (m,)
        The finite values, ascending, and the share of all values that are at most each.
    """
    array = np.asarray(values, dtype=np.float64)
    x, counts = np.unique(array[np.isfinite(array)], return_counts=True)
    return x, np.cumsum(counts) / array.size


def performance_ratios(costs: Array) -> Array:
    """Return the cost of each solver on each instance over that of the cheapest solver there.

    Their distribution is the performance profile of a solver: Dolan and Moré 2002, "Benchmarking
    optimization software with performance profiles", Math. Program. 91, section 2.

    Parameters
    ----------
    costs : ndarray, shape (S, I)
        Positive; not finite if an instance was never solved.

    Raises
    ------
    ValueError
        If a cost is not positive.
    """
    if (costs <= 0).any():
        raise ValueError("costs must be positive, since performance profiles are of their ratios")
    least = np.where(np.isfinite(costs), costs, math.inf).min(axis=0, initial=math.inf)
    ratios: Array = costs / np.where(np.isfinite(least), least, 1.0)
    return ratios


def expected_costs(
    runs: RunMatrix, cost: str, tau: float
) -> dict[tuple[str, str], tuple[float, float, float, int, int]]:
    """Return what it costs to reach a target, with restarts after runs that miss it.

    The sum of what all runs took, to the target or, if they missed it, to their end, over the
    number of those that reached it: COCO's average runtime (Hansen, Auger, Ros, Mersmann, Tusar and
    Brockhoff 2021, "COCO: a platform for comparing continuous optimizers in a black-box setting",
    Optim. Methods Softw. 36(1), section 4). Runs that failed count with all they took.

    Parameters
    ----------
    runs : RunMatrix
    cost : str
        One of `orthobench.stats.costs.COSTS`.
    tau : float
        In (0, 1): see `RunMatrix.targets`.

    Returns
    -------
    dict
        By solver and problem, if there is a run: the estimate, the ends of its bootstrap
        interval, all infinite if no run reached the target, and how many runs did, of how many.
    """
    hits, whole = runs.costs(cost, tau), runs.whole[cost]
    there, reached = np.isfinite(whole), np.isfinite(hits)
    spent = np.where(there, np.where(reached, hits, whole), 0.0)
    instances = grouped(range(len(runs.instances)), lambda i: runs.instances[i][0])
    found: dict[tuple[str, str], tuple[float, float, float, int, int]] = {}
    for problem, own in instances.items():
        for row, solver in enumerate(runs.solvers):
            if at := [i for i in own if there[row, i]]:
                values = spent[row, at], reached[row, at]
                estimate, hit = float(_ratio(*values)), int(values[1].sum())
                found[solver, problem] = (estimate, *_interval(*values), hit, len(at))
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
    """Return the percentile-bootstrap interval over seeds; infinite if resamples have no hit."""
    draws = _draws(len(spent))
    ordered = np.sort(_ratio(spent[draws], reached[draws]))
    edge = int(RESAMPLES * (1 - LEVEL) / 2)
    return float(ordered[edge]), float(ordered[-1 - edge])

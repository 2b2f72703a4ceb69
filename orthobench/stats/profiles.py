"""Performance profiles and expected costs of solvers up to targets."""

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
        A value that is not finite counts as larger than any x.

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
    """Return the expected cost to reach a target, with restarts after runs that miss it.

    It is the cost of all runs, to the target or else to their end, over the number of runs that
    reached it. Source: average runtime of COCO (Hansen et al. 2021, Optim. Methods Softw. 36(1),
    section 4).

    Parameters
    ----------
    runs : RunMatrix
    cost : str
    tau : float
        In (0, 1): see `RunMatrix.targets`.

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

"""Average ranks over problems: Friedman's test and Nemenyi's critical difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from orthobench.stats.paired import LEVEL
from orthobench.tools.arrays import Array, average_ranks

PROBLEMS = 5
"""The fewest problems over which mean ranks are tested.

Friedman's statistic is chi-squared distributed, and the range of mean ranks in Nemenyi's test
studentized, only in the limit of many problems (Demšar 2006 advises more than 10, with more than 5
solvers). In simulations of equal solvers at the 5 % level, Friedman's test rejects 7 % of the time
for 3 solvers on 4 problems. From 5 problems on it rejects 2 to 5 %, and Nemenyi's 2 to 6 %, for 3
to 20 solvers: below 10 problems, both tests miss differences rather than invent them.
"""

SOLVERS = 3
"""The fewest solvers that Friedman's test compares; two are compared by a paired test."""


@dataclass(frozen=True)
class Ranks:
    """Solvers ranked over problems.

    Attributes
    ----------
    mean : mapping
        The mean rank of each solver, best first; ties share the mean of their ranks.
    problems : int
        Blocks: problems of different names.
    p : float
        The p-value of Friedman's test, whose null hypothesis is that all solvers are equal.
    critical_difference : float
        Nemenyi's: mean ranks that are further apart differ at the 5 % level.
    statistic : float
        Friedman's, corrected for ties.
    alike : tuple of tuple of str
        Groups of solvers, best first, that are not shown to differ among each other: as large as
        they can be, so they may overlap. Two solvers that no group has both of are shown to differ.
    """

    mean: Mapping[str, float]
    problems: int
    p: float
    critical_difference: float
    statistic: float
    alike: tuple[tuple[str, ...], ...]


def enough(solvers: int, problems: int) -> bool:
    """Return whether there are enough solvers and problems for `mean_ranks`."""
    return solvers >= SOLVERS and problems >= PROBLEMS


def mean_ranks(values: Mapping[str, Sequence[float]], blocks: Sequence[str] | None = None) -> Ranks:
    """Rank solvers on each problem, average over the problems, and test the mean ranks.

    Parameters
    ----------
    values : mapping
        The value of each solver on each problem, in one order, smaller is better; a solver whose
        value is not finite failed.
    blocks : sequence of str, optional
        The block of each problem: those of one block are not independent, and their ranks are
        averaged first. By default each is a block of its own.

    Raises
    ------
    ValueError
        If there are too few solvers or blocks, or not the same number of problems for all
        solvers.

    Notes
    -----
    Source: Demšar 2006, "Statistical comparisons of classifiers over multiple data sets", *JMLR*
    7, section 3.2.2. There Friedman's statistic is not corrected for ties; here it is. Two solvers
    are shown to differ where Friedman's test rejects and their mean ranks are further apart than
    the critical difference.
    """
    if len({len(row) for row in values.values()}) > 1:
        raise ValueError("mean ranks need the same problems of all solvers")
    solvers, problems = len(values), len(next(iter(values.values()), ()))
    blocks = [str(i) for i in range(problems)] if blocks is None else blocks
    problems = len(set(blocks))
    if not enough(solvers, problems):
        raise ValueError(
            f"{solvers} solvers on {problems} problems are too few for tests of mean ranks: "
            f"they need {SOLVERS} solvers and {PROBLEMS} problems"
        )
    ranks = block_means(problem_ranks(np.array(list(values.values()))), blocks)
    means = zip(values, ranks.mean(axis=1).tolist(), strict=True)
    mean = dict(sorted(means, key=lambda item: item[1]))
    statistic, p = friedman(ranks)
    limit = critical_difference(solvers, problems)
    alike = _alike(mean, limit if p < LEVEL else math.inf)
    return Ranks(mean, problems, p, limit, statistic, alike)


def _alike(mean: Mapping[str, float], limit: float) -> tuple[tuple[str, ...], ...]:
    """Return the largest groups of solvers whose mean ranks are no further apart than a limit."""
    names, means = list(mean), np.array(list(mean.values()))
    ends = np.searchsorted(means, means + limit, side="right").tolist()
    begins = [i for i, end in enumerate(ends) if end > max([i + 1, *ends[:i]])]
    return tuple(tuple(names[i : ends[i]]) for i in begins)


def problem_ranks(values: ArrayLike) -> Array:
    """Return the ranks of k solvers, along the first axis.

    Parameters
    ----------
    values : array_like, shape (k, ...)
        Smaller is better; a value that is not finite ranks last.

    Returns
    -------
    ndarray
        Ranks from 1, the best; ties share the mean of their ranks.
    """
    array = np.asarray(values, dtype=np.float64)
    return average_ranks(np.where(np.isfinite(array), array, math.inf).T).T


def block_means(ranks: Array, blocks: Sequence[str]) -> Array:
    """Return the means of ranks over the problems of each block, along the last axis."""
    where = {name: [i for i, block in enumerate(blocks) if block == name] for name in blocks}
    return np.stack([ranks[..., at].mean(axis=-1) for at in where.values()], axis=-1)


def friedman(ranks: Array) -> tuple[float, float]:
    """Return Friedman's statistic, corrected for ties, and its p-value.

    Parameters
    ----------
    ranks : ndarray, shape (k, N)
        Of k solvers on each of N problems, or means over the problems of N blocks.

    Notes
    -----
    The p-value is that of the chi-squared distribution. Where all solvers tie on all problems, the
    statistic is 0.
    """
    from scipy.special import chdtrc

    k, n = ranks.shape
    mean = (k + 1) / 2
    scatter = float(((ranks - mean) ** 2).sum()) / (n * (k - 1))
    between = n * float(((ranks.mean(axis=1) - mean) ** 2).sum())
    statistic = between / scatter if scatter else 0.0
    return statistic, float(chdtrc(k - 1, statistic))


@cache
def critical_difference(solvers: int, problems: int) -> float:
    """Return Nemenyi's critical difference of mean ranks at the 5 % level.

    That is the quantile of the studentized range for infinite degrees of freedom, divided by the
    square root of 2, times sqrt(k (k + 1) / (6 N)): Demšar 2006, section 3.2.2.
    """
    quantile = studentized_range(1 - LEVEL, solvers) / math.sqrt(2)
    return float(quantile * math.sqrt(solvers * (solvers + 1) / (6 * problems)))


def studentized_range(level: float, k: int) -> float:
    """Return a quantile of the range of k standard normal variables, by bisection.

    The distribution function at q is k times the integral of the density at z, times the
    probability to the power k - 1 that a variable lies between z and z + q; the trapezoidal rule
    is exact to rounding for an integrand as smooth as this.
    """
    from scipy.special import ndtr

    z = np.linspace(-12, 12, 2001)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    low, high = 0.0, 24.0
    while low < (middle := (low + high) / 2) < high:
        share = k * np.sum(density * (ndtr(z + middle) - ndtr(z)) ** (k - 1)) * (z[1] - z[0])
        low, high = (middle, high) if share < level else (low, middle)
    return low

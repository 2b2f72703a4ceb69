"""Paired tests between solvers on the same seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from orthobench.stats.bootstrap import intervals, quantiles
from orthobench.tools.arrays import Array, average_ranks

LEVEL = 0.05
"""The family-wise error rate of the tests on one problem, or on the ranks of one family."""


@dataclass(frozen=True)
class Comparison:
    """Two solvers on the same problem and seeds.

    Attributes
    ----------
    a, b : str
        The solvers.
    n : int
        Seeds that both were planned on.
    lower, higher, equal : int
        Seeds on which a ends lower than b, higher, and equal; equal includes that both failed.
    difference : float
        Median over the seeds of b's value minus a's; infinite where b failed on most of them,
        negative infinity where a did.
    interval : (float, float)
        The 95 % bootstrap interval of the difference.
    statistic : float
        Sum of the signed ranks of the differences; positive where they favour a.
    p : float
        Two-sided p-value of Wilcoxon's signed-rank test.
    adjusted : float
        The p-value after Holm's correction over all comparisons on this problem.
    attainable : float
        The smallest adjusted p-value that is possible with so many seeds.
    together : int
        The number of comparisons that the correction is for.
    """

    a: str
    b: str
    n: int
    lower: int
    higher: int
    equal: int
    difference: float
    interval: tuple[float, float]
    statistic: float
    p: float
    adjusted: float
    attainable: float
    together: int

    @property
    def shown(self) -> bool:
        """Whether one solver is shown to end lower, at `LEVEL`.

        Nothing is shown where signed ranks and median favour different solvers: one of them ends
        lower more often, the other by more.
        """
        return self.adjusted < LEVEL and self.statistic * self.difference >= 0

    @property
    def lead(self) -> str | None:
        """The solver that is shown to end lower, if any."""
        if not self.shown:
            return None
        return self.a if self.statistic > 0 else self.b

    def swapped(self) -> Comparison:
        """Return the same comparison with a and b exchanged."""
        low, high = self.interval
        return replace(
            self, a=self.b, b=self.a, lower=self.higher, higher=self.lower,
            difference=-self.difference, interval=(-high, -low), statistic=-self.statistic,
        )  # fmt: skip


def compare_pairs(values: Mapping[str, Sequence[float]], rounding: float = 0.0) -> list[Comparison]:
    """Compare every pair of solvers, with p-values corrected for the number of pairs.

    Parameters
    ----------
    values : mapping
        The final values of each solver, seed by seed, smaller is better; a value that is not
        finite is a run that failed. All of one length.
    rounding : float
        Differences of at most this count as zero.

    Returns
    -------
    list of Comparison
        The first solver with all others, then the second, ...; empty for fewer than two.

    Raises
    ------
    ValueError
        If the solvers have different numbers of seeds, or none.

    Notes
    -----
    Where only one of two solvers failed, their difference is infinite; where both did, it is zero.
    The p-values are those of `signed_rank`, which are exact also with the ties that this makes.
    Cost: for k solvers and n seeds O(k² RESAMPLES), 10 ms for 10 solvers and 10 seeds.
    """
    names, pairs = list(values), list(combinations(range(len(values)), 2))
    if len({len(row) for row in values.values()}) > 1 or not all(values.values()):
        raise ValueError("paired comparisons need the same seeds of all solvers, at least one")
    if not pairs:
        return []
    table = np.array([values[name] for name in names], dtype=np.float64)
    first, second = np.array(pairs).T
    rows = differences(table[first], table[second], rounding)
    statistics, p_values = signed_rank(rows)
    counts = ((rows > 0).sum(axis=1), (rows < 0).sum(axis=1), (rows == 0).sum(axis=1))
    medians = quantiles(rows.T, 0.5)
    columns = (*counts, medians, *intervals(rows), statistics, p_values, holm(p_values))
    n, attainable = table.shape[1], _attainable(table.shape[1], len(pairs))
    return [
        Comparison(
            names[a], names[b], n, lower, higher, equal, difference, (low, high), statistic, p,
            adjusted, attainable, len(pairs),
        )
        for (a, b), lower, higher, equal, difference, low, high, statistic, p, adjusted in zip(
            pairs, *(column.tolist() for column in columns), strict=True
        )
    ]  # fmt: skip


def differences(a: ArrayLike, b: ArrayLike, rounding: float = 0.0) -> Array:
    """Return b - a, where a value that is not finite is a run that failed.

    Parameters
    ----------
    a, b : array_like
        Of shapes that broadcast.
    rounding : float
        Differences of at most this are zero.

    Returns
    -------
    ndarray
        Infinite where only b failed, negative infinity where only a did, zero where both did.
    """
    a, b = (np.where(np.isfinite(x), x, math.inf) for x in (a, b))
    with np.errstate(invalid="ignore"):
        found = b - a
    return np.where(np.isnan(found) | (np.abs(found) <= rounding), 0.0, found)


def signed_rank(differences: Array) -> tuple[Array, Array]:
    """Return Wilcoxon's signed-rank statistics and their exact two-sided p-values, row by row.

    Parameters
    ----------
    differences : ndarray, shape (m, n)
        May be infinite. Zeros are left out before ranking, as Wilcoxon did; a row of nothing but
        zeros has p = 1.

    Returns
    -------
    statistic, p : ndarray, shape (m,)
        The sum of the signed ranks, and its p-value.

    Notes
    -----
    Exact with ties and zeros, too, for which scipy has no distribution of more than 13 differences
    (before 1.15, of none).
    """
    zeros = (differences == 0).sum(axis=1, keepdims=True)
    ranks = average_ranks(np.abs(differences)) - zeros  # zeros rank first
    signed = np.sign(differences) * ranks
    doubled = np.rint(2 * signed).astype(int)
    observed = np.maximum(doubled, 0).sum(axis=1)
    all_ranks = np.sort(np.abs(doubled), axis=1)
    pairs = zip(all_ranks.tolist(), observed.tolist(), strict=True)
    return signed.sum(axis=1), np.array([_permutation_p(tuple(own), at) for own, at in pairs])


def _permutation_p(ranks: tuple[int, ...], observed: int) -> float:
    """Return the two-sided p-value of the sum of the positive ranks."""
    below, above = _tails(ranks)
    return min(1.0, 2 * float(min(below[observed], above[observed])))


@lru_cache(maxsize=32)
def _tails(ranks: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the probabilities that the sum of the positive ranks is at most, and at least, each.

    Under the null hypothesis each rank has either sign with probability 1/2. Mean ranks are whole
    numbers once doubled, so the distribution of the sum of the positive ones is built up rank by
    rank: Streitberg and Röhmel 1986, "Exact distributions for permutation and rank tests", the
    shift algorithm. O(n³), and once for all comparisons with the same ranks.
    """
    probabilities = np.zeros(sum(ranks) + 1)
    probabilities[0] = 1
    for rank in filter(None, ranks):
        probabilities = (probabilities + np.roll(probabilities, rank)) / 2
    return np.cumsum(probabilities), np.cumsum(probabilities[::-1])[::-1]


def holm(p: Array) -> Array:
    """Return p-values corrected for their number, in their order (Holm 1979).

    Notes
    -----
    Written here since scipy only corrects for the false discovery rate
    (`scipy.stats.false_discovery_control`), and statsmodels is a large dependency for this.
    """
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def seeds_needed(comparisons: int) -> int:
    """Return the fewest seeds that can show a difference in one of so many comparisons."""
    n = 1
    while _attainable(n, comparisons) >= LEVEL:
        n += 1
    return n


def _attainable(n: int, comparisons: int) -> float:
    """Return the smallest possible adjusted p-value: that of n differences of one sign."""
    return min(1.0, comparisons * 2 * 0.5**n)

"""Paired tests between solvers on the same seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from orthobench.stats.seeds import intervals, quantiles
from orthobench.tools.arrays import Array

LEVEL = 0.05
"""Of all tests: the family-wise error rate that they keep."""


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
        Seeds on which a ends lower than b, higher, and equal (both failed included).
    difference : float
        Median over the seeds of b's value minus a's; infinite where b failed on most, negative
        infinity where a did.
    interval : (float, float)
        95 % bootstrap interval of it.
    statistic : float
        Sum of the signed ranks of the differences; positive where they favour a.
    p : float
        Of Wilcoxon's signed-rank test, two-sided.
    adjusted : float
        The same after Holm's correction over all comparisons made together.
    attainable : float
        The smallest adjusted p that so many seeds could have given.
    together : int
        Comparisons made together.
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

        Not where signed ranks and median point to different solvers: one ends lower more often,
        the other by more.
        """
        return self.adjusted < LEVEL and self.statistic * self.difference >= 0

    @property
    def lead(self) -> str | None:
        """The solver that is shown to end lower, if one is."""
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
    """Compare every pair of solvers, and correct for their number.

    Parameters
    ----------
    values : mapping
        Of each solver, its final values seed by seed; what is not finite is a run that failed.
        Smaller is better. All of one length.
    rounding : float
        Differences of at most this are none.

    Returns
    -------
    list of Comparison
        Of the first solver with all others, then of the second, ...; empty for fewer than two.

    Raises
    ------
    ValueError
        Where the solvers have different numbers of seeds, or none.

    Notes
    -----
    Failing where the other does not is the largest difference, failing together is none. The
    p-values are those of `signed_rank`, so they are exact with the ties that failures make.
    Cost: for k solvers and n seeds O(k² RESAMPLES), 10 ms for 10 solvers and 10 seeds.
    """
    names, pairs = list(values), list(combinations(range(len(values)), 2))
    if len({len(row) for row in values.values()}) > 1 or not all(values.values()):
        raise ValueError("paired comparisons need the same seeds of all solvers, at least one")
    if not pairs:
        return []
    table = np.array([values[name] for name in names], dtype=np.float64)
    first, second = np.array(pairs).T
    found = differences(table[first], table[second], rounding)
    statistic, p = signed_rank(found)
    counts = ((found > 0).sum(axis=1), (found < 0).sum(axis=1), (found == 0).sum(axis=1))
    facts = (*counts, quantiles(found.T, 0.5), *intervals(found), statistic, p, holm(p))
    n, attainable = table.shape[1], _attainable(table.shape[1], len(pairs))
    return [
        Comparison(
            names[a], names[b], n, lower, higher, equal, difference, (low, high), signed, one,
            adjusted, attainable, len(pairs),
        )
        for (a, b), lower, higher, equal, difference, low, high, signed, one, adjusted in zip(
            pairs, *(fact.tolist() for fact in facts), strict=True
        )
    ]  # fmt: skip


def differences(a: ArrayLike, b: ArrayLike, rounding: float = 0.0) -> Array:
    """Return b - a, where what is not finite has failed.

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
        May be infinite. Zeros are left out before ranking, as Wilcoxon did; a row of zeros
        only has p = 1.

    Returns
    -------
    statistic, p : ndarray, shape (m,)
        The sum of the signed ranks, and its p-value.

    Notes
    -----
    Without ties they are scipy's. With ties or zeros scipy has no exact distribution for more
    than 13 differences (and before 1.15 for none), so there the permutation distribution, over
    all assignments of signs to the ranks that were seen, is found by `_permutation`.
    """
    from scipy.stats import rankdata, wilcoxon

    zeros = (differences == 0).sum(axis=1, keepdims=True)
    ranks = rankdata(np.abs(differences), axis=1) - zeros  # zeros rank first
    signed = np.sign(differences) * ranks
    plain = (np.sort(np.abs(signed), axis=1) == np.arange(1, signed.shape[1] + 1)).all(axis=1)
    p = np.empty(len(signed))
    p[~plain] = [_permutation(row) for row in signed[~plain]]
    if plain.any():
        p[plain] = wilcoxon(signed[plain], axis=1, method="exact").pvalue
    return signed.sum(axis=1), p


def _permutation(signed: Array) -> float:
    """Return the two-sided p-value of the sum of signed ranks, given the ranks.

    Each rank is positive or negative as a coin falls. Doubled, mean ranks are whole numbers, and
    the chances of the sums of positive ones follow rank by rank: Streitberg and Röhmel 1986,
    "Exact distributions for permutation and rank tests", the shift algorithm. O(n³).
    """
    doubled = np.rint(2 * signed).astype(int)
    chances = np.zeros(np.abs(doubled).sum() + 1)
    chances[0] = 1
    for rank in np.abs(doubled[doubled != 0]):
        chances = (chances + np.roll(chances, rank)) / 2
    positive = doubled[doubled > 0].sum()
    return min(1.0, 2 * float(min(chances[: positive + 1].sum(), chances[positive:].sum())))


def holm(p: Array) -> Array:
    """Return p-values corrected for their number, in their order (Holm 1979).

    Notes
    -----
    Ours, since scipy corrects for the rate of false discoveries only
    (`scipy.stats.false_discovery_control`), and statsmodels is a large dependency for this.
    """
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def seeds_needed(comparisons: int) -> int:
    """Return the fewest seeds that could show a difference over so many comparisons."""
    n = 1
    while _attainable(n, comparisons) >= LEVEL:
        n += 1
    return n


def _attainable(n: int, comparisons: int) -> float:
    """Return the adjusted p of n differences of one sign, the smallest of all."""
    return min(1.0, comparisons * 2 * 0.5**n)

"""Intervals of the typical difference of two paired samples.

Upper ends are those of the sign test, which holds for any distribution, with ties and infinite
values; lower ends are those of Wilcoxon's signed-rank test. With too few differences for these,
from `FEWEST` on, an end is the extreme difference, and at least that of Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from orthobench.stats.bootstrap import bounded, restored, student_quantile
from orthobench.tools.arrays import Array

FEWEST = 5
"""Minimum number of differences that have an end: 1 in 2^5 is below 5 %."""

FAR = 1e6
"""The difference of a failed run."""

MOST_SEEDS = 1000
"""Maximum number of seeds that `seeds_to_decide` considers."""


def upper_ends(rows: Array, tail: float, alike: NDArray[np.bool_]) -> Array:
    """Return the upper end of the interval of the median of each row.

    Parameters
    ----------
    rows : ndarray, shape (m, n)
        Distinct differences; NaN is left out. Negative ones count as zero.
    tail : float
        The probability that the median is beyond the end.
    alike : ndarray of bool, shape (m,)
        Whether a row is one value of several seeds, without chance.

    Returns
    -------
    ndarray, shape (m,)
        Infinite if the values are too few.
    """
    return _ends(np.maximum(rows, 0.0), tail, alike, _sign_test_ends)


def lower_ends(rows: Array, tail: float, alike: NDArray[np.bool_]) -> Array:
    """Return the lower end of the interval of the centre of each row; see `upper_ends`."""
    # a difference, since it has no negative zero
    return 0.0 - _ends(-rows, tail, alike, _signed_rank_ends)


def _ends(
    rows: Array, tail: float, alike: NDArray[np.bool_], of_many: Callable[[Array, float], Array]
) -> Array:
    """Return upper ends, by the test `of_many` for rows with enough values."""
    ends = np.full(len(rows), np.inf)
    counts = (~np.isnan(rows)).sum(axis=1)
    able = alike | (counts >= FEWEST)
    for n in np.unique(counts[able]).tolist():
        at = able & (counts == n)
        values = rows[at][~np.isnan(rows[at])].reshape(-1, n)
        if n == 1:
            ends[at] = values[:, 0]
        elif sign_test_allows(n, tail) >= 0:
            ends[at] = of_many(values, tail)
        else:
            ends[at] = np.fmax(values.max(axis=1), _student_ends(values, tail))
    return ends


def _sign_test_ends(rows: Array, tail: float) -> Array:
    place = rows.shape[1] - 1 - sign_test_allows(rows.shape[1], tail)
    ends: Array = np.partition(rows, place, axis=1)[:, place]
    return ends


def _signed_rank_ends(rows: Array, tail: float) -> Array:
    # one failed run among the differences would make every rank useless
    useless = (np.abs(rows) > FAR / 2).any(axis=1)
    _, ends = signed_rank_intervals(rows, 1 - 2 * tail)
    return np.where(useless, _sign_test_ends(rows, tail), ends)


def _student_ends(rows: Array, tail: float) -> Array:
    n = rows.shape[1]
    with np.errstate(invalid="ignore"):
        reach = student_quantile(1 - tail, n - 1) * rows.std(axis=1, ddof=1) / math.sqrt(n)
        ends: Array = rows.mean(axis=1) + reach
    return ends


@lru_cache(maxsize=4096)
def sign_test_allows(n: int, tail: float) -> int:
    """Return the number of n values beyond the end of the sign test's interval; -1 without one."""
    from scipy.special import bdtr

    return int((bdtr(np.arange(n + 1), n, 0.5) <= tail + 1e-15).sum()) - 1


def seeds_to_decide(values: Array, tolerance: float, tail: float) -> int | None:
    """Return the estimated number of further seeds that would decide; None above `MOST_SEEDS`.

    `values` are distinct differences, without NaN; `tail` is as in `upper_ends`.
    """
    n = len(values)
    if n < FEWEST:
        return FEWEST - n
    within = int((values <= tolerance).sum())
    minor = min(within, n - within)
    if minor == 0:
        return 1
    share, totals = (minor + 0.5) / (n + 1), range(n + 1, MOST_SEEDS + 1)
    enough = (total - n for total in totals if sign_test_allows(total, tail) >= share * total)
    return next(enough, None)


def signed_rank_intervals(rows: Array, level: float) -> tuple[Array, Array]:
    """Return the interval of the centre of each row that the signed-rank test does not reject.

    Parameters
    ----------
    rows : ndarray, shape (m, n)
        May be infinite, but not NaN.
    level : float
        Coverage, for values that are symmetric about their centre.

    Returns
    -------
    low, high : ndarray, shape (m,)
        Order statistics of the averages of all pairs of values (Hollander and Wolfe 1973, section
        3.3); infinite with too few values.
    """
    m, n = rows.shape
    beyond = _averages_beyond(n, level)
    if not beyond:
        return np.full(m, -np.inf), np.full(m, np.inf)
    values, (first, second) = bounded(rows), np.triu_indices(n)
    averages = np.sort((values[:, first] + values[:, second]) / 2, axis=1)
    return restored(averages[:, beyond - 1]), restored(averages[:, -beyond])


@lru_cache(maxsize=256)
def _averages_beyond(n: int, level: float) -> int:
    """Return the place, from either side, of the average that ends the interval; 0 without one.

    The distribution of the rank sum is built up rank by rank (Streitberg and Röhmel 1986). O(n³).
    """
    probabilities = np.zeros(n * (n + 1) // 2 + 1)
    probabilities[0] = 1
    for rank in range(1, n + 1):
        probabilities = (probabilities + np.roll(probabilities, rank)) / 2
    return int((np.cumsum(probabilities) <= (1 - level) / 2 + 1e-12).sum())


def factor_interval(a: Sequence[float], b: Sequence[float], level: float) -> tuple[float, float]:
    """Return the signed-rank interval of the factor a / b of paired costs; NaN is left out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.asarray(a, dtype=np.float64)) - np.log(np.asarray(b, dtype=np.float64))
        ends = signed_rank_intervals(logs[None, ~np.isnan(logs)], level)
        low, high = np.exp(np.ravel(ends)).tolist()
    return low, high

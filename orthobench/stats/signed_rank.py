"""Intervals of Wilcoxon's signed-rank test."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from orthobench.stats.bootstrap import bounded, restored
from orthobench.tools.arrays import Array


def shift_intervals(rows: Array, level: float) -> tuple[Array, Array]:
    """Return the interval of the centre of each row that the signed-rank test does not reject.

    Parameters
    ----------
    rows : ndarray, shape (m, n)
        May be infinite; NaN is left out.
    level : float
        Coverage: at least this for values that are symmetric about their centre.

    Returns
    -------
    low, high : ndarray, shape (m,)
        Infinite where so few values have no such interval.

    Notes
    -----
    The ends are order statistics of the averages of all pairs of values (Hollander and Wolfe 1973,
    section 3.3); with ties, they cover at least as often as without.
    """
    low, high = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    counts = (~np.isnan(rows)).sum(axis=1)
    for n in np.unique(counts).tolist():
        at, beyond = counts == n, _beyond(n, level)
        if not beyond:
            continue
        values = bounded(rows[at][~np.isnan(rows[at])]).reshape(-1, n)
        first, second = np.triu_indices(n)
        averages = np.sort((values[:, first] + values[:, second]) / 2, axis=1)
        low[at], high[at] = restored(averages[:, beyond - 1]), restored(averages[:, -beyond])
    return low, high


@lru_cache(maxsize=256)
def _beyond(n: int, level: float) -> int:
    """Return at which average from either side the interval of n values ends; 0 if at none.

    Under the null hypothesis each rank has either sign with probability 1/2, so the distribution
    of the sum of the positive ones is built up rank by rank (Streitberg and Röhmel 1986). O(n³).
    """
    probabilities = np.zeros(n * (n + 1) // 2 + 1)
    probabilities[0] = 1
    for rank in range(1, n + 1):
        probabilities = (probabilities + np.roll(probabilities, rank)) / 2
    return int((np.cumsum(probabilities) <= (1 - level) / 2 + 1e-12).sum())

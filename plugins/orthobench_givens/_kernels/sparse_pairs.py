"""The order in which pairs of columns are rotated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Pairs = NDArray[np.int32]


def uniform_pairs(n: int, count: int, rng: np.random.Generator) -> Pairs:
    """Draw pairs i < j of columns uniformly, with replacement.

    Each pair takes one draw of `rng`, so that pairs do not depend on how many are drawn at a time.

    Parameters
    ----------
    n : int
        Number of columns.
    count : int
        Number of pairs.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int32, shape (count, 2)
        Empty, of shape (0, 2), for fewer than two columns.

    References
    ----------
    Shalit and Chechik 2014, Algorithms 2 and 5, line 1.
    """
    if n < 2:
        return np.empty((0, 2), dtype=np.int32)
    i, j = np.divmod(rng.integers(n * (n - 1), size=count), n - 1)
    j += j >= i
    return np.stack([np.minimum(i, j), np.maximum(i, j)], axis=1).astype(np.int32)


def round_robin(n: int) -> Pairs:
    """Return all pairs i < j of columns once, in rounds of disjoint pairs.

    Rotations of disjoint pairs commute: those of a round may be done in any order or in parallel.

    Parameters
    ----------
    n : int
        Number of columns.

    Returns
    -------
    ndarray of int32, shape (n(n-1)/2, 2)
    """
    columns = np.arange(n + n % 2)
    half, rounds = len(columns) // 2, []
    for _ in range(len(columns) - 1):
        pairs = np.stack([columns[:half], columns[: half - 1 : -1]], axis=1)
        rounds.append(np.sort(pairs[pairs.max(axis=1) < n], axis=1))
        columns[1:] = np.roll(columns[1:], 1)
    return np.concatenate(rounds or [np.empty((0, 2))]).astype(np.int32)

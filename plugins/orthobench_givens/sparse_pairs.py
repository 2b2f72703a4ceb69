"""In which order pairs of columns are rotated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Pairs = NDArray[np.int32]


def uniform_pairs(n: int, count: int, rng: np.random.Generator) -> Pairs:
    """Return pairs i < j drawn uniformly, independent of each other, (count, 2).

    One draw each: the stream does not depend on how many are drawn at a time.
    """
    if n < 2:
        return np.empty((0, 2), dtype=np.int32)
    i, j = np.divmod(rng.integers(n * (n - 1), size=count), n - 1)
    j += j >= i
    return np.stack([np.minimum(i, j), np.maximum(i, j)], axis=1).astype(np.int32)


def round_robin(n: int) -> Pairs:
    """Return all pairs i < j once, (n(n-1)/2, 2), in rounds of disjoint pairs: a tournament.

    Pairs of a round do not touch each other: in any order, or in parallel, they give the same.
    """
    players = np.arange(n + n % 2)
    half, rounds = len(players) // 2, []
    for _ in range(len(players) - 1):
        pairs = np.stack([players[:half], players[: half - 1 : -1]], axis=1)
        rounds.append(np.sort(pairs[pairs.max(axis=1) < n], axis=1))
        players[1:] = np.roll(players[1:], 1)
    return np.concatenate(rounds or [np.empty((0, 2))]).astype(np.int32)

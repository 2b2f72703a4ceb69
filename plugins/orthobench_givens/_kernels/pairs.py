"""The order in which pairs of columns are rotated, and pairs of indices of a packed tensor.

A sweep tries each pair of indices once. For large tensors it goes in rounds that pair an even
number of blocks of indices (a round robin). Rotations within a pair of blocks need only the
entries with all indices in these, which fit into the cache; all others follow at the end of the
round.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Pairs: TypeAlias = NDArray[np.int32]
Indices: TypeAlias = NDArray[np.intp]

WIDTH = 40
"""Maximum number of indices in a pair of blocks: their packed tensor takes 92 kB."""


def uniform_pairs(n: int, count: int, rng: np.random.Generator) -> Pairs:
    """Draw `count` pairs i < j of n columns uniformly, with replacement; int32, shape (count, 2).

    Pairs do not depend on the number drawn at a time. Shalit and Chechik 2014, Algorithms 2 and 5,
    line 1.
    """
    if n < 2:
        return np.empty((0, 2), dtype=np.int32)
    i, j = np.divmod(rng.integers(n * (n - 1), size=count), n - 1)
    j += j >= i
    return np.stack([np.minimum(i, j), np.maximum(i, j)], axis=1).astype(np.int32)


def round_robin(n: int) -> Pairs:
    """Return all pairs i < j of n columns once, in rounds of disjoint pairs, which commute."""
    columns = np.arange(n + n % 2)
    half, rounds = len(columns) // 2, []
    for _ in range(len(columns) - 1):
        pairs = np.stack([columns[:half], columns[: half - 1 : -1]], axis=1)
        rounds.append(np.sort(pairs[pairs.max(axis=1) < n], axis=1))
        columns[1:] = np.roll(columns[1:], 1)
    return np.concatenate(rounds or [np.empty((0, 2))]).astype(np.int32)


class Round(NamedTuple):
    """Pairs of indices, each within a pair of blocks.

    Attributes
    ----------
    block_pairs : ndarray of int, shape (n, 2)
        The paired blocks; each block occurs once.
    members : tuple of n ndarray of int, shapes (at most m,)
        The indices of the tensor in each pair of blocks, ascending.
    pairs : ndarray of int, shape (count, 3)
        In order: a pair of blocks, and positions i < j among its members.
    """

    block_pairs: Indices
    members: tuple[Indices, ...]
    pairs: Indices


class Sweep(NamedTuple):
    """Every pair of indices once, in `rounds` of `blocks` (1 for a tensor kept whole).

    A block has `size` indices, the last one possibly fewer; a packed tensor has `width` indices m.
    """

    blocks: int
    size: int
    width: int
    rounds: tuple[Round, ...]


@cache
def cyclic_sweep(d: int) -> Sweep:
    """Return the sweep of a tensor of d indices in cyclic order, in blocks if d is above `WIDTH`.

    A tensor kept whole has a single round of a single block, in lexicographic order.
    """
    if d <= WIDTH:
        i, j = np.triu_indices(d, 1)
        pairs = np.stack([np.zeros_like(i), i, j], axis=1)
        return Sweep(1, d, d, (Round(np.zeros((1, 2), np.intp), (np.arange(d),), pairs),))
    blocks = 2 * -(-d // WIDTH)
    size = -(-d // blocks)
    paired = round_robin(blocks).astype(np.intp).reshape(blocks - 1, blocks // 2, 2)
    rounds = [_round(each, size, d, first=number == 0) for number, each in enumerate(paired)]
    return Sweep(blocks, size, 2 * size, tuple(rounds))


def _round(block_pairs: Indices, size: int, d: int, *, first: bool) -> Round:
    i, j = np.triu_indices(2 * size, 1)
    tried = np.ones(len(i), dtype=bool) if first else (i < size) & (j >= size)
    i, j = i[tried], j[tried]
    members, pairs = [], []
    for number, (P, Q) in enumerate(block_pairs):
        both = np.concatenate([P * size + np.arange(size), Q * size + np.arange(size)])
        members.append(both[both < d])
        inside = both[j] < d
        pairs.append(np.stack([np.full_like(i, number), i, j], axis=1)[inside])
    return Round(block_pairs, tuple(members), np.concatenate(pairs))


@cache
def offsets(m: int) -> tuple[Indices, Indices]:
    """Return arrays first and second: entry a <= b <= c lies at ``first[a] + second[b] + c``."""
    k = np.arange(m)
    second = k * m - k * (k + 1) // 2
    slices = np.array([packed_size(m) - packed_size(m - a) for a in range(m)])
    return slices - second - k, second


def packed_size(m: int) -> int:
    """Return the number of entries of a packed tensor, m(m + 1)(m + 2)/6."""
    return m * (m + 1) * (m + 2) // 6

"""The order in which pairs of indices of a tensor are rotated, and the layout of packed tensors.

A sweep tries each pair of indices once. For large tensors the indices form an even number of
blocks, and a sweep goes in rounds: in each, every block is paired with one other, and after all
rounds each has been paired with all others (a round robin). Rotations within a pair of blocks need
only the tensor entries whose three indices lie in these two blocks; they fit into the cache. All
other entries follow at the end of the round, in matrix products.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.intp]

WIDTH = 40
"""Largest number of indices in a pair of blocks: their packed tensor takes 92 kB."""


class Round(NamedTuple):
    """Pairs of indices, each within a pair of blocks.

    Attributes
    ----------
    block_pairs : ndarray of int, shape (n, 2)
        The blocks that are paired; each block occurs once.
    members : tuple of n ndarray of int, shapes (at most m,)
        The indices of the tensor in each pair of blocks, ascending.
    pairs : ndarray of int, shape (count, 3)
        Pairs of indices in the order they are tried: the pair of blocks that they lie in, and
        their positions i < j among its members.
    """

    block_pairs: Indices
    members: tuple[Indices, ...]
    pairs: Indices


class Sweep(NamedTuple):
    """Every pair of indices once.

    Attributes
    ----------
    blocks : int
        Number of blocks; 1 for a tensor kept whole.
    size : int
        Indices in a block; the last block may have fewer.
    width : int
        Indices m of a packed tensor: those of a pair of blocks, or all.
    rounds : tuple of Round
    """

    blocks: int
    size: int
    width: int
    rounds: tuple[Round, ...]


@cache
def whole_sweep(d: int) -> Sweep:
    """Return the sweep of a tensor kept whole, pair by pair in lexicographic order.

    Parameters
    ----------
    d : int
        Number of indices.

    Returns
    -------
    Sweep
        A single round of a single block, paired with itself.
    """
    i, j = np.triu_indices(d, 1)
    pairs = np.stack([np.zeros_like(i), i, j], axis=1)
    return Sweep(1, d, d, (Round(np.zeros((1, 2), np.intp), (np.arange(d),), pairs),))


@cache
def cyclic_sweep(d: int) -> Sweep:
    """Return the sweep of a tensor in cyclic order, in blocks if it is large.

    Parameters
    ----------
    d : int
        Number of indices; up to `WIDTH` the tensor is kept whole.

    Returns
    -------
    Sweep
    """
    if d <= WIDTH:
        return whole_sweep(d)
    blocks = 2 * -(-d // WIDTH)
    size = -(-d // blocks)
    rounds = [
        _round(paired, size, d, first=number == 0)
        for number, paired in enumerate(_block_pairs(blocks))
    ]
    return Sweep(blocks, size, 2 * size, tuple(rounds))


@cache
def offsets(m: int) -> tuple[Indices, Indices]:
    """Return the positions of the entries of a packed tensor.

    A packed tensor holds the entries a <= b <= c of a symmetric tensor in lexicographic order.

    Parameters
    ----------
    m : int
        Number of indices.

    Returns
    -------
    first, second : ndarray of int, shape (m,)
        Entry a <= b <= c lies at ``first[a] + second[b] + c``.
    """
    k = np.arange(m)
    second = k * m - k * (k + 1) // 2
    slices = np.array([packed_size(m) - packed_size(m - a) for a in range(m)])
    return slices - second - k, second


def packed_size(m: int) -> int:
    """Return the number of entries of a packed tensor of m indices, m(m + 1)(m + 2)/6."""
    return m * (m + 1) * (m + 2) // 6


def _block_pairs(blocks: int) -> Iterator[Indices]:
    """Yield the pairs of blocks of each round: one block stays, all others move on by one."""
    ring = np.arange(blocks)
    for _ in range(blocks - 1):
        yield np.sort(np.stack([ring, ring[::-1]], axis=1)[: blocks // 2], axis=1)
        ring[1:] = np.roll(ring[1:], 1)


def _round(block_pairs: Indices, size: int, d: int, *, first: bool) -> Round:
    """Return a round; the first one also tries the pairs of indices within one block."""
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

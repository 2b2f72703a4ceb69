"""Where the entries of packed tensors lie, and in which order pairs of indices are rotated.

A sweep tries each pair of indices once. Large tensors are swept in rounds: the indices form an
even number of blocks, and in each round every block meets one other, so that after all rounds
each has met all (a round robin). What two blocks rotate needs only the entries whose indices all
lie in these two, which fit the cache; the rest of the tensor follows once a round, in matrix
products.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.intp]

WIDTH = 40
"""Most indices of two blocks together: their packed tensor takes 92 kB."""


class Round(NamedTuple):
    """Pairs whose rotations need only the entries within their own two blocks.

    Attributes
    ----------
    seats : ndarray of int, shape (n, 2)
        Which blocks meet.
    members : tuple of ndarray of int, shapes (at most m,)
        The indices of the tensor in each two blocks, ascending.
    pairs : ndarray of int, shape (count, 3)
        Which two blocks, and the places i < j of the two indices among their members.
    """

    seats: Indices
    members: tuple[Indices, ...]
    pairs: Indices


class Sweep(NamedTuple):
    """Each pair of indices once.

    Attributes
    ----------
    blocks, size : int
        Blocks, and indices in each, of which the last may have fewer; 1 and d where the tensor
        is kept whole.
    width : int
        Indices of a packed tensor, m: those of two blocks, or all.
    rounds : tuple of Round
    """

    blocks: int
    size: int
    width: int
    rounds: tuple[Round, ...]


@cache
def whole(d: int) -> Sweep:
    """Return the sweep of a tensor of d indices that is kept whole: pair by pair, in order."""
    i, j = np.triu_indices(d, 1)
    pairs = np.stack([np.zeros_like(i), i, j], axis=1)
    return Sweep(1, d, d, (Round(np.zeros((1, 2), np.intp), (np.arange(d),), pairs),))


@cache
def swept(d: int) -> Sweep:
    """Return the sweep of a tensor of d indices, in blocks where it is large."""
    if d <= WIDTH:
        return whole(d)
    blocks = 2 * -(-d // WIDTH)
    size = -(-d // blocks)
    rounds = [
        _round(seats, size, d, first=number == 0) for number, seats in enumerate(_seats(blocks))
    ]
    return Sweep(blocks, size, 2 * size, tuple(rounds))


@cache
def offsets(m: int) -> tuple[Indices, Indices]:
    """Return ``first`` and ``second``: entry a <= b <= c lies at ``first[a] + second[b] + c``."""
    k = np.arange(m)
    second = k * m - k * (k + 1) // 2
    slices = np.array([packed_size(m) - packed_size(m - a) for a in range(m)])
    return slices - second - k, second


def packed_size(m: int) -> int:
    """Return how many entries a packed tensor of m indices has."""
    return m * (m + 1) * (m + 2) // 6


def _seats(blocks: int) -> Iterator[Indices]:
    """Yield who meets whom in each round: the first stays, all others move on by one."""
    ring = np.arange(blocks)
    for _ in range(blocks - 1):
        yield np.sort(np.stack([ring, ring[::-1]], axis=1)[: blocks // 2], axis=1)
        ring[1:] = np.roll(ring[1:], 1)


def _round(seats: Indices, size: int, d: int, *, first: bool) -> Round:
    """Return a round; the first one also tries the pairs within the blocks."""
    i, j = np.triu_indices(2 * size, 1)
    tried = np.ones(len(i), dtype=bool) if first else (i < size) & (j >= size)
    i, j = i[tried], j[tried]
    members, pairs = [], []
    for seat, (P, Q) in enumerate(seats):
        both = np.concatenate([P * size + np.arange(size), Q * size + np.arange(size)])
        members.append(both[both < d])
        inside = both[j] < d
        pairs.append(np.stack([np.full_like(i, seat), i, j], axis=1)[inside])
    return Round(seats, tuple(members), np.concatenate(pairs))

"""One update of a spectrum in the coordinates of a block: lines 1 to 9 of Algorithm 1.

Arora, Cotter and Srebro 2013. A sample and the iterate's eigenvectors are vectors of length m + b
here (`span`); the eigenproblem is solved by the secular equation (`secular`), and each of the
methods has its own projection of the eigenvalues (`projection`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array
from orthobench.tools.compiled import inner
from orthobench_stochastic_pca.dense import add, dot, matrix, times
from orthobench_stochastic_pca.projection import (
    onto_capped,
    onto_complement,
    onto_density,
    onto_fantope,
)
from orthobench_stochastic_pca.secular import Secular, eigenvalues, eigenvectors, secular
from orthobench_stochastic_pca.span import DEPENDENT, TINY
from orthobench_stochastic_pca.spectrum import CAPPED, COMPLEMENT, DENSITY, FANTOPE, Rule

TIED = 1e-12
"""Eigenvalues this close, relative to the largest, are equal: rounding must not choose."""

AGAIN = 0.1
"""A residual shorter than this times its sample is projected a second time."""


class Scalars(NamedTuple):
    """The parts of an iterate that are no arrays, within a block."""

    m: int
    floor: float
    full: bool
    flops: int


class Small(NamedTuple):
    """An iterate in coordinates of a block, and arrays to update it in.

    Row 0 of `diagonal`, `z` and the basis is for the new direction, whose eigenvalue is the
    least; the iterate's m rows follow. Matrices are flat.
    """

    diagonal: Array
    z: Array
    residual: Array
    basis: Array
    rotated: Array
    gathered: Array
    vectors: Array
    order: NDArray[np.int64]
    rank: NDArray[np.int64]
    picked: NDArray[np.int64]
    secular: Secular


@inner
def small_arrays(n: int) -> Small:
    """Return arrays for bases and spans of fewer than n vectors. Memory: 4 n² doubles."""
    return Small(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n * n),
        np.empty(n * n),
        np.empty(n * n),
        np.empty(n * n),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        secular(n),
    )


@inner
def rows_of(flat: Array, first: int, last: int, width: int) -> Array:
    """Return rows first, ..., last - 1 of a flat matrix, contiguous."""
    return flat[first * width : last * width].reshape(last - first, width)


@inner
def extend(y: Array, eta: float, m: int, d: int, small: Small) -> int:
    """Set z to sqrt(eta) times the sample in the basis, extended by its residual (lines 1 to 5).

    Returns 1 where the residual is a new direction, 0 where there is none, and -1 where the
    sample is too small to change anything.
    """
    width, z, residual = len(y), small.z, small.residual
    square = dot(y, y, width)
    if not eta * square > TINY:
        return -1
    for i in range(width):
        residual[i] = y[i]
    for i in range(m + 1):
        z[i] = 0.0
    W = rows_of(small.basis, 1, m + 1, width)
    left = _project_out(W, residual[:width], z[1 : m + 1], small.gathered)
    if left < AGAIN * AGAIN * square:
        left = _project_out(W, residual[:width], z[1 : m + 1], small.gathered)
    fresh = 1 if left > DEPENDENT * DEPENDENT * square and m < d else 0
    if fresh:
        z[0] = np.sqrt(left)
        for i in range(width):
            small.basis[i] = residual[i] / z[0]
    for i in range(m + 1):
        z[i] *= np.sqrt(eta)
    return fresh


@inner
def _project_out(W: Array, x: Array, z: Array, scratch: Array) -> float:
    """Take the rows of W out of x, add the coordinates to z, and return |x|²."""
    m, width = W.shape
    if m > 0:
        part, projection = scratch[:m], scratch[m : m + width]
        np.dot(W, x, part)
        np.dot(part, W, projection)
        add(1.0, part, z, m)
        add(-1.0, projection, x, width)
    return dot(x, x, width)


@inner
def update(at: Scalars, fresh: int, width: int, d: int, rule: Rule, small: Small) -> Scalars:
    """Do the eigen-update and the projection (lines 4 to 9); `extend` went before.

    Parameters
    ----------
    at : Scalars
    fresh : int
        One where row 0 holds a new direction.
    width : int
        Length of the coordinates.
    d : int
        Length of a sample.
    rule : Rule
    small : Small
    """
    first, n = 1 - fresh, at.m + fresh
    small.diagonal[0] = 0.0
    W, lam, order = rows_of(small.basis, first, at.m + 1, width), small.secular.lam, small.order[:n]
    active = eigenvalues(
        small.diagonal[first : at.m + 1], small.z[first : at.m + 1], W, small.secular
    )
    _sort(lam, order)
    dropped = max(0, n - rule.most)
    if dropped:
        _settle_tie(small.secular, order, active, rule.old_stay, small.rank)
    values = small.diagonal[1 : n - dropped + 1]
    for i in range(len(values)):
        values[i] = lam[order[dropped + i]]
    floor, full = _projected(values, d - n, at.floor, at.full, rule)
    zeros = _zeros(values)
    for i in range(len(values) - zeros):
        values[i] = values[i + zeros]
    _rotate(W, order[dropped + zeros :], active, small)
    return Scalars(len(values) - zeros, floor, full, at.flops)


@inner
def _sort(lam: Array, order: NDArray[np.int64]) -> None:
    """Set the order to that of ascending eigenvalues; insertion, since they nearly are."""
    for i in range(len(order)):
        j = i
        while j > 0 and lam[order[j - 1]] > lam[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i


@inner
def _settle_tie(
    work: Secular,
    order: NDArray[np.int64],
    active: int,
    old_stay: bool,
    rank: NDArray[np.int64],
) -> None:
    """Move to the front, of the eigenvalues equal to the least, one that the rule drops."""
    margin = TIED * work.lam[order[-1]]
    if len(order) < 2 or work.lam[order[1]] > work.lam[order[0]] + margin:
        return
    _number_active(work, active, len(order), rank)
    for i in range(len(order)):
        slot = order[i]
        if work.lam[slot] > work.lam[order[0]] + margin:
            return
        if (rank[slot] >= 0) == old_stay:
            for j in range(i, 0, -1):
                order[j] = order[j - 1]
            order[0] = slot
            return


@inner
def _number_active(work: Secular, active: int, n: int, rank: NDArray[np.int64]) -> None:
    """Set the number of each slot among the active ones, -1 where it was deflated."""
    rank[:n] = -1
    for j in range(active):
        rank[work.active[j]] = j


@inner
def _projected(
    values: Array, others: int, floor: float, full: bool, rule: Rule
) -> tuple[float, bool]:
    """Project the eigenvalues in place; return the new floor, and whether the trace is k."""
    k = float(rule.k)
    if rule.kind == FANTOPE:
        onto_fantope(values, k)
    elif rule.kind == CAPPED:
        full = onto_capped(values, k, full)
    elif rule.kind == COMPLEMENT:
        onto_complement(values, k)
    elif rule.kind == DENSITY:
        floor = onto_density(values, others, k)
    return floor, full


@inner
def _zeros(values: Array) -> int:
    """Return how many values at the beginning are not positive."""
    for i in range(len(values)):
        if values[i] > 0.0:
            return i
    return len(values)


@inner
def _rotate(W: Array, kept: NDArray[np.int64], active: int, small: Small) -> None:
    """Set rows 1, 2, ... of the basis to the eigenvectors in the kept slots."""
    if active < len(W):
        _rotate_some(W, kept, active, small)
    elif len(kept):
        size = len(kept) * W.shape[1]
        _combine(W, kept, len(kept), active, small)
        new = small.basis[W.shape[1] :]
        for i in range(size):
            new[i] = small.rotated[i]


@inner
def _combine(W: Array, chosen: NDArray[np.int64], count: int, active: int, small: Small) -> None:
    """Set the rows of `rotated` to the chosen eigenvectors, of which W has the coordinates."""
    V = matrix(small.vectors, count, active)
    eigenvectors(active, chosen, count, small.secular, V)
    times(V, W, matrix(small.rotated, count, W.shape[1]))


@inner
def _rotate_some(W: Array, kept: NDArray[np.int64], active: int, small: Small) -> None:
    """Do as `_rotate` where some slots are not active: their rows stay as they are."""
    n, width = W.shape
    rank = small.rank
    _number_active(small.secular, active, n, rank)
    gathered = matrix(small.gathered, n, width)
    for slot in small.secular.active[:active]:
        _copy_row(W, slot, gathered, rank[slot])
    rows = _pick(W, kept, active, gathered, small)
    rotated = matrix(small.rotated, rows, width)
    if rows:
        _combine(gathered[:active], small.picked, rows, active, small)
    new, others = rows_of(small.basis, 1, len(kept) + 1, width), active + len(kept) - rows
    for i in range(len(kept) - 1, -1, -1):
        if rank[kept[i]] >= 0:
            rows -= 1
            _copy_row(rotated, rows, new, i)
        else:
            others -= 1
            _copy_row(gathered, others, new, i)


@inner
def _pick(W: Array, kept: NDArray[np.int64], active: int, gathered: Array, small: Small) -> int:
    """List the active slots among the kept ones by their rank; return how many they are.

    The rows of the others go below the first `active` rows of `gathered`.
    """
    rows, others = 0, active
    for slot in kept:
        if small.rank[slot] >= 0:
            small.picked[rows] = small.rank[slot]
            rows += 1
        else:
            _copy_row(W, slot, gathered, others)
            others += 1
    return rows


@inner
def _copy_row(source: Array, i: int, into: Array, j: int) -> None:
    for column in range(source.shape[1]):
        into[j, column] = source[i, column]

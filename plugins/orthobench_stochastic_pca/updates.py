"""The kernel of all methods that keep a spectrum: M <- projection of (M + eta xx').

What the methods keep, M itself or a logarithm of it, differs, and so does the projection; the
eigendecomposition of a low-rank matrix under rank-one updates is the same (Arora, Cotter and
Srebro 2013, Algorithm 1). Within a block of samples it takes place in span(U, X) (`span`), in
coordinates of length m + b, by the secular equation (`secular`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from orthobench import flops
from orthobench.arrays import Array
from orthobench_stochastic_pca.projection import (
    onto_capped,
    onto_complement,
    onto_density,
    onto_fantope,
)
from orthobench_stochastic_pca.secular import Secular, eigenvalues, eigenvectors, secular
from orthobench_stochastic_pca.span import (
    DEPENDENT,
    TINY,
    collapse,
    dot,
    expand,
    matrix,
    times,
    workspace,
)
from orthobench_stochastic_pca.spectrum import (
    CAPPED,
    COMPLEMENT,
    DENSITY,
    FANTOPE,
    Iterate,
    Rule,
)

TIED = 1e-12
"""Eigenvalues this close, relative to the largest, are equal: rounding must not choose."""

AGAIN = 0.1
"""A residual shorter than this times its sample is projected a second time."""

_eigh = njit(cache=True)(flops.eigh)


class _Small(NamedTuple):
    """The iterate in coordinates of a block, and arrays to update it in.

    Row 0 of `diagonal`, `z` and W is for the new direction, whose eigenvalue is the least; the
    iterate's m rows follow.
    """

    diagonal: Array
    z: Array
    residual: Array
    flat: Array
    next: Array
    gathered: Array
    rotated: Array
    vectors: Array
    order: NDArray[np.int64]
    rank: NDArray[np.int64]
    secular: Secular


@njit(cache=True, error_model="numpy")
def _small(n: int) -> _Small:
    return _Small(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n * n),
        np.empty(n * n),
        np.empty(n * n),
        np.empty(n * n),
        np.empty(n * n),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        secular(n),
    )


@njit(cache=True, error_model="numpy")
def update_blocks(start: Iterate, samples: Array, etas: Array, block: int, rule: Rule) -> Iterate:
    """Return the iterate after all samples, in blocks of `block` from the first on.

    Parameters
    ----------
    start : Iterate
    samples : ndarray, shape (count, d), C order
    etas : ndarray, shape (count,)
        Step sizes.
    block : int
    rule : Rule

    Notes
    -----
    With m rows on average, 2 (m + b) (1 + m / b) d flops a sample and about 2 m² (m + b) + 40 m²
    besides; memory 2 (m + b) d doubles and 5 (m + b)² besides.
    """
    d = samples.shape[1]
    m, floor, full, drift, cost = len(start.values), start.floor, start.full, start.drift, 0
    room = m + 2 * block + m // 2
    V, new = _grown(start.basis, m, room), np.empty((room, d))
    work, small = workspace(room, block, d), _small(room)
    small.diagonal[1 : m + 1] = start.values
    for first in range(0, len(samples), block):
        count = min(block, len(samples) - first)
        if m + count >= room:
            room = m + 2 * block + m // 2
            V, new = _grown(V, m, room), np.empty((room, d))
            work, held = workspace(room, block, d), small.diagonal
            small = _small(room)
            small.diagonal[1 : m + 1] = held[1 : m + 1]
        V[m : m + count] = samples[first : first + count]
        span = expand(V, m, count, drift, work)
        width = span.m + span.q
        W = matrix(small.flat, m + 1, width)
        W[:] = 0.0
        for i in range(m):
            W[i + 1, i] = 1.0
        flat, spare = small.flat, small.next
        for j in range(count):
            before = m
            fresh = _extend(work.coords[j, :width], etas[first + j], m, d, flat, small)
            if fresh >= 0:
                m, floor, full = _update(m, fresh, width, d, floor, full, rule, flat, spare, small)
                flat, spare = spare, flat
            cost += _cost(d, before, m, fresh)
        W = flat[width : (m + 1) * width].reshape(m, width)
        drift = collapse(V, span, W, new, work)
        V, new = new, V
    values = small.diagonal[1 : m + 1].copy()
    return Iterate(V[:m].copy(), values, floor, full, drift, start.flops + cost)


@njit(cache=True, error_model="numpy")
def _grown(V: Array, m: int, room: int) -> Array:
    larger = np.empty((room, V.shape[1]))
    larger[:m] = V[:m]
    return larger


@njit(cache=True, error_model="numpy")
def _extend(y: Array, eta: float, m: int, d: int, flat: Array, small: _Small) -> int:
    """Set z to sqrt(eta) times the sample in the basis, extended by its residual (lines 1 to 5).

    Returns 1 where the residual is a new direction, 0 where there is none, and -1 where the
    sample is too small to change anything.
    """
    width = len(y)
    square = dot(y, y, width)
    if not eta * square > TINY:
        return -1
    z, residual = small.z[1 : m + 1], small.residual[:width]
    W = flat[width : (m + 1) * width].reshape(m, width)
    residual[:] = y
    z[:] = 0.0
    left = _project_out(W, residual, z)
    if left < AGAIN * AGAIN * square:
        left = _project_out(W, residual, z)
    fresh = 1 if left > DEPENDENT * DEPENDENT * square and m < d else 0
    if fresh:
        small.z[0] = np.sqrt(eta * left)
        scale = 1.0 / np.sqrt(left)
        for i in range(width):
            flat[i] = residual[i] * scale
    for i in range(m):
        z[i] *= np.sqrt(eta)
    return fresh


@njit(cache=True, error_model="numpy")
def _project_out(W: Array, x: Array, z: Array) -> float:
    """Take the rows of W out of x, add the coordinates to z, and return |x|²."""
    if len(W) == 0:
        return dot(x, x, len(x))
    part = np.dot(W, x)
    z += part
    x -= np.dot(part, W)
    return dot(x, x, len(x))


@njit(cache=True, error_model="numpy")
def _update(
    m: int,
    fresh: int,
    width: int,
    d: int,
    floor: float,
    full: bool,
    rule: Rule,
    flat: Array,
    spare: Array,
    small: _Small,
) -> tuple[int, float, bool]:
    """Do the eigen-update and the projection (lines 4 to 9); leave the new rows in `spare`."""
    first = 1 - fresh
    n = m + fresh
    diagonal = small.diagonal[first : m + 1]
    W = flat[first * width : (m + 1) * width].reshape(n, width)
    if fresh:
        diagonal[0] = 0.0
    active = eigenvalues(diagonal, small.z[first : m + 1], W, small.secular)
    order = small.order[:n]
    _sort(small.secular.lam, order)
    dropped = max(0, n - rule.most)
    if dropped:
        _settle_tie(small.secular, order, active, rule.old_stay, small.rank)
    kept = order[dropped:]
    values = small.secular.lam[kept]
    floor, full = _projected(values, d - n, floor, full, rule)
    while len(values) and not values[0] > 0.0:
        values, kept = values[1:], kept[1:]
    small.diagonal[1 : len(values) + 1] = values
    _rotate(W, kept, active, spare, small)
    return len(values), floor, full


@njit(cache=True, error_model="numpy")
def _sort(lam: Array, order: NDArray[np.int64]) -> None:
    """Set the order to that of ascending eigenvalues; insertion, since they nearly are."""
    for i in range(len(order)):
        j = i
        while j > 0 and lam[order[j - 1]] > lam[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i


@njit(cache=True, error_model="numpy")
def _settle_tie(
    work: Secular,
    order: NDArray[np.int64],
    active: int,
    old_stay: bool,
    rank: NDArray[np.int64],
) -> None:
    """Move to the front, of the eigenvalues equal to the least, one that the rule drops."""
    _number_active(work, active, len(order), rank)
    margin = TIED * work.lam[order[-1]]
    for i in range(len(order)):
        slot = order[i]
        if work.lam[slot] > work.lam[order[0]] + margin:
            return
        if (rank[slot] >= 0) == old_stay:
            order[1 : i + 1] = order[:i].copy()
            order[0] = slot
            return


@njit(cache=True, error_model="numpy")
def _number_active(work: Secular, active: int, n: int, rank: NDArray[np.int64]) -> None:
    """Set the number of each slot among the active ones, -1 where it was deflated."""
    rank[:n] = -1
    for j in range(active):
        rank[work.active[j]] = j


@njit(cache=True, error_model="numpy")
def _projected(
    values: Array, others: int, floor: float, full: bool, rule: Rule
) -> tuple[float, bool]:
    """Project the eigenvalues in place; return the new floor, and whether the trace is k."""
    if rule.kind == FANTOPE:
        onto_fantope(values, float(rule.k))
    elif rule.kind == CAPPED:
        full = onto_capped(values, float(rule.k), full)
    elif rule.kind == COMPLEMENT:
        onto_complement(values, float(rule.k))
    elif rule.kind == DENSITY:
        floor = onto_density(values, others, float(rule.k))
    return floor, full


@njit(cache=True, error_model="numpy")
def _rotate(W: Array, kept: NDArray[np.int64], active: int, spare: Array, small: _Small) -> None:
    """Set rows 1, 2, ... of `spare` to the eigenvectors in the kept slots."""
    n, width = W.shape
    rank, rows = small.rank, 0
    _number_active(small.secular, active, n, rank)
    picked = np.empty(len(kept), np.int64)
    for slot in kept:
        if rank[slot] >= 0:
            picked[rows] = rank[slot]
            rows += 1
    gathered = matrix(small.gathered, active, width)
    for j in range(active):
        gathered[j] = W[small.secular.active[j]]
    V, rotated = matrix(small.vectors, rows, active), matrix(small.rotated, rows, width)
    if rows:
        eigenvectors(active, picked, rows, small.secular, V)
        times(V, gathered, rotated)
    new = matrix(spare, len(kept) + 1, width)
    at = 0
    for i in range(len(kept)):
        if rank[kept[i]] >= 0:
            new[i + 1] = rotated[at]
            at += 1
        else:
            new[i + 1] = W[kept[i]]


@njit(cache=True, error_model="numpy")
def _cost(d: int, m: int, after: int, fresh: int) -> int:
    """Return the flops of one step of Algorithm 1 from rank m to rank `after`.

    Coordinates 2dm, residual 2dm and its norm 2d, the small eigenproblem, and U V 2dnm'.
    """
    if fresh < 0:
        return 4 * d * m + 2 * d
    n = m + fresh
    return 4 * d * m + 2 * d + _eigh(n) + 2 * d * n * after

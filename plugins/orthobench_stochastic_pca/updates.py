"""The kernel of all methods that keep a spectrum: M <- projection of (M + eta xx').

What the methods keep, M itself or a logarithm of it, differs, and so does the projection; the
eigendecomposition of a low-rank matrix under rank-one updates is the same (Arora, Cotter and
Srebro 2013, Algorithm 1). Within a block of samples it takes place in span(U, X) (`span`), in
coordinates of length m + b, by the secular equation (`secular`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthobench import flops
from orthobench.arrays import Array
from orthobench_stochastic_pca.compiled import inner, kernel
from orthobench_stochastic_pca.projection import (
    onto_capped,
    onto_complement,
    onto_density,
    onto_fantope,
)
from orthobench_stochastic_pca.secular import EPS, Secular, eigenvalues, eigenvectors, secular
from orthobench_stochastic_pca.span import (
    DEPENDENT,
    TINY,
    Span,
    Workspace,
    add,
    collapse,
    combine,
    copy,
    dot,
    expand,
    identity,
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

_eigh = kernel(flops.eigh)


class _Scalars(NamedTuple):
    """The parts of an iterate that are no arrays, within a block."""

    m: int
    floor: float
    full: bool
    flops: int


class _Small(NamedTuple):
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
def _small(n: int) -> _Small:
    return _Small(
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


@kernel
def update_blocks(
    start: Iterate, samples: Array, etas: Array, block: int, rule: Rule, summing: bool
) -> tuple[Iterate, Array]:
    """Return the iterate after all samples, in blocks of `block` from the first on.

    Parameters
    ----------
    start : Iterate
    samples : ndarray, shape (count, d), C order
    etas : ndarray, shape (count,)
        Step sizes.
    block : int
    rule : Rule
    summing : bool
        Whether to sum up the iterates; only where their floor is zero.

    Returns
    -------
    Iterate
    ndarray, shape (g, d)
        P with P'P the sum of the M after each sample of the last block; g is its rank. Empty
        where nothing is summed.

    Notes
    -----
    At rank m about 2 (m + b) (1 + m / b) d flops a sample, and 2 m² (m + b) + 60 m² besides,
    with 2 m (m + b)² more where M is summed; memory 3 (m + b) d doubles and 6 (m + b)² besides.
    """
    at = _Scalars(len(start.values), start.floor, start.full, start.flops)
    drift, P = start.drift, start.basis[:0]
    V, new, work, small = _grown(start.basis, start.values, at.m, block)
    for first in range(0, len(samples), block):
        last = min(first + block, len(samples))
        if at.m + block >= len(V):
            V, new, work, small = _grown(V, small.diagonal[1 : at.m + 1], at.m, block)
        copy(samples[first:last], V[at.m :])
        span = expand(V, at.m, last - first, drift, work)
        moment = np.zeros((span.m + span.q) ** 2 if summing else 0)
        at = _update_all(at, span, etas[first:last], rule, V.shape[1], work, small, moment)
        if summing:
            P = _sum(moment, V, span, work)
        drift = collapse(V, span, _basis(small, at.m, span), new, work)
        V, new = new, V
    values = small.diagonal[1 : at.m + 1].copy()
    return Iterate(V[: at.m].copy(), values, at.floor, at.full, drift, at.flops), P


@inner
def _update_all(
    at: _Scalars,
    span: Span,
    etas: Array,
    rule: Rule,
    d: int,
    work: Workspace,
    small: _Small,
    moment: Array,
) -> _Scalars:
    """Do the updates of one block; add each M to the moment, where that is not empty."""
    width = span.m + span.q
    identity(_basis(small, span.m, span))
    for j in range(len(etas)):
        fresh = _extend(work.coords[j, :width], etas[j], at.m, d, small)
        cost = _cost(d, at.m, fresh)
        if fresh >= 0:
            n = at.m + fresh
            at = _update(at, fresh, width, d, rule, small)
            cost += 2 * d * n * at.m
        at = _Scalars(at.m, at.floor, at.full, at.flops + cost)
        if len(moment):
            _add_to_moment(_basis(small, at.m, span), small.diagonal[1:], rule.kind, moment)
    return at


@inner
def _basis(small: _Small, m: int, span: Span) -> Array:
    """Return the iterate's basis in coordinates of the block, (m, width)."""
    return _rows(small.basis, 1, m + 1, span.m + span.q)


@inner
def _grown(
    basis: Array, values: Array, m: int, block: int
) -> tuple[Array, Array, Workspace, _Small]:
    """Return arrays with room for a few blocks of new directions, the first two filled in."""
    d = basis.shape[1]
    room = m + m // 2 + 2 * block
    V, small = np.empty((room, d)), _small(room)
    copy(basis[:m], V)
    for i in range(m):
        small.diagonal[i + 1] = values[i]
    return V, np.empty((room, d)), workspace(room, block, d), small


@inner
def _rows(flat: Array, first: int, last: int, width: int) -> Array:
    """Return rows first, ..., last - 1 of a flat matrix, contiguous."""
    return flat[first * width : last * width].reshape(last - first, width)


@inner
def _extend(y: Array, eta: float, m: int, d: int, small: _Small) -> int:
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
    W = _rows(small.basis, 1, m + 1, width)
    left = _project_out(W, residual[:width], z[1 : m + 1])
    if left < AGAIN * AGAIN * square:
        left = _project_out(W, residual[:width], z[1 : m + 1])
    fresh = 1 if left > DEPENDENT * DEPENDENT * square and m < d else 0
    if fresh:
        z[0] = np.sqrt(left)
        for i in range(width):
            small.basis[i] = residual[i] / z[0]
    for i in range(m + 1):
        z[i] *= np.sqrt(eta)
    return fresh


@inner
def _project_out(W: Array, x: Array, z: Array) -> float:
    """Take the rows of W out of x, add the coordinates to z, and return |x|²."""
    if len(W) > 0:
        part = np.dot(W, x)
        projection = np.dot(part, W)
        for i in range(len(z)):
            z[i] += part[i]
        for i in range(len(x)):
            x[i] -= projection[i]
    return dot(x, x, len(x))


@inner
def _update(at: _Scalars, fresh: int, width: int, d: int, rule: Rule, small: _Small) -> _Scalars:
    """Do the eigen-update and the projection (lines 4 to 9)."""
    first, n = 1 - fresh, at.m + fresh
    small.diagonal[0] = 0.0
    W, lam, order = _rows(small.basis, first, at.m + 1, width), small.secular.lam, small.order[:n]
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
    return _Scalars(len(values) - zeros, floor, full, at.flops)


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
    _number_active(work, active, len(order), rank)
    margin = TIED * work.lam[order[-1]]
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
def _rotate(W: Array, kept: NDArray[np.int64], active: int, small: _Small) -> None:
    """Set rows 1, 2, ... of the basis to the eigenvectors in the kept slots."""
    n, width = W.shape
    rank, picked = small.rank, small.picked
    _number_active(small.secular, active, n, rank)
    rows = _pick(kept, rank, picked)
    gathered = matrix(small.gathered, active, width)
    for j in range(active):
        _copy_row(W, small.secular.active[j], gathered, j)
    rotated = matrix(small.rotated, len(kept), width)
    if rows:
        V = matrix(small.vectors, rows, active)
        eigenvectors(active, picked, rows, small.secular, V)
        times(V, gathered, rotated[:rows])
    for i in range(len(kept) - 1, -1, -1):
        if rank[kept[i]] >= 0:
            rows -= 1
            _copy_row(rotated, rows, rotated, i)
        else:
            _copy_row(W, kept[i], rotated, i)
    copy(rotated, _rows(small.basis, 1, len(kept) + 1, width))


@inner
def _pick(kept: NDArray[np.int64], rank: NDArray[np.int64], picked: NDArray[np.int64]) -> int:
    """List the active slots among the kept ones by their rank; return how many they are."""
    at = 0
    for slot in kept:
        if rank[slot] >= 0:
            picked[at] = rank[slot]
            at += 1
    return at


@inner
def _copy_row(source: Array, i: int, into: Array, j: int) -> None:
    for column in range(source.shape[1]):
        into[j, column] = source[i, column]


@inner
def _cost(d: int, m: int, fresh: int) -> int:
    """Return the flops of lines 1 to 6 of Algorithm 1 at rank m; line 4 or 7 adds U V.

    Coordinates 2dm, residual 2dm and its norm 2d, and the small eigenproblem.
    """
    cost = 4 * d * m + 2 * d
    return cost + _eigh(m + fresh) if fresh >= 0 else cost


@inner
def _add_to_moment(W: Array, values: Array, kind: int, moment: Array) -> None:
    """Add M = W' diag(eigenvalues) W to the moment."""
    m, width = W.shape
    for j in range(m):
        weight = values[j]
        if kind == COMPLEMENT:
            weight = -np.expm1(-values[j])
        for i in range(width):
            add(weight * W[j, i], W[j], moment[i * width :], width)


@inner
def _sum(moment: Array, V: Array, span: Span, work: Workspace) -> Array:
    """Return P with P'P = [U; Q]' moment [U; Q]."""
    width = span.m + span.q
    F = _factor(moment.reshape(width, width))
    P = np.empty((len(F), V.shape[1]))
    if len(F):
        combine(V, span, F, P, work)
    return P


@inner
def _factor(G: Array) -> Array:
    """Return F of full row rank with F'F = G, positive semidefinite; pivoted Cholesky."""
    n = len(G)
    F, scale, rank = np.zeros((n, n)), 0.0, 0
    for i in range(n):
        scale = max(scale, G[i, i])
    while rank < n:
        pivot = 0
        for i in range(n):
            pivot = i if G[i, i] > G[pivot, pivot] else pivot
        if not G[pivot, pivot] > n * EPS * scale:
            break
        for i in range(n):
            F[rank, i] = G[pivot, i] / np.sqrt(G[pivot, pivot])
        for i in range(n):
            add(-F[rank, i], F[rank], G[i], n)
        rank += 1
    return F[:rank]

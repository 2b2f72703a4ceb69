"""The kernel of all methods that keep a spectrum: M <- projection of (M + eta xx').

What the methods keep, M itself or a logarithm of it, differs, and so does the projection; the
eigendecomposition of a low-rank matrix under rank-one updates is the same (Arora, Cotter and
Srebro 2013, Algorithm 1). Within a block of samples it takes place in span(U, X) (`span`), in
coordinates of length m + b, by the secular equation (`secular`).
"""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array, flops
from orthobench.tools.compiled import inner, kernel
from orthobench_stochastic_pca.dense import add, copy, identity
from orthobench_stochastic_pca.eigenupdate import (
    Scalars,
    Small,
    extend,
    rows_of,
    small_arrays,
    update,
)
from orthobench_stochastic_pca.secular import EPS
from orthobench_stochastic_pca.span import Span, Workspace, collapse, combine, expand, workspace
from orthobench_stochastic_pca.spectrum import COMPLEMENT, Iterate, Rule

_eigh = kernel(flops.eigh)


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
    with 2 m (m + b)² more where M is summed; memory 3 (m + b) d doubles and 5 (m + b)² besides.
    """
    at = Scalars(len(start.values), start.floor, start.full, start.flops)
    drift, P = start.drift, start.basis[:0]
    V, new, work, small = _grown(start.basis, start.values, at.m, block)
    for first in range(0, len(samples), block):
        last = min(first + block, len(samples))
        if at.m + block >= len(V):
            V, new, work, small = _grown(V, small.diagonal[1 : at.m + 1], at.m, block)
        copy(samples[first:last], V[at.m :])
        span = expand(V, at.m, last - first, drift, work)
        if np.isnan(span.drift):
            drift = span.drift
            break
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
    at: Scalars,
    span: Span,
    etas: Array,
    rule: Rule,
    d: int,
    work: Workspace,
    small: Small,
    moment: Array,
) -> Scalars:
    """Do the updates of one block; add each M to the moment, where that is not empty."""
    width = span.m + span.q
    identity(_basis(small, span.m, span))
    for j in range(len(etas)):
        fresh = extend(work.coords[j, :width], etas[j], at.m, d, small)
        cost = _cost(d, at.m, fresh)
        if fresh >= 0:
            n = at.m + fresh
            at = update(at, fresh, width, d, rule, small)
            cost += 2 * d * n * at.m
        at = Scalars(at.m, at.floor, at.full, at.flops + cost)
        if len(moment):
            _add_to_moment(_basis(small, at.m, span), small.diagonal[1:], rule.kind, moment)
    return at


@inner
def _basis(small: Small, m: int, span: Span) -> Array:
    """Return the iterate's basis in coordinates of the block, (m, width)."""
    return rows_of(small.basis, 1, m + 1, span.m + span.q)


@inner
def _grown(
    basis: Array, values: Array, m: int, block: int
) -> tuple[Array, Array, Workspace, Small]:
    """Return arrays with room for a few blocks of new directions, the first two filled in."""
    d = basis.shape[1]
    room = m + m // 2 + 2 * block
    V, small = np.empty((room, d)), small_arrays(room)
    copy(basis[:m], V)
    for i in range(m):
        small.diagonal[i + 1] = values[i]
    return V, np.empty((room, d)), workspace(room, block, d), small


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

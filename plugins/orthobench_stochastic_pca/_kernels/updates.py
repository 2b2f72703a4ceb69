"""The kernel of all methods that keep a spectrum: M <- projection of (M + eta xx').

Algorithm 1 of Arora, Cotter and Srebro 2013, in coordinates of a block (`span`), by the secular
equation (`secular`). The methods store M or a logarithm of it, and differ in the projection.
"""

from __future__ import annotations

import numpy as np
from orthobench_kit.compiled import kernel

from orthobench.contract import Array, flops
from orthobench_stochastic_pca._kernels.eigenupdate import (
    SmallEigenproblem,
    extend,
    small_eigenproblem,
    update,
)
from orthobench_stochastic_pca._kernels.iterates import Iterate, Onto, Projection
from orthobench_stochastic_pca._kernels.secular import EPS
from orthobench_stochastic_pca._kernels.span import (
    Span,
    Workspace,
    axpy,
    copy_rows,
    expand,
    rows_of,
    set_identity,
    workspace,
    write_basis,
    write_combinations,
)

_eigh = kernel(flops.eigh)


@kernel
def update_blocks(
    start: Iterate, samples: Array, etas: Array, block: int, projection: Projection, summing: bool
) -> tuple[Iterate, Array]:
    """Return the iterate after all samples (count, d), in blocks, with step sizes `etas`.

    With `summing`, for iterates without a floor, the second result P (g, d) has P'P, of rank g,
    equal to the sum of the M after each sample of the last block; else it is empty. At rank m about
    2(m + b)(1 + m/b)d + 2m²(m + b) + 60m² flops a sample, and 2m(m + b)² more to sum M. Memory: 3(m
    + b)d + 5(m + b)² doubles.
    """
    m, floor, full, spent = len(start.values), start.floor, start.full, start.flops
    drift, P, d = start.drift, start.basis[:0], start.basis.shape[1]
    V, new, work, small = _allocate(start.basis, start.values, m, block)
    for first in range(0, len(samples), block):
        last = min(first + block, len(samples))
        if m + block >= len(V):
            V, new, work, small = _allocate(V, small.diagonal[1 : m + 1], m, block)
        copy_rows(samples[first:last], V[m:])
        span = expand(V, m, last - first, drift, work)
        if np.isnan(span.drift):
            drift = span.drift
            break
        width = span.m + span.q
        moment = np.zeros(width * width if summing else 0)
        set_identity(_basis(small, m, width))
        for j in range(last - first):
            added = extend(work.coords[j, :width], etas[first + j], m, d, small)
            spent += _flops(d, m, added)
            if added >= 0:
                n = m + added
                m, floor, full = update(m, added, width, d, floor, full, projection, small)
                spent += 2 * d * n * m
            if summing:
                _add_to_moment(_basis(small, m, width), small.diagonal[1:], projection.onto, moment)
        if summing:
            P = _factored(moment, V, span, work)
        drift = write_basis(V, span, _basis(small, m, width), new, work)
        V, new = new, V
    values = small.diagonal[1 : m + 1].copy()
    return Iterate(V[:m].copy(), values, floor, full, drift, spent), P


@kernel
def _basis(small: SmallEigenproblem, m: int, width: int) -> Array:
    return rows_of(small.basis, 1, m + 1, width)


@kernel
def _allocate(
    basis: Array, values: Array, m: int, block: int
) -> tuple[Array, Array, Workspace, SmallEigenproblem]:
    """Return V with the basis, a second array, and the work arrays with the values."""
    d = basis.shape[1]
    capacity = m + m // 2 + 2 * block
    V, small = np.empty((capacity, d)), small_eigenproblem(capacity)
    copy_rows(basis[:m], V)
    for i in range(m):
        small.diagonal[i + 1] = values[i]
    return V, np.empty((capacity, d)), workspace(capacity, block, d), small


@kernel
def _flops(d: int, m: int, added: int) -> int:
    """Return the flops of Algorithm 1 at rank m, but for the product on line 4 or 7."""
    cost = 4 * d * m + 2 * d
    return cost + _eigh(m + added) if added >= 0 else cost


@kernel
def _add_to_moment(W: Array, values: Array, onto: Onto, moment: Array) -> None:
    m, width = W.shape
    for j in range(m):
        weight = -np.expm1(-values[j]) if onto == Onto.COMPLEMENT else values[j]
        for i in range(width):
            axpy(weight * W[j, i], W[j], moment[i * width :], width)


@kernel
def _factored(moment: Array, V: Array, span: Span, work: Workspace) -> Array:
    width = span.m + span.q
    F = _cholesky(moment.reshape(width, width))
    P = np.empty((len(F), V.shape[1]))
    if len(F):
        write_combinations(V, span, F, P, work)
    return P


@kernel
def _cholesky(G: Array) -> Array:
    """Return F of full row rank with F'F = G, by pivoted Cholesky; overwrites G."""
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
            axpy(-F[rank, i], F[rank], G[i], n)
        rank += 1
    return F[:rank]

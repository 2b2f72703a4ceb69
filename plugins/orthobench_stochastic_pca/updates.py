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
    Workspace,
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


class _Scalars(NamedTuple):
    """The parts of an iterate that are no arrays, within a block."""

    m: int
    floor: float
    full: bool


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
        np.empty(n, np.int64),
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
    At rank m about 2 (m + b) (1 + m / b) d flops a sample, and 2 m² (m + b) + 60 m² besides;
    memory 3 (m + b) d doubles and 6 (m + b)² besides.
    """
    d = samples.shape[1]
    at, drift, cost = _Scalars(len(start.values), start.floor, start.full), start.drift, start.flops
    V, new, work, small = _grown(start.basis, start.values, at.m, block)
    for first in range(0, len(samples), block):
        count = min(block, len(samples) - first)
        if at.m + count >= len(V):
            V, new, work, small = _grown(V, small.diagonal[1 : at.m + 1], at.m, block)
        _copy(samples[first : first + count], V[at.m :])
        span = expand(V, at.m, count, drift, work)
        width = span.m + span.q
        _identity(at.m, width, small.basis)
        for j in range(count):
            before = at.m
            fresh = _extend(work.coords[j, :width], etas[first + j], at.m, d, small)
            if fresh >= 0:
                at = _update(at, fresh, width, d, rule, small)
            cost += _cost(d, before, at.m, fresh)
        drift = collapse(V, span, _rows(small.basis, 1, at.m + 1, width), new, work)
        V, new = new, V
    return Iterate(
        V[: at.m].copy(), small.diagonal[1 : at.m + 1].copy(), at.floor, at.full, drift, cost
    )


@njit(cache=True, error_model="numpy")
def _grown(
    basis: Array, values: Array, m: int, block: int
) -> tuple[Array, Array, Workspace, _Small]:
    """Return arrays with room for a few blocks of new directions, the first two filled in."""
    d = basis.shape[1]
    room = m + m // 2 + 2 * block
    V, new, work, small = (
        np.empty((room, d)),
        np.empty((room, d)),
        workspace(room, block, d),
        _small(room),
    )
    _copy(basis[:m], V)
    for i in range(m):
        small.diagonal[i + 1] = values[i]
    return V, new, work, small


@njit(cache=True, error_model="numpy")
def _copy(rows: Array, into: Array) -> None:
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            into[i, j] = rows[i, j]


@njit(cache=True, error_model="numpy")
def _rows(flat: Array, first: int, last: int, width: int) -> Array:
    """Return rows first, ..., last - 1 of a flat matrix, contiguous."""
    return flat[first * width : last * width].reshape(last - first, width)


@njit(cache=True, error_model="numpy")
def _identity(m: int, width: int, flat: Array) -> None:
    """Set the basis to the first m unit vectors, in rows 1 to m."""
    for i in range(width, (m + 1) * width):
        flat[i] = 0.0
    for i in range(m):
        flat[(i + 1) * width + i] = 1.0


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
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
    return _Scalars(len(values) - zeros, floor, full)


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
            for j in range(i, 0, -1):
                order[j] = order[j - 1]
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


@njit(cache=True, error_model="numpy")
def _zeros(values: Array) -> int:
    """Return how many values at the beginning are not positive."""
    for i in range(len(values)):
        if values[i] > 0.0:
            return i
    return len(values)


@njit(cache=True, error_model="numpy")
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
    _copy(rotated, _rows(small.basis, 1, len(kept) + 1, width))


@njit(cache=True, error_model="numpy")
def _pick(kept: NDArray[np.int64], rank: NDArray[np.int64], picked: NDArray[np.int64]) -> int:
    """List the active slots among the kept ones by their rank; return how many they are."""
    at = 0
    for slot in kept:
        if rank[slot] >= 0:
            picked[at] = rank[slot]
            at += 1
    return at


@njit(cache=True, error_model="numpy")
def _copy_row(source: Array, i: int, into: Array, j: int) -> None:
    for column in range(source.shape[1]):
        into[j, column] = source[i, column]


@njit(cache=True, error_model="numpy")
def _cost(d: int, m: int, after: int, fresh: int) -> int:
    """Return the flops of one step of Algorithm 1 from rank m to rank `after`.

    Coordinates 2dm, residual 2dm and its norm 2d, the small eigenproblem, and U V 2dnm'.
    """
    if fresh < 0:
        return 4 * d * m + 2 * d
    n = m + fresh
    return 4 * d * m + 2 * d + _eigh(n) + 2 * d * n * after

"""One update of a spectrum in the coordinates of a block.

Lines 1 to 9 of Algorithm 1 of Arora, Cotter and Srebro (2013), for vectors of length m + b
(`span`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.compiled import kernel

from orthobench.contract import Array
from orthobench_stochastic_pca._kernels.iterates import Onto, Projection
from orthobench_stochastic_pca._kernels.projection import (
    onto_complement,
    onto_density,
    onto_fantope,
)
from orthobench_stochastic_pca._kernels.secular import (
    SecularWorkspace,
    eigenvalues,
    eigenvectors,
    secular_workspace,
)
from orthobench_stochastic_pca._kernels.span import (
    DEPENDENT,
    TINY,
    axpy,
    dot,
    matrix,
    multiply,
    rows_of,
)

TIED = 1e-12
"""Difference of equal eigenvalues, relative to the largest."""

CANCELLED = 0.1
"""Length of a residual below which it is orthogonalized again, relative to its sample."""


class SmallEigenproblem(NamedTuple):
    """An iterate in coordinates of a block, and the arrays to update it in.

    Row 0 of `diagonal`, `z` and `basis` is for the new direction, whose eigenvalue is the smallest;
    the m rows of the iterate follow. Matrices are flat.

    Attributes
    ----------
    diagonal, z : ndarray, shape (n,)
        The eigenproblem of diag(diagonal) + zz'.
    residual : ndarray, shape (n,)
        The part of a sample orthogonal to the iterate's basis.
    basis : ndarray, shape (n²,)
        The iterate's eigenvectors as rows.
    order, rank : ndarray of int, shape (n,)
        The slots by ascending eigenvalue; the number of each slot among the active ones, or -1.
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
    secular: SecularWorkspace


@kernel
def small_eigenproblem(n: int) -> SmallEigenproblem:
    return SmallEigenproblem(
        np.empty(n), np.empty(n), np.empty(n),
        np.empty(n * n), np.empty(n * n), np.empty(n * n), np.empty(n * n),
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64),
        secular_workspace(n),
    )  # fmt: skip


@kernel
def extend(y: Array, eta: float, m: int, d: int, small: SmallEigenproblem) -> int:
    """Set z to sqrt(eta) times the sample in the basis, which its residual extends (lines 1 to 5).

    `y` (width,) is the sample, `m` the rank of the iterate. Returns 1 if the residual adds a
    direction, row 0 of the basis; 0 if not; -1 if the sample is too small to change anything. 4m
    width flops; twice that to orthogonalize again.
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
    if left < CANCELLED * CANCELLED * square:
        left = _project_out(W, residual[:width], z[1 : m + 1], small.gathered)
    added = 1 if left > DEPENDENT * DEPENDENT * square and m < d else 0
    if added:
        z[0] = np.sqrt(left)
        for i in range(width):
            small.basis[i] = residual[i] / z[0]
    for i in range(m + 1):
        z[i] *= np.sqrt(eta)
    return added


@kernel
def _project_out(W: Array, x: Array, z: Array, scratch: Array) -> float:
    """Orthogonalize x to the rows of W, add its coordinates to z, and return |x|²."""
    m, width = W.shape
    if m > 0:
        part, projection = scratch[:m], scratch[m : m + width]
        np.dot(W, x, part)
        np.dot(part, W, projection)
        axpy(1.0, part, z, m)
        axpy(-1.0, projection, x, width)
    return dot(x, x, width)


@kernel
def update(
    m: int,
    added: int,
    width: int,
    d: int,
    floor: float,
    full: bool,
    projection: Projection,
    small: SmallEigenproblem,
) -> tuple[int, float, bool]:
    """Update and project the eigendecomposition (lines 4 to 9); return m, floor and full.

    `added` is 1 if `extend` set row 0, else 0. 2m² width flops, and about 50m².
    """
    first, n = 1 - added, m + added
    small.diagonal[0] = 0.0
    W, lam, order = rows_of(small.basis, first, m + 1, width), small.secular.lam, small.order[:n]
    active = eigenvalues(small.diagonal[first : m + 1], small.z[first : m + 1], W, small.secular)
    _sort(lam, order)
    dropped = max(0, n - projection.max_rank)
    if dropped:
        _break_tie(small.secular, order, active, projection.keep_old, small.rank)
    values = small.diagonal[1 : n - dropped + 1]
    for i in range(len(values)):
        values[i] = lam[order[dropped + i]]
    k = float(projection.k)
    if projection.onto == Onto.FANTOPE:
        onto_fantope(values, k, False)
    elif projection.onto == Onto.CAPPED:
        full = onto_fantope(values, k, full)
    elif projection.onto == Onto.COMPLEMENT:
        onto_complement(values, k)
    elif projection.onto == Onto.DENSITY:
        floor = onto_density(values, d - n, k)
    zeros = 0
    while zeros < len(values) and not values[zeros] > 0.0:
        zeros += 1
    for i in range(len(values) - zeros):
        values[i] = values[i + zeros]
    _rotate(W, order[dropped + zeros :], active, small)
    return len(values) - zeros, floor, full


@kernel
def _sort(lam: Array, order: NDArray[np.int64]) -> None:
    """Set the order by ascending eigenvalues, by insertion since they are nearly sorted."""
    for i in range(len(order)):
        j = i
        while j > 0 and lam[order[j - 1]] > lam[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i


@kernel
def _number_active(work: SecularWorkspace, active: int, n: int, rank: NDArray[np.int64]) -> None:
    rank[:n] = -1
    for j in range(active):
        rank[work.active[j]] = j


@kernel
def _break_tie(
    work: SecularWorkspace,
    order: NDArray[np.int64],
    active: int,
    keep_old: bool,
    rank: NDArray[np.int64],
) -> None:
    """Move a smallest eigenvalue of the kind that the projection drops to the front."""
    margin = TIED * work.lam[order[-1]]
    if len(order) < 2 or work.lam[order[1]] > work.lam[order[0]] + margin:
        return
    _number_active(work, active, len(order), rank)
    for i in range(len(order)):
        slot = order[i]
        if work.lam[slot] > work.lam[order[0]] + margin:
            return
        if (rank[slot] >= 0) == keep_old:
            for j in range(i, 0, -1):
                order[j] = order[j - 1]
            order[0] = slot
            return


@kernel
def _rotate(W: Array, kept: NDArray[np.int64], active: int, small: SmallEigenproblem) -> None:
    """Set rows 1, 2, ... of the basis to the kept eigenvectors; W is its view by `eigenvalues`."""
    if active < len(W):
        _rotate_some(W, kept, active, small)
    elif len(kept):
        size = len(kept) * W.shape[1]
        _combine(W, kept, len(kept), active, small)
        new = small.basis[W.shape[1] :]
        for i in range(size):
            new[i] = small.rotated[i]


@kernel
def _combine(
    W: Array, chosen: NDArray[np.int64], count: int, active: int, small: SmallEigenproblem
) -> None:
    """Set the rows of `rotated` to the chosen eigenvectors."""
    V = matrix(small.vectors, count, active)
    eigenvectors(active, chosen, count, small.secular, V)
    multiply(V, W, matrix(small.rotated, count, W.shape[1]))


@kernel
def _rotate_some(W: Array, kept: NDArray[np.int64], active: int, small: SmallEigenproblem) -> None:
    """Do as `_rotate` if some slots, whose rows stay, are not active."""
    n, width = W.shape
    rank, picked = small.rank, small.picked
    _number_active(small.secular, active, n, rank)
    gathered = matrix(small.gathered, n, width)
    for slot in small.secular.active[:active]:
        _copy_row(W, slot, gathered, rank[slot])
    rows, others = 0, active
    for slot in kept:  # the active ones are combined; the rows of the others lie after those
        if rank[slot] >= 0:
            picked[rows] = rank[slot]
            rows += 1
        else:
            _copy_row(W, slot, gathered, others)
            others += 1
    rotated = matrix(small.rotated, rows, width)
    if rows:
        _combine(gathered[:active], picked, rows, active, small)
    new = rows_of(small.basis, 1, len(kept) + 1, width)
    for i in range(len(kept) - 1, -1, -1):
        if rank[kept[i]] >= 0:
            rows -= 1
            _copy_row(rotated, rows, new, i)
        else:
            others -= 1
            _copy_row(gathered, others, new, i)


@kernel
def _copy_row(source: Array, i: int, into: Array, j: int) -> None:
    for column in range(source.shape[1]):
        into[j, column] = source[i, column]

"""One update of a spectrum in the coordinates of a block.

Lines 1 to 9 of Algorithm 1 of Arora, Cotter and Srebro (2013). A sample and the iterate's
eigenvectors are vectors of length m + b here (`span`). The eigenproblem is solved by the secular
equation (`secular`); each method has its own projection of the eigenvalues (`projection`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array
from orthobench.tools.compiled import kernel
from orthobench_stochastic_pca._kernels.dense import axpy, dot
from orthobench_stochastic_pca._kernels.eigenrotation import rotate
from orthobench_stochastic_pca._kernels.projection import (
    onto_capped,
    onto_complement,
    onto_density,
    onto_fantope,
)
from orthobench_stochastic_pca._kernels.secular import SecularWorkspace, eigenvalues
from orthobench_stochastic_pca._kernels.small_eigenproblem import (
    Scalars,
    SmallEigenproblem,
    number_active,
    rows_of,
)
from orthobench_stochastic_pca._kernels.span import DEPENDENT, TINY
from orthobench_stochastic_pca._kernels.spectrum import (
    CAPPED,
    COMPLEMENT,
    DENSITY,
    FANTOPE,
    Projection,
)

TIED = 1e-12
"""Relative to the largest; eigenvalues that differ by at most this count as equal."""

CANCELLED = 0.1
"""A residual shorter than this times its sample is orthogonalized a second time."""


@kernel
def extend(y: Array, eta: float, m: int, d: int, small: SmallEigenproblem) -> int:
    """Set z to sqrt(eta) times the sample in the basis, which its residual extends.

    Lines 1 to 5 of Algorithm 1.

    Parameters
    ----------
    y : ndarray, shape (width,)
        The sample in coordinates of the block.
    eta : float
        Step size.
    m : int
        Rank of the iterate.
    d : int
        Length of a sample.
    small : SmallEigenproblem
        Its `z` is set, and row 0 of its basis if the residual adds a direction.

    Returns
    -------
    int
        1 if the residual adds a direction, 0 if not, and -1 if the sample is too small to change
        anything.

    Notes
    -----
    4m width flops; twice that if the residual is orthogonalized again.
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
    at: Scalars, added: int, width: int, d: int, projection: Projection, small: SmallEigenproblem
) -> Scalars:
    """Update and project the eigendecomposition, after `extend`.

    Lines 4 to 9 of Algorithm 1.

    Parameters
    ----------
    at : Scalars
        Those of the iterate.
    added : int
        1 if row 0 holds a new direction, else 0.
    width : int
        Length of the coordinates.
    d : int
        Length of a sample.
    projection : Projection
    small : SmallEigenproblem
        Its diagonal and basis are overwritten.

    Returns
    -------
    Scalars
        Those of the updated iterate.

    Notes
    -----
    At rank m, 2m² width flops for the eigenvectors, and about 50m² for all else.
    """
    first, n = 1 - added, at.m + added
    small.diagonal[0] = 0.0
    W, lam, order = rows_of(small.basis, first, at.m + 1, width), small.secular.lam, small.order[:n]
    active = eigenvalues(
        small.diagonal[first : at.m + 1], small.z[first : at.m + 1], W, small.secular
    )
    _sort(lam, order)
    dropped = max(0, n - projection.max_rank)
    if dropped:
        _break_tie(small.secular, order, active, projection.keep_old, small.rank)
    values = small.diagonal[1 : n - dropped + 1]
    for i in range(len(values)):
        values[i] = lam[order[dropped + i]]
    floor, full = _project(values, d - n, at.floor, at.full, projection)
    zeros = _count_zeros(values)
    for i in range(len(values) - zeros):
        values[i] = values[i + zeros]
    rotate(W, order[dropped + zeros :], active, small)
    return Scalars(len(values) - zeros, floor, full, at.flops)


@kernel
def _sort(lam: Array, order: NDArray[np.int64]) -> None:
    """Set the order to that of ascending eigenvalues, by insertion: they are nearly sorted."""
    for i in range(len(order)):
        j = i
        while j > 0 and lam[order[j - 1]] > lam[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i


@kernel
def _break_tie(
    work: SecularWorkspace,
    order: NDArray[np.int64],
    active: int,
    keep_old: bool,
    rank: NDArray[np.int64],
) -> None:
    """Of eigenvalues equal to the smallest, move one that the projection drops to the front."""
    margin = TIED * work.lam[order[-1]]
    if len(order) < 2 or work.lam[order[1]] > work.lam[order[0]] + margin:
        return
    number_active(work, active, len(order), rank)
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
def _project(
    values: Array, others: int, floor: float, full: bool, projection: Projection
) -> tuple[float, bool]:
    """Project the eigenvalues in place; return the new floor, and whether the trace is k."""
    k = float(projection.k)
    if projection.kind == FANTOPE:
        onto_fantope(values, k)
    elif projection.kind == CAPPED:
        full = onto_capped(values, k, full)
    elif projection.kind == COMPLEMENT:
        onto_complement(values, k)
    elif projection.kind == DENSITY:
        floor = onto_density(values, others, k)
    return floor, full


@kernel
def _count_zeros(values: Array) -> int:
    """Return the number of values, which are ascending, that are not positive."""
    for i in range(len(values)):
        if values[i] > 0.0:
            return i
    return len(values)

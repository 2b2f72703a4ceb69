"""Kernels of a projected gradient step: F and its gradient from W, the step, the retraction.

Bases are transposed here, Q' (r, n) in C order, so that their columns are contiguous.
"""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import kernel, summed
from orthobench_tucker._kernels.orthonormal_rows import orthonormalize


@kernel
def evaluated(
    W: Array, basis: Array, multiplicities: Array, order: int
) -> tuple[Array, Array, float, float]:
    """Return the gradient of F in two parts, F, and the relative gradient.

    As `orthobench_tucker.objective.derivatives`, compiled.

    ∇F = QP + V with P = 2d S diag(c) S' and the Riemannian gradient V = 2d (W - QS) diag(c) S',
    Q'V = 0. V is computed from the part of W outside of Q, and so without cancellation.

    Parameters
    ----------
    W : ndarray, shape (N, n)
        W', C order.
    basis : ndarray, shape (r, n)
        Q'.
    multiplicities : ndarray, shape (N,)
        c, of the monomials of degree d - 1.
    order : int
        d.

    Returns
    -------
    inner : ndarray, shape (r, r)
        P.
    tangent : ndarray, shape (r, n)
        V'.
    objective : float
    relative : float
        |V|_F / F; infinite where F is zero.
    """
    S = np.dot(W, basis.T)
    weighted = np.empty_like(S)
    objective = 0.0
    for j in range(len(S)):
        for c in range(S.shape[1]):
            weighted[j, c] = multiplicities[j] * S[j, c]
            objective += weighted[j, c] * S[j, c]
    weighted *= 2 * order
    residual = W - np.dot(S, basis)
    tangent = np.dot(weighted.T, residual)
    tangent -= np.dot(np.dot(tangent, basis.T), basis)
    relative = np.sqrt(np.sum(tangent * tangent)) / objective if objective > 0 else np.inf
    return np.dot(weighted.T, S), tangent, objective, relative


@kernel
def square_columns(inner: Array, tangent: Array) -> Array:
    """Return the squared lengths of the columns of ∇F = QP + V, shape (r,)."""
    squares = np.empty(len(inner))
    for c in range(len(inner)):
        squares[c] = dot(inner[c], inner[c]) + dot(tangent[c], tangent[c])
    return squares


@kernel
def stepped(basis: Array, inner: Array, tangent: Array, scales: Array) -> Array:
    """Return the transposed Q factor of Q + (QP + V) diag(gamma); NaN where that is not finite.

    Parameters
    ----------
    basis, inner, tangent : ndarray
        Q', P and V', from `evaluated`.
    scales : ndarray, shape (r,)
        gamma.
    """
    within = np.empty_like(inner)
    for c in range(len(inner)):
        for b in range(len(inner)):
            within[c, b] = scales[c] * inner[c, b]
        within[c, c] += 1.0
    moved: Array = np.dot(within, basis)
    for c in range(len(inner)):
        add(scales[c], tangent[c], moved[c])
    rows: Array = np.empty_like(moved)
    if not orthonormalize(moved, rows):
        rows[:] = np.nan
    return rows


@kernel
def stepped_by_length(
    basis: Array, inner: Array, tangent: Array, squares: Array, length: float
) -> Array:
    """Return `stepped` with gamma = `length` over the root of `squares` + |column of ∇F|²."""
    scales = length / np.sqrt(squares + square_columns(inner, tangent))
    return stepped(basis, inner, tangent, scales)


@summed
def dot(x: Array, y: Array) -> float:
    """Return the inner product, in an order of summation that vectorizes."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@kernel
def add(factor: float, x: Array, y: Array) -> None:
    """Add `factor` times `x` to `y`."""
    for i in range(len(x)):
        y[i] += factor * x[i]

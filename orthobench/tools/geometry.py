"""Geometry of matrices with orthonormal columns.

`drift`, `random_point` and `rotate` take NumPy arrays, the others arrays of any library.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthobench.tools.arrays import AnyArray, Array, copied, in_rows, is_plain, namespace


def drift(U: Array) -> float:
    """Return the Frobenius norm of U'U - I for U of shape (n, k); 2nk² flops."""
    return float(np.linalg.norm(U.T @ U - np.eye(U.shape[1])))


def orthonormalize(A: AnyArray) -> AnyArray:
    """Return the Q factor of a matrix (n, k) of full rank, k <= n, with a positive diagonal of R.

    The basis of Gram-Schmidt in exact arithmetic. 4nk² - 4k³/3 flops (Householder, with Q formed).
    """
    Q, R = namespace(A).linalg.qr(A)
    signed: AnyArray = Q * diagonal_signs(R)
    return in_rows(signed)


def diagonal_signs(A: Any) -> Any:
    """Return the signs of the diagonal entries of a matrix, 1 for zeros."""
    if is_plain(A):
        return np.where(A.diagonal() < 0, -1.0, 1.0)
    xp = namespace(A)
    diagonal = xp.linalg.diagonal(A)
    ones = xp.ones_like(diagonal)
    return xp.where(diagonal < 0, -ones, ones)


def random_point(n: int, k: int, rng: np.random.Generator) -> Array:
    """Return a uniformly (Haar) random matrix (n, k) with orthonormal columns."""
    return orthonormalize(rng.standard_normal((n, k)))


def complete(U: AnyArray, start: AnyArray, k: int) -> AnyArray:
    """Return k orthonormal columns: those of `U`, and the rest from the span of `start`.

    `U` (n, m) and `start` (n, k) have orthonormal columns. The result is a new array.
    """
    if U.shape[1] >= k:
        leading: AnyArray = U[:, :k]
        return copied(in_rows(leading))
    xp = namespace(U)
    rest = start - U @ (U.T @ start)
    rest = rest - U @ (U.T @ rest)
    left, _, _ = xp.linalg.svd(rest, full_matrices=False)
    completed: AnyArray = xp.concat([U, left[:, : k - U.shape[1]]], axis=1)
    return in_rows(completed)


def polar(A: AnyArray) -> AnyArray:
    """Return the orthonormal factor of the polar decomposition of a matrix (n, k), k <= n.

    The nearest orthonormal matrix, which maximizes tr(U'A) over U'U = I. A thin SVD, about 6nk² +
    20k³ flops (`flops.svd`).
    """
    left, _, right = namespace(A).linalg.svd(A, full_matrices=False)
    factor: AnyArray = left @ right
    return in_rows(factor)


def unit_columns(A: AnyArray) -> AnyArray:
    """Return the columns of a matrix (d, m) at unit length, zeros as zeros; 3dm flops."""
    xp = namespace(A)
    norms = xp.linalg.vector_norm(A, axis=0)
    unit: AnyArray = A / xp.where(norms > 0, norms, xp.ones_like(norms))
    return unit

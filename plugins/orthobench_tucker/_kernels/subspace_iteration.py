"""Subspace iteration for leading eigenpairs, compiled.

Loops in place of array expressions compile several times faster.
"""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import kernel
from orthobench_tucker._kernels.orthonormal_rows import orthonormalize

ROUNDS = 8
"""Most iterations, of two products each."""

PROMISING = 3
"""Iterations after which it is given up unless a gap has shown."""


@kernel
def subspace_iteration(
    A: Array, first: Array, count: int, accuracy: float
) -> tuple[Array, Array, bool]:
    """Return eigenvalues, eigenvectors, and whether they are proven to be the leading ones.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        Symmetric, positive semidefinite.
    first : ndarray, shape (m, n)
        Vectors to start from, in rows; m > count.
    count : int
        Number of eigenpairs.
    accuracy : float
        Largest residual that is accepted, relative to the largest eigenvalue.

    Returns
    -------
    values : ndarray, shape (count,)
        Descending.
    vectors : ndarray, shape (n, count)
    proven : bool

    Notes
    -----
    4n²m flops an iteration, two products; at most 8 iterations.
    """
    n, m = len(A), len(first)
    V, image, ahead = np.empty((m, n)), np.empty((m, n)), np.empty((m, n))
    small, top, values = np.empty((m, m)), np.empty((count, m)), np.empty(count)
    vectors, residual = np.empty((count, n)), np.empty((count, n))
    square = _square(A)
    np.dot(first, A, image)
    for turn in range(ROUNDS):
        np.dot(image, A, ahead)
        orthonormalize(ahead, V)
        np.dot(V, A, image)
        np.dot(image, V.T, small)
        theta, Y = np.linalg.eigh(small)
        _leading(theta, Y, values, top)
        np.dot(top, V, vectors)
        np.dot(top, image, residual)
        _subtract(residual, values, vectors)
        total = 0.0
        for value in values:
            total += value * value
        gap = square - total < values[-1] * values[-1]
        if gap and np.sqrt(_square(residual)) <= accuracy * values[0]:
            return values, vectors.T, True
        if turn >= PROMISING and not gap:
            break
    return values, vectors.T, False


@kernel
def _leading(theta: Array, Y: Array, values: Array, top: Array) -> None:
    """Set the largest eigenvalues, descending, and their eigenvectors, in rows."""
    for i in range(len(values)):
        values[i] = theta[len(theta) - 1 - i]
        for j in range(len(theta)):
            top[i, j] = Y[j, len(theta) - 1 - i]


@kernel
def _subtract(residual: Array, values: Array, vectors: Array) -> None:
    """Subtract from each row its value times its vector."""
    for i in range(vectors.shape[0]):
        for j in range(vectors.shape[1]):
            residual[i, j] -= values[i] * vectors[i, j]


@kernel
def _square(A: Array) -> float:
    """Return the squared Frobenius norm, summed in the order of entries."""
    total = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            total += A[i, j] * A[i, j]
    return total

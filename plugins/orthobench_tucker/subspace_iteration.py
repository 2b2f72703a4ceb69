"""Subspace iteration for leading eigenpairs, compiled."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import kernel
from orthobench_tucker.orthonormal_rows import orthonormalize

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
    square = np.sum(A * A)
    V, image = np.empty_like(first), np.dot(first, A)
    values, vectors = np.empty(count), np.empty((count, A.shape[0]))
    for turn in range(ROUNDS):
        orthonormalize(np.dot(image, A), V)
        image = np.dot(V, A)
        theta, Y = np.linalg.eigh(np.dot(image, V.T))
        top = np.ascontiguousarray(Y[:, ::-1].T)[:count]
        values = theta[::-1][:count].copy()
        vectors = np.dot(top, V)
        residual = np.dot(top, image)
        for i in range(count):
            residual[i] -= values[i] * vectors[i]
        gap = square - np.sum(values * values) < values[-1] * values[-1]
        if gap and np.sqrt(np.sum(residual * residual)) <= accuracy * values[0]:
            return values, vectors.T, True
        if turn >= PROMISING and not gap:
            break
    return values, vectors.T, False

"""The leading eigenvalues and eigenvectors of a positive semidefinite matrix."""

from __future__ import annotations

from functools import lru_cache
from math import frexp

import numpy as np

from orthobench.contract import Array

OVERSAMPLED = 3
"""Vectors iterated beyond those that are sought, which makes these converge faster."""

ROUNDING = 2e-15
"""Residual, relative to the largest eigenvalue, that is taken for rounding."""


def leading_eigenpairs(A: Array, count: int, accuracy: float = ROUNDING) -> tuple[Array, Array]:
    """Return the largest eigenvalues of a positive semidefinite matrix and their eigenvectors.

    By subspace iteration where there is a wide gap below them, else by LAPACK, which is slower.
    The iteration is accepted only where it proves its result: the residuals are small, and the
    norm of all other eigenvalues together, the root of |A|_F² - sum theta_i², is less than the
    least one found, so that none is missed.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        C order.
    count : int
        r.
    accuracy : float
        Largest residual that is accepted, relative to the largest eigenvalue.

    Returns
    -------
    values : ndarray, shape (r,)
        Descending.
    vectors : ndarray, shape (n, r)
        Orthonormal.

    Notes
    -----
    About 2n²(r + 3) flops a product, of which there are at most 16; or LAPACK's 4n³/3 and more.
    """
    from scipy.linalg import eigh

    from orthobench_tucker._kernels.subspace_iteration import subspace_iteration

    n, width = len(A), count + OVERSAMPLED
    unit = 2.0 ** frexp(float(A.diagonal().max()))[1]  # its powers must not overflow
    A = A / unit
    if 2 * width <= n:
        values, vectors, proven = subspace_iteration(A, _first(width, n), count, accuracy)
        if proven:
            return unit * values, vectors
    values, vectors = eigh(A, subset_by_index=(n - count, n - 1), driver="evr", check_finite=False)
    return unit * values[::-1], vectors[:, ::-1]


@lru_cache(maxsize=16)
def _first(width: int, n: int) -> Array:
    """Return the transposed vectors that the iteration starts from, always the same."""
    return np.random.default_rng(0).standard_normal((width, n))

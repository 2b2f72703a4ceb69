"""Leading eigenvectors of a positive semidefinite matrix."""

from __future__ import annotations

from functools import lru_cache
from math import frexp

import numpy as np

from orthobench.contract import Array

OVERSAMPLED = 3
"""Vectors that are iterated beside those that are sought: they converge faster."""


ROUNDING = 2e-15
"""Residuals this small, in units of the largest eigenvalue, are rounding."""


def leading(A: Array, count: int, accuracy: float = ROUNDING) -> tuple[Array, Array]:
    """Return the largest eigenvalues of a positive semidefinite matrix and their eigenvectors.

    By subspace iteration where the gap below them is wide, and else by LAPACK, which is slower.
    The iteration is accepted only where it proves itself: residuals are small, and all the
    other eigenvalues together, the root of |A|_F² - sum theta_i², are less than the least one
    found, so that none is missed.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        C order.
    count : int
        r.
    accuracy : float
        Residual that is small enough, in units of the largest eigenvalue.

    Returns
    -------
    values : ndarray, shape (r,)
        Descending.
    vectors : ndarray, shape (n, r)
        Orthonormal.

    Notes
    -----
    About 2n²(r + 3) flops an iteration, of which there are at most 16, or 4n³/3 and more.
    """
    from scipy.linalg import eigh

    from orthobench_tucker.leading_kernels import iterated

    n, width = len(A), count + OVERSAMPLED
    unit = 2.0 ** frexp(float(A.diagonal().max()))[1]  # its powers must not overflow
    A = A / unit
    if 2 * width <= n:
        values, vectors, proven = iterated(A, _first(width, n), count, accuracy)
        if proven:
            return unit * values, vectors
    values, vectors = eigh(A, subset_by_index=(n - count, n - 1), driver="evr", check_finite=False)
    return unit * values[::-1], vectors[:, ::-1]


@lru_cache(maxsize=16)
def _first(width: int, n: int) -> Array:
    """Return the transposed vectors that the iteration begins with, always the same."""
    return np.random.default_rng(0).standard_normal((width, n))

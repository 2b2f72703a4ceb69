"""Solutions of orthogonal tensor decomposition: orthonormal factors with their weights."""

from __future__ import annotations

import numpy as np

from orthobench.contract.solution import Solution
from orthobench.tools.arrays import Array


def decomposition(U: Array, weights: Array) -> Solution:
    """Return the solution with these factors and weights, made positive by flipping factors.

    Parameters
    ----------
    U : ndarray, shape (n, n)
        Orthonormal columns u.
    weights : ndarray, shape (n,)
        T(u, u, u) of each; that of -u is the negative.
    """
    signs = np.where(weights < 0, -1.0, 1.0)
    return Solution(U * signs, weights=weights * signs)

"""Orthonormal factors from the components that a library finds."""

from __future__ import annotations

import numpy as np
from orthobench_kit.symmetric_tensors import contracted

from orthobench.contract import Array, Solution, polar
from orthobench_orthogonal_tensor import decomposition


def nearest_factors(T: Array, U: Array, weights: Array) -> Solution:
    """Return the orthonormal factors nearest to components, with their weights in the tensor.

    The polar factor of U diag(|w|) maximizes sum_i |w_i| <q_i, u_i>; the weights are T(q, q, q).

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric.
    U : ndarray, shape (n, n)
        Components: unit columns.
    weights : ndarray, shape (n,)
        Their weights.

    Notes
    -----
    A polar decomposition of size n, and 2n⁴/3 flops.
    """
    Q = polar(U * np.abs(weights))
    return decomposition(Q, contracted(T, Q))

"""From the components that a library finds to orthonormal factors."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array, Solution, polar
from orthobench.families.orthogonal_tensor import decomposition
from orthobench.families.symmetric_tensors import contracted


def nearest(T: Array, U: Array, weights: Array) -> Solution:
    """Return the orthonormal factors nearest to components, with their weights in the tensor.

    The polar factor of U diag(w) maximizes sum_i w_i <q_i, u_i>; weights are T(q, q, q).

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
    U : ndarray, shape (n, n)
        Unit columns.
    weights : ndarray, shape (n,)
    """
    Q = polar(U * np.abs(weights))
    return decomposition(Q, contracted(T, Q))

"""The partial core Y = X ·(I, I, Q, ..., Q) of a tensor with all its entries.

One pass over the n^d entries gives Y. W = X ·(I, Q, ..., Q), and the derivative of W in any
direction, follow from it in n² N' r multiplications each, N' = C(r + d - 3, d - 2): however many
Hessian-vector products are taken at a point, the tensor is read once.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, flops
from orthobench_tucker.sample_moments import monomials


def pair_core(T: Array, Q: Array) -> Array:
    """Return Y = T ·(I, I, Q, ..., Q), an (n, n) slice for each monomial of degree d - 2.

    Parameters
    ----------
    T : ndarray, shape (n,) * d, d >= 3
        C order, symmetric.
    Q : ndarray, shape (n, r)

    Returns
    -------
    ndarray, shape (N', n, n)

    Notes
    -----
    2 n^d r + 2 n^(d-1) r² + ... + 2 n³ r^(d-2) flops.
    """
    (n, r), order = Q.shape, T.ndim
    Y, slices = T, 1
    for left in range(order - 1, 1, -1):
        Y = np.matmul(Q.T, Y.reshape(slices, n, n**left))
        slices *= r
    Y = Y.reshape(slices, n, n)
    return Y if order == 3 else np.ascontiguousarray(Y[monomials(r, order - 2).positions])


def core_of_pairs(Y: Array, Q: Array, order: int) -> Array:
    """Return W = T ·(I, Q, ..., Q), shape (n, N), from `pair_core` at Q; 2 n² N' r flops."""
    table = monomials(Q.shape[1], order - 1)
    return np.asarray((Y @ Q)[table.parents, :, table.last].T)


def core_along(Y: Array, V: Array, order: int) -> Array:
    """Return the derivative of W in the direction V, from `pair_core`.

    Each column is the sum, over the d - 1 variables of its monomial, of the slice of Y for the
    other variables times the column of V for that one.

    Parameters
    ----------
    Y : ndarray, shape (N', n, n)
        From `pair_core`.
    V : ndarray, shape (n, r)
    order : int
        d.

    Returns
    -------
    ndarray, shape (n, N)

    Notes
    -----
    2 n² N' r + (d - 2) n N flops.
    """
    others, variable = _without_one(V.shape[1], order - 1)
    parts = Y @ V
    total = parts[others[0], :, variable[0]]
    for rest, at in zip(others[1:], variable[1:], strict=True):
        total += parts[rest, :, at]
    return np.asarray(total.T)


def pair_core_flops(n: int, rank: int, order: int) -> int:
    """Return the flops of `pair_core`."""
    powers = range(order - 2)
    return sum(flops.gemm(rank ** (i + 1), n ** (order - 1 - i), n) for i in powers)


def core_of_pairs_flops(n: int, rank: int, order: int) -> int:
    """Return the flops of `core_of_pairs`."""
    return monomials(rank, order - 2).size * flops.gemm(n, rank, n)


def core_along_flops(n: int, rank: int, order: int) -> int:
    """Return the flops of `core_along`."""
    sums = (order - 2) * n * monomials(rank, order - 1).size
    return core_of_pairs_flops(n, rank, order) + sums


@lru_cache(maxsize=64)
def _without_one(variables: int, degree: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return each monomial without each of its variables in turn, and that variable.

    Indices of monomials of one degree less, and of variables, both of shape (degree, size).
    """
    below = {i: at for at, i in enumerate(monomials(variables, degree - 1).indices)}
    all_of = monomials(variables, degree).indices
    others = [[below[i[:a] + i[a + 1 :]] for i in all_of] for a in range(degree)]
    return np.array(others, dtype=np.intp), np.array(all_of, dtype=np.intp).T

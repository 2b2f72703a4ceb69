"""Contractions T(I, u, ..., u) of a symmetric tensor of order 3 or 4, in plain NumPy.

By symmetry an entry (a, b, c) equals those with permuted indices, so that only the slices
T[a, a:, a:], a third of a third-order tensor, are read.
"""

from __future__ import annotations

import numpy as np
from orthobench_kit.symmetric_tensors import contracted

from orthobench.contract import Array, flops


def images(T: Array, U: Array) -> Array:
    """Return T(I, u, ..., u) for each column u of `U`.

    Parameters
    ----------
    T : ndarray, shape (n, n, n) or (n, n, n, n)
        Symmetric.
    U : ndarray, shape (n, k)

    Returns
    -------
    ndarray, shape (n, k)

    Notes
    -----
    `images_flops`; memory 3nk, since one slice of T is contracted at a time.
    """
    if T.ndim == 4:
        return np.array([contracted(slab, U) for slab in T])
    result, halved = np.zeros(U.shape), U.copy()
    for a, slab in enumerate(T):
        # the entries whose least index is a: all of them add to row a, to a later row i those with
        # one a, twice, or two
        halved[a] /= 2
        product = slab[a:, a:] @ halved[a:]
        result[a] += 1.5 * U[a] * product[0] + slab[a, a] / 4 * U[a] ** 2
        result[a] += column_products(product[1:], U[a + 1 :])
        product *= 2 * U[a]
        result[a + 1 :] += product[1:]
    return result


def column_products(A: Array, B: Array) -> Array:
    """Return the inner product of each column of A with that of B."""
    return np.asarray(np.einsum("nk,nk->k", A, B))


def images_flops(n: int, columns: int, order: int) -> int:
    """Return the flops of `images`: 2n^d k/3 and lower terms, k columns."""
    sizes = range(1, n + 1)
    if order == 4:
        return n * sum(flops.gemm(m, columns, m) + (2 * m + 7) * columns for m in sizes)
    return sum(flops.gemm(m, columns, m) + (4 * m + 6) * columns for m in sizes)


def random_matrix(T: Array, rng: np.random.Generator) -> Array:
    """Return T(I, I, mu, ..., mu) for a standard Gaussian vector mu.

    Notes
    -----
    `random_matrix_flops`.
    """
    mu, matrix = rng.standard_normal(len(T)), T
    while matrix.ndim > 2:
        matrix = matrix @ mu
    return matrix


def random_matrix_flops(n: int, order: int) -> int:
    """Return the flops of `random_matrix`: 2n^d + ... + 2n³."""
    return sum(2 * n**power for power in range(3, order + 1))

"""Khatri-Rao sketches of the unfolded moment: its products with Gaussian rank-one tensors.

Column j of the sketch is M ·(I, w_1j, ..., w_(d-1)j) = mean of x (x'w_1j) ... (x'w_(d-1)j), a
product of the unfolding mat(M) with the Kronecker product of Gaussian vectors. Its columns span
nearly the leading left singular vectors, as those of any randomized range finder do; since it is
a mean over samples, sketches of parts of the samples add up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, flops, unit_columns
from orthobench_tucker.sample_moments import integer_power, sample_blocks
from orthobench_tucker.streaming import BlockSum

OVERSAMPLING = 10
"""Columns of a sketch beyond the rank."""

ROWS = 128
"""Samples in a block: few enough that OpenBLAS multiplies without packing, twice as fast."""

SEEN = 1e-12
"""Singular values of a sketch of at most this times the largest are rounding."""


def gaussian_factors(order: int, n: int, columns: int, rng: np.random.Generator) -> Array:
    """Return the Gaussian vectors of a sketch, shape (d - 1, n, columns)."""
    return rng.standard_normal((order - 1, n, columns))


def sketch_of(X: NDArray[np.floating[Any]], factors: NDArray[np.floating[Any]]) -> Array:
    """Return the sum of x (x'w_1j) ... (x'w_(d-1)j) over samples x, for each column j.

    Parameters
    ----------
    X : ndarray, shape (p, n)
        Samples in rows.
    factors : ndarray, shape (d - 1, n, m)

    Returns
    -------
    ndarray, shape (n, m)

    Notes
    -----
    `sketch_flops`; memory pm.
    """
    products = X @ factors[0]
    for vectors in factors[1:]:
        products *= X @ vectors
    return np.asarray(X.T @ products)


def block_sketch(block: NDArray[np.floating[Any]], factors: Array) -> Array:
    """Return `sketch_of` many samples, a few at a time, which are read once.

    Those of float32 are multiplied in float32 and added in float64.

    Parameters
    ----------
    block : ndarray, shape (p, n)
    factors : ndarray, shape (d - 1, n, m)
    """
    total, vectors = np.zeros(factors.shape[1:]), factors.astype(block.dtype, copy=False)
    for begin in range(0, len(block), ROWS):
        total += sketch_of(block[begin : begin + ROWS], vectors)
    return total


def sketch_sum(block: NDArray[np.floating[Any]], factors: Array) -> BlockSum:
    """Return the sketch of a block as a summary."""
    _, n, columns = factors.shape
    spent = sketch_flops(len(block), n, columns, len(factors) + 1)
    return BlockSum(rows=len(block), total=block_sketch(block, factors), flops=spent)


def sketch_flops(p: int, n: int, columns: int, order: int) -> int:
    """Return the flops of `sketch_of`: 2pndm + (d - 2)pm, m columns."""
    return order * flops.gemm(p, columns, n) + (order - 2) * p * columns


def leading_directions(Z: Array, rank: int) -> Array:
    """Return the leading left singular vectors of a sketch, at most `rank`, above rounding.

    Products of Gaussians are heavy-tailed, so that a few columns would outweigh all others: where
    it is a sketch that is passed, `unit_columns` of it.
    """
    left, values, _ = np.linalg.svd(Z, full_matrices=False)
    found = int(np.count_nonzero(values > SEEN * values[0])) if values[0] > 0 else 0
    return np.asarray(left[:, : min(rank, found)])


def power_step(X: Array, Q: Array, order: int) -> Array:
    """Return mat(M) mat(M)' Q of the moment of samples: X'((XX')^[d-1] XQ) / p².

    Parameters
    ----------
    X : ndarray, shape (p, n)
    Q : ndarray, shape (n, m)
    order : int
        d.

    Notes
    -----
    `power_flops`; the Gram matrix XX' is formed by blocks of rows. [d-1] is the entrywise power.
    """
    inside, result = X @ Q, np.zeros(Q.shape)
    for block in sample_blocks(X, len(X)):
        result += block.T @ (integer_power(block @ X.T, order - 1) @ inside)
    return result / len(X) ** 2


def power_flops(p: int, n: int, columns: int, order: int) -> int:
    """Return the flops of `power_step`: 2p²n + 2p²m + (d - 2)p² + 4pnm, m columns."""
    return p * p * (2 * n + 2 * columns + order - 2) + 4 * p * n * columns


def sketched_basis(X: Array, order: int, rank: int, rng: np.random.Generator) -> Array:
    """Return nearly the leading left singular vectors of mat(M), from one pass over samples.

    Parameters
    ----------
    X : ndarray, shape (p, n)
    order, rank : int
        d and r.
    rng : numpy.random.Generator
        Draws the Gaussian vectors.

    Returns
    -------
    ndarray, shape (n, <= rank)
        Fewer columns where the moment has a lower rank.

    Notes
    -----
    `sketched_basis_flops`; memory (d + 1)nm doubles and those of blocks of samples, m = r + 10.
    """
    columns = min(X.shape[1], rank + OVERSAMPLING)
    factors = gaussian_factors(order, X.shape[1], columns, rng)
    Z = block_sketch(X, factors)
    return leading_directions(unit_columns(Z), rank)


def sketched_basis_flops(p: int, n: int, rank: int, order: int) -> int:
    """Return the flops of `sketched_basis`: those of the sketch, and of its singular vectors."""
    columns = min(n, rank + OVERSAMPLING)
    return sketch_flops(p, n, columns, order) + flops.svd(n, columns)

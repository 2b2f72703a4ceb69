"""Sample moments M = (1/p) sum_i x_i ⊗ ... ⊗ x_i of any order, never formed.

The *partial core* of a basis Q is W = M ·(I, Q, ..., Q), unfolded along its first index, with one
column for each distinct monomial of degree d - 1: shape (n, N), N = C(r + d - 2, d - 1). The core
M ·(Q, ..., Q), with its columns likewise, is S = Q'W, shape (r, N). Objective and gradient follow
from W and S at a cost that does not depend on the number of samples. Jin, Kileel, Kolda and Ward
(2022, section 3) compute them from a p-by-p Gram matrix instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np

from orthobench.families.symmetric_tucker.monomials import monomials
from orthobench.tools.arrays import Array

BLOCK_BYTES = 16 * 2**20
"""Most bytes of the numbers that are computed from a block of samples."""

DIRECTIONS = 4
"""Number of directions in which `vanishes` tests a moment."""

CANCELLED = 1e-13
"""Ratio of a mean to the mean of the absolute values below which the mean is rounding."""


def partial_core(X: Array, Q: Array, order: int) -> Array:
    """Return W = M ·(I, Q, ..., Q) of the moment of samples.

    Parameters
    ----------
    X : ndarray, shape (p, n)
        Samples in rows.
    Q : ndarray, shape (n, r)
    order : int
        d >= 2.

    Returns
    -------
    ndarray, shape (n, N)
        A column for each monomial of degree d - 1, in the order of the module `monomials`.

    Notes
    -----
    2pn(r + N) flops; memory of `BLOCK_BYTES`.
    """
    table = monomials(Q.shape[1], order - 1)
    W = np.zeros((X.shape[1], table.size))
    for block in sample_blocks(X, table.size):
        W += block.T @ table.of(Q.T @ block.T).T
    return W / len(X)


def sample_blocks(X: Array, width: int) -> Iterator[Array]:
    """Yield blocks of samples of which `width` numbers each take at most `BLOCK_BYTES`.

    Parameters
    ----------
    X : ndarray, shape (p, n)
    width : int
        Numbers that are computed from each sample.
    """
    rows = max(1, BLOCK_BYTES // (8 * width))
    for begin in range(0, len(X), rows):
        yield X[begin : begin + rows]


def core_norm_squared(S: Array, order: int) -> float:
    """Return F(Q) = |M ·(Q, ..., Q)|² from the core (equation 11).

    Parameters
    ----------
    S : ndarray, shape (r, N)
        Q'W.
    order : int
        d.

    Notes
    -----
    3rN flops.
    """
    multiplicities = monomials(len(S), order - 1).multiplicities
    return float(np.einsum("ij,ij,j->", S, S, multiplicities))


def gradient(W: Array, S: Array, order: int) -> Array:
    """Return the Euclidean gradient of F: 2d times W · C over all indices but the first.

    Equation 6 of Jin et al. (2022), with the core C.

    Parameters
    ----------
    W : ndarray, shape (n, N)
    S : ndarray, shape (r, N)
        Q'W.
    order : int
        d.

    Returns
    -------
    ndarray, shape (n, r)

    Notes
    -----
    2nrN flops. Equation 13 has the same for samples; Algorithm 2, line 3, misprints its factor
    2d/b² as 2d/b.
    """
    multiplicities = monomials(len(S), order - 1).multiplicities
    return np.asarray(2 * order * (W @ (multiplicities * S).T))


def full_core(S: Array, order: int) -> Array:
    """Return the core S (r, N) with all its entries, shape (r,) * d."""
    r = len(S)
    return np.ascontiguousarray(S[:, monomials(r, order - 1).expansion].reshape((r,) * order))


def moment_norm_squared(X: Array, order: int) -> float:
    """Return |M|² from the Gram matrix of X, or from the entries of M where that is cheaper.

    Parameters
    ----------
    X : ndarray, shape (p, n)
    order : int
        d >= 2.

    Notes
    -----
    p²n flops by equation 9, in memory of `BLOCK_BYTES`; 2pnN where N = C(n + d - 2, d - 1) is
    below p / 2, in memory of nN < pn / 2 numbers.
    """
    p, n = X.shape
    if comb(n + order - 2, order - 1) * 2 < p:
        return core_norm_squared(partial_core(X, np.eye(n), order), order)
    total, rows = 0.0, max(1, BLOCK_BYTES // (8 * p))
    for begin in range(0, p, rows):
        block = X[begin : begin + rows] @ X[begin:].T
        powers = integer_power(block, order)
        own = block.shape[0]
        total += powers[:, :own].sum() + 2 * powers[:, own:].sum()
    return float(total / p**2)


def vanishes(X: Array, order: int) -> bool:
    """Return whether the moment is zero up to rounding, as odd moments of symmetric data are.

    A symmetric tensor M is zero if and only if M ·(v, ..., v) = 0 for all v. It is compared with
    the mean of |v'x|^d in a few fixed random directions v.

    Parameters
    ----------
    X : ndarray, shape (p, n)
    order : int
        d.

    Notes
    -----
    8pn flops.
    """
    V = np.random.default_rng(0).standard_normal((X.shape[1], DIRECTIONS))
    powers = integer_power(X @ V, order)
    form, size = np.abs(powers.mean(axis=0)), np.abs(powers).mean(axis=0)
    return bool((form <= CANCELLED * size).all())


def integer_power(A: Array, exponent: int) -> Array:
    """Return the entrywise power of an array by repeated squaring; np.power is much slower.

    Parameters
    ----------
    A : ndarray
    exponent : int
        At least one.
    """
    powers = A
    for bit in bin(exponent)[3:]:
        powers = powers * powers
        if bit == "1":
            powers = powers * A
    return powers

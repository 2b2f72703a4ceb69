"""Sample moments M = (1/p) sum_i x_i ⊗ ... ⊗ x_i of any order, never formed.

The *partial core* of a basis Q is W = M ·(I, Q, ..., Q), of which only the columns of distinct
monomials are kept: (n, N) with N = C(r + d - 2, d - 1). Objective, gradient and core follow from
it at a cost that does not depend on the samples (Jin, Kileel, Kolda and Ward 2022, section 3, in
the core form that replaces their p-by-p Gram matrix).
"""

from __future__ import annotations

from math import comb

import numpy as np

from orthobench.families.symmetric_tucker.monomials import monomials
from orthobench.tools.arrays import Array

BLOCK_BYTES = 16 * 2**20
"""Most memory that the monomials of a block of samples take."""

DIRECTIONS = 4
"""Directions that tell whether a moment is zero."""

CANCELLED = 1e-13
"""A mean this far below that of the absolute values is rounding."""


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
        A column for each monomial of degree d - 1 (the module `monomials`).

    Notes
    -----
    2pn(r + N) flops; memory of `BLOCK_BYTES`.
    """
    table = monomials(Q.shape[1], order - 1)
    W = np.zeros((X.shape[1], table.size))
    rows = max(1, BLOCK_BYTES // (8 * table.size))
    for begin in range(0, len(X), rows):
        block = X[begin : begin + rows]
        W += block.T @ table.of(Q.T @ block.T).T
    return W / len(X)


def inner_core(W: Array, Q: Array) -> Array:
    """Return S = Q'W, shape (r, N): the core of M, its first index apart."""
    return np.asarray(Q.T @ W)


def core_square(S: Array, order: int) -> float:
    """Return F(Q) = |M ·(Q, ..., Q)|² from the core (equation 11).

    Parameters
    ----------
    S : ndarray, shape (r, N)
        From `inner_core`.
    order : int
    """
    counts = monomials(len(S), order - 1).counts
    return float(np.einsum("ij,ij,j->", S, S, counts))


def gradient(W: Array, S: Array, order: int) -> Array:
    """Return the Euclidean gradient of F, 2d <W, C> over all indices but the first (equation 6).

    Parameters
    ----------
    W : ndarray, shape (n, N)
    S : ndarray, shape (r, N)
    order : int

    Returns
    -------
    ndarray, shape (n, r)

    Notes
    -----
    2nrN flops. Equation 13 has the same for samples; Algorithm 2, line 3, misprints its factor
    2d/b², as 2d/b.
    """
    counts = monomials(len(S), order - 1).counts
    return np.asarray(2 * order * (W @ (counts * S).T))


def expanded(S: Array, order: int) -> Array:
    """Return the core as a full tensor (r,) * d."""
    r = len(S)
    return np.ascontiguousarray(S[:, monomials(r, order - 1).expansion].reshape((r,) * order))


def moment_square(X: Array, order: int) -> float:
    """Return |M|², through the Gram matrix of X, or through the entries of M where that is cheaper.

    Parameters
    ----------
    X : ndarray, shape (p, n)
    order : int
        d >= 2.

    Notes
    -----
    p²n flops through equation 9, in memory of `BLOCK_BYTES`; 2pnN where N = C(n + d - 2, d - 1) is
    below p / 2, in memory of nN < pn / 2 numbers.
    """
    p, n = X.shape
    if comb(n + order - 2, order - 1) * 2 < p:
        return core_square(partial_core(X, np.eye(n), order), order)
    total, rows = 0.0, max(1, BLOCK_BYTES // (8 * p))
    for begin in range(0, p, rows):
        block = X[begin : begin + rows] @ X[begin:].T
        powers = integer_power(block, order)
        own = block.shape[0]
        total += powers[:, :own].sum() + 2 * powers[:, own:].sum()
    return float(total / p**2)


def vanishes(X: Array, order: int) -> bool:
    """Return whether the moment is zero up to rounding, as odd ones of symmetric data are.

    A symmetric tensor is zero where its form M ·(v, ..., v) is; so that is looked at, for some
    directions v drawn once and for all, next to the mean of |v'x|^d.

    Parameters
    ----------
    X : ndarray, shape (p, n)
    order : int

    Notes
    -----
    8pn flops.
    """
    V = np.random.default_rng(0).standard_normal((X.shape[1], DIRECTIONS))
    powers = integer_power(X @ V, order)
    form, size = np.abs(powers.mean(axis=0)), np.abs(powers).mean(axis=0)
    return bool((form <= CANCELLED * size).all())


def integer_power(A: Array, exponent: int) -> Array:
    """Return A raised entry by entry, by multiplication: np.power is many times slower.

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

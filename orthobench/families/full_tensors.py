"""Symmetric tensors of any order with all their n^d entries."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np

from orthobench.arrays import Array
from orthobench.errors import DataError
from orthobench.families.monomials import monomials
from orthobench.families.symmetric_tensors import SYMMETRIC


def partial_core(T: Array, Q: Array) -> Array:
    """Return W = T ·(I, Q, ..., Q), a column for each distinct monomial of degree d - 1.

    Parameters
    ----------
    T : ndarray, shape (n,) * d
    Q : ndarray, shape (n, r)

    Returns
    -------
    ndarray, shape (n, N)
        As `orthobench.families.sample_moments.partial_core` gives it.

    Notes
    -----
    About 2 n^d r flops; memory n^(d-1) r.
    """
    W = T
    for _ in range(T.ndim - 1):
        W = np.tensordot(W, Q, axes=([1], [0]))
    table = monomials(Q.shape[1], T.ndim - 1)
    return np.ascontiguousarray(W.reshape(len(T), -1)[:, table.places])


def moment_tensor(X: Array, order: int) -> Array:
    """Return the sample moment (1/p) sum_i x_i ⊗ ... ⊗ x_i, symmetric to the last bit.

    Parameters
    ----------
    X : ndarray, shape (p, n)
    order : int
        d >= 2.

    Returns
    -------
    ndarray, shape (n,) * d

    Notes
    -----
    Blocks of the last two indices for each ascending prefix of the others: 2pn^d/d! products,
    up to lower terms, in place of 2pn^d.
    """
    p, n = X.shape
    T = np.empty((n,) * order)
    prefixes = [()] if order == 2 else monomials(n, order - 2).indices
    for prefix in prefixes:
        first = prefix[-1] if prefix else 0
        rows = X[:, first:]
        weighted = rows * X[:, prefix].prod(axis=1)[:, None] if prefix else rows
        block = weighted.T @ rows / p
        _spread(T, prefix, first, (block + block.T) / 2)
    return T


def _spread(T: Array, prefix: tuple[int, ...], first: int, block: Array) -> None:
    """Write a block T[prefix, first:, first:] to every permutation of its indices."""
    order = T.ndim
    for axes in set(permutations(range(order))):
        view = T.transpose(axes)
        view[prefix][first:, first:] = block


def symmetrized(T: Array) -> Array:
    """Return the mean over all permutations of the indices of an almost symmetric tensor.

    Parameters
    ----------
    T : ndarray, shape (n,) * d

    Raises
    ------
    DataError
        Where an entry differs from its mean by more than 1e-10 of the largest entry.
    """
    mean = np.zeros_like(T, order="C")
    for axes in permutations(range(T.ndim)):
        mean += T.transpose(axes)
    mean /= factorial(T.ndim)
    off, largest = np.abs(T - mean), np.abs(T).max()
    if off.max() > SYMMETRIC * largest:
        at = tuple(int(i) for i in np.unravel_index(int(off.argmax()), T.shape))
        raise DataError(
            f"the tensor is not symmetric: entry {at} is {T[at]:.6g}, and the mean over the "
            f"permutations of its indices {mean[at]:.6g}; pass that mean"
        )
    return mean

"""Symmetric tensors of any order d with all their n^d entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from orthobench_kit.symmetric_tensors import ROWS, fill, mirror

from orthobench.tools.arrays import Array, is_plain, namespace
from orthobench_tucker.sample_moments import monomials

BLOCK = 2**24
"""Maximum number of entries computed at once in other libraries than NumPy."""

SCRATCH_BYTES = 2**20
"""Maximum size of weighted samples, in bytes, which fit in the cache."""


def partial_core(T: Array, Q: Array) -> Array:
    """Return W = T ·(I, Q, ..., Q), shape (n, N); about 2 n^d r flops."""
    W = T
    for _ in range(T.ndim - 1):
        W = np.tensordot(W, Q, axes=([1], [0]))
    table = monomials(Q.shape[1], T.ndim - 1)
    return np.ascontiguousarray(W.reshape(len(T), -1)[:, table.positions])


def moment_tensor(X: Any, order: int) -> Any:
    """Return the sample moment (1/p) sum_i x_i ⊗ ... ⊗ x_i of X (p, n), symmetric to the last bit.

    About 2pn^d/d! flops in NumPy, which computes a triangle of X' diag(w) X for each ascending
    tuple of the first d - 2 indices. Memory np and `SCRATCH_BYTES` beyond the result.
    """
    if not is_plain(X):
        return _moment_elsewhere(X, order)
    p, n = X.shape
    T = np.empty((n,) * order)
    scratch = np.empty((n, min(p, max(1, SCRATCH_BYTES // (8 * n)))))
    _set_moment(T, np.ascontiguousarray(X.T), np.full(p, 1 / p), scratch)
    return T


def _moment_elsewhere(X: Any, order: int) -> Any:
    xp, (p, n) = namespace(X), X.shape
    rows, total = max(1, BLOCK // n ** (order - 1)), 0.0
    for begin in range(0, p, rows):
        part = X[begin : min(begin + rows, p), :]
        products = part
        for _ in range(order - 2):
            products = xp.reshape(products[:, :, None] * part[:, None, :], (part.shape[0], -1))
        total = total + part.T @ products
    return xp.reshape(total / p, (n,) * order)


def _set_moment(T: Array, X: Array, w: Array, scratch: Array) -> None:
    if T.ndim == 2:
        _set_gram(T, X, w, scratch)
    else:
        fill(T, lambda a, rest: _set_moment(rest, X[a:], X[a] * w, scratch))


def _set_gram(G: Array, X: Array, w: Array, scratch: Array) -> None:
    n, p = X.shape
    many = scratch.shape[1]
    for begin in range(0, p, many):
        part = X[:, begin : begin + many]
        weighted = np.multiply(part, w[begin : begin + many], out=scratch[:n, : part.shape[1]])
        for row in range(0, n, ROWS):
            product = weighted[row : row + ROWS] @ part[row:].T
            strip = G[row : row + ROWS, row:]
            strip[:] = strip + product if begin else product
    mirror(G)

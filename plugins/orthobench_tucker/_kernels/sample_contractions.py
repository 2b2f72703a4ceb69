"""Contractions of moments of samples, which are never formed, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.compiled import kernel

from orthobench.contract import Array

Indices = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]


@kernel
def fill_products(values: Array, parents: Indices, last: Indices, begin: int) -> None:
    """Set the rows from `begin` on, each the product of two rows above it."""
    count = values.shape[1]
    for row in range(begin, len(parents)):
        u, v, out = values[parents[row]], values[last[row]], values[row]
        for i in range(count):
            out[i] = u[i] * v[i]


@kernel
def _fill_derivatives(
    changes: Array, values: Array, parents: Indices, last: Indices, begin: int
) -> None:
    count = values.shape[1]
    for row in range(begin, len(parents)):
        du, v = changes[parents[row]], values[last[row]]
        u, dv, out = values[parents[row]], changes[last[row]], changes[row]
        for i in range(count):
            out[i] = du[i] * v[i] + u[i] * dv[i]


@kernel
def _add(part: Floats, total: Floats) -> None:
    for i in range(part.shape[0]):
        for j in range(part.shape[1]):
            total[i, j] += part[i, j]


@kernel
def partial_core(
    X: Array, basis: Array, parents: Indices, last: Indices, size: int, rows: int
) -> Array:
    """Return W' = (M ·(I, Q, ..., Q))', shape (N, n), of samples X (p, n) and Q' (r, n).

    `parents`, `last` and `size` come from `monomial_products`; a block has `rows` samples. 2pn(r +
    N) + pN flops, up to lower degrees.
    """
    p, n = X.shape
    r, height = len(basis), len(parents)
    total, part = np.zeros((size, n)), np.empty((size, n))
    flat = np.empty(height * rows)
    for begin in range(0, p, rows):
        count = min(rows, p - begin)
        block = X[begin : begin + count]
        values = flat[: height * count].reshape(height, count)
        np.dot(basis, block.T, values[:r])
        fill_products(values, parents, last, r)
        np.dot(values[height - size :], block, part)
        _add(part, total)
    total /= p
    return total


@kernel
def partial_core_along(
    X: Array, basis: Array, direction: Array, parents: Indices, last: Indices, size: int, rows: int
) -> Array:
    """Return the derivative of W' in a direction V' (r, n)."""
    p, n = X.shape
    r, height = len(basis), len(parents)
    total, part = np.zeros((size, n)), np.empty((size, n))
    flat, flat_changes = np.empty(height * rows), np.empty(height * rows)
    for begin in range(0, p, rows):
        count = min(rows, p - begin)
        block = X[begin : begin + count]
        values = flat[: height * count].reshape(height, count)
        changes = flat_changes[: height * count].reshape(height, count)
        np.dot(basis, block.T, values[:r])
        np.dot(direction, block.T, changes[:r])
        fill_products(values, parents, last, r)
        _fill_derivatives(changes, values, parents, last, r)
        np.dot(changes[height - size :], block, part)
        _add(part, total)
    total /= p
    return total


@kernel
def _raise(flat: Floats, exponent: int) -> None:
    for i in range(len(flat)):
        base = flat[i]
        power = base
        for _ in range(exponent - 1):
            power *= base
        flat[i] = power


@kernel
def _halve(tile: Floats, columns: int) -> None:
    for i in range(tile.shape[0]):
        for j in range(columns):
            tile[i, j] /= 2


@kernel
def gram_of_unfolding(X: Floats, exponent: int, rows: int, columns: int) -> Floats:
    """Return X'(XX')^[d-1] X, symmetric, from tiles of the upper half of the p-by-p Gram matrix.

    In the precision of X (p, n). `exponent` is d - 1; a tile has `rows` and `columns`. 2p²n + (d -
    2)p²/2 + 2pn² flops.
    """
    p, n = X.shape
    total, part = np.zeros((n, n), X.dtype), np.empty((n, n), X.dtype)
    flat, sums = np.empty(rows * columns, X.dtype), np.empty(rows * n, X.dtype)
    parts = np.empty(rows * n, X.dtype)
    for i in range(0, p, rows):
        high = min(rows, p - i)
        block = X[i : i + high]
        Y, added = sums[: high * n].reshape(high, n), parts[: high * n].reshape(high, n)
        Y[:] = 0.0
        for j in range(i, p, columns):
            wide = min(columns, p - j)
            tile = flat[: high * wide].reshape(high, wide)
            np.dot(block, X[j : j + wide].T, tile)
            _raise(flat[: high * wide], exponent)
            if j == i:
                _halve(tile, high)
            np.dot(tile, X[j : j + wide], added)
            _add(added, Y)
        np.dot(block.T, Y, part)
        _add(part, total)
    return total + total.T

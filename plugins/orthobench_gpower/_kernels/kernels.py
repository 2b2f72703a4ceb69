"""The kernels of the generalized power method, which read active rows, and rows that may be."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.compiled import kernel, summed

from orthobench.contract import Array
from orthobench_gpower._kernels.ascent import Ascent

Rows: TypeAlias = NDArray[np.int64]

ROUNDING = 16 * np.finfo(np.float64).eps
"""Bound on the rounding error of a_i'x, over |a_i| N."""

BLOCK = 256
"""Number of rows that fit into the second-level cache."""

DENSE = 0.5
"""Share of a block's products above which computing all is faster."""


def begin(rows: Array, norms: Array, bound: float, hard: bool, weights: Array, X: Array) -> Ascent:
    """Return the ascent that starts at X (m, N), orthonormal rows that it keeps and moves.

    The other arguments are fields of `Ascent`. 4nNm flops if all rows are active. Memory: nm + n +
    mN doubles.
    """
    m, n = len(X), len(rows)
    inverse_norms = np.divide(1.0, norms, out=np.zeros(n), where=norms > bound)
    due = np.zeros((m, n))
    due[:, norms <= bound] = np.inf
    ascent = Ascent(
        rows, norms, inverse_norms, bound, hard, weights, X,
        gradient=np.empty_like(X), value=np.zeros(1), path=np.zeros(m), due=due,
    )  # fmt: skip
    evaluate(ascent)
    return ascent


@kernel
def ascend(ascent: Ascent, tolerance: float, count: int) -> tuple[int, bool]:
    """Do `count` steps in place, or fewer if a step gains at most `tolerance`, relatively.

    At most 4nNm flops a step, and those of a polar factor (N, m) if m > 1. Journée, Nesterov,
    Richtárik and Sepulchre 2010, Algorithms 2 to 5.
    """
    value = ascent.value
    for done in range(1, count + 1):
        before = value[0]
        _move(ascent)
        evaluate(ascent)
        if value[0] - before <= tolerance * before:
            return done, True
    return count, False


@kernel
def _move(ascent: Ascent) -> None:
    X, G, path = ascent.X, ascent.gradient, ascent.path
    m, N = X.shape
    if m == 1:
        G /= np.sqrt(_dot(G, 0, G, 0))
    else:
        left, _, right = np.linalg.svd(G, False)
        np.dot(left, right, G)
    for j in range(m):
        squared = 0.0
        for k in range(N):
            squared += (G[j, k] - X[j, k]) ** 2
            X[j, k] = G[j, k]
        path[j] += np.sqrt(squared) + ROUNDING


@kernel
def evaluate(ascent: Ascent) -> None:
    """Set objective, gradient and ``due`` at the point, in one pass over the rows.

    4N flops for each active row and column, 2N for each other that is evaluated.
    """
    rows, X, G, due, path = ascent.rows, ascent.X, ascent.gradient, ascent.due, ascent.path
    inverse_norms, bound = ascent.inverse_norms, ascent.bound
    m, n = due.shape
    listed, counts = np.empty((m, BLOCK + 4), np.int64), np.empty(m, np.int64)
    factors, buffer = np.empty(BLOCK + 4), np.empty(BLOCK * m)
    G[:] = 0.0
    value = 0.0
    for first in range(0, n, BLOCK):
        size = min(BLOCK, n - first)
        products = buffer[: m * size].reshape(m, size)
        dense = _list_due(due, path, first, size, listed, counts) > DENSE * m * size
        if dense:
            np.dot(X, rows[first : first + size].T, products)
        for j in range(m):
            since = path[j] - ROUNDING * X.shape[1]
            if dense:
                count = _screen_all(
                    products, first, j, bound, inverse_norms, since, due, listed, factors
                )
            else:
                _multiply(rows, X, j, listed, counts[j], factors)
                count = _screen(counts[j], j, bound, inverse_norms, since, due, listed, factors)
            value += ascent.weights[j] * _threshold(factors, count, bound, ascent.hard)
            _add(G, j, rows, listed, factors, count)
    for j in range(m):
        for k in range(X.shape[1]):
            G[j, k] *= ascent.weights[j]
    ascent.value[0] = value


@kernel
def _list_due(due: Array, path: Array, first: int, size: int, listed: Rows, counts: Rows) -> int:
    total = 0
    for j in range(len(path)):
        count = 0
        for i in range(first, first + size):
            listed[j, count] = i
            count += due[j, i] <= path[j]
        counts[j] = count
        total += count
    return total


@kernel
def _multiply(rows: Array, X: Array, j: int, listed: Rows, count: int, products: Array) -> None:
    for at in range(count):
        products[at] = _dot(rows, listed[j, at], X, j)


@kernel
def _screen(
    count: int, j: int, bound: float, inverse_norms: Array, since: float,
    due: Array, listed: Rows, products: Array,
) -> int:  # fmt: skip
    active = 0
    for at in range(count):
        i, product = listed[j, at], products[at]
        excess = abs(product) - bound
        due[j, i] = -np.inf if excess > 0.0 else since - excess * inverse_norms[i]
        listed[j, active], products[active] = i, product
        active += excess > 0.0
    return active


@kernel
def _screen_all(
    block: Array, first: int, j: int, bound: float, inverse_norms: Array, since: float,
    due: Array, listed: Rows, products: Array,
) -> int:  # fmt: skip
    for at in range(block.shape[1]):  # apart from the listing, so that it vectorizes
        excess = abs(block[j, at]) - bound
        until = -np.inf if excess > 0.0 else since - excess * inverse_norms[first + at]
        due[j, first + at] = np.inf if inverse_norms[first + at] == 0.0 else until
    active = 0
    for at in range(block.shape[1]):
        listed[j, active], products[active] = first + at, block[j, at]
        active += abs(block[j, at]) > bound
    return active


@kernel
def _threshold(factors: Array, count: int, bound: float, hard: bool) -> float:
    value = 0.0
    for at in range(count):
        size = abs(factors[at])
        if hard:
            value += (size - bound) * (size + bound)
        else:
            value += (size - bound) * (size - bound)
            factors[at] = np.copysign(size - bound, factors[at])
    return value


@summed
def _dot(A: Array, i: int, B: Array, j: int) -> float:
    total = 0.0
    for k in range(A.shape[1]):
        total += A[i, k] * B[j, k]
    return total


@kernel
def _add(G: Array, j: int, A: Array, listed: Rows, factors: Array, count: int) -> None:
    """Add multiples of listed rows of A to row j of G; lists are padded to multiples of four."""
    for at in range(count, count + 3):
        listed[j, at], factors[at] = listed[j, 0], 0.0
    for at in range(0, count, 4):
        _add_four(G, j, A, listed, factors, at)


@summed
def _add_four(G: Array, j: int, A: Array, listed: Rows, factors: Array, at: int) -> None:
    a, b, c, d = listed[j, at], listed[j, at + 1], listed[j, at + 2], listed[j, at + 3]
    p, q, r, s = factors[at], factors[at + 1], factors[at + 2], factors[at + 3]
    for k in range(A.shape[1]):
        G[j, k] += (p * A[a, k] + q * A[b, k]) + (r * A[c, k] + s * A[d, k])

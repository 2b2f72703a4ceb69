"""The compiled kernels of the generalized power method: sweeps over the rows that matter.

A sweep evaluates objective and gradient at the point. Its cost is that of the rows that are
active, or that the movement of the point may have made so (`orthobench_gpower.ascent`).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array
from orthobench.tools.compiled import inner, kernel, summed
from orthobench_gpower.ascent import Ascent

Rows: TypeAlias = NDArray[np.int64]

ROUNDING = 16 * np.finfo(np.float64).eps
"""Error of a_i'x for unit vectors, over their length N: screening leaves room for it."""

BLOCK = 256
"""Rows that stay in the second-level cache while all columns pass over them."""

DENSE = 0.5
"""Share of a block's rows, over all columns, from which on a product with all rows is faster."""


@kernel
def start(ascent: Ascent) -> None:
    """Evaluate objective and gradient at the first point."""
    _sweep(ascent)


@kernel
def ascend(ascent: Ascent, tolerance: float, count: int) -> tuple[int, bool]:
    """Do `count` steps, or fewer where the objective gains less than `tolerance` of itself.

    Returns
    -------
    done : int
    converged : bool
    """
    value = ascent.value
    for done in range(1, count + 1):
        before = value[0]
        _turn(ascent)
        _sweep(ascent)
        if value[0] - before <= tolerance * before:
            return done, True
    return count, False


@inner
def _turn(ascent: Ascent) -> None:
    """Move to the polar factor of the gradient, and record how far each column moves."""
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


@inner
def _sweep(ascent: Ascent) -> None:
    """Evaluate objective and gradient at the point, in blocks of rows."""
    rows, X, G, wake, path = ascent.rows, ascent.X, ascent.gradient, ascent.wake, ascent.path
    inverse, bound = ascent.inverse, ascent.bound
    m, n = wake.shape
    which, counts = np.empty((m, BLOCK + 4), np.int64), np.empty(m, np.int64)
    factors, memory = np.empty(BLOCK + 4), np.empty(BLOCK * m)
    G[:] = 0.0
    value = 0.0
    for first in range(0, n, BLOCK):
        size = min(BLOCK, n - first)
        products = memory[: m * size].reshape(m, size)
        dense = _gather(wake, path, first, size, which, counts) > DENSE * m * size
        if dense:
            np.dot(X, rows[first : first + size].T, products)
        for j in range(m):
            since = path[j] - ROUNDING * X.shape[1]
            if dense:
                count = _settle_all(products, first, j, bound, inverse, since, wake, which, factors)
            else:
                _multiply(rows, X, j, which, counts[j], factors)
                count = _settle(counts[j], j, bound, inverse, since, wake, which, factors)
            value += ascent.weights[j] * _penalize(factors, count, bound, ascent.hard)
            _add(G, j, rows, which, factors, count)
    for j in range(m):
        for k in range(X.shape[1]):
            G[j, k] *= ascent.weights[j]
    ascent.value[0] = value


@inner
def _gather(wake: Array, path: Array, first: int, size: int, which: Rows, counts: Rows) -> int:
    """List the rows of a block that are to be evaluated, for each column, and count them."""
    total = 0
    for j in range(len(path)):
        count = 0
        for i in range(first, first + size):
            which[j, count] = i
            count += wake[j, i] <= path[j]
        counts[j] = count
        total += count
    return total


@inner
def _multiply(rows: Array, X: Array, j: int, which: Rows, count: int, products: Array) -> None:
    """Multiply the rows that are listed with column j."""
    for at in range(count):
        products[at] = _dot(rows, which[j, at], X, j)


@inner
def _settle(
    count: int, j: int, bound: float, inverse: Array, since: float,
    wake: Array, which: Rows, products: Array,
) -> int:  # fmt: skip
    """Note when the rows that are listed are to be evaluated again; keep the active ones listed."""
    active = 0
    for at in range(count):
        i, product = which[j, at], products[at]
        over = abs(product) - bound
        wake[j, i] = -np.inf if over > 0.0 else since - over * inverse[i]
        which[j, active], products[active] = i, product
        active += over > 0.0
    return active


@inner
def _settle_all(
    block: Array, first: int, j: int, bound: float, inverse: Array, since: float,
    wake: Array, which: Rows, products: Array,
) -> int:  # fmt: skip
    """Do the same for all rows of a block, whose products are at hand, and list the active ones."""
    for at in range(block.shape[1]):  # apart from the listing, so that it vectorizes
        over = abs(block[j, at]) - bound
        until = -np.inf if over > 0.0 else since - over * inverse[first + at]
        wake[j, first + at] = np.inf if inverse[first + at] == 0.0 else until
    active = 0
    for at in range(block.shape[1]):
        which[j, active], products[active] = first + at, block[j, at]
        active += abs(block[j, at]) > bound
    return active


@inner
def _penalize(factors: Array, count: int, bound: float, hard: bool) -> float:
    """Turn products of active rows into their factors in the gradient; return the objective."""
    gain = 0.0
    for at in range(count):
        size = abs(factors[at])
        if hard:
            gain += (size - bound) * (size + bound)
        else:
            gain += (size - bound) * (size - bound)
            factors[at] = np.copysign(size - bound, factors[at])
    return gain


@summed
def _dot(A: Array, i: int, B: Array, j: int) -> float:
    """Return the inner product of two rows."""
    total = 0.0
    for k in range(A.shape[1]):
        total += A[i, k] * B[j, k]
    return total


@inner
def _add(G: Array, j: int, A: Array, which: Rows, factors: Array, count: int) -> None:
    """Add multiples of `count` rows of A to row j of G; the two lists have room for four more."""
    for at in range(count, count + 3):
        which[j, at], factors[at] = which[j, 0], 0.0
    for at in range(0, count, 4):
        _add_four(G, j, A, which, factors, at)


@summed
def _add_four(G: Array, j: int, A: Array, which: Rows, factors: Array, at: int) -> None:
    """Add multiples of four rows of A to row j of G, which is read and written only once."""
    a, b, c, d = which[j, at], which[j, at + 1], which[j, at + 2], which[j, at + 3]
    p, q, r, s = factors[at], factors[at + 1], factors[at + 2], factors[at + 3]
    for k in range(A.shape[1]):
        G[j, k] += (p * A[a, k] + q * A[b, k]) + (r * A[c, k] + s * A[d, k])

"""The compiled kernels of the generalized power method: sweeps over the rows that matter.

A sweep evaluates objective and gradient at the point. Its cost is that of the rows that are
active, or that the movement of the point may have made so (`orthobench_gpower.ascent`).
"""

from __future__ import annotations

import numpy as np

from orthobench.arrays import Array
from orthobench.compiled import inner, kernel, summed
from orthobench_gpower.ascent import Ascent

ROUNDING = 16 * np.finfo(np.float64).eps
"""Error of |a_i'x| for unit vectors, divided by their length: what screening must leave room for."""

AHEAD = 4.0
"""How far the lists of rows look ahead, in movements of the last step."""

BLOCK = 256
"""Rows that stay in the second-level cache while all columns pass over them."""

LEAST_COLUMNS = 16
"""Columns from which on a product with all rows may be faster than with those that are listed."""

MOST_LISTED = 0.4
"""Share of the rows, over all columns, from which on it is."""


@kernel
def start(ascent: Ascent) -> None:
    """Evaluate objective and gradient at the first point."""
    _sweep(ascent, np.zeros(len(ascent.X)))


@kernel
def ascend(ascent: Ascent, tolerance: float, count: int) -> tuple[int, bool]:
    """Do `count` steps, or fewer where the objective gains less than `tolerance` of itself.

    Returns
    -------
    done : int
    converged : bool
    """
    moved = np.empty(len(ascent.X))
    value = ascent.value
    for done in range(1, count + 1):
        before = value[0]
        _turn(ascent, moved)
        _sweep(ascent, moved)
        if value[0] - before <= tolerance * before:
            return done, True
    return count, False


@inner
def _turn(ascent: Ascent, moved: Array) -> None:
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
        moved[j] = np.sqrt(squared)
        path[j] += moved[j] + ROUNDING


@inner
def _sweep(ascent: Ascent, moved: Array) -> None:
    """Evaluate objective and gradient at the point."""
    m, n = ascent.wake.shape
    ascent.gradient[:] = 0.0
    ascent.value[0] = 0.0
    total = 0
    for j in range(m):
        if ascent.path[j] > ascent.horizon[j]:
            _enlist(ascent, j, ascent.path[j] + AHEAD * moved[j])
        total += ascent.counts[j]
    if m >= LEAST_COLUMNS and total > MOST_LISTED * m * n:
        _sweep_all(ascent)
    else:
        _sweep_listed(ascent)
    for j in range(m):
        for k in range(ascent.X.shape[1]):
            ascent.gradient[j, k] *= ascent.weights[j]


@inner
def _enlist(ascent: Ascent, j: int, horizon: float) -> None:
    """List the rows that may wake before the path of column j is `horizon`."""
    wake, listed = ascent.wake, ascent.listed
    count = 0
    for i in range(wake.shape[1]):
        listed[j, count] = i
        count += wake[j, i] <= horizon and wake[j, i] < np.inf
    ascent.counts[j] = count
    ascent.horizon[j] = horizon


@inner
def _sweep_listed(ascent: Ascent) -> None:
    """Evaluate the listed rows that are awake, column by column."""
    rows, X, wake, listed = ascent.rows, ascent.X, ascent.wake, ascent.listed
    which, excess = np.empty(BLOCK + 4, np.int64), np.empty(BLOCK + 4)
    for j in range(len(X)):
        path, count, gain = ascent.path[j], ascent.counts[j], 0.0
        for begin in range(0, count, BLOCK):
            found = 0
            for at in range(begin, min(begin + BLOCK, count)):
                i = listed[j, at]
                if wake[j, i] <= path:
                    which[found] = i
                    excess[found], more = _settle(ascent, i, j, _dot(rows, i, X, j))
                    gain += more
                    found += excess[found] != 0.0
            _add(ascent.gradient, j, rows, which, excess, found)
        ascent.value[0] += ascent.weights[j] * gain


@inner
def _sweep_all(ascent: Ascent) -> None:
    """Evaluate all rows for all columns, in blocks of rows by matrix products."""
    rows, X = ascent.rows, ascent.X
    m, n = ascent.wake.shape
    which, excess, memory = np.empty(BLOCK + 4, np.int64), np.empty(BLOCK + 4), np.empty(BLOCK * m)
    for begin in range(0, n, BLOCK):
        block = rows[begin : begin + BLOCK]
        products = memory[: m * len(block)].reshape(m, len(block))
        np.dot(X, block.T, products)
        for j in range(m):
            found, gain = 0, 0.0
            for i in range(begin, begin + len(block)):
                if ascent.wake[j, i] < np.inf:
                    which[found] = i
                    excess[found], more = _settle(ascent, i, j, products[j, i - begin])
                    gain += more
                    found += excess[found] != 0.0
            _add(ascent.gradient, j, rows, which, excess, found)
            ascent.value[0] += ascent.weights[j] * gain
    ascent.horizon[:] = -np.inf


@inner
def _settle(ascent: Ascent, i: int, j: int, product: float) -> tuple[float, float]:
    """Note when row i is to be evaluated again; return its share of gradient and objective."""
    over = abs(product) - ascent.bound
    if over > 0.0:
        ascent.wake[j, i] = -np.inf
        if ascent.hard:
            return product, over * (abs(product) + ascent.bound)
        return np.copysign(over, product), over * over
    room = ROUNDING * ascent.X.shape[1]
    ascent.wake[j, i] = ascent.path[j] - over / ascent.norms[i] - room
    return 0.0, 0.0


@summed
def _dot(A: Array, i: int, B: Array, j: int) -> float:
    """Return the inner product of two rows."""
    total = 0.0
    for k in range(A.shape[1]):
        total += A[i, k] * B[j, k]
    return total


@inner
def _add(G: Array, j: int, A: Array, which: Array, factors: Array, count: int) -> None:
    """Add multiples of `count` rows of A to row j of G; the two lists have room for four more."""
    for at in range(count, count + 3):
        which[at], factors[at] = which[0], 0.0
    for at in range(0, count, 4):
        _add_four(G, j, A, which, factors, at)


@summed
def _add_four(G: Array, j: int, A: Array, which: Array, factors: Array, at: int) -> None:
    """Add multiples of four rows of A to row j of G, which is read and written only once."""
    a, b, c, d = which[at], which[at + 1], which[at + 2], which[at + 3]
    p, q, r, s = factors[at], factors[at + 1], factors[at + 2], factors[at + 3]
    for k in range(A.shape[1]):
        G[j, k] += (p * A[a, k] + q * A[b, k]) + (r * A[c, k] + s * A[d, k])

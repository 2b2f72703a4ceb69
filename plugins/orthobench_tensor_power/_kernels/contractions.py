"""Contractions T(I, x, x) of a packed symmetric tensor, for many vectors x at once.

The packed matrix P (n(n+1)/2, n) has a row T(e_b, e_c, .) for each pair b <= c, doubled if b < c.
T(I, x, x) is P' times the products x_b x_c, with half of the arithmetic and memory.
"""

from __future__ import annotations

import numpy as np
from orthobench_kit.compiled import kernel, summed

from orthobench.contract import Array

ROWS = 256
"""Number of pairs b <= c in one matrix product: their products x_b x_c stay in the cache."""


def packed(T: Array) -> Array:
    """Pack a symmetric tensor (n, n, n); rows ordered by (b, c)."""
    P: Array = 2 * np.concatenate([T[b, b:] for b in range(len(T))])
    P[_diagonal_rows(len(T))] /= 2
    return P


def norm(P: Array) -> float:
    """Return the Frobenius norm of a packed tensor."""
    squares = np.einsum("rc,rc->r", P, P) / 2
    squares[_diagonal_rows(P.shape[1])] *= 2
    return float(np.sqrt(squares.sum()))


def weighted_slices(P: Array, w: Array) -> Array:
    """Return the symmetric matrix T(I, I, w), the sum of the slices of T weighted by w."""
    n = len(w)
    M = np.zeros((n, n))
    M[np.triu_indices(n)] = P @ w
    return (M + M.T) / 2


def _diagonal_rows(n: int) -> Array:
    b = np.arange(n)
    rows: Array = b * n - b * (b - 1) // 2
    return rows


@kernel
def contracted(P: Array, X: Array) -> Array:
    """Return T(I, x, x) for each column x of `X` (n, m).

    n³m + 3n²m/2 flops. Memory: (max(256, n) + 2n) m doubles.
    """
    n, m = X.shape
    total, product = np.zeros((m, n)), np.empty((m, n))
    scratch = np.empty(max(ROWS, n) * m)
    b, begin = 0, 0
    while b < n:
        end, count = b, 0
        while end < n and (count == 0 or count + n - end <= ROWS):
            count += n - end
            end += 1
        pairs = scratch[: count * m].reshape(count, m)
        _multiply(X, b, end, pairs)
        np.dot(pairs.T, P[begin : begin + count], product)
        total += product
        b, begin = end, begin + count
    return np.ascontiguousarray(total.T)


@kernel
def _multiply(X: Array, begin: int, end: int, pairs: Array) -> None:
    n, m = X.shape
    row = 0
    for b in range(begin, end):
        for c in range(b, n):
            for i in range(m):
                pairs[row, i] = X[b, i] * X[c, i]
            row += 1


@kernel
def power_iteration(P: Array, X: Array) -> tuple[Array, Array, Array]:
    """Return one power iteration x <- T(I, x, x) / |T(I, x, x)| of each unit column of X (n, m).

    Returns the next x (x if T(I, x, x) is zero), T(x, x, x) before it, and the distance that x
    moved. Anandkumar, Ge, Hsu, Kakade and Telgarsky 2014, Algorithm 1.
    """
    n, m = X.shape
    Y = contracted(P, X)
    values, norms, moved = np.zeros(m), np.zeros(m), np.zeros(m)
    for a in range(n):
        for i in range(m):
            values[i] += X[a, i] * Y[a, i]
            norms[i] += Y[a, i] * Y[a, i]
    for i in range(m):
        norms[i] = np.sqrt(norms[i])
    for a in range(n):
        for i in range(m):
            Y[a, i] = Y[a, i] / norms[i] if norms[i] > 0 else X[a, i]
            moved[i] += (Y[a, i] - X[a, i]) ** 2
    return Y, values, np.sqrt(moved)


@summed
def deflate(P: Array, u: Array, weight: float) -> float:
    """Subtract weight u ⊗ u ⊗ u from a packed tensor, in place; return the norm of the result."""
    n = len(u)
    row, squares = 0, 0.0
    for b in range(n):
        for c in range(b, n):
            count = 1.0 if b == c else 2.0  # equal entries that the row stands for
            factor, square = count * weight * u[b] * u[c], 0.0
            for a in range(n):
                P[row, a] -= factor * u[a]
                square += P[row, a] * P[row, a]
            squares += square / count
            row += 1
    return float(np.sqrt(squares))

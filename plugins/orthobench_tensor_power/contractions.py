"""T(I, x, x) for many vectors x at once, with each pair of equal entries read once.

A symmetric tensor is packed as a matrix: a row T(e_b, e_c, .) for each pair b <= c, doubled
where b < c. Then T(I, x, x) is that matrix times the products x_b x_c, which halves both the
arithmetic and the memory.
"""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import inner, kernel, summed

ROWS = 256
"""Pairs that go into one matrix product: their products x_b x_c stay in the cache."""


def packed(T: Array) -> Array:
    """Return the rows T(e_b, e_c, .), b <= c, in the order of (b, c), doubled where b < c.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric.

    Returns
    -------
    ndarray, shape (n(n+1)/2, n)
        A fresh array.
    """
    P: Array = 2 * np.concatenate([T[b, b:] for b in range(len(T))])
    P[_squares(len(T))] /= 2
    return P


def norm(P: Array) -> float:
    """Return the Frobenius norm of the tensor that is packed in `P`."""
    squares = np.einsum("rc,rc->r", P, P) / 2
    squares[_squares(P.shape[1])] *= 2
    return float(np.sqrt(squares.sum()))


def slab(P: Array, w: Array) -> Array:
    """Return the symmetric matrix T(I, I, w).

    Parameters
    ----------
    P : ndarray, shape (n(n+1)/2, n)
        The packed T.
    w : ndarray, shape (n,)

    Notes
    -----
    n³ + n² flops.
    """
    n = len(w)
    M = np.zeros((n, n))
    M[np.triu_indices(n)] = P @ w
    return (M + M.T) / 2


def _squares(n: int) -> Array:
    """Return the rows of the pairs (b, b)."""
    b = np.arange(n)
    rows: Array = b * n - b * (b - 1) // 2
    return rows


@kernel
def contracted(P: Array, X: Array) -> Array:
    """Return T(I, x, x) for each column x of `X`.

    Parameters
    ----------
    P : ndarray, shape (n(n+1)/2, n)
        The packed T.
    X : ndarray, shape (n, m), C order

    Returns
    -------
    ndarray, shape (n, m)

    Notes
    -----
    n³m + 3n²m/2 flops; memory (256 + 2n) m.
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


@inner
def _multiply(X: Array, begin: int, end: int, pairs: Array) -> None:
    """Fill the rows of `pairs` with x_b x_c, begin <= b < end and b <= c."""
    n, m = X.shape
    row = 0
    for b in range(begin, end):
        for c in range(b, n):
            for i in range(m):
                pairs[row, i] = X[b, i] * X[c, i]
            row += 1


@kernel
def iterated(P: Array, X: Array) -> tuple[Array, Array, Array]:
    """Return one power iteration x <- T(I, x, x) / |T(I, x, x)| of each column of `X`.

    Parameters
    ----------
    P : ndarray, shape (n(n+1)/2, n)
        The packed T.
    X : ndarray, shape (n, m), C order
        Unit columns.

    Returns
    -------
    ndarray, shape (n, m)
        The next x; the same where T(I, x, x) is zero.
    ndarray, shape (m,)
        T(x, x, x), before the iteration.
    ndarray, shape (m,)
        How far each x moved.
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
    """Subtract weight u ⊗ u ⊗ u from the tensor packed in `P`, in place; return what is left.

    Parameters
    ----------
    P : ndarray, shape (n(n+1)/2, n)
    u : ndarray, shape (n,)
    weight : float

    Returns
    -------
    float
        The Frobenius norm.

    Notes
    -----
    2n³ flops, half of them for the norm.
    """
    n = len(u)
    row, squares = 0, 0.0
    for b in range(n):
        for c in range(b, n):
            twice = 1.0 if b == c else 2.0
            factor, square = twice * weight * u[b] * u[c], 0.0
            for a in range(n):
                P[row, a] -= factor * u[a]
                square += P[row, a] * P[row, a]
            squares += square / twice
            row += 1
    return float(np.sqrt(squares))

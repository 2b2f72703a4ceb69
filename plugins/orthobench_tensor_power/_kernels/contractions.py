"""Contractions T(I, x, x) of a packed symmetric tensor, for many vectors x at once.

A symmetric tensor is packed as a matrix with a row T(e_b, e_c, .) for each pair b <= c, doubled if
b < c. Then T(I, x, x) is the transpose of that matrix times the products x_b x_c. This halves both
arithmetic and memory.
"""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import kernel, summed

ROWS = 256
"""Pairs b <= c in one matrix product: their products x_b x_c stay in the cache."""


def packed(T: Array) -> Array:
    """Pack a symmetric tensor.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric.

    Returns
    -------
    ndarray, shape (n(n+1)/2, n)
        The rows T(e_b, e_c, .), b <= c, ordered by (b, c), and doubled if b < c; a fresh array.
    """
    P: Array = 2 * np.concatenate([T[b, b:] for b in range(len(T))])
    P[_diagonal_rows(len(T))] /= 2
    return P


def norm(P: Array) -> float:
    """Return the Frobenius norm of a packed tensor.

    Parameters
    ----------
    P : ndarray, shape (n(n+1)/2, n)
        The packed T.

    Returns
    -------
    float

    Notes
    -----
    n³ + n² flops.
    """
    squares = np.einsum("rc,rc->r", P, P) / 2
    squares[_diagonal_rows(P.shape[1])] *= 2
    return float(np.sqrt(squares.sum()))


def weighted_slices(P: Array, w: Array) -> Array:
    """Return the symmetric matrix T(I, I, w), the sum of the slices of T weighted by w.

    Parameters
    ----------
    P : ndarray, shape (n(n+1)/2, n)
        The packed T.
    w : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (n, n)

    Notes
    -----
    n³ + n² flops.
    """
    n = len(w)
    M = np.zeros((n, n))
    M[np.triu_indices(n)] = P @ w
    return (M + M.T) / 2


def _diagonal_rows(n: int) -> Array:
    """Return the numbers of the rows of the pairs (b, b)."""
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
        A fresh array.

    Notes
    -----
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
    """Fill the rows of `pairs` with x_b x_c, begin <= b < end and b <= c."""
    n, m = X.shape
    row = 0
    for b in range(begin, end):
        for c in range(b, n):
            for i in range(m):
                pairs[row, i] = X[b, i] * X[c, i]
            row += 1


@kernel
def power_iteration(P: Array, X: Array) -> tuple[Array, Array, Array]:
    """Return one power iteration x <- T(I, x, x) / |T(I, x, x)| of each column of `X`.

    Parameters
    ----------
    P : ndarray, shape (n(n+1)/2, n)
        The packed T.
    X : ndarray, shape (n, m), C order
        Unit columns.

    Returns
    -------
    Y : ndarray, shape (n, m)
        The next x; x itself if T(I, x, x) is zero.
    values : ndarray, shape (m,)
        T(x, x, x), before the iteration.
    moved : ndarray, shape (m,)
        The distance between x and the next x.

    Notes
    -----
    Those of `contracted`, and 8nm flops.

    References
    ----------
    Anandkumar, Ge, Hsu, Kakade and Telgarsky 2014, Algorithm 1.
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
    """Subtract weight u ⊗ u ⊗ u from a packed tensor, in place.

    Parameters
    ----------
    P : ndarray, shape (n(n+1)/2, n)
        The packed T.
    u : ndarray, shape (n,)
    weight : float

    Returns
    -------
    float
        The Frobenius norm of the result.

    Notes
    -----
    2n³ flops, half of them for the norm.
    """
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

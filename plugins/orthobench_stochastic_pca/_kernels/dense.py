"""Small dense kernels that the others share; each is compiled once."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import kernel, summed


@kernel
def matrix(flat: Array, rows: int, columns: int) -> Array:
    """Return a view of the beginning of a flat array as a contiguous matrix.

    Parameters
    ----------
    flat : ndarray, shape (at least rows * columns,)
    rows, columns : int

    Returns
    -------
    ndarray, shape (rows, columns)
    """
    return flat[: rows * columns].reshape(rows, columns)


@summed
def dot(x: Array, y: Array, n: int) -> float:
    """Return the inner product of the first n entries, in an order of summation that vectorizes.

    Parameters
    ----------
    x, y : ndarray, shape (at least n,)
    n : int

    Returns
    -------
    float

    Notes
    -----
    2n flops.
    """
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@kernel
def axpy(c: float, x: Array, y: Array, n: int) -> None:
    """Set y <- c x + y in the first n entries, in place.

    Parameters
    ----------
    c : float
    x, y : ndarray, shape (at least n,)
    n : int

    Notes
    -----
    2n flops.
    """
    for i in range(n):
        y[i] += c * x[i]


@kernel
def copy_rows(A: Array, B: Array) -> None:
    """Copy a matrix to the first rows of another.

    Parameters
    ----------
    A : ndarray, shape (m, n)
    B : ndarray, shape (at least m, at least n)
    """
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = A[i, j]


@kernel
def set_identity(W: Array) -> None:
    """Set a matrix, of any shape, to ones on its diagonal and zeros elsewhere."""
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            W[i, j] = 1.0 if i == j else 0.0


@kernel
def multiply(A: Array, B: Array, out: Array) -> None:
    """Set out = AB, by BLAS; compiled once for all callers.

    Parameters
    ----------
    A : ndarray, shape (m, k)
    B : ndarray, shape (k, n)
    out : ndarray, shape (m, n), C order

    Notes
    -----
    2mnk flops.
    """
    np.dot(A, B, out)


@kernel
def multiply_transposed(A: Array, B: Array, out: Array) -> None:
    """Set out = AB', by BLAS; compiled once for all callers.

    Parameters
    ----------
    A : ndarray, shape (m, k)
    B : ndarray, shape (n, k)
    out : ndarray, shape (m, n), C order

    Notes
    -----
    2mnk flops.
    """
    np.dot(A, B.T, out)

"""Small dense kernels that all others are made of, each compiled once."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import kernel, summed


@kernel
def matrix(flat: Array, rows: int, columns: int) -> Array:
    """Return a contiguous (rows, columns) view of the beginning of a flat array."""
    return flat[: rows * columns].reshape(rows, columns)


@summed
def dot(x: Array, y: Array, n: int) -> float:
    """Return the inner product of the first n entries, summed in an order that vectorizes."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@kernel
def add(c: float, x: Array, y: Array, n: int) -> None:
    """Add c times the first n entries of x to those of y."""
    for i in range(n):
        y[i] += c * x[i]


@kernel
def copy(A: Array, B: Array) -> None:
    """Copy the rows of A into the first rows of B."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = A[i, j]


@kernel
def identity(W: Array) -> None:
    """Set W to ones on its diagonal and zeros elsewhere."""
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            W[i, j] = 1.0 if i == j else 0.0


@kernel
def times(A: Array, B: Array, out: Array) -> None:
    """Set out = AB; compiled once for all who call it."""
    np.dot(A, B, out)


@kernel
def times_transposed(A: Array, B: Array, out: Array) -> None:
    """Set out = AB'."""
    np.dot(A, B.T, out)

"""Stacks of matrices: arrays with leading axes, or without for a single matrix."""

from __future__ import annotations

from math import prod
from typing import Any

from orthobench.tools.arrays import identity, namespace
from orthobench.tools.geometry import orthonormalize
from orthobench_kit.arrays import norm, rows_of


def sizes(X: Any) -> tuple[int, int, int]:
    """Return the number of matrices, and of rows and columns of each."""
    *stack, n, p = X.shape
    return prod(stack), n, p


def stacked(X: Any) -> Any:
    """Return the matrices one below another, (mn, p)."""
    return X if X.ndim == 2 else namespace(X).reshape(X, (-1, X.shape[-1]))


def unstacked(X: Any, stack: tuple[int, ...]) -> Any:
    """Return a stack, with leading axes, of matrices one below another."""
    return X if not stack else namespace(X).reshape(X, (*stack, -1, X.shape[-1]))


def transposed(X: Any) -> Any:
    """Return the transpose of each matrix."""
    return X.T if X.ndim == 2 else namespace(X).matrix_transpose(X)


def lengths(X: Any) -> Any:
    """Return the Frobenius norm of each matrix, a number if there is one."""
    if X.ndim == 2:
        return norm(X)
    return namespace(X).linalg.vector_norm(X, axis=(-2, -1))


def plural(values: Any) -> bool:
    """Return whether there is a number for each matrix of a stack."""
    return getattr(values, "ndim", 0) > 0


def each(values: Any) -> Any:
    """Return the numbers of `lengths` in a form that multiplies matrices."""
    return values[..., None, None] if plural(values) else values


def most(values: Any) -> Any:
    """Return the maximum of `lengths`."""
    return namespace(values).max(values) if plural(values) else values


def defects(X: Any) -> Any:
    """Return |X'X - I| of each matrix; 2np² flops."""
    return lengths(transposed(X) @ X - identity(X.shape[-1], X))


def matrix_rows(X: Any, rows: Any) -> Any:
    """Return a copy of some rows of each matrix."""
    return rows_of(X, rows) if X.ndim == 2 else namespace(X).take(X, rows, axis=-2)


def q_factor(X: Any) -> Any:
    """Return the Q factor of each matrix."""
    if X.ndim == 2:
        return orthonormalize(X)
    xp = namespace(X)
    Q, R = xp.linalg.qr(X)
    diagonal = xp.linalg.diagonal(R)
    ones = xp.ones_like(diagonal)
    return Q * xp.expand_dims(xp.where(diagonal < 0, -ones, ones), axis=-2)

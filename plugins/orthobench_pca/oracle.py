"""The oracle of principal components."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import partial
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, DataError, Oracle, flops
from orthobench_pca.matrices import Matrix, Operator, Sparse

SMALL = 64
"""Rows and columns of the matrix of a warm-up, beyond 2k."""


class PCAOracle(Oracle):
    """A matrix X (rows, n) whose k leading principal components are sought.

    They are the leading eigenvectors of Z'Z for Z = (X - 1m') D, with the means m of columns and
    the inverse standard deviations D. Neither Z nor a copy of X is formed.

    Parameters
    ----------
    center : bool
        Whether means are subtracted; otherwise m = 0.
    scale : ndarray, shape (n,), optional
        The standard deviations by which columns are divided.

    Attributes
    ----------
    passes : float
        Number of readings of X in this run; a product is one reading.
    products : int
        Products of X or X' with one vector.
    """

    shows: ClassVar[Mapping[str, str]] = {
        "X": "the matrix (rows, n), samples in rows, as it was given",
        "center": "whether the means of columns are to be subtracted",
        "scale": "standard deviations (n,) that columns are to be divided by, or None",
    }

    def __init__(self, matrix: Matrix, k: int, center: bool, scale: Array | None = None) -> None:
        self.matrix, self.k, self.center, self.scale = matrix, k, center, scale
        self.rows, self.n = matrix.shape
        self.passes, self.products = 0.0, 0
        self._mean: Array | None = None

    @property
    def X(self) -> Any:
        """The matrix as the user has it, for libraries; `count` its readings."""
        return self.matrix.X

    @property
    def sparse(self) -> bool:
        """Whether X is of scipy.sparse."""
        return isinstance(self.matrix, Sparse)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows, columns and components."""
        return (self.rows, self.n, self.k)

    @property
    def dense_bytes(self) -> int:
        """The bytes of X as an array."""
        return self.rows * self.n * int(self.matrix.dtype.itemsize)

    @property
    def product_flops(self) -> int:
        """The flops of the products so far."""
        return flops.gemm(self.rows, self.products, self.n)

    def rewind(self, rng: np.random.Generator) -> None:
        self.passes, self.products, self._mean = 0.0, 0, None

    def miniature(self) -> PCAOracle:
        rng = np.random.default_rng(0)
        shape = tuple(min(size, SMALL + 2 * self.k) for size in self.matrix.shape)
        small = copy(self)
        small.matrix = self.matrix.like(rng.standard_normal(shape))
        small.rows, small.n = shape
        small.scale = None if self.scale is None else np.ones(shape[1])
        small.start = np.linalg.qr(rng.standard_normal((shape[1], self.k)))[0]
        return small

    def mean(self) -> Array:
        """Return the means of columns, zero without centring; first a pass."""
        if self._mean is None:
            if not self.center:
                return np.zeros(self.n)
            self.count(1, 1)
            self._mean = self.matrix.column_sums() / self.rows
        return self._mean

    def times(self, V: Array) -> Array:
        """Return ZV for V (n, b), in the precision of X; a pass."""
        self.count(1, V.shape[1])
        W = self._scaled(V)
        found = self.matrix.times(W)
        if self.center:
            found -= (self.mean() @ W).astype(found.dtype)
        return finite(np.asarray(found), self.matrix)

    def transposed_times(self, U: Array) -> Array:
        """Return Z'U for U (rows, b), in the precision of X; a pass."""
        self.count(1, U.shape[1])
        if self.center and self.rows < self.n:
            U = U - U.mean(axis=0)  # which X' maps to the same, and there are fewer
        found = self.matrix.transposed_times(U)
        if self.center and self.rows >= self.n:
            found -= np.outer(self.mean(), U.sum(axis=0)).astype(found.dtype)
        return finite(np.asarray(self._scaled(found)), self.matrix)

    def normal_times(self, V: Array) -> Array:
        """Return Z'ZV for V (n, b), in the precision of X.

        One pass of dense and of chunked matrices, two of others.
        """
        W = self._scaled(V)
        shift = (self.mean() @ W).astype(self.matrix.dtype)
        found, sums, passes = self.matrix.normal_times(W, shift)
        self.count(passes, 2 * V.shape[1])
        if self.center:
            found = found - np.outer(self.mean(), sums).astype(found.dtype)
        return finite(np.asarray(self._scaled(found)), self.matrix)

    def count(self, passes: float, products: int = 0) -> None:
        """Count readings, and products with single vectors."""
        self.passes += passes
        self.products += products

    def operator(self) -> Any:
        """Return Z as a `scipy.sparse.linalg.LinearOperator`, whose products are counted."""
        return _operator(self.matrix.shape, self.matrix.dtype, self.times, self.transposed_times)

    def normal_operator(self) -> Any:
        """Return Z'Z (n, n) as an operator, or ZZ' if rows are fewer."""
        side = min(self.matrix.shape)
        apply = self.normal_times
        if self.rows < self.n:
            apply = partial(_composed, self.transposed_times, self.times)
        return _operator((side, side), self.matrix.dtype, apply, apply)

    def _scaled(self, V: Array) -> Array:
        return V if self.scale is None else V / self.scale[:, None].astype(V.dtype)


def finite(found: Array, X: Matrix | None = None) -> Array:
    """Return a product of X; DataError if it is not finite, with the entry of X if X is given."""
    if not np.isfinite(found.sum()) and not np.isfinite(found).all():
        if X is not None and not isinstance(X, Operator):
            refuse_not_finite(X)
        raise DataError("X has entries that are NaN or infinite, or overflow: remove or rescale")
    return found


def refuse_not_finite(X: Matrix) -> None:
    """Raise a DataError that names the first entry that is not finite, if there is one."""
    for begin, block in X.blocks():
        for row, column in np.argwhere(~np.isfinite(block)):
            raise DataError(
                f"row {begin + row}, column {column} of X (counted from 0) is "
                f"{block[row, column]}: fill it, or leave the row or the column out"
            )


def _composed(there: Any, back: Any, V: Array) -> Array:
    return np.asarray(back(there(V)))


def _operator(shape: tuple[int, ...], dtype: Any, there: Any, back: Any) -> Any:
    from scipy.sparse.linalg import LinearOperator

    return LinearOperator(
        shape, dtype=dtype, matmat=there, rmatmat=back,
        matvec=partial(_single, there), rmatvec=partial(_single, back),
    )  # fmt: skip


def _single(apply: Any, v: Array) -> Array:
    return np.asarray(apply(np.reshape(v, (-1, 1)))[:, 0])

"""The judge of spectral powers."""

from __future__ import annotations

from collections.abc import Iterable
from math import hypot, sqrt

import numpy as np

from orthobench.contract import Array, Solution

WELL_CONDITIONED = 1e-4
"""Minimum ratio of squared singular values for accurate squares."""

ROUNDED = 1e-15
"""Maximum relative difference of a multiple from A."""

LARGE = 2**24
"""Size in bytes above which the powers of tall, well-conditioned matrices are not stored."""

TALL = 16
"""Minimum ratio of rows to columns of tall matrices."""

BLOCK = 2**17
"""Approximate number of entries of a block of rows."""


class Judge:
    """Measures points by the singular value decomposition A = U S V' in float64.

    A is (n, p) or (b, n, p), and the power U S^exponent V'; 0 is the polar factor.
    """

    def __init__(self, A: Array, exponent: float = 0.0) -> None:
        self.A = A if A.ndim == 3 else A[None]
        self.blocks = [slice(None)]
        left: Array
        self.values: Array
        self.Vt: Array
        parts = self._condensed() or np.linalg.svd(self.A, full_matrices=False)
        left, self.values, self.Vt = parts
        floor = self.values[:, :1] * max(A.shape[-2:]) * np.finfo(np.float64).eps
        self.range = (self.values > floor).astype(np.float64)
        bounded = np.maximum(self.values, floor)
        self.squares = bounded ** (2 * exponent)
        sought = bounded**exponent * self.range
        self.U = None if self.range.all() else left * self.range[:, None, :]
        # the power, or if it is not stored, what A is multiplied by
        self.factor = (left * sought[:, None, :]) @ self.Vt
        self.completes = exponent == 0  # a polar factor has columns in lost directions too
        self.length = sqrt(self.range.size if self.completes else (sought**2).sum())
        self.largest, self.inner = float(sought.max()), float((self.values * sought).sum())

    def _condensed(self) -> tuple[Array, Array, Array] | None:
        """Return V / S, S and V' of a large matrix from its triangular factor, or None.

        The powers are then computed in blocks.
        """
        _, n, p = self.A.shape
        if self.A.nbytes <= LARGE or n < TALL * p:
            return None
        step = max(4 * p, BLOCK // p)
        blocks = [slice(begin, begin + step) for begin in range(0, n, step)]
        _, values, Vt = np.linalg.svd(triangular(self.A, blocks))
        if (values[:, -1] ** 2 <= WELL_CONDITIONED * values[:, 0] ** 2).any():
            return None
        self.blocks = blocks
        return Vt.swapaxes(1, 2) / values[:, None, :], values, Vt

    def _power(self, rows: slice) -> Array:
        """Return some rows of the power."""
        stored = len(self.blocks) == 1
        return self.factor if stored else np.asarray(self.A[:, rows] @ self.factor)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``distance``, the primary one, first.

        With the power F of A in float64, ``distance`` is |X - F| / |F|, in the range of A' for
        exponents other than 0. If A has lost directions, the nearest of its polar factors counts.
        The maximum over a batch of |eigenvalues of X'X - eigenvalues of (A'A)^exponent|, over the
        largest of the latter, is ``orthogonality``: |X'X - I| for polar factors. Singular values
        of X are ``smallest`` and ``largest``. The metric ``asymmetry`` is |A'X - X'A| / (|A|
        |F|_2), and ``indefiniteness`` minus the smallest eigenvalue of the symmetric part of A'X
        over |A|_2 |F|_2, or 0. The metric ``gain`` is <A, X> / <A, F>, and ``products`` counts
        products of matrices (`PolarSolution`).
        """
        X = solution.point.reshape(self.A.shape)
        H = self.A.swapaxes(1, 2) @ X
        skew = H - H.swapaxes(1, 2)
        least = _least((H + H.swapaxes(1, 2)) / 2)
        found = self._singular_values(X)
        return {
            "distance": hypot(*self._missed(X), self._missing(X)) / self.length,
            "orthogonality": self._spectral_error(found),
            "smallest": float(found.min()),
            "largest": float(found.max()),
            "asymmetry": float(np.linalg.norm(skew) / np.linalg.norm(self.A)) / self.largest,
            "indefiniteness": float(max(0.0, (-least / self.values[:, 0]).max())) / self.largest,
            "gain": sum(float(np.vdot(self.A[:, at], X[:, at])) for at in self.blocks) / self.inner,
            "products": getattr(solution, "products", 0.0),
        }

    def _spectral_error(self, found: Array) -> float:
        ranks = found.argsort(axis=1).argsort(axis=1)
        squares = np.take_along_axis(np.sort(self.squares, axis=1), ranks, axis=1)
        largest = squares.max(axis=1, keepdims=True)
        return float(np.linalg.norm((found**2 - squares) / largest, axis=1).max())

    def _missed(self, X: Array) -> list[float]:
        """Return |X - F| in the range of A', block by block."""
        if self.U is not None:
            X = (X @ self.Vt.swapaxes(1, 2) * self.range[:, None, :]) @ self.Vt
        return [float(np.linalg.norm(X[:, at] - self._power(at))) for at in self.blocks]

    def _missing(self, X: Array) -> float:
        if not self.completes or self.U is None:
            return 0.0
        lost = X @ self.Vt.swapaxes(1, 2) * (1 - self.range)[:, None, :]
        inside = self.U.swapaxes(1, 2) @ lost
        outside = np.linalg.svd(lost - self.U @ inside, compute_uv=False)
        wanted = np.sort(1 - self.range, axis=1)[:, ::-1]
        return hypot(float(np.linalg.norm(inside)), float(np.linalg.norm(outside - wanted)))

    def _singular_values(self, X: Array) -> Array:
        """Return singular values of matrices (b, n, p), the fastest way that loses no digits."""
        factor = np.einsum("bij,bij->b", self.A, X) / np.einsum("bij,bij->b", self.A, self.A)
        if all(self._is_multiple(X[:, at], factor, at) for at in self.blocks):
            return np.asarray(np.abs(factor)[:, None] * self.values)
        squares = np.asarray(np.linalg.eigvalsh(X.swapaxes(1, 2) @ X))
        if squares.min() > WELL_CONDITIONED * squares.max():
            return np.asarray(np.sqrt(squares))
        small = X if len(self.blocks) == 1 else triangular(X, self.blocks)
        return np.asarray(np.linalg.svd(small, compute_uv=False))

    def _is_multiple(self, X: Array, factor: Array, rows: slice) -> bool:
        rest = np.abs(X - factor[:, None, None] * self.A[:, rows]).max(axis=(1, 2))
        return bool((rest <= ROUNDED * np.abs(X).max(axis=(1, 2))).all())


def triangular(A: Array, blocks: Iterable[slice]) -> Array:
    """Return the triangular factors R (b, p, p) of matrices (b, n, p) from blocks of rows."""
    R = A[:, :0]
    for rows in blocks:
        R = np.asarray(np.linalg.qr(np.concatenate([R, A[:, rows]], axis=1), mode="r"))
    return R


def _least(H: Array) -> Array:
    """Return the smallest eigenvalues of symmetric matrices (b, p, p); 0 if none is negative."""
    try:
        np.linalg.cholesky(H)  # a third of the time
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.eigvalsh(H)[:, 0])
    return np.zeros(len(H))


def no_violation(solution: Solution) -> float:
    """Return 0: deviation from orthonormal columns is a metric here."""
    del solution
    return 0.0

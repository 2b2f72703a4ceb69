"""The judge of spectral powers."""

from __future__ import annotations

from math import hypot, sqrt

import numpy as np

from orthobench.contract import Array, Solution

WELL_CONDITIONED = 1e-4
"""Minimum ratio of squared singular values for accurate squares."""

ROUNDED = 1e-15
"""Maximum relative difference of a multiple from A."""


class Judge:
    """Measures points by the singular value decomposition A = U S V' in float64.

    A is (n, p) or (b, n, p), and the power U S^exponent V'; 0 is the polar factor.
    """

    def __init__(self, A: Array, exponent: float = 0.0) -> None:
        self.A = A if A.ndim == 3 else A[None]
        U, self.values, self.Vt = np.linalg.svd(self.A, full_matrices=False)
        floor = self.values[:, :1] * max(A.shape[-2:]) * np.finfo(np.float64).eps
        self.range = (self.values > floor).astype(np.float64)
        bounded = np.maximum(self.values, floor)
        self.squares = bounded ** (2 * exponent)
        sought = bounded**exponent * self.range
        self.U = U * self.range[:, None, :]
        self.factor = (U * sought[:, None, :]) @ self.Vt
        self.completes = exponent == 0  # a polar factor has columns in lost directions too
        self.length = sqrt(self.range.size if self.completes else (sought**2).sum())
        self.largest, self.inner = float(sought.max()), float((self.values * sought).sum())

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
        inside = X
        if not self.range.all():
            inside = (X @ self.Vt.swapaxes(1, 2) * self.range[:, None, :]) @ self.Vt
        H = self.A.swapaxes(1, 2) @ X
        skew = H - H.swapaxes(1, 2)
        least = _least((H + H.swapaxes(1, 2)) / 2)
        found = self._singular_values(X)
        return {
            "distance": hypot(float(np.linalg.norm(inside - self.factor)), self._missing(X))
            / self.length,
            "orthogonality": self._spectral_error(found),
            "smallest": float(found.min()),
            "largest": float(found.max()),
            "asymmetry": float(np.linalg.norm(skew) / np.linalg.norm(self.A)) / self.largest,
            "indefiniteness": float(max(0.0, (-least / self.values[:, 0]).max())) / self.largest,
            "gain": float(np.vdot(self.A, X)) / self.inner,
            "products": getattr(solution, "products", 0.0),
        }

    def _spectral_error(self, found: Array) -> float:
        ranks = found.argsort(axis=1).argsort(axis=1)
        squares = np.take_along_axis(np.sort(self.squares, axis=1), ranks, axis=1)
        largest = squares.max(axis=1, keepdims=True)
        return float(np.linalg.norm((found**2 - squares) / largest, axis=1).max())

    def _missing(self, X: Array) -> float:
        if not self.completes or self.range.all():
            return 0.0
        lost = X @ self.Vt.swapaxes(1, 2) * (1 - self.range)[:, None, :]
        inside = self.U.swapaxes(1, 2) @ lost
        outside = np.linalg.svd(lost - self.U @ inside, compute_uv=False)
        wanted = np.sort(1 - self.range, axis=1)[:, ::-1]
        return hypot(float(np.linalg.norm(inside)), float(np.linalg.norm(outside - wanted)))

    def _singular_values(self, X: Array) -> Array:
        """Return singular values of matrices (b, n, p), the fastest way that loses no digits."""
        factor = np.einsum("bij,bij->b", self.A, X) / np.einsum("bij,bij->b", self.A, self.A)
        rest = np.abs(X - factor[:, None, None] * self.A).max(axis=(1, 2))
        if (rest <= ROUNDED * np.abs(X).max(axis=(1, 2))).all():
            return np.asarray(np.abs(factor)[:, None] * self.values)
        squares = np.asarray(np.linalg.eigvalsh(X.swapaxes(1, 2) @ X))
        well = squares.min() > WELL_CONDITIONED * squares.max()
        return np.asarray(np.sqrt(squares) if well else np.linalg.svd(X, compute_uv=False))


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

"""The judge of polar factors: five residuals, and the products of matrices that they took."""

from __future__ import annotations

from math import sqrt

import numpy as np

from orthobench.contract import Array, Solution

WELL_CONDITIONED = 1e-4
"""The least over the largest squared singular value from which on squares are accurate enough."""

ROUNDED = 1e-15
"""The largest difference of a multiple from A, relative to its entries."""


class Judge:
    """Measures points by the singular value decomposition of A in float64.

    Parameters
    ----------
    A : ndarray, shape (n, p) or (b, n, p)
    """

    def __init__(self, A: Array) -> None:
        self.A = A if A.ndim == 3 else A[None]
        U, self.values, self.Vt = np.linalg.svd(self.A, full_matrices=False)
        floor = self.values[:, :1] * max(A.shape[-2:]) * np.finfo(np.float64).eps
        # where A has no range, any orthonormal columns are polar factors
        self.range = (self.values > floor).astype(np.float64)
        self.factor = (U * self.range[:, None, :]) @ self.Vt
        self.nuclear = float(self.values.sum())

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``distance``, the primary one, first.

        ``distance`` is |(X - U) P| / |U|, with the polar factor U of A in float64 and the projector
        P on the range of A'; ``orthogonality`` is |X'X - I|, of a batch the largest; ``smallest``
        and ``largest`` are singular values of X; ``asymmetry`` is |A'X - X'A| / |A|;
        ``indefiniteness`` is minus the least eigenvalue of the symmetric part of A'X over |A|_2,
        or 0 where it is positive; ``gain`` is <A, X> over the nuclear norm of A, which is 1 for the
        polar factor; ``products`` counts products of matrices (`PolarSolution`).
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
            "distance": float(np.linalg.norm(inside - self.factor)) / sqrt(self.range.sum()),
            "orthogonality": float(np.linalg.norm(found**2 - 1, axis=1).max()),
            "smallest": float(found.min()),
            "largest": float(found.max()),
            "asymmetry": float(np.linalg.norm(skew) / np.linalg.norm(self.A)),
            "indefiniteness": float(max(0.0, (-least / self.values[:, 0]).max())),
            "gain": float(np.vdot(self.A, X)) / self.nuclear,
            "products": getattr(solution, "products", 0.0),
        }

    def _singular_values(self, X: Array) -> Array:
        """Return those of matrices (b, n, p), the quickest way that loses no digits.

        Multiples of A, where most methods start, have multiples of its own; others have roots of
        the eigenvalues of X'X, where these are not small, in a third of the time.
        """
        factor = np.einsum("bij,bij->b", self.A, X) / np.einsum("bij,bij->b", self.A, self.A)
        rest = np.abs(X - factor[:, None, None] * self.A).max(axis=(1, 2))
        if (rest <= ROUNDED * np.abs(X).max(axis=(1, 2))).all():
            return np.asarray(np.abs(factor)[:, None] * self.values)
        squares = np.asarray(np.linalg.eigvalsh(X.swapaxes(1, 2) @ X))
        well = squares.min() > WELL_CONDITIONED * squares.max()
        return np.asarray(np.sqrt(squares) if well else np.linalg.svd(X, compute_uv=False))


def _least(H: Array) -> Array:
    """Return the least eigenvalues of symmetric matrices (b, p, p); 0 where none is negative."""
    try:
        np.linalg.cholesky(H)  # a third of the time
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.eigvalsh(H)[:, 0])
    return np.zeros(len(H))


def no_violation(solution: Solution) -> float:
    """Return 0: how far X is from orthonormal columns is what this family measures."""
    del solution
    return 0.0

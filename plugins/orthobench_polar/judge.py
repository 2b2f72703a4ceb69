"""The judge of polar factors: five residuals, and the products of matrices that they took."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from orthobench.contract import Array, Solution

WELL_CONDITIONED = 1e-4
"""The least over the largest squared singular value from which on squares are accurate enough."""


@dataclass(frozen=True)
class PolarSolution(Solution):
    """A point, with the products of matrices that it took.

    Attributes
    ----------
    products : float
        In units of 2np² flops for each matrix (n, p): X'X is one, a product of two (p, p) is p/n.
    """

    products: float = 0.0


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
        inside = (X @ self.Vt.swapaxes(1, 2) * self.range[:, None, :]) @ self.Vt
        H = self.A.swapaxes(1, 2) @ X
        skew = H - H.swapaxes(1, 2)
        least = np.linalg.eigvalsh((H + H.swapaxes(1, 2)) / 2)[:, 0]
        found = _singular_values(X)
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


def _singular_values(X: Array) -> Array:
    """Return those of matrices (b, n, p): roots of eigenvalues of X'X where that loses no digits.

    The eigenvalues take a third of the time.
    """
    squares = np.asarray(np.linalg.eigvalsh(X.swapaxes(1, 2) @ X))
    well = squares.min() > WELL_CONDITIONED * squares.max()
    return np.asarray(np.sqrt(squares) if well else np.linalg.svd(X, compute_uv=False))


def no_violation(solution: Solution) -> float:
    """Return 0: how far X is from orthonormal columns is what this family measures."""
    del solution
    return 0.0

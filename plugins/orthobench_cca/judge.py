"""The judge of canonical correlation analysis: correlations captured, and errors of subspaces."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array, Solution
from orthobench_cca.covariances import Covariances, normalized, whitening
from orthobench_cca.oracle import halves

DEPENDENT = 1e-10
"""Singular value of a point, relative to the largest, below which columns are dependent."""


def canonical(S: Covariances, k: int) -> tuple[Array, Array, Array]:
    """Return A (p, k), the k largest canonical correlations, and B (q, k)."""
    left, right = whitening(S.xx), whitening(S.yy)
    U, correlations, Vt = np.linalg.svd(left @ S.xy @ right, full_matrices=False)
    return left @ U[:, :k], correlations[:k], right @ Vt[:k].T


class Judge:
    """Measures weights by the covariances of the data.

    Only the spans of A and of B count: they are normalized, and rotated to canonical variables,
    since stochastic methods cannot know the covariances to the last bit.

    Parameters
    ----------
    S : Covariances
    k : int
    """

    def __init__(self, S: Covariances, k: int) -> None:
        self.S, self.p = S, len(S.xx)
        self.A, self.correlations, self.B = canonical(S, k)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``suboptimality``, the primary one, first.

        ``suboptimality`` is 1 - sum of the canonical correlations between A'x and B'y over that of
        the k largest; ``correlation`` is the largest of the former. ``x_error`` and ``y_error`` are
        the distances of the spans from the canonical ones, in the metrics of the covariances.
        """
        A, B = halves(solution.point, self.p)
        A, B = normalized(A, self.S.xx), normalized(B, self.S.yy)
        found = np.linalg.svd(A.T @ self.S.xy @ B, compute_uv=False)
        return {
            "suboptimality": 1 - float(found.sum() / self.correlations.sum()),
            "correlation": float(found[0]),
            "x_error": distance(A, self.A, self.S.xx),
            "y_error": distance(B, self.B, self.S.yy),
        }

    def violation(self, solution: Solution) -> float:
        """Return 0 where A and B have independent columns, and otherwise 1."""
        return float(any(map(dependent, halves(solution.point, self.p))))


def dependent(M: Array) -> bool:
    """Return whether the columns of a matrix are linearly dependent, or nearly."""
    values = np.linalg.svd(M, compute_uv=False)
    return not values[-1] > DEPENDENT * values[0]


def distance(A: Array, best: Array, S: Array) -> float:
    """Return |(I - AA'S) best| in the metric S, from the residual."""
    missed = best - A @ (A.T @ (S @ best))
    return float(np.sqrt(max(float(np.vdot(missed, S @ missed)), 0.0)))

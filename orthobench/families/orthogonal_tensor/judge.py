"""The judge of orthogonal tensor decomposition: objective, residual and error of the factors."""

from __future__ import annotations

import numpy as np

from orthobench.contract.solution import Solution
from orthobench.families.symmetric_tensors import contracted, norm, remainder
from orthobench.tools.arrays import Array


class Judge:
    """Measures decompositions: their objective, their residual, and their factors where known.

    Parameters
    ----------
    T : ndarray, shape (n, n, n)
        Symmetric.
    factors : ndarray, shape (n, r), optional
        The true factors, orthonormal columns.
    optimum : float, optional
        The largest objective, where it is known; not zero.

    Notes
    -----
    A call costs 4n⁴/3 flops, with the symmetry used, and memory n² beyond that of the tensor.
    """

    def __init__(
        self, T: Array, factors: Array | None = None, optimum: float | None = None
    ) -> None:
        self.T, self.factors, self.optimum = T, factors, optimum
        self.norm = norm(T)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics.

        ``residual`` is |T - sum_i T(u_i, u_i, u_i) u_i ⊗ u_i ⊗ u_i| / |T|, the smallest for these
        factors, from the difference itself; ``objective`` is sum_i T(u_i, u_i, u_i). Where they
        are known also ``objective_gap``, relative to the optimum, and ``recovery_error``, the
        largest distance of a true factor from the factor matched to it, up to permutation and
        sign.
        """
        weights = contracted(self.T, solution.point)
        metrics = {
            "residual": remainder(self.T, solution.point, weights) / self.norm,
            "objective": float(weights.sum()),
        }
        if self.optimum is not None:
            metrics["objective_gap"] = (self.optimum - metrics["objective"]) / abs(self.optimum)
        if self.factors is not None:
            metrics["recovery_error"] = recovery_error(solution.point, self.factors)
        return metrics


def decomposition(U: Array, weights: Array) -> Solution:
    """Return factors with their weights, each u flipped where its weight is negative.

    Parameters
    ----------
    U : ndarray, shape (n, n)
        Orthonormal columns.
    weights : ndarray, shape (n,)
        T(u, u, u) of each.
    """
    signs = np.where(weights < 0, -1.0, 1.0)
    return Solution(U * signs, weights=weights * signs)


def recovery_error(U: Array, factors: Array) -> float:
    """Return the largest distance of a true factor from the column matched to it, up to sign.

    Columns are matched one to one so that the sum of the |inner products| is largest.

    Parameters
    ----------
    U : ndarray, shape (n, k)
    factors : ndarray, shape (n, r), r <= k
    """
    from scipy.optimize import linear_sum_assignment

    inner = factors.T @ U
    rows, columns = linear_sum_assignment(-np.abs(inner))
    signs = np.where(inner[rows, columns] < 0, -1.0, 1.0)
    return float(np.linalg.norm(factors[:, rows] - U[:, columns] * signs, axis=0).max())

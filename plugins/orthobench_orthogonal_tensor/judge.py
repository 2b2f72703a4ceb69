"""The judge of decompositions of a tensor."""

from __future__ import annotations

import numpy as np
from orthobench_kit.symmetric_tensors import (
    contracted,
    norm,
    partly_contracted,
    residual_norm,
)

from orthobench.contract.problem import Solution
from orthobench.tools.arrays import Array


class Judge:
    """Measures decompositions of a symmetric tensor T (n, n, n); 2n⁴ flops a call, memory n².

    `factors` (n, r) are the true orthonormal ones, `optimum` is the maximum of the objective, not
    zero; both are optional.
    """

    def __init__(
        self, T: Array, factors: Array | None = None, optimum: float | None = None
    ) -> None:
        self.T, self.factors, self.optimum = T, factors, optimum
        self.norm = norm(T)

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``residual``, the primary one, first.

        ``residual`` is |T - sum_i T(u_i, u_i, u_i) u_i ⊗ u_i ⊗ u_i| / |T|, with the best weights
        for these factors; ``objective`` is sum_i T(u_i, u_i, u_i), and ``objective_gap`` relative
        to a known optimum. If the true factors are known, there is `recovery_error`.
        ``relative_gradient`` is that of the objective on the orthogonal group, |skew(U'[T(I, u_i,
        u_i)]_i)| / |T|. It is not zero for methods that find one factor after the other, unless T
        has orthogonal factors.
        """
        weights = contracted(self.T, solution.point)
        metrics = {
            "residual": residual_norm(self.T, solution.point, weights) / self.norm,
            "objective": float(weights.sum()),
        }
        if self.optimum is not None:
            metrics["objective_gap"] = (self.optimum - metrics["objective"]) / abs(self.optimum)
        if self.factors is not None:
            metrics["recovery_error"] = recovery_error(solution.point, self.factors)
        inner = solution.point.T @ partly_contracted(self.T, solution.point)
        metrics["relative_gradient"] = float(np.linalg.norm(inner - inner.T)) / 2 / self.norm
        return metrics


def recovery_error(U: Array, factors: Array) -> float:
    """Return the maximum distance of a true factor (n, r) from its column of U (n, k), up to sign.

    Columns are matched one to one to the largest sum of absolute inner products. 2nkr flops, and
    an assignment problem of size (r, k).
    """
    from scipy.optimize import linear_sum_assignment

    inner = factors.T @ U
    rows, columns = linear_sum_assignment(-np.abs(inner))
    signs = np.where(inner[rows, columns] < 0, -1.0, 1.0)
    return float(np.linalg.norm(factors[:, rows] - U[:, columns] * signs, axis=0).max())

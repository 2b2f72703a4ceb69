"""The judge of the orthogonal group: the objective, its gap and the norm of its gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from orthobench.contract.solution import Solution
from orthobench.families.stiefel import Cost, Gradient, defect, feasible
from orthobench.tools.arrays import Array


class Judge:
    """Measures a point at the nearest orthogonal matrix.

    Parameters
    ----------
    cost : callable
        Maps an orthogonal U (n, n) to a number.
    gap : callable, optional
        Maps U to the cost minus the least one, where that is known.
    gradient : callable, optional
        Maps U to the matrix (n, n) of partial derivatives of the cost.
    further : callable, optional
        Maps U to metrics that only this problem has, by name.

    Notes
    -----
    A call costs one cost, one gap and one gradient, 4n³ flops, and a polar factor where the point
    is not orthogonal up to rounding.
    """

    def __init__(
        self,
        cost: Cost,
        gap: Cost | None = None,
        gradient: Gradient | None = None,
        further: Callable[[Array], Mapping[str, float]] | None = None,
    ) -> None:
        self.cost, self.gap, self.gradient, self.further = cost, gap, gradient, further

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics.

        ``objective_gap``, the cost minus the least one, comes first where that is known; then
        ``objective``, the cost; ``gradient_norm`` (`gradient_norm`) where there is a gradient;
        ``orthogonality_defect``, |U'U - I|_F of the matrix as the solver gave it; and the further
        ones. Finite differences do not replace a missing gradient: they would
        take n² evaluations of the cost at every recorded point.
        """
        U = feasible(solution).point
        metrics = {} if self.gap is None else {"objective_gap": float(self.gap(U))}
        metrics["objective"] = float(self.cost(U))
        if self.gradient is not None:
            metrics["gradient_norm"] = gradient_norm(U, self.gradient(U))
        metrics["orthogonality_defect"] = defect(solution)
        if self.further is not None:
            metrics |= self.further(U)
        return metrics


def riemannian_gradient(U: Array, G: Array) -> Array:
    """Return U skew(U'G), the Riemannian gradient in the embedded metric.

    It is half of the gradient of Definition 1 of Shalit and Chechik (2014). That has the
    directional derivatives (U'G)_ij - (U'G)_ji themselves as coordinates in the basis e_i e_j' -
    e_j e_i', although the squared norm of a basis vector is 2.

    Parameters
    ----------
    U : ndarray, shape (n, n)
        Orthogonal.
    G : ndarray, shape (n, n)
        The matrix of partial derivatives at U.

    Notes
    -----
    4n³ flops.
    """
    S = U.T @ G
    gradient: Array = U @ (S - S.T) / 2
    return gradient


def gradient_norm(U: Array, G: Array) -> float:
    """Return the Frobenius norm of the Riemannian gradient, |skew(U'G)|_F; 2n³ flops."""
    S = U.T @ G
    return float(np.linalg.norm(S - S.T)) / 2

"""The judge of the Stiefel manifold: the objective, its gap, its gradient, and the defect."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from orthobench.contract.problem import Solution
from orthobench.families.stiefel.feasible import defect, feasible
from orthobench.families.stiefel.oracle import Cost, Gradient
from orthobench.families.stiefel.stacks import transposed
from orthobench.tools.arrays import Array


class Judge:
    """Measures a point at the nearest point of the Stiefel manifold.

    Parameters
    ----------
    cost : callable
        Maps X (n, p) to a number.
    gap : callable, optional
        Maps X to the cost minus the least one, where that is known.
    gradient : callable, optional
        Maps X to the matrix (n, p) of partial derivatives of the cost.
    unit : float
        The norm of the matrix of partial derivatives that gradients are relative to.
    further : callable, optional
        Maps X to metrics that only this problem has, by name.
    stack : tuple of int
        The leading axes of X, `ProductOracle.stack`.

    Notes
    -----
    A call costs one cost, one gap and one gradient, 6np² flops, and a polar factor where the point
    is not orthonormal up to rounding.
    """

    def __init__(
        self,
        cost: Cost,
        gap: Cost | None = None,
        gradient: Gradient | None = None,
        unit: float = 1.0,
        further: Callable[[Array], Mapping[str, float]] | None = None,
        stack: tuple[int, ...] = (),
    ) -> None:
        self.cost, self.gap, self.gradient, self.further = cost, gap, gradient, further
        self.unit, self.stack = unit or 1.0, stack

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics.

        ``objective_gap``, the cost minus the least one, comes first where that is known; then
        ``objective``, the cost; ``relative_gradient_norm``, the norm of the Riemannian gradient
        (`projected`) divided by `unit`, where there is a gradient; ``orthogonality_defect``,
        |X'X - I|_F of the point as the solver gave it, of a stack the largest; and the further
        ones.
        """
        X = feasible(solution, self.stack).point
        metrics = {} if self.gap is None else {"objective_gap": float(self.gap(X))}
        metrics["objective"] = float(self.cost(X))
        if self.gradient is not None:
            metrics |= self.stationarity(X, self.gradient(X))
        metrics["orthogonality_defect"] = defect(solution, self.stack)
        if self.further is not None:
            metrics |= self.further(X)
        return metrics

    def stationarity(self, X: Array, G: Array) -> dict[str, float]:
        """Return the metric of the gradient, by its name.

        Parameters
        ----------
        X, G : ndarray, shape (n, p)
            A feasible point, and the matrix of partial derivatives there.
        """
        return {"relative_gradient_norm": float(np.linalg.norm(projected(X, G))) / self.unit}


def projected(X: Array, G: Array) -> Array:
    """Return G - X sym(X'G), the Riemannian gradient in the embedded (Euclidean) metric.

    Parameters
    ----------
    X : ndarray, shape (n, p) or (m, n, p)
        Orthonormal columns.
    G : ndarray, of the shape of X
        The partial derivatives at X.

    Notes
    -----
    4np² flops for each matrix.
    """
    S = transposed(X) @ G
    gradient: Array = G - X @ ((S + transposed(S)) / 2)
    return gradient

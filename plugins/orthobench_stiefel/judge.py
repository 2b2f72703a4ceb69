"""The judge of the Stiefel manifold, and the nearest feasible point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np
from orthobench_kit.stacks import defects, most, transposed, unstacked

from orthobench.contract.problem import Instance, Solution, unchanged
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import polar, random_point
from orthobench_stiefel.oracle import Cost, Gradient, ProductOracle
from orthobench_stiefel.result import point

ROUNDING = 1e-12
"""Maximum |X'X - I|_F that counts as rounding."""


def feasible(solution: Solution, stack: tuple[int, ...] = ()) -> Solution:
    """Return a solution with orthonormal columns: its polar factor.

    A point that has them up to rounding, or is not finite, stays as it is. `stack` are the leading
    axes of the returned point, `ProductOracle.stack`. 2np² flops and those of a polar factor.
    """
    found = replace(solution, point=unstacked(solution.point, stack)) if stack else solution
    if defect(found, stack) <= ROUNDING or not found.is_finite:
        return found
    return replace(found, point=polar(found.point))


def defect(solution: Solution, stack: tuple[int, ...] = ()) -> float:
    """Return |X'X - I|_F of the solver's point, finite if that is; for a stack the maximum."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(most(defects(unstacked(solution.point, stack))))
    return size if np.isfinite(size) or not solution.is_finite else float(np.finfo(float).max)


def violation(solution: Solution, stack: tuple[int, ...] = ()) -> float:
    """Return the constraint violation of the point `feasible`."""
    return defect(feasible(solution, stack), stack)


class Judge:
    """Measures a point at the nearest point of the Stiefel manifold.

    Parameters
    ----------
    cost : callable
        Maps X (n, p) to a number.
    gap : callable, optional
        Maps X to the cost minus its minimum, if that is known.
    gradient : callable, optional
        Maps X to the matrix (n, p) of partial derivatives of the cost.
    unit : float
        Norm of partial derivatives, by which gradients are divided.
    stack : tuple of int
        The leading axes of X, `ProductOracle.stack`.

    Notes
    -----
    One cost, gap and gradient, 6np² flops, and a polar factor if needed.
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
        """Return the metrics: ``objective_gap`` first, if the minimum is known.

        ``relative_gradient_norm`` is the norm of `projected` divided by `unit`;
        ``orthogonality_defect`` is |X'X - I|_F of the solver's point, for a stack the maximum.
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
        """Return the metric of the gradient, by its name."""
        return {"relative_gradient_norm": float(np.linalg.norm(projected(X, G))) / self.unit}


def projected(X: Array, G: Array) -> Array:
    """Return G - X sym(X'G), the Riemannian gradient in the Euclidean metric; 4np² flops."""
    S = transposed(X) @ G
    gradient: Array = G - X @ ((S + transposed(S)) / 2)
    return gradient


def with_determinant(X: Array) -> dict[str, float]:
    """Return the metric ``determinant`` of an orthogonal matrix, 1 or -1; 2n³/3 flops."""
    return {"determinant": float(np.linalg.slogdet(X)[0])}


OracleT = TypeVar("OracleT", bound=ProductOracle)


def instance(
    oracle: OracleT,
    least: float,
    gap: Cost | None = None,
    further: Callable[[Array], Mapping[str, float]] | None = None,
) -> Instance[OracleT]:
    """Return an instance of minimum `least`.

    `gap` maps X to the cost minus the minimum, with less rounding; `further` to more metrics, by
    name.
    """

    def difference(X: Array) -> float:
        return float(oracle.value(X)) - least

    stack = oracle.stack
    judge = Judge(oracle.value, gap or difference, oracle.gradient, unit(oracle), further, stack)
    best = {"objective_gap": 0.0, "objective": float(least)}
    leaves, nearest = partial(violation, stack=stack), partial(feasible, stack=stack)
    return Instance(oracle, judge, best, leaves, unchanged, finish=nearest, result=point)


def unit(oracle: ProductOracle) -> float:
    """Return the norm of partial derivatives at a random point."""
    X = Solution(random_point(oracle.n, oracle.k, np.random.default_rng(0)))
    return float(np.linalg.norm(oracle.gradient(feasible(X, oracle.stack).point)))

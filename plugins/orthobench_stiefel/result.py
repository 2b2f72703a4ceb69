"""The result of optimization on the Stiefel manifold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from orthobench.contract import Array, Result, Solution


@dataclass(frozen=True, repr=False, eq=False)
class PointResult(Result):
    """A point with a small value of the function.

    `point`, (n, p) or (m, n, p), has orthonormal columns, of which signs and order count.
    """

    point: Annotated[Array, "orthonormal columns; their signs and order count"]


def point(solution: Solution) -> PointResult:
    """Return the finished point."""
    return PointResult(solution.point)

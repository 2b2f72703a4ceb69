"""The oracle of the orthogonal group: value, gradient and restrictions to planes of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from orthobench.contract.problem import Oracle
from orthobench.families.orthogonal_group.planes import Restriction
from orthobench.tools.arrays import Array
from orthobench.tools.flops import givens
from orthobench.tools.geometry import rotate

Cost: TypeAlias = Callable[[Array], float]

Gradient: TypeAlias = Callable[[Array], Array]


class OrthogonalGroupOracle(Oracle):
    """A function of an orthogonal (n, n) matrix, to be minimized.

    Subclasses that can say how the function changes in a plane override the three methods about
    planes, and the counts of their flops: `carry` returns what is worth keeping along rotations,
    such as U'AU, in a form that pickles; `restricted` the function in a plane; `rotate` keeps
    what is carried up to date.

    Parameters
    ----------
    cost : callable
        Maps U (n, n) to a float.
    n : int
    gradient : callable, optional
        Maps U to the matrix of partial derivatives (n, n), not projected.

    Attributes
    ----------
    carry_flops, restriction_flops, rotation_flops : int
        Flops of `carry`, of one `restricted` with its minimization, and of one `rotate`. Here
        zero, zero and 6n: what a cost of unknown make does is not counted.
    cost_flops, gradient_flops : int
        Flops of one cost and of one gradient; zero where they are of unknown make.
    """

    cost_flops: int = 0
    gradient_flops: int = 0

    def __init__(self, cost: Cost, n: int, gradient: Gradient | None = None) -> None:
        self.cost, self.gradient, self.n, self.k = cost, gradient, n, n
        self.carry_flops, self.restriction_flops, self.rotation_flops = 0, 0, givens(n)

    def carry(self, U: Array) -> Any:
        """Return what to keep along rotations of `U`; here a copy of U itself."""
        return U.copy(order="F")

    def restricted(self, carried: Any, i: int, j: int) -> Restriction:
        """Return angle -> f(U G(i, j, angle)), up to a constant, with U as carried.

        G is the rotation of `orthobench.tools.geometry.rotate`. A `Trigonometric` polynomial is
        minimized exactly; any other function of period 2 pi by `planes.minimize`.
        """

        def along(angle: float) -> float:
            U = carried.copy()
            rotate(U, i, j, angle)
            return float(self.cost(U))

        return along

    def rotate(self, carried: Any, i: int, j: int, angle: float) -> None:
        """Set U <- U G(i, j, angle) in what is carried, in place."""
        rotate(carried, i, j, angle)

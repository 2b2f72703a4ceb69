"""The orthogonal group: minimize any function of an orthogonal matrix, U'U = I, U square.

Rotations keep the sign of det U: what starts on one component of the group stays there. A generic
function may have its optimum on the other one, so start on both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from orthobench.arrays import Array
from orthobench.families.planes import Restriction
from orthobench.geometry import rotate
from orthobench.problem import Oracle, Problem

Cost: TypeAlias = Callable[[Array], float]
Gradient: TypeAlias = Callable[[Array], Array]


class OrthogonalGroupOracle(Oracle):
    """A function of an orthogonal (n, n) matrix, to be minimized.

    Subclasses that can say how the function changes in a plane override the three methods about
    planes: `carry` returns what is worth keeping along rotations, such as U'AU, in a form that
    pickles; `restricted` the function in a plane; `rotate` keeps what is carried up to date.

    Parameters
    ----------
    cost : callable
        Maps U (n, n) to a float.
    n : int
    gradient : callable, optional
        Maps U to the matrix of partial derivatives (n, n), not projected.
    """

    def __init__(self, cost: Cost, n: int, gradient: Gradient | None = None) -> None:
        self.cost, self.gradient, self.n, self.k = cost, gradient, n, n

    def carry(self, U: Array) -> Any:
        """Return what to keep along rotations of `U`; here a copy of U itself."""
        return U.copy()

    def restricted(self, carried: Any, i: int, j: int) -> Restriction:
        """Return angle -> f(U G(i, j, angle)), up to a constant, with U as carried.

        A `Trigonometric` polynomial is minimized exactly; any other function of period 2 pi by
        a search over the period.
        """

        def along(angle: float) -> float:
            U = carried.copy()
            rotate(U, i, j, angle)
            return float(self.cost(U))

        return along

    def rotate(self, carried: Any, i: int, j: int, angle: float) -> None:
        """Set U <- U G(i, j, angle) in what is carried, in place."""
        rotate(carried, i, j, angle)

    @property
    def plane_flops(self) -> int:
        """Flops of one `restricted` and one `rotate`; what a cost of unknown make does is unknown.

        Here those of the rotation, 6n: the evaluations of the cost are not counted.
        """
        return 6 * self.n


class OrthogonalGroup(Problem[OrthogonalGroupOracle]):
    """Base of the problems of this family: what its judge reports and what it ranks by.

    Attributes
    ----------
    n : int
        Rows and columns of U: a parameter of every problem of the family.
    """

    family: ClassVar[str] = "orthogonal group"
    offers: ClassVar[type[OrthogonalGroupOracle]] = OrthogonalGroupOracle
    primary: ClassVar[str] = "objective_gap"
    tuned_by: ClassVar[str] = "objective"

    n: int

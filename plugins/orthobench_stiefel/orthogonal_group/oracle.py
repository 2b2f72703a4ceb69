"""What the orthogonal group poses: the oracles and the base class of its problems."""

from __future__ import annotations

from typing import Any, ClassVar

from orthobench.contract.problem import Problem
from orthobench.tools.arrays import Array
from orthobench.tools.flops import givens
from orthobench.tools.geometry import rotate
from orthobench_stiefel import Cost, FunctionOracle, Gradient, StiefelOracle
from orthobench_stiefel.orthogonal_group.planes import SIZES, Restriction


class OrthogonalGroupOracle(FunctionOracle):
    """A function of an orthogonal (n, n) matrix, to be minimized.

    A solver may try plane rotations U G(i, j, angle) through three methods. Subclasses that know
    how the function changes along a rotation override all three, and the counts of their flops:
    `carry` returns a matrix that is kept up to date along rotations, such as U'AU, in a form that
    pickles; `restricted` returns the function along the rotations of two columns; `rotate`
    updates what is carried.

    Parameters
    ----------
    cost : callable
        Maps U (n, n) to a float.
    n : int
        Rows and columns of U.
    gradient : callable, optional
        Maps U to the matrix of partial derivatives (n, n), not projected.
    determinant : int, optional
        As in `orthobench_stiefel.FunctionOracle`.

    Attributes
    ----------
    carry_flops, restriction_flops, rotation_flops : int
        Flops of `carry`, of one `restricted` with its minimization, and of one `rotate`. Here
        zero, zero and 6n: the flops of a function of your own are not known, and not counted.
    """

    portable = False

    def __init__(
        self,
        cost: Cost,
        n: int,
        gradient: Gradient | None = None,
        determinant: int | None = None,
    ) -> None:
        super().__init__(cost, n, n, gradient, determinant=determinant)
        self.carry_flops, self.restriction_flops, self.rotation_flops = 0, 0, givens(n)

    def carry(self, U: Array) -> Any:
        """Return the matrix that is kept up to date along rotations of `U`; here a copy of U."""
        return U.copy(order="F")

    def restricted(self, carried: Any, i: int, j: int) -> Restriction:
        """Return the function angle -> f(U G(i, j, angle)), up to a constant.

        G is the rotation of `orthobench.tools.geometry.rotate`.

        Parameters
        ----------
        carried : object
            As `carry` returns it for U, and `rotate` updates it.
        i, j : int
            Different columns.

        Returns
        -------
        Trigonometric or callable
            `orthobench_stiefel.orthogonal_group.planes.minimize` minimizes either: a
            `Trigonometric` polynomial exactly, any other function of period 2 pi by sampling it.
        """

        def along(angle: float) -> float:
            U = carried.copy()
            rotate(U, i, j, angle)
            return float(self.cost(U))

        return along

    def rotate(self, carried: Any, i: int, j: int, angle: float) -> None:
        """Update what is carried for U <- U G(i, j, angle), in place."""
        rotate(carried, i, j, angle)


class ComponentsOracle(OrthogonalGroupOracle):
    """A contrast of the components Y = ZU of whitened samples, for independent component analysis.

    Attributes
    ----------
    Z : ndarray, shape (samples, n)
        Whitened: Z'Z is `samples` times the identity.
    """

    Z: Array


def orthogonal(oracle: StiefelOracle) -> OrthogonalGroupOracle:
    """Return the oracle of a function of a square X, with its values along plane rotations.

    Parameters
    ----------
    oracle : StiefelOracle
        With n = k.

    Notes
    -----
    Where the oracle has no restrictions of its own, one is counted as the evaluations of a
    polynomial of degree 4 or less: on the coarsest grid, and two more.
    """
    if isinstance(oracle, OrthogonalGroupOracle):
        return oracle
    rotating = OrthogonalGroupOracle(oracle.value, oracle.n)
    rotating.restriction_flops = (SIZES[0] + 2) * oracle.cost_flops
    return rotating


class OrthogonalGroup(Problem[OrthogonalGroupOracle]):
    """Base of the problems of this family: its oracle, and the metrics that rank and tune.

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

"""The orthogonal group: minimize a function of a square matrix U with U'U = I.

Its components have det U = 1 and det U = -1; methods stay on that of their start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from orthobench_kit.angles import SIZES, Restriction
from orthobench_kit.geometry import rotate

from orthobench.contract.problem import Instance, Problem, Solution, unchanged
from orthobench.errors import unknown
from orthobench.tools.arrays import Array, whole
from orthobench.tools.flops import givens
from orthobench.tools.geometry import random_point
from orthobench_stiefel import judge
from orthobench_stiefel.functions import FunctionOracle, check_functions
from orthobench_stiefel.judge import feasible, violation, with_determinant
from orthobench_stiefel.oracle import Cost, Gradient, StiefelOracle
from orthobench_stiefel.result import point


class OrthogonalGroupOracle(FunctionOracle):
    """A function of an orthogonal (n, n) matrix, to be minimized.

    Solvers try plane rotations U G(i, j, angle) through three methods. Subclasses override all
    three, and the counts of their flops: `carry` returns a matrix to keep up to date, such as
    U'AU; `restricted` the function along rotations of two columns; `rotate` updates the matrix.

    Parameters
    ----------
    cost : callable
        Maps U (n, n) to a float.
    n : int
        Rows and columns of U.
    gradient : callable, optional
        Maps U to the matrix of partial derivatives (n, n), not projected.
    determinant : int, optional
        See `orthobench_stiefel.FunctionOracle`.

    Attributes
    ----------
    carry_flops, restriction_flops, rotation_flops : int
        Flops of `carry`, of one `restricted` with its minimization, and of one `rotate`. Here
        zero, zero and 6n: flops of your own function are unknown.
    """

    portable = False
    carry_flops: int = 0
    restriction_flops: int = 0

    def __init__(
        self,
        cost: Cost,
        n: int,
        gradient: Gradient | None = None,
        determinant: int | None = None,
    ) -> None:
        super().__init__(cost, n, n, gradient, determinant=determinant)
        self.rotation_flops = givens(n)

    def carry(self, U: Array) -> Any:
        """Return the matrix to keep up to date along rotations of `U`; here a copy of U."""
        return U.copy(order="F")

    def restricted(self, carried: Any, i: int, j: int) -> Restriction:
        """Return the function angle -> f(U G(i, j, angle)), up to a constant.

        It is a `Trigonometric` polynomial, minimized exactly, or a callable of period 2 pi, which
        is sampled (`orthobench_kit.angles.minimize`). `carried` is from `carry` and `rotate`.
        """

        def along(angle: float) -> float:
            U = carried.copy()
            rotate(U, i, j, angle)
            return float(self.cost(U))

        return along

    def rotate(self, carried: Any, i: int, j: int, angle: float) -> None:
        """Update the carried matrix for U <- U G(i, j, angle), in place."""
        rotate(carried, i, j, angle)


class ComponentsOracle(OrthogonalGroupOracle):
    """A contrast of the components Y = ZU of whitened samples Z (samples, n), Z'Z = samples · I."""

    Z: Array


def orthogonal(oracle: StiefelOracle) -> OrthogonalGroupOracle:
    """Return the oracle of a function of a square X, with values along plane rotations.

    A restriction counts as evaluations of a polynomial of degree 4.
    """
    if isinstance(oracle, OrthogonalGroupOracle):
        return oracle
    rotating = OrthogonalGroupOracle(oracle.value, oracle.n)
    rotating.restriction_flops = (SIZES[0] + 2) * oracle.cost_flops
    return rotating


class OrthogonalGroup(Problem[OrthogonalGroupOracle]):
    """Base of the problems of this family, each with a parameter n, the rows of U."""

    family: ClassVar[str] = "orthogonal group"
    offers: ClassVar[type[OrthogonalGroupOracle]] = OrthogonalGroupOracle
    primary: ClassVar[str] = "objective_gap"
    tuned_by: ClassVar[str] = "objective"

    n: int


class Judge(judge.Judge):
    """Measures a point at the nearest orthogonal matrix, like `orthobench_stiefel.Judge`.

    Its metric of the gradient is ``gradient_norm``, |skew(U'G)|_F, which is not relative. 4n³
    flops, one cost, gap and gradient, and a polar factor unless U is orthogonal up to rounding.
    """

    def stationarity(self, X: Array, G: Array) -> dict[str, float]:
        """Return ``gradient_norm``; 2n³ flops."""
        S = X.T @ G
        return {"gradient_norm": float(np.linalg.norm(S - S.T)) / 2}


def instance(
    oracle: OrthogonalGroupOracle,
    least: float | None,
    gap: Cost | None = None,
    further: Callable[[Array], Mapping[str, float]] | None = None,
) -> Instance[OrthogonalGroupOracle]:
    """Return an instance of an oracle, see `orthobench_stiefel.judge.instance`.

    `least` is None if the minimum is unknown.
    """
    cost = oracle.cost
    if least is None:
        judge = Judge(cost, None, oracle.partials, further=further)
        known = {}
    else:
        judge = Judge(cost, gap or (lambda U: cost(U) - least), oracle.partials, further=further)
        known = {"objective_gap": 0.0, "objective": float(least)}
    left = partial(_violation, determinant=oracle.determinant or 0)
    return Instance(oracle, judge, known, left, unchanged, finish=feasible, result=point)


COMPONENTS = {"both": 0, "+1": 1, "-1": -1}
"""Determinants by the names of the components; 0 for both."""


def orthogonal_group(
    cost: Cost,
    gradient: Gradient | None = None,
    *,
    n: int,
    best: float | None = None,
    component: Literal["both", "+1", "-1"] = "both",
) -> Instance[OrthogonalGroupOracle]:
    """Make an instance of your own function of an orthogonal matrix, to be minimized.

    Parameters
    ----------
    cost : callable
        Maps an orthogonal U (n, n) to a finite number, without writing into U.
    gradient : callable, optional
        Maps U to the matrix (n, n) of partial derivatives of the cost, not projected. The judge
        needs it for ``gradient_norm``, and so do all solvers except `givens`.
    n : int
        Rows and columns of U.
    best : float, optional
        The minimum over these components. Without it there is no ``objective_gap``.
    component : {"both", "+1", "-1"}
        Determinant of the matrices to search; rotations, SO(n), have ``"+1"``. With ``"both"`` a
        solver that has converged begins again at its start with one column reflected, on the same
        clock, and the better end is the solution. Otherwise points of the other component violate
        the constraint.

    Returns
    -------
    Instance
        With the metrics of `orthobench_stiefel.orthogonal_group.Judge`, and ``determinant``, 1 or
        -1.

    Raises
    ------
    UsageError
        If n or the component is invalid; if the cost at a random orthogonal matrix is not finite,
        or writes into U; or if the gradient there has a wrong shape, is not finite, or disagrees
        with differences.

    Notes
    -----
    Making it takes one evaluation of the cost; with a gradient, twelve more, and one of the
    gradient. Solvers that rotate, such as `givens`, take 18 evaluations a rotation if the cost is
    a polynomial in U of degree 4 or less, and more otherwise. Derive from `OrthogonalGroupOracle`
    if the cost along rotations is cheaper.

    Examples
    --------
    The orthogonal matrix that diagonalizes A:

    >>> import numpy as np, orthobench as ob
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
    >>> def cost(U):
    ...     return -float(np.sum(np.diagonal(U.T @ A @ U) ** 2))
    >>> outcome = ob.solve("givens", ob.orthogonal_group(cost, n=3))
    >>> D = outcome.solution.T @ A @ outcome.solution
    >>> bool(np.abs(D - np.diag(np.diagonal(D))).max() < 1e-7)
    True
    """
    size = whole(n, "n")
    U = random_point(size, size, np.random.default_rng(0))
    check_functions(cost, gradient, best, U, "U", f"a random orthogonal {U.shape} matrix")
    if component not in tuple(COMPONENTS):
        raise unknown("component of the orthogonal group", str(component), COMPONENTS)
    oracle = OrthogonalGroupOracle(cost, size, gradient, COMPONENTS[component])
    return instance(oracle, best, further=with_determinant)


def _violation(solution: Solution, determinant: int) -> float:
    """Return the constraint violation; 2 on the other component of SO(n)."""
    left = violation(solution)
    if determinant and np.linalg.slogdet(feasible(solution).point)[0] == -determinant:
        left += 2.0
    return left

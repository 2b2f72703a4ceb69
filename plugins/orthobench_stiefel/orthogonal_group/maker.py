"""Makes instances of your own function of an orthogonal matrix, and judges them."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

import orthobench_stiefel as stiefel
from orthobench.contract.problem import Instance, Solution, unchanged
from orthobench.errors import unknown
from orthobench.tools.arrays import Array, whole
from orthobench.tools.geometry import random_point
from orthobench_stiefel import Cost, Gradient, feasible, violation
from orthobench_stiefel.functions import check_functions
from orthobench_stiefel.judge import with_determinant
from orthobench_stiefel.orthogonal_group.oracle import OrthogonalGroupOracle


class Judge(stiefel.Judge):
    """Measures a point at the nearest orthogonal matrix, as `orthobench_stiefel.Judge`.

    Its metric of the gradient is ``gradient_norm`` (`gradient_norm`), which is not relative. Finite
    differences do not replace a missing gradient: they would take n² evaluations of the cost at
    every recorded point.

    Parameters
    ----------
    cost, gap, gradient, further
        Of U (n, n), as there.

    Notes
    -----
    A call costs one cost, one gap and one gradient, 4n³ flops, and a polar factor where the point
    is not orthogonal up to rounding.
    """

    def stationarity(self, X: Array, G: Array) -> dict[str, float]:
        """Return ``gradient_norm``."""
        return {"gradient_norm": gradient_norm(X, G)}


def gradient_norm(U: Array, G: Array) -> float:
    """Return the Frobenius norm of the Riemannian gradient, |skew(U'G)|_F; 2n³ flops."""
    S = U.T @ G
    return float(np.linalg.norm(S - S.T)) / 2


COMPONENTS = {"both": 0, "+1": 1, "-1": -1}
"""The determinants by the names of the components of the group; 0 for both."""


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
        Maps an orthogonal U (n, n) to a finite number. It must not write into U.
    gradient : callable, optional
        Maps U to the matrix (n, n) of partial derivatives of the cost, not projected. The judge
        needs it, for ``gradient_norm``, and so does every solver but `givens`.
    n : int
        Rows and columns of U.
    best : float, optional
        The least cost over the components asked for, where it is known. Without it the judge
        reports no ``objective_gap``.
    component : {"both", "+1", "-1"}
        The matrices asked for, by their determinant: rotations, SO(n), are ``"+1"``. Methods stay
        on the component that they start on. With ``"both"`` a solver that has converged begins
        again at its start with one column reflected, all on the clock, and the better end is the
        solution; where the budget ends the run before, its reason says so. With ``"+1"`` or
        ``"-1"`` it starts there, and a point of the other component violates the constraint.

    Returns
    -------
    Instance
        Its metrics are those of `orthobench_stiefel.orthogonal_group.maker.Judge`, and
        ``determinant``, 1 or -1.

    Raises
    ------
    UsageError
        Where n is not an integer >= 1; where there is no such component; where the cost is not a
        finite number at a random orthogonal matrix, or writes into it; where the gradient there
        has a wrong shape or is not finite; where its Taylor error, along a curve on the group,
        neither vanishes nor falls faster than the step.

    Notes
    -----
    Making it takes one evaluation of the cost; with a gradient, twelve more, and one of that. A
    solver that rotates, such as `givens`, tries a rotation with 18 evaluations of a cost that is
    a polynomial in U of degree 4 or less, and with more of any other
    (`orthobench_stiefel.orthogonal_group.planes.minimize`). Derive from `OrthogonalGroupOracle`
    where the cost along rotations can be computed for less.

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
    gap = None if best is None else lambda U: cost(U) - best
    known = {} if best is None else {"objective_gap": 0.0, "objective": float(best)}
    if component not in tuple(COMPONENTS):
        raise unknown("component of the orthogonal group", str(component), COMPONENTS)
    asked = COMPONENTS[component]
    oracle = OrthogonalGroupOracle(cost, size, gradient, asked)
    judge = Judge(cost, gap, gradient, further=with_determinant)
    left = partial(_violation, determinant=asked)
    return Instance(oracle, judge, known, left, unchanged, finish=feasible)


def _violation(solution: Solution, determinant: int) -> float:
    """Return the constraint violation, with 2, the distance of SO(n) and its other component."""
    X = feasible(solution).point
    return violation(solution) + 2.0 * bool(np.linalg.slogdet(X)[0] == -determinant)

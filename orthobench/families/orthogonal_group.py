"""The orthogonal group: minimize any function of an orthogonal matrix, U'U = I, U square.

Rotations keep the sign of det U: what starts on one component of the group stays there. A generic
function may have its optimum on the other one, so start on both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

import numpy as np

from orthobench.arrays import Array
from orthobench.errors import UsageError
from orthobench.families.planes import Restriction
from orthobench.flops import givens
from orthobench.geometry import polar, random_point, rotate
from orthobench.problem import Instance, Oracle, Problem
from orthobench.solution import Solution

Cost: TypeAlias = Callable[[Array], float]
Gradient: TypeAlias = Callable[[Array], Array]

PROBE_STEP = 1e-4
"""Length of the geodesic over which a gradient is held against differences of the cost."""

PROBE_TOLERANCE = 1e-3
"""Relative difference of a derivative from its finite difference that is put down to the step."""


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

        G is the rotation of `orthobench.geometry.rotate`. A `Trigonometric` polynomial is
        minimized exactly; any other function of period 2 pi by `orthobench.families.planes`.
        """

        def along(angle: float) -> float:
            U = carried.copy()
            rotate(U, i, j, angle)
            return float(self.cost(U))

        return along

    def rotate(self, carried: Any, i: int, j: int, angle: float) -> None:
        """Set U <- U G(i, j, angle) in what is carried, in place."""
        rotate(carried, i, j, angle)


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


class Judge:
    """Measures a point of the orthogonal group.

    Parameters
    ----------
    cost : callable
    gap : callable, optional
        Maps U to the cost minus the best one; where the optimum is known.
    gradient : callable, optional
    further : callable, optional
        Maps U to metrics that only this problem has.
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

        ``objective_gap``, the cost minus the best one, first where the best is known;
        ``objective``; ``gradient_norm`` (`riemannian_gradient`) where there is a gradient. It
        is not replaced by finite differences: they would take n² evaluations of the cost at
        every recorded point.
        """
        U = solution.point
        metrics = {} if self.gap is None else {"objective_gap": float(self.gap(U))}
        metrics["objective"] = float(self.cost(U))
        if self.gradient is not None:
            metrics["gradient_norm"] = gradient_norm(U, self.gradient(U))
        if self.further is not None:
            metrics |= self.further(U)
        return metrics


def riemannian_gradient(U: Array, G: Array) -> Array:
    """Return U skew(U'G), the Riemannian gradient of the embedded metric.

    Half of what Definition 1 of Shalit and Chechik (2014) calls so, whose entries in the basis
    e_i e_j' - e_j e_i' are the directional derivatives (U'G)_ij - (U'G)_ji themselves, although
    the squared norm of a basis vector is 2.

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


def orthogonal_group(
    cost: Cost, gradient: Gradient | None = None, *, n: int, best: float | None = None
) -> Instance[OrthogonalGroupOracle]:
    """Make an instance of your own function of an orthogonal matrix, to be minimized.

    Parameters
    ----------
    cost : callable
        Maps an orthogonal U (n, n) to a finite number. It must not write into U.
    gradient : callable, optional
        Maps U to the matrix (n, n) of partial derivatives of the cost, not projected. Only the
        judge needs it, for ``gradient_norm``.
    n : int
        Rows and columns of U.
    best : float, optional
        The least value over the whole group, both components, where it is known. Without it the
        judge reports no ``objective_gap``.

    Returns
    -------
    Instance
        Its metrics are those of `Judge`.

    Raises
    ------
    UsageError
        On n < 1, on a cost that does not give a finite number at a random orthogonal matrix or
        writes into it, and on a gradient of a wrong shape, not finite, or at odds with finite
        differences of the cost.

    Notes
    -----
    A solver that rotates, such as `givens`, tries a rotation with 18 evaluations of a cost that
    is a polynomial in U of degree 4 or less, and with more of any other
    (`orthobench.families.planes.minimize`). Derive from `OrthogonalGroupOracle` where a rotation
    can be tried for less.

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
    size = _size(n)
    for what, given in {"cost": cost, "gradient": gradient}.items():
        if not callable(given) and not (what == "gradient" and given is None):
            raise UsageError(f"the {what} must be a function of U, not {given!r}")
    if best is not None and not np.isfinite(best):
        raise UsageError(f"best must be a finite number, not {best!r}")
    _check_at(random_point(size, size, np.random.default_rng(0)), cost, gradient)
    gap = None if best is None else lambda U: cost(U) - best
    known = {} if best is None else {"objective_gap": 0.0, "objective": float(best)}
    oracle = OrthogonalGroupOracle(cost, size, gradient)
    return Instance(oracle, Judge(cost, gap, gradient), known)


def _size(n: object) -> int:
    if isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 1:
        return int(n)
    raise UsageError(f"n must be an integer >= 1, not {n!r}")


def _check_at(U: Array, cost: Cost, gradient: Gradient | None) -> None:
    """Refuse a cost that is no finite number at U, and a gradient that is not that of the cost."""
    value = _value(cost, U)
    if gradient is None:
        return
    G = np.asarray(_called(gradient, U, "gradient"))
    if G.shape != U.shape or G.dtype.kind not in "fiu":
        raise UsageError(
            f"gradient(U) must be a real matrix of shape {U.shape}, not {G.dtype} of {G.shape}"
        )
    if not np.isfinite(G).all():
        raise UsageError("gradient(U) is not finite at a random orthogonal matrix")
    S = np.random.default_rng(1).standard_normal(U.shape)
    S = (S - S.T) / max(float(np.linalg.norm(S - S.T)), 1.0)
    step = PROBE_STEP * U @ S
    difference = (_value(cost, polar(U + step)) - _value(cost, polar(U - step))) / (2 * PROBE_STEP)
    derivative = float(np.vdot(G, U @ S))
    slack = PROBE_TOLERANCE * (PROBE_TOLERANCE * gradient_norm(U, G) + abs(difference))
    if abs(difference - derivative) > slack + 1e-8 * abs(value):
        raise UsageError(
            f"the gradient is not that of the cost: along a random direction it gives "
            f"{derivative:.6g}, differences of the cost give {difference:.6g}; it must be the "
            "matrix of partial derivatives with respect to the entries of U"
        )


def _value(cost: Cost, U: Array) -> float:
    value = np.asarray(_called(cost, U, "cost"))
    if value.ndim or value.dtype.kind not in "fiub":
        raise UsageError(f"cost(U) must be a real number, not {value.dtype} of shape {value.shape}")
    if not np.isfinite(value):
        raise UsageError(f"cost(U) is {float(value)!r} at a random orthogonal {U.shape} matrix")
    return float(value)


def _called(function: Callable[[Array], Any], U: Array, what: str) -> Any:
    given = U.copy()
    try:
        result = function(given)
    except Exception as error:
        raise UsageError(
            f"the {what} raised {error!r} at a random orthogonal {U.shape} matrix"
        ) from error
    if not np.array_equal(given, U):
        raise UsageError(f"the {what} writes into the matrix that it is given; let it copy U first")
    return result

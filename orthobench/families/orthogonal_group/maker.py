"""Makes instances of your own function of an orthogonal matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orthobench.contract.problem import Instance
from orthobench.errors import UsageError
from orthobench.families.orthogonal_group.judge import Judge, gradient_norm
from orthobench.families.orthogonal_group.oracle import Cost, Gradient, OrthogonalGroupOracle
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import polar, random_point

PROBE_STEP = 1e-4
"""Step of the finite difference of the cost that a gradient is checked against."""

PROBE_TOLERANCE = 1e-3
"""Largest relative error of a directional derivative that the finite difference explains."""


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
        The least cost over both components of the group, where it is known. Without it the judge
        reports no ``objective_gap``.

    Returns
    -------
    Instance
        Its metrics are those of `orthobench.families.orthogonal_group.judge.Judge`.

    Raises
    ------
    UsageError
        Where n is not an integer >= 1; where the cost is not a finite number at a random
        orthogonal matrix, or writes into it; where the gradient there has a wrong shape, is not
        finite, or disagrees with finite differences of the cost.

    Notes
    -----
    Making it takes one evaluation of the cost; with a gradient, two more, and one of that. A
    solver that rotates, such as `givens`, tries a rotation with 18 evaluations of a cost that is
    a polynomial in U of degree 4 or less, and with more of any other
    (`orthobench.families.orthogonal_group.planes.minimize`). Derive from `OrthogonalGroupOracle`
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
    """Refuse a cost that is not a finite number at U, and a gradient that is not the cost's."""
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

"""Checks of a user's cost and gradient before a run, off the clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orthobench.errors import UsageError
from orthobench.families.stiefel.judge import projected
from orthobench.families.stiefel.oracle import Cost, Gradient
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import polar

PROBE_STEP = 1e-4
"""Step of the finite difference of the cost that a gradient is checked against."""

PROBE_TOLERANCE = 1e-3
"""Largest relative error of a directional derivative that the finite difference explains."""


def check_functions(
    cost: Cost, gradient: Gradient | None, best: float | None, X: Array, letter: str, where: str
) -> None:
    """Refuse a cost that is not a finite number at X, and a gradient that is not the cost's.

    Parameters
    ----------
    cost, gradient, best
        As in `orthobench.stiefel`.
    X : ndarray, shape (n, p)
        Orthonormal columns.
    letter, where : str
        Names of X in messages: ``"U"``, ``"a random orthogonal (5, 5) matrix"``.

    Raises
    ------
    UsageError
        Says what is wrong.
    """
    for what, given in {"cost": cost, "gradient": gradient}.items():
        if not callable(given) and not (what == "gradient" and given is None):
            raise UsageError(f"the {what} must be a function of {letter}, not {given!r}")
    if best is not None and not np.isfinite(best):
        raise UsageError(f"best must be a finite number, not {best!r}")
    probe = _Probe(cost, X, letter, where)
    value = probe.value(X)
    if gradient is not None:
        probe.check(gradient, value)


class _Probe:
    """Calls functions near a point, and says what is wrong with what they return."""

    def __init__(self, cost: Cost, X: Array, letter: str, where: str) -> None:
        self.cost, self.X, self.letter, self.where = cost, X, letter, where

    def value(self, X: Array) -> float:
        """Return the cost, a finite real number."""
        value = np.asarray(self._called(self.cost, X, "cost"))
        name = f"cost({self.letter})"
        if value.ndim or value.dtype.kind not in "fiub":
            raise UsageError(
                f"{name} must be a real number, not {value.dtype} of shape {value.shape}"
            )
        if not np.isfinite(value):
            raise UsageError(f"{name} is {float(value)!r} at {self.where}")
        return float(value)

    def check(self, gradient: Gradient, value: float) -> None:
        """Compare a gradient with a central difference of the cost, of value `value` at X."""
        X, name = self.X, f"gradient({self.letter})"
        G = np.asarray(self._called(gradient, X, "gradient"))
        if G.shape != X.shape or G.dtype.kind not in "fiu":
            found = f"{G.dtype} of {G.shape}"
            raise UsageError(f"{name} must be a real matrix of shape {X.shape}, not {found}")
        if not np.isfinite(G).all():
            raise UsageError(f"{name} is not finite at {self.where}")
        D = projected(X, np.random.default_rng(1).standard_normal(X.shape))
        D /= max(float(np.linalg.norm(D)), 1e-12)
        ahead, behind = (self.value(polar(X + step * D)) for step in (PROBE_STEP, -PROBE_STEP))
        difference, derivative = (ahead - behind) / (2 * PROBE_STEP), float(np.vdot(G, D))
        norm = float(np.linalg.norm(projected(X, G)))
        slack = PROBE_TOLERANCE * (PROBE_TOLERANCE * norm + abs(difference)) + 1e-8 * abs(value)
        if abs(difference - derivative) > slack:
            raise UsageError(
                f"the gradient is not that of the cost: along a random direction it gives "
                f"{derivative:.6g}, differences of the cost give {difference:.6g}; it must be the "
                f"matrix of partial derivatives with respect to the entries of {self.letter}"
            )

    def _called(self, function: Callable[[Array], Any], X: Array, what: str) -> Any:
        given = X.copy()
        try:
            result = function(given)
        except Exception as error:
            raise UsageError(f"the {what} raised {error!r} at {self.where}") from error
        if not np.array_equal(given, X):
            raise UsageError(
                f"the {what} writes into the matrix that it is given; "
                f"let it copy {self.letter} first"
            )
        return result

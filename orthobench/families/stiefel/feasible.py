"""The nearest feasible point, at which a method that leaves the manifold is judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from orthobench.contract.solution import Solution
from orthobench.tools.geometry import drift, polar

ROUNDING = 1e-12
"""The largest |X'X - I|_F that is taken for rounding, and left as it is."""


def feasible(solution: Solution) -> Solution:
    """Return a solution whose columns are orthonormal: its polar factor, or itself where they are.

    An infeasible point may have a cost below the constrained minimum, so that costs are comparable
    only after this.

    Parameters
    ----------
    solution : Solution

    Notes
    -----
    2np² flops, and those of a polar factor where the point is not orthonormal up to rounding. A
    point that is not finite stays as it is.
    """
    if defect(solution) <= ROUNDING or not solution.is_finite:
        return solution
    return replace(solution, point=polar(solution.point))


def defect(solution: Solution) -> float:
    """Return |X'X - I|_F of the point as the solver gave it, finite where that is."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = drift(solution.point)
    return size if np.isfinite(size) or not solution.is_finite else float(np.finfo(float).max)


def violation(solution: Solution) -> float:
    """Return the constraint violation of the point that is judged, `feasible`."""
    return drift(feasible(solution).point)

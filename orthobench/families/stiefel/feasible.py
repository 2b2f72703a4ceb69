"""The nearest feasible point, at which a method that leaves the manifold is judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from orthobench.contract.problem import Solution
from orthobench.families.stiefel.stacks import defects, most, unstacked
from orthobench.tools.geometry import polar

ROUNDING = 1e-12
"""The largest |X'X - I|_F that is taken for rounding, and left as it is."""


def feasible(solution: Solution, stack: tuple[int, ...] = ()) -> Solution:
    """Return a solution whose columns are orthonormal: its polar factor, or itself where they are.

    An infeasible point may have a cost below the constrained minimum, so that costs are comparable
    only after this.

    Parameters
    ----------
    solution : Solution
    stack : tuple of int
        `ProductOracle.stack`: the leading axes of the point that is returned.

    Notes
    -----
    2np² flops, and those of a polar factor where the point is not orthonormal up to rounding. A
    point that is not finite stays as it is.
    """
    found = replace(solution, point=unstacked(solution.point, stack)) if stack else solution
    if defect(found, stack) <= ROUNDING or not found.is_finite:
        return found
    return replace(found, point=polar(found.point))


def defect(solution: Solution, stack: tuple[int, ...] = ()) -> float:
    """Return |X'X - I|_F of the point as the solver gave it, finite where that is.

    Of a stack it is the largest of its matrices.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(most(defects(unstacked(solution.point, stack))))
    return size if np.isfinite(size) or not solution.is_finite else float(np.finfo(float).max)


def violation(solution: Solution, stack: tuple[int, ...] = ()) -> float:
    """Return the constraint violation of the point that is judged, `feasible`."""
    return defect(feasible(solution, stack), stack)

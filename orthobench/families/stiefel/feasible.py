"""The nearest feasible point, at which a method that leaves the manifold is judged."""

from __future__ import annotations

from dataclasses import replace

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
    2np² flops, and those of a polar factor where the point is not orthonormal up to rounding.
    """
    if drift(solution.point) <= ROUNDING:
        return solution
    return replace(solution, point=polar(solution.point))


def violation(solution: Solution) -> float:
    """Return the constraint violation of the point that is judged, `feasible`."""
    return drift(feasible(solution).point)

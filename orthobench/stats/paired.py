"""Paired tests between solvers on the same seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LEVEL = 0.05
"""Of all tests: the family-wise error rate that they keep."""


@dataclass(frozen=True)
class Comparison:
    """Two solvers on the same problem and seeds.

    Attributes
    ----------
    a, b : str
        The solvers.
    n : int
        Seeds that both were planned on.
    lower, higher, equal : int
        Seeds on which a ends lower than b, higher, and equal (both failed included).
    difference : float
        Median over the seeds of b's value minus a's; infinite where b failed on most.
    interval : (float, float)
        95 % bootstrap interval of it.
    p : float
        Of Wilcoxon's signed-rank test, two-sided.
    adjusted : float
        The same after Holm's correction over all comparisons made together.
    attainable : float
        The smallest adjusted p that so many seeds could have given.
    """

    a: str
    b: str
    n: int
    lower: int
    higher: int
    equal: int
    difference: float
    interval: tuple[float, float]
    p: float
    adjusted: float
    attainable: float

    @property
    def shown(self) -> bool:
        """Whether a difference is shown at `LEVEL`."""
        return self.adjusted < LEVEL


def compare_pairs(values: Mapping[str, Sequence[float]]) -> list[Comparison]:
    """Compare every pair of solvers, and correct for their number (Holm 1979).

    Parameters
    ----------
    values : mapping
        Of each solver, its final values seed by seed; infinite where the run failed. Smaller is
        better. All of one length.
    """
    raise NotImplementedError

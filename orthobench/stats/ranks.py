"""Average ranks over problems: Friedman's test and Nemenyi's critical difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ranks:
    """Solvers ranked over problems.

    Attributes
    ----------
    mean : mapping
        The mean rank of each solver, best first; ties share their ranks.
    problems : int
    p : float
        Of Friedman's test that all solvers are equal.
    critical_difference : float
        Nemenyi: mean ranks that differ by more differ at the 5 % level.
    """

    mean: Mapping[str, float]
    problems: int
    p: float
    critical_difference: float


def mean_ranks(values: Mapping[str, Sequence[float]]) -> Ranks:
    """Rank solvers within each problem and average (Demšar 2006).

    Parameters
    ----------
    values : mapping
        Of each solver, its value on each problem; infinite where it failed. Smaller is better.
    """
    raise NotImplementedError

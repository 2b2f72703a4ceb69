"""The base class of orthogonal group problems."""

from __future__ import annotations

from typing import ClassVar

from orthobench.contract.problem import Problem
from orthobench.families.orthogonal_group.oracle import OrthogonalGroupOracle


class OrthogonalGroup(Problem[OrthogonalGroupOracle]):
    """Base of the problems of this family: its oracle, and the metrics that rank and tune.

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

"""The base class of problems over the orthogonal group."""

from __future__ import annotations

from typing import ClassVar

from orthobench.contract.problem import Problem
from orthobench.families.orthogonal_group.oracle import OrthogonalGroupOracle


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

"""The base class of sparse PCA problems, and a solution with sparse components."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from orthobench.contract.problem import Problem
from orthobench.contract.solution import Solution
from orthobench.families.sparse_pca.oracle import SparsePCAOracle


@dataclass(frozen=True)
class SparseSolution(Solution):
    """Sparse loadings: ``point`` is Z (d, m), with unit columns, or zero where one is empty.

    Attributes
    ----------
    gamma : float, optional
        The l1 penalty, absolute, of methods that have one.
    """

    gamma: float | None = field(default=None, kw_only=True)


class SparsePCA(Problem[SparsePCAOracle]):
    """Base of the problems of this family: what its judge reports and what it ranks by.

    Attributes
    ----------
    m : int
        Components sought: a parameter of every problem of the family.
    """

    family: ClassVar[str] = "sparse PCA"
    offers: ClassVar[type[SparsePCAOracle]] = SparsePCAOracle
    primary: ClassVar[str] = "unexplained_variance"
    tuned_by: ClassVar[str] = "training_unexplained_variance"
    at: ClassVar[Mapping[str, tuple[float, ...]]] = {"density": (0.05, 0.1, 0.2)}

    m: int

    @property
    @abstractmethod
    def samples(self) -> int | None:
        """The number N of training samples; None where only reading the data would tell."""

"""The base class of sparse PCA problems."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from orthobench.contract.problem import Problem
from orthobench.families.sparse_pca.oracle import SparsePCAOracle


class SparsePCA(Problem[SparsePCAOracle]):
    """Base of the problems of this family: its oracle, and the metrics that rank and tune.

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
        """The number N of training samples; None where it is known only once data are read."""

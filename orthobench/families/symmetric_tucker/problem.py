"""The base class of symmetric Tucker problems."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from orthobench.contract.problem import Problem
from orthobench.families.symmetric_tucker.oracle import MomentOracle, TuckerOracle


class SymmetricTucker(Problem[TuckerOracle]):
    """Base of the problems of this family: its oracle, and the metrics that rank and tune."""

    family: ClassVar[str] = "symmetric Tucker"
    offers: ClassVar[type[TuckerOracle]] = MomentOracle
    primary: ClassVar[str] = "relative_error"
    tuned_by: ClassVar[str] = "relative_error"

    @property
    @abstractmethod
    def tensor_shape(self) -> tuple[int, ...] | None:
        """The shape of the tensor, (n,) * d; None where it is known only once data are read."""

    @property
    def streamed(self) -> bool:
        """Whether solvers get samples only as a stream: the oracle is a plain `MomentStream`."""
        return False

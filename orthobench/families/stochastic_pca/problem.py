"""The base class of stochastic PCA problems."""

from __future__ import annotations

from typing import ClassVar

from orthobench.contract.problem import Problem
from orthobench.contract.samples import SampleOracle


class StochasticPCA(Problem[SampleOracle]):
    """Base of the problems of this family: its oracle, and the metrics that rank and tune."""

    family: ClassVar[str] = "stochastic PCA"
    offers: ClassVar[type[SampleOracle]] = SampleOracle
    primary: ClassVar[str] = "suboptimality"
    tuned_by: ClassVar[str] = "validation_suboptimality"

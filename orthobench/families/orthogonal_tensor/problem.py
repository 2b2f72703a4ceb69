"""The base class of orthogonal tensor problems."""

from __future__ import annotations

from typing import ClassVar

from orthobench.contract.problem import Problem
from orthobench.families.orthogonal_tensor.oracle import TensorOracle


class OrthogonalTensor(Problem[TensorOracle]):
    """Base of the problems of this family: its oracle, and the metrics that rank and tune."""

    family: ClassVar[str] = "orthogonal tensor"
    offers: ClassVar[type[TensorOracle]] = TensorOracle
    primary: ClassVar[str] = "residual"
    tuned_by: ClassVar[str] = "residual"

"""The landing method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import parameter
from orthobench_stiefel import ProductOracle
from orthobench_stiefel.descent import (
    Iterate,
    batch_parameter,
    relative_parameter,
    tolerance_parameter,
)
from orthobench_stiefel.landing_field import FieldDescent


@dataclass(frozen=True)
class Landing(FieldDescent[Iterate]):
    """Steps along skew(GX')X + attraction X(X'X - I), without retraction.

    The step is at most the safe
    one, which keeps |X'X - I| <= eps. For p < n, skew(GX')X is (G X'X - XG'X)/2 as in Ablin, Vary,
    Gao and Absil (2024).

    Notes
    -----
    Flops of a step: a gradient and 8np² + 6np. Memory: 3np.

    References
    ----------
    Ablin and Peyré 2022, "Fast and accurate optimization on the orthogonal manifold without
    retraction", Algorithm 1; Ablin, Vary, Gao and Absil 2024, "Infeasible deterministic,
    stochastic, and variance-reduction algorithms for optimization under orthogonality
    constraints". The first bounds the step without 1/(2 attraction), which is not enough.
    """

    name: ClassVar[str] = "landing"
    source: ClassVar[str] = "Ablin and Peyré 2022, Algorithm 1"

    step_size: float = parameter(
        0.1, name="step", above=0.0, grid=(0.03, 0.1, 0.3, 1.0, 3.0), help="step, if it is safe"
    )
    attraction: float = parameter(1.0, low=0.0, help="weight of the pull towards the manifold")
    eps: float = parameter(0.5, above=0.0, below=1.0, help="largest defect of a safe step")
    safe_step: bool = parameter(True, help="bound steps so that the defect stays below eps")
    batch: int = batch_parameter()
    tolerance: float = tolerance_parameter()
    relative: bool = relative_parameter()

    def init(self, oracle: ProductOracle, rng: np.random.Generator) -> Iterate:
        return Iterate(**self.begun(oracle))

    @np.errstate(over="ignore", invalid="ignore")  # a run that diverges ends as failed
    def step(self, oracle: ProductOracle, state: Iterate) -> None:
        state.work.steps += 1
        self.move(oracle, state, self.attraction, self.eps)

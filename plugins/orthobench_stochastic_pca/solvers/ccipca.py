"""CCIPCA: candid covariance-free incremental PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import (
    Array,
    SampleOracle,
    Solution,
    Solver,
    State,
    complete,
    orthonormalize,
    parameter,
    unit_columns,
)
from orthobench_stochastic_pca.blocks import fail_unless_finite


@dataclass(slots=True, kw_only=True)
class CCIPCAState(State):
    """The directions V (k, d), zeros at first, and the unit of the samples."""

    start: Array
    V: Array
    unit: float = 0.0


@dataclass(frozen=True)
class CCIPCA(Solver[SampleOracle, CCIPCAState]):
    """Candid covariance-free incremental PCA, which has no step size.

    For sample n and i = 1, ..., k: v_i <- ((n-1-a) v_i + (1+a) u (u'v_i)/|v_i|) / n. Then u, the
    sample at first, loses its part along the new v_i. The weight a is `amnesic`, and zero up to
    sample `amnesic` + 1. Direction i begins as the residual of sample i; its length estimates an
    eigenvalue. Directions are orthonormalized when they are read. As published, without `relative`,
    results depend on the unit of the samples.

    Notes
    -----
    14dk flops a sample. Memory: 2dk doubles.

    References
    ----------
    Weng, Zhang and Hwang 2003, "Candid covariance-free incremental principal component analysis",
    Algorithm 1.
    """

    amnesic: float = parameter(
        0.0,
        help="how much more a sample counts than earlier ones",
        low=0.0,
        grid=(0.0, 1.0, 2.0, 4.0),
    )
    relative: bool = parameter(True, help="divide samples by the length of the first")

    name: ClassVar[str] = "ccipca"
    source: ClassVar[str] = "Weng, Zhang and Hwang 2003, Algorithm 1"
    batch = 1

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> CCIPCAState:
        del rng
        return CCIPCAState(start=oracle.start.copy(), V=np.zeros((oracle.k, oracle.n)))

    def advance(self, oracle: SampleOracle, state: CCIPCAState, count: int) -> None:
        from orthobench_stochastic_pca._kernels.rotations import turn

        samples = oracle.take(count)
        if self.relative:
            if not state.unit and samples.any():
                first = samples[samples.any(axis=1).argmax()]
                largest = float(np.abs(first).max())
                state.unit = largest * float(np.linalg.norm(first / largest))
            samples = samples / (state.unit or 1.0)
        turn(state.V, samples, state.work.samples, self.amnesic)
        fail_unless_finite(state, state.V)
        state.work.steps += count
        state.work.samples += count
        state.work.flops += 14 * count * oracle.n * oracle.k

    def solution(self, state: CCIPCAState) -> Solution:
        found = unit_columns(state.V[state.V.any(axis=1)].T)
        return Solution(complete(orthonormalize(found), state.start, len(state.V)))

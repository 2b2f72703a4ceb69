"""History PCA: power steps on a block and a summary of those before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import (
    Array,
    SampleOracle,
    Solution,
    Solver,
    Status,
    flops,
    orthonormalize,
    parameter,
)
from orthobench_stochastic_pca.blocks import ModeratedState, batch_parameter, taken


@dataclass(slots=True, kw_only=True)
class HistoryState(ModeratedState):
    """The summary U diag(values) U' of the second moment."""

    U: Array
    values: Array


@dataclass(frozen=True)
class HistoryPCA(Solver[SampleOracle, HistoryState]):
    """History PCA, which has no step size.

    Block t of b samples X joins the summary of those before it: C = (1 - 1/t) U_0 diag(values) U_0'
    + X'X / (tb); a smaller last block counts by its samples. A power iteration does U <- the Q
    factor of CU; the lengths of the columns of the last CU are the new values. Before k samples
    some columns are arbitrary.

    Notes
    -----
    For each iteration 4bdk + 4dk² + 3dk flops and a QR (d, k). Memory: 4dk doubles.

    References
    ----------
    Yang, Hsieh and Wang 2018, "History PCA: a new algorithm for streaming PCA", Algorithm 3.
    """

    batch: int = batch_parameter()
    iterations: int = parameter(1, help="power iterations for each block", low=1)

    name: ClassVar[str] = "history-pca"
    source: ClassVar[str] = "Yang, Hsieh and Wang 2018"

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> HistoryState:
        del rng
        return HistoryState(U=oracle.start.copy(), values=np.zeros(oracle.k))

    def step(self, oracle: SampleOracle, state: HistoryState) -> None:
        X = taken(oracle, state, self.batch)
        if state.status is Status.FAILED:
            return
        (d, k), share = state.U.shape, len(X) / state.work.samples
        before = state.U * ((1 - share) * state.values)
        U = S = state.U
        for _ in range(self.iterations):
            S = before @ (state.U.T @ U) + X.T @ (X @ U) * (share / len(X))
            U = orthonormalize(S)
        state.U, state.values = U, np.linalg.norm(S, axis=0)
        products = 2 * flops.gemm(len(X), k, d) + 2 * flops.gemm(d, k, k)
        state.work.flops += self.iterations * (products + 2 * d * k + flops.qr(d, k)) + 3 * d * k

    def solution(self, state: HistoryState) -> Solution:
        return Solution(state.U.copy())

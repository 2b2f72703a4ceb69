"""Sparse PCA of a stream of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench_sparse_pca import SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.oracle import gamma_parameter, loadings_parameter

from orthobench.contract import Array, Solver, State, Status, parameter, random_point
from orthobench.tools.flops import gemm
from orthobench_givens._kernels.pairs import Pairs, uniform_pairs
from orthobench_givens._kernels.sparse_columns import Columns, empty_columns


@dataclass(slots=True, kw_only=True)
class StreamingState(State):
    """AU, as `columns` (before m samples, these samples and zeros), and the generator of pairs.

    U (m, m) is the orthogonal factor of the first m samples; None is the identity.
    """

    columns: Columns
    rng: np.random.Generator
    U: Array | None


@dataclass(frozen=True)
class GivensStreamingSparsePCA(Solver[SparsePCAOracle, StreamingState]):
    """Givens rotations of m columns, of which each new sample replaces the smallest.

    A step takes one sample. The first m samples, times U, are the columns of AU; each later one
    replaces the column of smallest norm. After every sample from the m-th on, `rotations` random
    pairs of columns, m by default, are rotated as in givens-sparse-pca. Algorithm 5 prints the
    rotations before the replacement: the same sequence, which ends with a sample not yet rotated.

    Notes
    -----
    A step costs the flops of givens-sparse-pca for each rotation and 2dm for the norms; a random
    start 2dm². Memory: (m + 3)d doubles.

    References
    ----------
    Shalit and Chechik 2014, Algorithm 5 (appendix C).
    """

    name: ClassVar[str] = "givens-streaming-sparse-pca"
    source: ClassVar[str] = "Shalit and Chechik 2014, Algorithm 5"
    batch = 1

    gamma: float = gamma_parameter(0.25, "largest row norm of the first m samples")
    rotations: int | None = parameter(None, low=0, help="rotations after each sample; none means m")
    start: str = parameter(
        "identity", choices=("identity", "random"), help="U at the start; a random one is uniform"
    )
    loadings: str = loadings_parameter()

    def init(self, oracle: SparsePCAOracle, rng: np.random.Generator) -> StreamingState:
        d, m = oracle.n, oracle.k
        return StreamingState(
            columns=Columns(empty_columns(m, d), np.arange(d), d, gamma=0.0),
            rng=rng,
            U=random_point(m, m, rng) if self.start == "random" else None,
        )

    def advance(self, oracle: SparsePCAOracle, state: StreamingState, count: int) -> None:
        m = oracle.k
        filling = min(count, max(0, m - state.work.samples))
        samples = oracle.take(count)
        if not np.isfinite(np.vdot(samples, samples)):
            state.status, state.reason = Status.FAILED, "a sample is not finite"
            return
        if filling:
            self._fill(samples[:filling], state)
        if count > filling:
            self._stream(samples[filling:], state)
        state.work.steps += count
        state.work.samples += count
        state.work.flops = self._flops(oracle.n, m, state)

    def solution(self, state: StreamingState) -> SparseSolution:
        columns, seen = state.columns, state.work.samples
        m = len(columns.array)
        if seen < m:
            columns = Columns(columns.array[:seen], columns.features, columns.d, columns.gamma)
        return SparseSolution(columns.loadings(m, self.loadings), gamma=columns.gamma)

    def _fill(self, samples: Array, state: StreamingState) -> None:
        columns, first = state.columns, state.work.samples
        last = first + len(samples)
        columns.array[first:last, : columns.d] = samples
        columns.gamma = self.gamma * float(np.linalg.norm(columns.array[:last], axis=0).max())
        if last == len(columns.array):
            if state.U is not None:
                columns.array[:] = state.U.T @ columns.array
            columns.rotate(self._pairs(1, state)[0])

    def _stream(self, samples: Array, state: StreamingState) -> None:
        from orthobench_givens._kernels.sparse_rotations import stream

        columns, pairs = state.columns, self._pairs(len(samples), state)
        columns.tally = stream(columns.array, samples, pairs, columns.gamma, columns.tally)

    def _pairs(self, samples: int, state: StreamingState) -> Pairs:
        m = len(state.columns.array)
        each = (m if self.rotations is None else self.rotations) if m > 1 else 0
        return uniform_pairs(m, samples * each, state.rng).reshape(samples, each, 2)

    def _flops(self, d: int, m: int, state: StreamingState) -> int:
        seen = state.work.samples
        start = gemm(d, m, m) if state.U is not None and seen >= m else 0
        return state.columns.flops + 2 * d * m * max(0, seen - m) + start

"""Incremental PCA, sample by sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import (
    Array,
    BlockOracle,
    SampleOracle,
    Solution,
    SummarySolver,
    complete,
    parameter,
)
from orthobench_stochastic_pca._kernels.iterates import Onto, Projection
from orthobench_stochastic_pca._kernels.sums import LowRankSum
from orthobench_stochastic_pca.rank_updates import SpectrumState, begun, scaled_identity, update
from orthobench_stochastic_pca.schedule import Unit


@dataclass(frozen=True)
class IncrementalPCA(SummarySolver[SampleOracle, SpectrumState, LowRankSum]):
    """Incremental PCA: M <- the best rank-k approximation of M + x x', from zero.

    On orthogonal samples it may end at a suboptimal subspace: a sample that does not displace a
    direction at once leaves no trace (section 5.2). The parameter `ties` chooses between
    eigenvalues that are equal to 1e-12 of the largest, which matters for discrete data. With blocks
    M is the best rank-k approximation of the second moment of a block, and of the sum of two if
    they are merged. The moment of all samples exceeds M by at most ``LowRankSum.lost``.

    Notes
    -----
    In blocks of b = 16 samples about 2(k + b)(1 + k/b)d + 2k²(k + b) flops a sample. Memory: 3(k +
    b)d doubles.

    References
    ----------
    Arora, Cotter, Livescu and Srebro 2012; Arora, Cotter and Srebro 2013, section 5.2. For blocks
    Ross, Lim, Lin and Yang 2008, "Incremental learning for robust visual tracking", without
    centring.
    """

    ties: str = parameter(
        "old",
        help="equal eigenvalues to keep: of directions that the sample did not touch, or new",
        choices=("old", "new"),
    )

    batch = 1
    name: ClassVar[str] = "incremental-pca"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 5.2"
    merge_error: ClassVar[float] = 0.2

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> SpectrumState:
        return begun(oracle, rng, self.projection(oracle), scaled_identity(oracle.n, 0.0))

    def projection(self, oracle: SampleOracle) -> Projection:
        """Return the projection onto rank k."""
        return Projection(Onto.RANK, oracle.k, oracle.k, self.ties == "old")

    def advance(self, oracle: SampleOracle, state: SpectrumState, count: int) -> None:
        update(oracle, state, count, _ones)

    def solution(self, state: SpectrumState) -> Solution:
        vectors = np.ascontiguousarray(state.iterate.matrix.basis[::-1].T)
        return Solution(complete(vectors, state.start, state.start.shape[1]))

    def summarize(self, oracle: BlockOracle, block: NDArray[np.floating[Any]]) -> LowRankSum:
        return LowRankSum.of(block, oracle.k)

    def merge(self, a: LowRankSum, b: LowRankSum) -> LowRankSum:
        return a.plus(b)

    def finish(self, oracle: BlockOracle, summary: LowRankSum) -> Solution:
        return summary.solution(oracle.start)


def _ones(first: int, samples: Array, unit: Unit) -> tuple[Array, Unit]:
    del first
    return np.ones(len(samples)), unit

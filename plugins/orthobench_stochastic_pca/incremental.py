"""Incremental PCA: the best rank-k approximation of the sum, sample by sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, SampleOracle, Solution, complete, parameter
from orthobench_stochastic_pca.rank_updates import RankUpdates, SpectrumState, scaled_identity
from orthobench_stochastic_pca.spectrum import TRUNCATED, Iterate, Projection


@dataclass(frozen=True)
class IncrementalPCA(RankUpdates):
    """Incremental PCA: M <- the best rank-k approximation of M + x x', from zero.

    It has no step size. On orthogonal samples it may stick at a suboptimal subspace: a sample
    that does not displace a direction at once leaves no trace (section 5.2).

    Parameters
    ----------
    ties : {"old", "new"}
        Which of equal eigenvalues (to 1e-12 of the largest) are kept: those of directions that
        the sample did not touch, or the new one. It matters for discrete data.

    Notes
    -----
    In blocks of b = 16 samples about 2(k + b)(1 + k/b)d + 2k²(k + b) flops a sample. Memory:
    3(k + b)d doubles.

    References
    ----------
    Arora, Cotter, Livescu and Srebro 2012; Arora, Cotter and Srebro 2013, section 5.2.
    """

    ties: str = parameter(
        "old",
        help="which of equal eigenvalues are kept: of directions the sample left alone, or new",
        choices=("old", "new"),
    )

    name: ClassVar[str] = "incremental-pca"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 5.2"

    def projection(self, oracle: SampleOracle) -> Projection:
        """Return the projection that keeps the k largest eigenvalues."""
        return Projection(TRUNCATED, oracle.k, oracle.k, self.ties == "old")

    def initial(self, oracle: SampleOracle) -> Iterate:
        """Return zero."""
        return scaled_identity(oracle.n, 0.0)

    def etas(self, first: int, count: int) -> Array:
        """Return ones."""
        del first
        return np.ones(count)

    def solution(self, state: SpectrumState) -> Solution:
        """Return the eigenvectors, shape (d, k), largest eigenvalue first."""
        vectors = np.ascontiguousarray(state.iterate.matrix.basis[::-1].T)
        return Solution(complete(vectors, state.start, state.start.shape[1]))

"""Incremental PCA: the best rank-k approximation of the sum, sample by sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, SampleOracle, Solution, complete, parameter
from orthobench_stochastic_pca.rank_updates import RankUpdates, SpectrumState, zero
from orthobench_stochastic_pca.spectrum import TRUNCATED, Iterate, Rule


@dataclass(frozen=True)
class IncrementalPCA(RankUpdates):
    """Incremental PCA: M <- the best rank-k approximation of M + x x', from zero.

    It has no step size. On orthogonal samples it may stick at a suboptimal subspace: a sample
    that does not displace a direction at once leaves no trace (section 5.2).

    Parameters
    ----------
    ties : str
        Which of equal eigenvalues (to 1e-12 of the largest) survive: those of directions that
        the sample did not touch ("old"), or the other ("new"). Decides on discrete data.

    References
    ----------
    Arora, Cotter, Livescu and Srebro 2012; Arora, Cotter and Srebro 2013, section 5.2.
    """

    ties: str = parameter(
        "old",
        help="which of equal eigenvalues survive: of directions the sample left alone, or new",
        choices=("old", "new"),
    )

    name: ClassVar[str] = "incremental-pca"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 5.2"

    def rule(self, oracle: SampleOracle) -> Rule:
        """Keep the k largest eigenvalues."""
        return Rule(TRUNCATED, oracle.k, oracle.k, self.ties == "old")

    def first(self, oracle: SampleOracle) -> Iterate:
        """Return zero."""
        return zero(oracle.n)

    def etas(self, first: int, count: int) -> Array:
        """Return ones."""
        del first
        return np.ones(count)

    def solution(self, state: SpectrumState) -> Solution:
        """Return the eigenvectors, largest eigenvalue first, (d, k)."""
        vectors = np.ascontiguousarray(state.iterate.matrix.basis[::-1].T)
        return Solution(complete(vectors, state.start, state.start.shape[1]))

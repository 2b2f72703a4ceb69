"""Sparse components by blocks of a covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, State, Status, UsageError, flops, parameter
from orthobench_sparse_pca import SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.bounds import NODES, ROUNDING, Search
from orthobench_sparse_pca.cardinality import CardinalitySolver, Support, largest
from orthobench_sparse_pca.solvers.tpower import EPS

MOST = 5000
"""Maximum number of features."""

TOO_MANY = f"there are {{}} features, and block diagonalization takes {MOST}: take tpower"


@dataclass(slots=True, kw_only=True)
class BlocksState(State):
    """The deflated data A (d, N), and the finished columns of Z (d, m)."""

    A: Array
    Z: Array
    component: int = 0


@dataclass(frozen=True)
class SparsePCABlocks(CardinalitySolver[BlocksState]):
    """Each component by branch and bound on the blocks of a thresholded covariance.

    Blocks are the connected components of covariances above the smallest threshold at which none
    has more than `block` features. The variance falls short of the optimum by at most twice the
    cardinality times the threshold. Truncated power iterations on the whole covariance then add
    features outside the block. Components are deflated as in `tpower`.

    Notes
    -----
    2d²N flops a component for the covariance, and d² comparisons for its blocks; 9b³ for each node
    of a search in a block of b features. Memory: 2d² doubles.

    References
    ----------
    Del Pia, Zhou and Zhu 2025, "Efficient sparse PCA via block-diagonalization". The search over
    all blocks at once and the final iterations are this project's.
    """

    block: int = parameter(30, help="maximum number of features of a block", low=1, high=100)

    most: ClassVar[float] = MOST
    too_many: ClassVar[str] = TOO_MANY
    name: ClassVar[str] = "sparse-pca-blocks"
    source: ClassVar[str] = "Del Pia, Zhou and Zhu 2025"

    def init(self, oracle: SparsePCAOracle, rng: np.random.Generator) -> BlocksState:
        if oracle.n > MOST:
            raise UsageError(TOO_MANY.format(oracle.n))
        return BlocksState(A=self.data(oracle), Z=np.zeros((oracle.n, oracle.k)))

    def step(self, oracle: SparsePCAOracle, state: BlocksState) -> None:
        count = self.asked(oracle, state.component)
        S = state.A @ state.A.T
        state.work.steps += 1
        state.work.flops += flops.gemm(oracle.n, oracle.n, oracle.samples)
        if np.trace(S) <= oracle.n * (oracle.samples * EPS) ** 2:
            state.status = Status.CONVERGED
            return
        support = _ascended(state, S, self._searched(state, S, count), count)
        z = np.linalg.eigh(S[np.ix_(support, support)])[1][:, -1]
        state.Z[support, state.component] = z
        state.A[support] -= np.outer(z, z @ state.A[support])
        state.work.flops += flops.eigh(len(z)) + 4 * len(z) * oracle.samples
        state.component += 1
        if state.component == oracle.k:
            state.status = Status.CONVERGED

    def _searched(self, state: BlocksState, S: Array, count: int) -> Support:
        members = blocks(S, self.block)
        search = Search([S[np.ix_(own, own)] for own in members], count)
        made = [search.begin(place) for place in range(len(members))]
        while search.open and search.order < NODES:
            made += search.branch()
        state.work.flops += sum(flops.eigh(len(each.inside) + len(each.free)) for each in made)
        return members[search.place][search.support]

    def solution(self, state: BlocksState) -> Solution:
        return SparseSolution(state.Z.copy())


def blocks(S: Array, most: int) -> list[Support]:
    """Return the blocks of S (d, d) at the smallest threshold at which none is above `most`.

    Blocks are the clusters of single linkage with similarities |S|; 2d² doubles.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    if len(S) == 1:
        return [np.zeros(1, dtype=np.intp)]
    similar = np.abs(S[np.triu_indices(len(S), 1)])
    tree = linkage(similar.max() - similar, "single")
    large = np.flatnonzero(tree[:, 3] > most)
    height = tree[large[0], 2] if len(large) else np.inf
    labels = fcluster(tree, np.nextafter(height, -np.inf), "distance")
    return [np.flatnonzero(labels == label) for label in range(1, labels.max() + 1)]


def _ascended(state: BlocksState, S: Array, support: Support, count: int) -> Support:
    value, reached = -1.0, support
    while True:
        values, vectors = np.linalg.eigh(S[np.ix_(reached, reached)])
        state.work.flops += flops.eigh(len(reached)) + 2 * len(S) * len(reached)
        if values[-1] <= value * (1 + ROUNDING) and len(support) == count:
            return support
        value, support = float(values[-1]), reached
        reached = largest(np.abs(S[:, reached] @ vectors[:, -1]), count)

"""GeoSPCA: all components on one support."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, Solution, State, Status, UsageError, flops, parameter
from orthobench_sparse_pca import SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.cardinality import CardinalitySolver

Places = tuple[int, ...]
"""A support, ascending, by places in the order of decreasing variance."""


@dataclass(slots=True, kw_only=True)
class GeoState(State):
    """The best support so far, and candidates.

    `order` (d,) are the features by decreasing variance. `heap` has minus the total variance of
    supports, and `seen` all that are or were in it. `best` is the variance of Z (d, m).
    """

    A: Array
    order: NDArray[np.intp]
    totals: Array
    heap: list[tuple[float, Places]]
    seen: set[Places]
    Z: Array
    best: float = 0.0


@dataclass(frozen=True)
class GeoSPCA(CardinalitySolver[GeoState]):
    """Orthogonal components that share one support of `cardinality` features.

    Over supports s it maximizes the sum over i in s of |a_i|², an upper bound on the explained
    variance, subject to eta(s) <= `eta`: the part that m components leave, relative to the
    variance of the data. A step takes the next support in the order of sums. It ends at the first
    that leaves no more, at the optimum, or after `cuts` supports; with `eta` 0 it searches for the
    optimum. Loadings are the m principal directions within the support.

    Notes
    -----
    2c²N + 9c³ flops a step with c features, and c new candidates. Memory: the data once more, and
    c numbers for each support.

    References
    ----------
    Bertsimas and Kitane 2023, "Sparse PCA: a geometric approach", JMLR 24 (32), Algorithm 2, as in
    its code. Supports come from a heap in place of an integer program; ending at the optimum is
    this project's.
    """

    eta: float = parameter(
        0.0, help="variance that components may leave of a support", unit="that of the data",
        low=0.0, below=1.0,
    )  # fmt: skip
    cuts: int = parameter(1000, help="maximum number of supports", low=1)

    name: ClassVar[str] = "geospca"
    source: ClassVar[str] = "Bertsimas and Kitane 2023, Algorithm 2"

    def init(self, oracle: SparsePCAOracle, rng: np.random.Generator) -> GeoState:
        count = self.asked(oracle, oracle.k - 1)  # of a number in all, the equal share
        if not oracle.k <= count <= oracle.n:
            raise UsageError(
                f"cardinality = {count} must be from {oracle.k}, the components, to {oracle.n}, "
                "the features"
            )
        A = self.data(oracle)
        variances = np.einsum("ij,ij->i", A, A)
        order = np.argsort(-variances, kind="stable")
        first = tuple(range(count))
        totals = variances[order]
        heap = [(-float(totals[:count].sum()), first)]
        state = GeoState(
            A=A, order=order, totals=totals, heap=heap, seen={first},
            Z=np.zeros((oracle.n, oracle.k)),
        )  # fmt: skip
        state.work.flops = 2 * A.size
        return state

    def step(self, oracle: SparsePCAOracle, state: GeoState) -> None:
        total, places = heapq.heappop(state.heap)
        support = state.order[list(places)]
        S = state.A[support] @ state.A[support].T
        values, vectors = np.linalg.eigh(S)
        explained = float(values[-oracle.k :].sum())
        state.work.steps += 1
        state.work.flops += flops.gemm(len(S), len(S), oracle.samples) + flops.eigh(len(S))
        if explained > state.best:
            state.best, state.Z = explained, np.zeros_like(state.Z)
            state.Z[support] = vectors[:, : -oracle.k - 1 : -1]
        self._follow(state, places)
        allowed = self.eta * float(state.totals.sum())
        over = not state.heap or -state.heap[0][0] <= state.best
        if over or (self.eta and -total - explained <= allowed):
            state.status = Status.CONVERGED
        elif state.work.steps == self.cuts:
            state.status = Status.COMPLETE

    def _follow(self, state: GeoState, places: Places) -> None:
        ends = (*places[1:], len(state.totals))
        for at, (place, end) in enumerate(zip(places, ends, strict=True)):
            found = (*places[:at], place + 1, *places[at + 1 :])
            if place + 1 < end and found not in state.seen:
                state.seen.add(found)
                heapq.heappush(state.heap, (-float(state.totals[list(found)].sum()), found))

    def solution(self, state: GeoState) -> Solution:
        return SparseSolution(state.Z.copy())

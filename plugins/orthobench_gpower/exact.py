"""Exact sparse components by branch and bound."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import (
    AnyProblem,
    Array,
    Solution,
    Solver,
    State,
    Status,
    UsageError,
    flops,
    parameter,
)
from orthobench.families.sparse_pca import SparsePCAOracle, SparseSolution
from orthobench.families.sparse_pca.bounds import ROUNDING, Node, branches, node
from orthobench_gpower.tpower import asked

MOST = 100
"""The most features."""

TOO_MANY = f"there are {{}} features, and branch and bound takes {MOST}"


@dataclass(slots=True, kw_only=True)
class BranchState(State):
    """The nodes that are left of the component in progress, and the best support so far.

    Attributes
    ----------
    A : ndarray, shape (d, N)
        The data less what the components before explain.
    S : ndarray, shape (d, d)
        AA'.
    Z : ndarray, shape (d, m)
    heap : list of (float, int, Node)
        By the largest bound.
    best : float
        The variance of column `component` of Z.
    component, order : int
        Components done, and nodes made.
    """

    A: Array
    S: Array
    Z: Array
    heap: list[tuple[float, int, Node]]
    best: float = 0.0
    component: int = 0
    order: int = 0


@dataclass(frozen=True)
class SparsePCAExact(Solver[SparsePCAOracle, BranchState]):
    """The sparse component of largest variance, by branch and bound, for at most 100 features.

    A step takes the node with the largest bound, and branches on its free feature of the largest
    entry in the leading eigenvector, in or out. Bounds are the leading eigenvalue and Gershgorin's.
    It ends where no node has a bound above the best support: then that is the optimum. More
    components come one after the other, A <- A - z (z'A), each of them exact; together they need
    not be.

    Parameters
    ----------
    cardinality : int
        Non-zero loadings of each component, where the problem does not say how many.

    Notes
    -----
    Two eigendecompositions (r, r) with r <= d features a step and child, 9r³ flops; the number of
    steps grows steeply with d where no component stands out. Memory: d² doubles, and 2d a node.

    References
    ----------
    Berk and Bertsimas 2019, "Certifiably optimal sparse principal component analysis".
    """

    cardinality: int = parameter(
        4, help="non-zero loadings of a component", low=1, grid=(3, 4, 5, 8, 10)
    )

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "sparse-pca-exact"
    source: ClassVar[str] = "Berk and Bertsimas 2019"

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why it cannot take a problem: more features, where it says how many."""
        features = getattr(problem, "d", 0)
        return super().refuses(problem) or (TOO_MANY.format(features) if features > MOST else None)

    def init(self, oracle: SparsePCAOracle, rng: np.random.Generator) -> BranchState:
        """Begin with all supports.

        Raises
        ------
        UsageError
            On more than 100 features, or more loadings than features.
        """
        del rng
        if oracle.n > MOST:
            raise UsageError(TOO_MANY.format(oracle.n))
        if (most := asked(oracle, self.cardinality, 0)) > oracle.n:
            raise UsageError(f"cardinality = {most} is more than the {oracle.n} features")
        A, empty = np.array(oracle.A, order="C") / oracle.unit, np.zeros((oracle.n, oracle.n))
        state = BranchState(A=A, S=empty, Z=np.zeros((oracle.n, oracle.k)), heap=[])
        self._begin(oracle, state)
        return state

    def step(self, oracle: SparsePCAOracle, state: BranchState) -> None:
        """Branch on a node, or end a component."""
        count = asked(oracle, self.cardinality, state.component)
        state.work.steps += 1
        if state.heap and -state.heap[0][0] > state.best * (1 + ROUNDING):
            for child in branches(state.S, heapq.heappop(state.heap)[2], count):
                self._add(state, child)
            return
        z = state.Z[:, [state.component]]
        state.A = state.A - z @ (z.T @ state.A)
        state.work.flops += 4 * state.A.size
        state.component += 1
        if state.component == oracle.k:
            state.status = Status.CONVERGED
        else:
            self._begin(oracle, state)

    def _begin(self, oracle: SparsePCAOracle, state: BranchState) -> None:
        """Begin a component with the node of all supports."""
        count = asked(oracle, self.cardinality, state.component)
        state.S, state.best, state.heap = state.A @ state.A.T, 0.0, []
        state.work.flops += flops.gemm(oracle.n, oracle.n, oracle.samples)
        self._add(state, node(state.S, [], list(range(oracle.n)), count))

    def _add(self, state: BranchState, made: Node) -> None:
        """Add a node, and move to its support where that is the best."""
        state.order += 1
        size = len(made.inside) + len(made.free)
        state.work.flops += flops.eigh(size) + bool(made.free) * flops.eigh(len(made.support))
        heapq.heappush(state.heap, (-made.bound, state.order, made))
        if made.reached > state.best:
            state.best, support = made.reached, made.support
            vectors: Any = np.linalg.eigh(state.S[np.ix_(support, support)])[1]
            state.Z[:, state.component] = 0.0
            state.Z[support, state.component] = vectors[:, -1]

    def solution(self, state: BranchState) -> Solution:
        """Return the loadings of the components done, and the best of the one in progress."""
        return SparseSolution(state.Z.copy())

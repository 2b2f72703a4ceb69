"""Exact sparse components by branch and bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from orthobench.contract import Array, Solution, State, Status, UsageError, flops, parameter
from orthobench_sparse_pca import SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.bounds import ROUNDING, Node, Search
from orthobench_sparse_pca.cardinality import CardinalitySolver, Support, largest

MOST = 100
"""Maximum number of features of a search."""

TOO_MANY = f"there are {{}} features, and branch and bound takes {MOST}"

STARTS = 20
"""Number of features at which power iterations begin, before others are excluded."""

ENTRIES = 2**22
"""Number of covariances computed at once."""


class Part(NamedTuple):
    """Features of supports, their covariance, and the number that must be in."""

    features: Support
    S: Array
    inside: int


@dataclass(slots=True, kw_only=True)
class BranchState(State):
    """The search for the current component of the deflated data A (d, N).

    `component` is the number of finished ones, columns of Z (d, m).
    """

    A: Array
    Z: Array
    parts: list[Part]
    search: Search
    component: int = 0


@dataclass(frozen=True)
class SparsePCAExact(CardinalitySolver[BranchState]):
    """The sparse component of largest variance, by branch and bound.

    A step branches on the node with the largest bound. Further components come from deflated data,
    A <- A - z (z'A), each exact; together they need not be.

    With more than 100 features, those that no better support has are excluded first. In row i of
    the largest loading x'Sx is at most the sum of |S_ij| over the support: rows of small sums have
    no search.

    Notes
    -----
    Two eigendecompositions (r, r) with r <= d features a step and child, 9r³ flops. Exclusion
    takes 2d²N. Memory: r² doubles, and 2r a node; with exclusion data and 2²² covariances once
    more.

    References
    ----------
    Berk and Bertsimas 2019, "Certifiably optimal sparse principal component analysis"; excluding
    features by the row of the largest loading is this project's.
    """

    cardinality: int = parameter(
        4, help="non-zero loadings of a component", low=1, grid=(3, 4, 5, 8, 10)
    )

    most: ClassVar[float] = MOST
    too_many: ClassVar[str] = TOO_MANY
    name: ClassVar[str] = "sparse-pca-exact"
    source: ClassVar[str] = "Berk and Bertsimas 2019"

    def init(self, oracle: SparsePCAOracle, rng: np.random.Generator) -> BranchState:
        A, Z = self.data(oracle), np.zeros((oracle.n, oracle.k))
        state = BranchState(A=A, Z=Z, parts=[], search=Search([], 0))
        self._begin(oracle, state)
        return state

    def step(self, oracle: SparsePCAOracle, state: BranchState) -> None:
        state.work.steps += 1
        if state.search.open:
            self._note(state, state.search.best, *state.search.branch())
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
        count = self.asked(oracle, state.component)
        if oracle.n > MOST:
            state.parts = left(state.A, count)
            state.work.flops += flops.gemm(oracle.n, oracle.n, oracle.samples)
        else:
            state.parts = [Part(np.arange(oracle.n), state.A @ state.A.T, 0)]
        state.search = Search([part.S for part in state.parts], count)
        for place, (features, _, inside) in enumerate(state.parts):
            state.work.flops += flops.gemm(len(features), len(features), oracle.samples)
            self._note(state, state.search.best, state.search.begin(place, inside))

    def _note(self, state: BranchState, before: float, *made: Node) -> None:
        for each in made:
            size = len(each.inside) + len(each.free)
            state.work.flops += flops.eigh(size) + bool(each.free) * flops.eigh(len(each.support))
        if state.search.best > before:
            support, (features, S, _) = state.search.support, state.parts[state.search.place]
            vectors: Any = np.linalg.eigh(S[np.ix_(support, support)])[1]
            state.Z[:, state.component] = 0.0
            state.Z[features[support], state.component] = vectors[:, -1]

    def solution(self, state: BranchState) -> Solution:
        return SparseSolution(state.Z.copy())


def row_sums(A: Array, count: int) -> Array:
    """Return the sums of the `count` largest |S_ij| in each row of S = AA', S_ii among them.

    Their maximum bounds the variance of that number of loadings. 2d²N flops.
    """
    d = len(A)
    sums = np.empty(d)
    for rows in np.array_split(np.arange(d), -(-d * d // ENTRIES)):
        S = np.abs(A[rows] @ A.T)
        sums[rows] = S[np.arange(len(rows)), rows]
        S[np.arange(len(rows)), rows] = 0.0
        if count > 1:
            sums[rows] += np.partition(S, d - count + 1, axis=1)[:, d - count + 1 :].sum(axis=1)
    return sums


def left(A: Array, count: int) -> list[Part]:
    """Return the parts one of which has the best support of `count` features, or raise UsageError.

    The first is the support of truncated power iterations; the others have all better ones. None
    may have more than 100 features.
    """
    sums = row_sums(A, count)
    ends = [_reached(A, int(i), count) for i in np.argsort(-sums)[:STARTS]]
    best, support = max(ends, key=lambda end: end[0])
    least = best * (1 + ROUNDING)
    parts = [Part(support, A[support] @ A[support].T, 0)]
    for i in np.flatnonzero(sums > least):
        row = np.abs(A @ A[i])
        others = np.delete(np.arange(len(A)), i)
        most = row[i] + np.sort(row[others])[::-1][: max(count - 2, 0)].sum() + row[others]
        features = np.concatenate([[i], others[(most > least) & (count > 1)]])
        if len(features) > MOST:
            raise UsageError(TOO_MANY.format(f"{len(features)} of {len(A)}"))
        parts.append(Part(features, A[features] @ A[features].T, 1))
    return parts


def _reached(A: Array, start: int, count: int) -> tuple[float, Support]:
    support = largest(np.abs(A @ A[start]), count)
    value, best = -1.0, support
    while True:
        values, vectors = np.linalg.eigh(A[support] @ A[support].T)
        if values[-1] <= value * (1 + ROUNDING):
            return value, best
        value, best = float(values[-1]), support
        support = largest(np.abs(A @ (A[support].T @ vectors[:, -1])), count)

"""Truncated power iterations for orthogonal components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from orthobench.contract import Array, Solution, State, Status, flops, parameter
from orthobench_sparse_pca import SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.cardinality import CardinalitySolver, Support, largest
from orthobench_sparse_pca.solvers.tpower import WARM

SLOW, FAST = 0.15, 0.75
"""Shares of the rounds with slow and with fast growth."""

GAIN = 1e-9
"""Relative gain of the penalized variance at which a component has converged."""

SMALL = 100
"""Maximum number of loadings for eigenvectors in each iteration."""

LEAST = 1e-7
"""Violation below which growth no longer depends on it."""


@dataclass(slots=True, kw_only=True)
class OrthogonalState(State):
    """The current loadings Z and the best so far, (d, m), of the data A (d, N).

    `variances` (d,) are those of the features, `variance` is |A'Z|² after the last round. `score`
    of the best is minus the violation beyond the tolerance, and the variance; `weights` (m,) of
    the penalty are the variances after the first round.
    """

    A: Array
    Z: Array
    best: Array
    weights: Array
    variances: Array
    variance: float = 0.0
    score: tuple[float, float] = (-np.inf, 0.0)
    penalty: float = 0.0
    growth: float = 0.0


class _Penalized(NamedTuple):
    """AA' - RR' + diag(added), with the penalty, kept definite."""

    A: Array
    R: Array
    added: Array

    def times(self, support: Support, z: Array) -> Array:
        image = self.A @ (z @ self.A[support]) - self.R @ (z @ self.R[support])
        image[support] += self.added[support] * z
        return np.asarray(image)

    def leading(self, support: Support) -> Array:
        A, R = self.A[support], self.R[support]
        part: Array = A @ A.T - R @ R.T
        part[np.diag_indices_from(part)] += self.added[support]
        return np.asarray(np.linalg.eigh(part)[1][:, -1])

    def diagonal(self, variances: Array) -> Array:
        return np.asarray(variances - np.einsum("ij,ij->i", self.R, self.R) + self.added)


def _penalized(A: Array, others: Array, weights: Array, constraint: str) -> _Penalized:
    if constraint == "orthogonal":
        R = others * np.sqrt(weights)
        return _Penalized(A, R, np.full(len(A), float(np.linalg.norm(R, 2)) ** 2))
    squares = others**2 @ weights
    return _Penalized(A, np.zeros((len(A), 0)), squares.max() - squares)


@dataclass(frozen=True)
class OrthogonalTPower(CardinalitySolver[OrthogonalState]):
    """Truncated power iterations on each component in turn, with a penalty on the others.

    In a round component t takes up to `inner` iterations on AA' - penalty sum over s != t of w_s
    z_s z_s', plus a multiple of I that makes it definite. It begins at its last value and at the
    feature of largest penalized variance. The weight w_s is the variance of z_s in the first
    round. With up to 100 loadings an iteration takes the leading eigenvector on the support. For
    disjoint components z_s z_s' becomes the diagonal matrix of its squares. The penalty grows by
    the violation, the sum of |z_s'z_t| over s != t (or of |z_s|'|z_t|), in the first rounds, and
    then by variance over violation. The result has the largest variance of all with a violation
    below `tolerance`, or else the smallest violation.

    Notes
    -----
    2dN + 2cN + 2(d + c)m flops an iteration of a component of c loadings, and 2c²(N + m) + 9c³ for
    the eigenvector. Memory: the data once more, and 3dm doubles.

    References
    ----------
    Cory-Wright and Pauphilet 2026, "Sparse PCA with multiple components", Algorithm 2, as in the R
    package msPCA: growth .01 and .05, shares .15 and .75. Disjointness, starts, eigenvectors, and
    a bound in place of the smallest eigenvalue are this project's.
    """

    constraint: str = parameter(
        "orthogonal", help="what components are driven to be", choices=("orthogonal", "disjoint")
    )
    rounds: int = parameter(200, help="maximum number of rounds", low=1)
    inner: int = parameter(100, help="maximum of iterations for a component in a round", low=1)
    tolerance: float = parameter(1e-4, help="violation that is allowed", above=0.0)

    name: ClassVar[str] = "tpower-orthogonal"
    source: ClassVar[str] = "Cory-Wright and Pauphilet 2026, Algorithm 2"

    def init(self, oracle: SparsePCAOracle, rng: np.random.Generator) -> OrthogonalState:
        A, Z = self.data(oracle), np.zeros((oracle.n, oracle.k))
        variances = np.einsum("ij,ij->i", A, A)
        return OrthogonalState(A=A, Z=Z, best=Z, weights=np.zeros(oracle.k), variances=variances)

    def step(self, oracle: SparsePCAOracle, state: OrthogonalState) -> None:
        state.penalty += state.growth
        Z, before = state.Z.copy(), state.variance
        for t in range(oracle.k):
            Z[:, t] = self._component(oracle, state, Z, t)
            if not state.work.steps:
                state.weights[t] = float(np.sum((state.A.T @ Z[:, t]) ** 2))
        state.Z, state.variance = Z, float(np.sum((state.A.T @ Z) ** 2))
        overlap = np.abs(Z.T @ Z) if self.constraint == "orthogonal" else np.abs(Z).T @ np.abs(Z)
        violation = max(float(overlap.sum() - np.trace(overlap)), LEAST)
        done = state.work.steps = state.work.steps + 1
        rate = 0.01 if done < FAST * self.rounds else 0.05
        slow = done < SLOW * self.rounds
        unit = float(np.vdot(state.A, state.A)) / oracle.n
        state.growth = rate * (violation if slow else state.variance / unit / violation)
        state.work.flops += 2 * state.A.size * oracle.k + flops.gemm(oracle.k, oracle.k, oracle.n)
        score = (-max(violation - self.tolerance, 0.0), state.variance)
        if score > state.score:
            state.best, state.score = Z, score
        still = abs(state.variance - before) <= 1e-8 * state.variance
        if still and violation <= self.tolerance:
            state.status = Status.CONVERGED
        elif done == self.rounds:
            state.status = Status.COMPLETE

    def _component(
        self, oracle: SparsePCAOracle, state: OrthogonalState, Z: Array, t: int
    ) -> Array:
        count, weights = self.asked(oracle, t), np.delete(state.weights, t)
        others = np.delete(Z, t, axis=1)
        own = _penalized(state.A, others, weights * state.penalty, self.constraint)
        longest = np.array([np.argmax(own.diagonal(state.variances))])
        warm = np.flatnonzero(Z[:, t])
        ends = []
        for support, z, phases in ((longest, np.ones(1), WARM), (warm, Z[warm, t], WARM[-1:])):
            if len(support):
                for phase in phases:
                    found = self._ascended(own, support, z, min(phase * count, oracle.n), state)
                    support, z, _ = found
                ends.append(found)
        best = max(ends, key=lambda end: end[2])
        point = np.zeros(oracle.n)
        point[best[0]] = best[1]
        return point

    def _ascended(
        self, own: _Penalized, support: Support, z: Array, count: int, state: OrthogonalState
    ) -> tuple[Support, Array, float]:
        value, image = -np.inf, own.times(support, z)
        (d, N), m = own.A.shape, own.R.shape[1]
        state.work.flops += 2 * (d + len(support)) * (N + m)
        for _ in range(self.inner):
            before, support = support, largest(np.abs(image), count)
            if count <= SMALL:
                z = own.leading(support)
                state.work.flops += 2 * count * count * (N + m) + flops.eigh(count)
            else:
                z = image[support] / (float(np.linalg.norm(image[support])) or 1.0)
            image = own.times(support, z)
            new = float(z @ image[support])
            state.work.flops += 2 * (d + count) * (N + m) + 20 * d
            if new - value <= GAIN * abs(new) or (
                count <= SMALL and np.array_equal(support, before)
            ):
                break
            value = new
        return support, z, new

    def solution(self, state: OrthogonalState) -> Solution:
        return SparseSolution(state.best.copy())

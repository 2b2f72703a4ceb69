"""The truncated power method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, State, Status, flops, parameter
from orthobench_sparse_pca import SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.cardinality import CardinalitySolver, Support, largest

EPS = float(np.finfo(np.float64).eps)

WARM = (8, 4, 2, 1)
"""Cardinalities of the phases of a warm start, relative to that sought."""


@dataclass(slots=True, kw_only=True)
class TPowerState(State):
    """The iterate x (d,), with its `support` and scores A'x (N,), and the finished components.

    The data A (d, N) are deflated, in C order. Columns of unfinished components of Z (d, m) are
    zero. `variance` is |A'x|² at the last step of the phase. `component` and `phase` count
    finished ones.
    """

    A: Array
    Z: Array
    x: Array
    support: Support
    scores: Array
    variance: float = -math.inf
    component: int = 0
    phase: int = 0


@dataclass(frozen=True)
class TPower(CardinalitySolver[TPowerState]):
    """Truncated power method: x <- the `cardinality` largest entries of AA'x, at unit length.

    It converges to a local maximum of the variance |A'x|²; among equally large entries the first
    ones are kept. Components come one after the other, on deflated data A <- A - z (z'A). It
    starts at the feature of largest variance; a ``warm`` start goes from there to eight, four and
    two times the loadings, each until convergence.

    Notes
    -----
    Flops of a step with c loadings: 2dN for AA'x, 2cN for the new A'x. A component costs 2dN for
    variances at its start, and 4cN for the deflation. Memory: the data once more, and dm doubles.

    References
    ----------
    Yuan and Zhang 2013, "Truncated power method for sparse eigenvalue problems", Algorithm 1; the
    warm start is in section 4.
    """

    start: str = parameter(
        "warm", choices=("warm", "largest"),
        help="the feature of largest variance, or from it by more loadings",
    )  # fmt: skip
    tolerance: float = parameter(
        1e-8, help="relative gain of the variance at convergence", low=0.0, below=1.0
    )

    name: ClassVar[str] = "tpower"
    source: ClassVar[str] = "Yuan and Zhang 2013, Algorithm 1"

    def init(self, oracle: SparsePCAOracle, rng: np.random.Generator) -> TPowerState:
        d, N = oracle.n, oracle.samples
        state = TPowerState(
            A=self.data(oracle), Z=np.zeros((d, oracle.k)), x=np.zeros(d), support=np.arange(0),
            scores=np.zeros(N),
        )  # fmt: skip
        _begin(state)
        return state

    def step(self, oracle: SparsePCAOracle, state: TPowerState) -> None:
        count = min(self._phases()[state.phase] * self.asked(oracle, state.component), oracle.n)
        product = state.A @ state.scores
        _move_to(state, largest(np.abs(product), count), product)
        variance = float(state.scores @ state.scores)
        state.work.steps += 1
        state.work.flops += 2 * state.A.size + 2 * oracle.samples
        converged = variance - state.variance <= self.tolerance * variance
        state.variance = variance
        if converged:
            self._end_phase(state)

    def _phases(self) -> tuple[int, ...]:
        return WARM if self.start == "warm" else WARM[-1:]

    def _end_phase(self, state: TPowerState) -> None:
        state.phase, state.variance = state.phase + 1, -math.inf
        if state.phase < len(self._phases()):
            return
        state.Z[:, state.component] = state.x
        state.component, state.phase = state.component + 1, 0
        if state.component == state.Z.shape[1]:
            state.status = Status.CONVERGED
            return
        rows, z = state.A[state.support], state.x[state.support]
        state.A[state.support] = rows - np.outer(z, z @ rows)
        state.work.flops += 4 * rows.size
        _begin(state)

    def solution(self, state: TPowerState) -> Solution:
        Z = state.Z.copy()
        if state.status is Status.RUNNING:
            Z[:, state.component] = state.x
        return SparseSolution(Z)


def _begin(state: TPowerState) -> None:
    variances = np.einsum("ij,ij->i", state.A, state.A)
    longest = np.array([np.argmax(variances)])
    state.work.flops += 2 * state.A.size
    if variances[longest[0]] <= (len(state.scores) * EPS) ** 2:
        state.status = Status.CONVERGED
        return
    _move_to(state, longest, variances)


def _move_to(state: TPowerState, support: Support, values: Array) -> None:
    chosen = values[support]
    chosen = chosen / np.linalg.norm(chosen)
    state.x = np.zeros(len(values))
    state.x[support], state.support = chosen, support
    state.scores = chosen @ state.A[support]
    state.work.flops += flops.gemm(len(support), state.A.shape[1], 1) + 3 * len(support)

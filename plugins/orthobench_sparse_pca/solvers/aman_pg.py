"""A-ManPG: alternating manifold proximal gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import (
    Array,
    Solution,
    Solver,
    State,
    Status,
    flops,
    orthonormalize,
    parameter,
    polar,
    unit_columns,
)
from orthobench_sparse_pca import SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.delivery import delivers
from orthobench_sparse_pca.loadings import solve_for_z
from orthobench_sparse_pca.oracle import gamma_parameter, loadings_parameter

DECREASE = 1e-3
"""Share of the promised decrease at which a step is accepted."""

SHORTEST = 1e-5
"""Step times d below which no step of X is taken."""

NULL = 1e-10
"""Minimum bound on a penalty, relative to the largest."""

TRIALS = 60
"""Maximum number of trials of a step of Y."""


@dataclass(slots=True, kw_only=True)
class AManPGState(State):
    """The blocks X, with orthonormal columns, and Y, the loadings times their lengths, (d, m).

    `A` (d, N) are data divided by their largest singular value, SX and SY products with AA', `mu`
    (m,) the l1 penalties, `value` the objective, t and tau the steps of Y and of X.
    """

    A: Array
    X: Array
    Y: Array
    SX: Array
    SY: Array
    mu: Array
    value: float
    t: float
    tau: float


@delivers
@dataclass(frozen=True)
class AManPG(Solver[SparsePCAOracle, AManPGState]):
    """Alternating manifold proximal gradient method for all components at once.

    Minimizes tr(Y'SY) - 2 tr(X'SY) + l2 |Y|² + sum_j mu_j |y_j|_1 over X'X = I and Y, with S =
    AA': the sparse PCA of Zou, Hastie and Tibshirani. A step moves Y by a proximal gradient, then
    X along the Riemannian gradient, each with a line search, from the leading left singular
    vectors of A. Without `ridge` l2 is infinite: then Y is soft(SX, mu/2), in units of l2.

    Parameters
    ----------
    gamma : float
        mu_j / 2, relative to a bound: with 1 all loadings of the start are zero.
    penalties : {"own", "common"}
        The bound: ``own``, the largest entry of column j of SX at the start; ``common``, as
        published, the largest singular value of A times the norm of its longest row.
    ridge : float or none
        l2, relative to the largest eigenvalue of S, as the tolerance is.
    loadings : {"filled", "thresholded"}
        Those that explain most variance with the pattern of Y, or Y at unit length.

    Notes
    -----
    Flops of a step: 8dNm, with `ridge` 4dNm more for each further trial of Y; 4dm² and a polar
    factor (d, m) for each trial of X. The start costs 2dN min(d, N) and 9 min(d, N)³. Memory: the
    data once more, and 6dm doubles.

    References
    ----------
    Chen, Ma, Xue and Zou 2020, "An alternating manifold proximal gradient method for sparse
    principal component analysis and sparse canonical correlation analysis", Algorithm 1. The
    authors' Python port passes a covariance of data of few columns through the square once more.
    """

    gamma: float = gamma_parameter(0.1, "a bound on the smallest penalty of which nothing is left")
    penalties: str = parameter(
        "own",
        choices=("own", "common"),
        help="penalties relative to a bound for each component, or for all",
    )
    ridge: float | None = parameter(
        None, help="l2 penalty; infinite by default", unit="the largest eigenvalue", low=0.0
    )
    tolerance: float = parameter(1e-7, help="change of the objective at convergence", low=0.0)
    loadings: str = loadings_parameter()

    name: ClassVar[str] = "aman-pg"
    source: ClassVar[str] = "Chen, Ma, Xue and Zou 2020, Algorithm 1"
    converges: ClassVar[bool] = True

    def init(self, oracle: SparsePCAOracle, rng: np.random.Generator) -> AManPGState:
        A = oracle.A / oracle.unit
        X, largest = _leading(A, oracle.k)
        A /= largest
        SX = _moment_times(A, X)
        bounds = np.full(oracle.k, float(np.linalg.norm(A, axis=1).max()))
        if self.penalties == "own":
            own = np.abs(SX).max(axis=0)
            bounds = np.maximum(own, NULL * own.max())
        mu = 2 * self.gamma * bounds
        t = 0.5 if self.ridge is None else 0.5 / (1 + self.ridge)
        state = AManPGState(A=A, X=X, Y=X, SX=SX, SY=SX, mu=mu, value=0.0, t=t, tau=100 / oracle.n)
        state.value = self._value(state, X, SX)
        d, N = A.shape
        state.work.flops = 2 * d * N * min(d, N) + flops.eigh(min(d, N)) + 4 * d * N
        state.work.flops += 2 * flops.gemm(d, N, oracle.k) + self._value_flops(X)
        if d > N:
            state.work.flops += flops.gemm(d, oracle.k, N) + flops.qr(d, oracle.k)
        return state

    def step(self, oracle: SparsePCAOracle, state: AManPGState) -> None:
        before = state.value
        if self.ridge is None:
            state.Y = _soft(state.SX, state.mu / 2)
            state.SY = _moment_times(state.A, state.Y)
            state.work.flops += _moment_flops(state) + 2 * state.Y.size
        else:
            self._move_y(state, self.ridge)
        _move_x(state)
        state.SX = _moment_times(state.A, state.X)
        state.value = self._value(state, state.Y, state.SY)
        state.work.steps += 1
        state.work.flops += _moment_flops(state) + self._value_flops(state.Y)
        if abs(state.value - before) <= self.tolerance:
            state.status = Status.CONVERGED

    def solution(self, state: AManPGState) -> Solution:
        if self.loadings == "thresholded":
            return SparseSolution(unit_columns(state.Y))
        scores = polar(state.A.T @ state.Y)
        return SparseSolution(solve_for_z(state.A, state.Y != 0, scores))

    def _value(self, state: AManPGState, Y: Array, SY: Array) -> float:
        rest = float(np.abs(Y).sum(axis=0) @ state.mu) - 2 * float(np.vdot(state.X, SY))
        if self.ridge is None:
            return rest + float(np.vdot(Y, Y))
        return rest + float(np.vdot(Y, SY)) + self.ridge * float(np.vdot(Y, Y))

    def _value_flops(self, Y: Array) -> int:
        return (5 if self.ridge is None else 7) * Y.size

    def _move_y(self, state: AManPGState, ridge: float) -> None:
        shortest = 0.5 / (1 + ridge)
        gradient = 2 * (state.SY - state.SX + ridge * state.Y)
        value = self._value(state, state.Y, state.SY)
        state.work.flops += 4 * state.Y.size + self._value_flops(state.Y)
        first = state.t
        for _ in range(TRIALS):
            Y = _soft(state.Y - state.t * gradient, state.t * state.mu)
            SY = _moment_times(state.A, Y)
            moved = float(np.vdot(Y - state.Y, Y - state.Y)) / state.t
            state.work.flops += _moment_flops(state) + self._value_flops(Y) + 8 * Y.size
            if self._value(state, Y, SY) <= value - DECREASE * moved:
                state.Y, state.SY = Y, SY
                break
            state.t /= 2
        state.t = 1.01 * first if state.t == first else max(shortest, state.t / 1.01)


def _move_x(state: AManPGState) -> None:
    d, m = state.X.shape
    XG = state.X.T @ state.SY
    R = state.X @ (XG + XG.T) - 2 * state.SY
    value, promised = float(np.vdot(state.X, state.SY)), float(np.vdot(R, R))
    state.work.flops += 2 * flops.gemm(d, m, m) + 6 * d * m
    first = state.tau
    while state.tau >= SHORTEST / d:
        X = polar(state.X - state.tau * R)
        state.work.flops += flops.polar(d, m) + 4 * d * m
        if 2 * (float(np.vdot(X, state.SY)) - value) >= DECREASE * state.tau * promised:
            state.X = X
            state.tau *= 1.1 if state.tau == first else 1.0
            return
        state.tau /= 2
    state.tau = 1 / d


def _leading(A: Array, m: int) -> tuple[Array, float]:
    wide = A.shape[1] < len(A)
    values, vectors = np.linalg.eigh(A.T @ A if wide else A @ A.T)
    leading = vectors[:, : -m - 1 : -1]
    X = orthonormalize(A @ leading) if wide else np.ascontiguousarray(leading)
    return X, float(np.sqrt(values[-1]))


def _moment_times(A: Array, X: Array) -> Array:
    product: Array = A @ (A.T @ X)
    return product


def _moment_flops(state: AManPGState) -> int:
    return int(4 * state.A.size * state.X.shape[1])


def _soft(Y: Array, bounds: Array) -> Array:
    soft: Array = np.sign(Y) * np.maximum(np.abs(Y) - bounds, 0.0)
    return soft

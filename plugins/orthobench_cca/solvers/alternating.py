"""Alternating least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench_kit.polar import inverse_root_on_range

from orthobench.contract import Array, Solution, Solver, State, Status, flops, parameter
from orthobench_cca.covariances import SINGULAR, normalized, normalized_flops, units_of
from orthobench_cca.oracle import PairsOracle, halves

GAIN, STALLED = 1e-12, 50
"""Relative gain that is rounding; number of steps without gain that ends a run."""


@dataclass(slots=True, kw_only=True)
class AlternatingState(State):
    """The weights A (p, k) and B (q, k), the covariances, and the maps of the regressions.

    `to_x` (p, q) is S_xx^-1 S_xy, `to_y` (q, p) likewise; `regressed` is A before normalization.
    `least` is the square of the smallest move, `most` the largest sum of correlations, and
    `stalled` the number of steps since either changed.
    """

    A: Array
    B: Array
    regressed: Array
    xx: Array
    yy: Array
    to_x: Array
    to_y: Array
    least: float = np.inf
    most: float = 0.0
    stalled: int = 0


@dataclass(frozen=True)
class AlternatingLeastSquares(Solver[PairsOracle, AlternatingState]):
    """Alternating least squares: A <- S_xx^-1 S_xy B, normalized, then B likewise from A.

    Normalization is A <- A (A'S_xx A)^-½. The error falls by (rho_(k+1) / rho_k)² a step. It ends
    if coefficients move by at most `tolerance` in the metric of S_xx, or after 50 steps in which
    neither moves shrink nor correlations grow; with tolerance 0 never.

    Notes
    -----
    2N(p² + q² + pq) flops for the covariances, 11p³ + 11q³ for their inverses, and 8pqk + 2(p² +
    q²)k + 4(p + q)k² a step. Memory: 2(p² + q² + pq) doubles.

    References
    ----------
    Golub and Zha 1995, "The canonical correlations of matrix pairs and their numerical
    computation", section 4; with k columns at once Lu and Foster 2014. The symmetric normalization
    is this project's; it has the same span as their QR decomposition.
    """

    tolerance: float = parameter(1e-12, help="distance that coefficients move at last", low=0.0)

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "cca-als"
    source: ClassVar[str] = "Golub and Zha 1995, section 4"

    def init(self, oracle: PairsOracle, rng: np.random.Generator) -> AlternatingState:
        p, q, k = oracle.sizes
        x, y = oracle.sides
        xx, yy, xy = x.covariance(oracle.ridge), y.covariance(oracle.ridge), x.cross(y)
        A, B = halves(oracle.start, p)
        state = AlternatingState(
            A=normalized(A, xx), B=normalized(B, yy), regressed=A, xx=xx, yy=yy,
            to_x=_solved(xx, xy), to_y=_solved(yy, xy.T),
        )  # fmt: skip
        for size, other in ((p, q), (q, p)):
            roots = flops.eigh(size) + flops.gemm(size, size, size) + size * size + size
            state.work.flops += roots + 2 * flops.gemm(size, other, size)
            state.work.flops += normalized_flops(size, k)
            state.work.flops += flops.gemm(size, size, oracle.count) + size * size + size
        state.work.flops += flops.gemm(p, q, oracle.count) + p * q
        return state

    def step(self, oracle: PairsOracle, state: AlternatingState) -> None:
        p, q, k = oracle.sizes
        before, state.regressed = state.regressed, state.to_x @ state.B
        state.A = normalized(state.regressed, state.xx)
        state.B = normalized(state.to_y @ state.A, state.yy)
        moved = state.regressed - before
        square = float(np.vdot(moved, state.xx @ moved))
        state.work.steps += 1
        state.work.flops += 2 * flops.gemm(p, k, q) + flops.gemm(p, k, p) + 3 * p * k
        state.work.flops += normalized_flops(p, k) + normalized_flops(q, k)
        if not np.isfinite(square):
            state.status, state.reason = Status.FAILED, "the weights are not finite"
            return
        if self.tolerance:
            self._watch(state, square)
        if square <= self.tolerance**2 or state.stalled >= STALLED:
            state.status = Status.CONVERGED

    def _watch(self, state: AlternatingState, square: float) -> None:
        if square < state.least:
            state.least, state.stalled = square, 0
            return
        captured = float(np.vdot(state.A, state.xx @ state.regressed))
        p, k = state.A.shape
        state.work.flops += flops.gemm(p, k, p) + 2 * p * k
        grew = captured > state.most * (1 + GAIN)
        state.stalled = 0 if grew else state.stalled + 1
        state.most = max(captured, state.most)

    def solution(self, state: AlternatingState) -> Solution:
        return Solution(np.vstack([state.A, state.B]))


def _solved(S: Array, M: Array) -> Array:
    units = units_of(np.diag(S))[:, None]
    root = inverse_root_on_range(S * units * units.T, SINGULAR)
    return np.asarray(units * (root @ (root @ (units * M))))

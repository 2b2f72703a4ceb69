"""HOQRI: the higher-order QR iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, Solution, flops, orthonormalize
from orthobench_tucker import SymmetricTensorOracle
from orthobench_tucker._kernels.partial_cores import PartialCores, partial_cores
from orthobench_tucker.objective import (
    AscentState,
    Point,
    check_first_point,
    check_point,
    evaluate,
    evaluation_flops,
    tolerance_parameter,
)
from orthobench_tucker.whole_tensor import WholeTensorSolver, form_parameter, start_parameter

ROUNDING = 1e-14
"""Fall of F, relative to F, that counts as rounding."""


@dataclass(slots=True, kw_only=True)
class HOQRIState(AscentState):
    """The basis with F and its gradient there, and the shift."""

    shift: float = 0.0


@dataclass(frozen=True)
class HOQRI(WholeTensorSolver[HOQRIState]):
    """HOQRI: Q <- orth(A), A = X ·(I, Q, ..., Q) contracted with the core, by a QR decomposition.

    A is ∇F(Q) / 2d: a gradient step of infinite length. If a step lowers F, as it may for odd
    orders, it is rejected, and tried again as Q <- orth(A + shift Q). The shift is at first the
    mean eigenvalue of Q'A, and doubles at each rejection.

    Notes
    -----
    A step, accepted or not: one W (2pn(r + N) + pN flops from samples, about 2n^d r from a tensor),
    and 6nrN + 12nr² + 2r²N, N = C(r + d - 2, d - 1). Memory: nN + 3nr doubles.

    References
    ----------
    Sun, Bhat, Wang and Huang 2025, "HOQRI: higher-order QR iteration for low multilinear rank
    approximation of large and sparse tensors" (arXiv 2510.16930), with one basis. The shift is this
    project's.
    """

    form: str = form_parameter()
    start: str = start_parameter()
    tolerance: float = tolerance_parameter()

    name: ClassVar[str] = "hoqri"
    source: ClassVar[str] = "Sun, Bhat, Wang and Huang 2025"

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> HOQRIState:
        cores = partial_cores(oracle, self.form)
        state = HOQRIState(point=evaluate(cores, self.first_basis(oracle, rng)))
        check_first_point(state, oracle, self.tolerance)
        state.work.flops += self.start_flops(oracle) + evaluation_flops(cores, oracle.k)
        return state

    def step(self, oracle: SymmetricTensorOracle, state: HOQRIState) -> None:
        cores, point = partial_cores(oracle, self.form), state.point
        trial = evaluate(cores, orthonormalize(iterate(point, state.shift)), point.unit)
        state.work.steps += 1
        state.work.flops += step_flops(cores, oracle.k)
        if trial.value < point.value * (1 - ROUNDING):
            state.shift = max(2 * state.shift, float(np.trace(point.B)) / len(point.B))
            return
        state.point = trial
        check_point(state, self.tolerance)

    def solution(self, state: HOQRIState) -> Solution:
        return Solution(state.point.Q.copy())


def iterate(point: Point, shift: float) -> Array:
    """Return ∇F(Q) + shift Q, from the parts of ∇F along Q and across."""
    return np.asarray(point.gradient + point.Q @ (point.B + shift * np.eye(len(point.B))))


def step_flops(cores: PartialCores, rank: int) -> int:
    """Return the flops of a step."""
    n = cores.n
    return evaluation_flops(cores, rank) + flops.gemm(n, rank, rank) + flops.qr(n, rank)

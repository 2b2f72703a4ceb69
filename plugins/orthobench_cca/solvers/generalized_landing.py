"""Landing for X'BX = I."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, Solution, Status, flops, parameter
from orthobench_cca.covariances import normalized, normalized_flops
from orthobench_cca.pencil import PencilOracle
from orthobench_cca.solvers.generalized import PencilSolver, PencilState
from orthobench_cca.solvers.stochastic import Stochastic, StochasticState

STEPS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Step sizes for a pencil with matrices divided by their norms."""


def landing_direction(AX: Array, BX: Array, S: Array, attraction: float) -> Array:
    """Return skew(AX(BX)')BX - attraction BX(S - I), S = X'BX, which ascends tr(X'AX)/2.

    The two terms are orthogonal to each other. AX and BX have the shape (n, k). 8nk² + 3nk flops;
    memory 3nk.

    References
    ----------
    Vary, Ablin, Gao and Absil 2024, equations 5 to 7, in which the gradient of the cost is -AX.
    """
    identity = np.eye(len(S))
    rising = AX @ (BX.T @ BX) - BX @ (AX.T @ BX)
    return np.asarray(rising / 2 - BX @ (attraction * (S - identity)))


@dataclass(slots=True, kw_only=True)
class LandingState(PencilState):
    """The point and its image BX (n, k), in `units` where |A|_1 = |B|_1 = 1.

    `first` is the norm of the first direction.
    """

    BX: Array
    units: tuple[float, float]
    first: float = 0.0


@dataclass(frozen=True)
class PencilLanding(PencilSolver):
    """X <- X + t (skew(AX(BX)')BX - attraction BX(X'BX - I)), by products with A and B alone.

    F is the direction, d is |X'BX - I|, and m the smallest eigenvalue of X'B²X. Then t is at most
    1 / (2 attraction |X'B²X|) and keeps d - 2t attraction m d + t²|F'BF| <= eps. A and B are
    divided by their largest sums of a column. It ends if the direction is at most `tolerance`
    times as long as the first.

    Notes
    -----
    Flops of a step: 4n²k + 14nk². Memory: 5nk.

    References
    ----------
    Vary, Ablin, Gao and Absil 2024, "Optimization without retraction on the random generalized
    Stiefel manifold", arXiv:2405.01702. They bound the step by the condition of B; the bound by
    the point was derived for this code.
    """

    step_size: float = parameter(
        3.0, name="step", above=0.0, grid=STEPS, help="step for matrices of norm one"
    )
    attraction: float = parameter(1.0, low=0.0, help="weight of the pull towards X'BX = I")
    eps: float = parameter(0.5, above=0.0, below=1.0, help="largest defect of a safe step")
    tolerance: float = parameter(1e-10, low=0.0, below=1.0, help="norm of the last direction")

    name: ClassVar[str] = "pencil-landing"
    source: ClassVar[str] = "Vary, Ablin, Gao and Absil 2024"

    def init(self, oracle: PencilOracle, rng: np.random.Generator) -> LandingState:
        units = float(np.abs(oracle.A).sum(axis=0).max()), float(np.abs(oracle.B).sum(axis=0).max())
        X = normalized(oracle.start, oracle.B) * sqrt(units[1])
        state = LandingState(X=X, BX=oracle.B @ X / units[1], units=units)
        n, k = X.shape
        state.work.flops += normalized_flops(n, k) + flops.gemm(n, k, n) + 2 * n * n + 2 * n * k
        return state

    @np.errstate(over="ignore", invalid="ignore")  # without a bound of the step it may diverge
    def step(self, oracle: PencilOracle, state: Any) -> None:
        n, k = state.X.shape
        AX, S = oracle.A @ state.X / state.units[0], state.X.T @ state.BX
        F = landing_direction(AX, state.BX, S, self.attraction)
        BF = oracle.B @ F / state.units[1]
        spread: Array = np.linalg.eigvalsh(state.BX.T @ state.BX)
        t = min(self.step_size, self.safe_step(S, F.T @ BF, spread))
        state.X, state.BX = state.X + t * F, state.BX + t * BF
        state.work.steps += 1
        state.work.flops += 2 * flops.gemm(n, k, n) + 7 * flops.gemm(n, k, k) + 9 * n * k
        state.work.flops += flops.eigh(k)
        length = float(np.linalg.norm(F))
        state.first = state.first or length
        if not np.isfinite(length):
            state.status, state.reason = Status.FAILED, "X is not finite: lower `step`"
        elif length <= self.tolerance * state.first:
            state.status = Status.CONVERGED

    def solution(self, state: Any) -> Solution:
        """Return X in the unit of B."""
        return Solution(state.X / sqrt(state.units[1]))

    def safe_step(self, S: Array, squared: Array, spread: Array) -> float:
        """Return the longest step that keeps |X'BX - I| <= eps.

        S and `squared` (k, k) are X'BX and F'BF, `spread` (k,) the eigenvalues of X'B²X,
        ascending.
        """
        defect = float(np.linalg.norm(S - np.eye(len(S))))
        curvature = max(float(np.linalg.norm(squared)), float(np.finfo(np.float64).tiny))
        pull = self.attraction * float(spread[0]) * defect
        room = sqrt(max(0.0, pull * pull + curvature * (self.eps - defect)))
        longest = 2 * self.attraction * float(spread[-1])
        return min((pull + room) / curvature, 1 / longest if longest > 0 else np.inf)


@dataclass(frozen=True)
class PairsLanding(Stochastic):
    """Landing for canonical correlations: A and B are those of a batch, and B is never formed.

    Z <- Z + step (skew(AZ(BZ)')BZ - attraction BZ(Z'BZ - I)). As in the authors' code, all products
    are of one batch: the direction has a bias, which falls with the batch.

    Notes
    -----
    6b(p + q)k flops and 10(p + q)k² a step of b pairs. Memory: 4(p + q)k doubles, and the batch.

    References
    ----------
    Vary, Ablin, Gao and Absil 2024, "Optimization without retraction on the random generalized
    Stiefel manifold", arXiv:2405.01702, section 4.2.
    """

    attraction: float = parameter(1.0, low=0.0, help="weight of the pull towards Z'BZ = I")

    entrywise: ClassVar[int] = 8
    products: ClassVar[int] = 5
    name: ClassVar[str] = "cca-landing"
    source: ClassVar[str] = "Vary, Ablin, Gao and Absil 2024"

    def moved(self, state: StochasticState, AZ: Array, BZ: Array) -> Array:
        Z = state.Z
        return np.asarray(Z + self.step_size * landing_direction(AZ, BZ, Z.T @ BZ, self.attraction))

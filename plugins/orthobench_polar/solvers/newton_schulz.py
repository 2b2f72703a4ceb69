"""Newton-Schulz iterations: polynomials of X'X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.arrays import sqrt
from orthobench_kit.polar import Coefficients, gram, polynomial
from orthobench_kit.stacks import each, lengths, sizes, stacked, transposed

from orthobench.contract import Status, namespace, parameter
from orthobench_polar.base import PolarSolver, PolarState, PolarStateT, counted
from orthobench_polar.coefficients import SCHEDULES, Schedule
from orthobench_polar.oracle import PolarOracle, PolarSolution


@dataclass(frozen=True)
class ScheduledSolver(PolarSolver[PolarStateT]):
    """Base of methods that apply one polynomial of a schedule a step."""

    coefficients: str = parameter(
        "polar-express", choices=tuple(SCHEDULES), help="schedule of polynomials"
    )
    count: int = parameter(
        0, name="steps", low=0, help="polynomials; 0: as many as the source takes"
    )
    safety: float = parameter(
        0.0, low=0.0, help="divisor of singular values for rounding; 0: that of the source"
    )

    state_type: ClassVar[type[PolarState]] = PolarState
    fewer: ClassVar[int] = 0
    """Number of first polynomials of a schedule that are left out."""

    @property
    def schedule(self) -> Schedule:
        """The polynomials."""
        return SCHEDULES[self.coefficients]

    @property
    def total(self) -> int:
        """Number of steps of a run."""
        return self.count or self.schedule.default - self.fewer

    def at(self, number: int) -> Coefficients:
        """Return the polynomial of a step, counted from 1."""
        return self.schedule.at(number - 1 + self.fewer, self.safety)

    def init(self, oracle: PolarOracle, rng: np.random.Generator) -> Any:
        A = oracle.A
        state = self.state_type(X=A / each(lengths(A)), rows=A.shape[-2])
        counted(state, other=3 * A.shape[-2] * A.shape[-1])
        return state


@dataclass(slots=True, kw_only=True)
class StartedState(PolarState):
    """The point, and its Gram matrix S (p, p) if known."""

    S: Any = None


@dataclass(frozen=True)
class Polynomials(ScheduledSolver[StartedState]):
    """Base of the methods X <- X (a I + b X'X + c (X'X)²)."""

    state_type: ClassVar[type[PolarState]] = StartedState

    def step(self, oracle: PolarOracle, state: StartedState) -> None:
        state.work.steps += 1
        S, known = (gram(state.X), 0) if state.S is None else (state.S, 1)
        P, small = polynomial(S, self.at(state.work.steps))
        state.X, state.S = state.X @ P, None
        counted(state, tall=2 - known, small=small, other=(1 + 4 * small) * P.shape[-1] ** 2)
        if state.work.steps >= self.total:
            state.status = Status.COMPLETE


def by_schatten_norm(A: Any) -> tuple[Any, Any]:
    """Return X = A / |A'A|_F^½ and X'X, so that |X|_2 <= 1; 2np² + 4np + 3p² flops.

    |A'A|_F^½, the Schatten 4-norm, is at most p^¼ |A|_2; the Frobenius norm may be p^½ |A|_2
    (Grishina et al. 2025, section 3.4).
    """
    X = A / each(lengths(A))  # against overflow
    S = gram(X)
    squared = lengths(S)
    return X / each(sqrt(squared)), S / each(squared)


@dataclass(frozen=True)
class NewtonSchulz(Polynomials):
    """X <- X (a I + b X'X + c (X'X)²), from A divided by a bound of its largest singular value.

    Each singular value s becomes a s + b s³ + c s⁵ (`orthobench_polar.coefficients`). The
    polynomial ``jordan`` does not converge: it leaves singular values between 0.47 and 1.20.
    ``polar-express`` is the best schedule for its degree and interval, and converges. The bound is
    |A|_F, or |A'A|_F^½, which is smaller and takes no further product.

    Notes
    -----
    Flops of a step: 4np² + 2p³, without the latter if c = 0. Memory: 2np + 2p².

    References
    ----------
    Björck and Bowie 1971; Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural
    networks"; Amsel, Persson, Musco and Gower 2025, arXiv:2505.16932.
    """

    name: ClassVar[str] = "newton-schulz"
    source: ClassVar[str] = "Björck and Bowie 1971; Amsel et al. 2025"

    start: str = parameter(
        "frobenius", choices=("frobenius", "schatten-4"), help="bound that A is divided by"
    )

    def init(self, oracle: PolarOracle, rng: np.random.Generator) -> Any:
        if self.start == "frobenius":
            return super().init(oracle, rng)
        X, S = by_schatten_norm(oracle.A)
        state = StartedState(X=X, rows=X.shape[-2], S=S)
        _, n, p = sizes(X)
        counted(state, tall=1, other=4 * n * p + 3 * p * p)
        return state


@dataclass(slots=True, kw_only=True)
class GramState(PolarState):
    """The point before the factor Q, the product of polynomials, and the Gram matrix R of XQ."""

    R: Any = None
    Q: Any = None


@dataclass(frozen=True)
class GramNewtonSchulz(ScheduledSolver[GramState]):
    """The polynomials of Newton-Schulz on R = X'X; their product Q is applied to X at the end.

    R <- P R P and Q <- Q P with P = a I + b R + c R². Only R, the restart and the end need
    products with X. R loses small singular values by rounding; after ``restart`` steps it is
    computed again from X Q.

    Notes
    -----
    Flops of five steps with one restart: 8np² + 32p³. Memory: 2np + 4p².

    References
    ----------
    Dao-AILab 2026, gram-newton-schulz.
    """

    name: ClassVar[str] = "gram-newton-schulz"
    source: ClassVar[str] = "Dao-AILab 2026"

    state_type: ClassVar[type[PolarState]] = GramState

    restart: int = parameter(2, low=0, help="step after which X'X is computed again; 0: none")

    def step(self, oracle: PolarOracle, state: GramState) -> None:
        state.work.steps += 1
        number, p = state.work.steps, state.X.shape[-1]
        if state.R is None:
            state.R = gram(state.X)
            counted(state, tall=1)
        P, small = polynomial(state.R, self.at(number))
        if state.Q is None:
            state.Q = P
        else:
            state.Q, small = state.Q @ P, small + 1
        last = number >= self.total
        if not last:
            state.R, small = P @ (state.R @ P), small + 2
        counted(state, small=small, other=5 * p * p)
        if last or number == self.restart:
            state.X, state.R, state.Q = state.X @ state.Q, None, None
            counted(state, tall=1)
        if last:
            state.status = Status.COMPLETE

    def solution(self, state: GramState) -> PolarSolution:
        if state.Q is None:
            return super().solution(state)
        return PolarSolution(stacked(state.X @ state.Q), products=state.products + 1)


@dataclass(frozen=True)
class TurboNewtonSchulz(Polynomials):
    """Newton-Schulz after scaling of columns, with one step fewer.

    X <- A D with D = diag((sum_i |A'A|_ij)^-1/2), after which |X|_2 <= 1 and singular values are
    nearer to 1: the first polynomial of the schedule is left out. A D has another polar factor
    than A: the difference is small only for nearly orthogonal columns of one scale.

    Notes
    -----
    Flops: 4np² + 2p³ a step, as Newton-Schulz. Memory: 2np + 3p².

    References
    ----------
    Boissin, Massena, Mamalet and Serrurier 2025, "Turbo-Muon", arXiv:2512.04632.
    """

    name: ClassVar[str] = "turbo-newton-schulz"
    source: ClassVar[str] = "Boissin et al. 2025"
    fewer: ClassVar[int] = 1

    def init(self, oracle: PolarOracle, rng: np.random.Generator) -> StartedState:
        X = oracle.A / each(lengths(oracle.A))  # against overflow; the scales make up for it
        xp, S = namespace(X), gram(X)
        sums = xp.sum(xp.abs(S), axis=-2, keepdims=True)
        scales = 1 / xp.sqrt(xp.where(sums > 0, sums, 1.0 + 0 * sums))  # columns of zeros stay
        state = StartedState(X=X * scales, rows=X.shape[-2], S=S * scales * transposed(scales))
        _, n, p = sizes(X)
        counted(state, tall=1, other=4 * n * p + 4 * p * p)
        return state

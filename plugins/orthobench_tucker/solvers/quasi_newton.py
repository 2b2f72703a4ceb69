"""Quasi-Newton methods on the Grassmannian: BFGS and L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite, sqrt
from typing import ClassVar

import numpy as np
from orthobench_kit.memory import refusal_of

from orthobench.contract import AnyProblem, Array, Solution, Status, UsageError, flops, parameter
from orthobench_tucker import SymmetricTensorOracle, SymmetricTucker
from orthobench_tucker._kernels.partial_cores import PartialCores, partial_cores
from orthobench_tucker.geodesics import (
    Geodesic,
    LimitedMemory,
    LocalMatrix,
    arrival_flops,
    geodesic_flops,
    transport_flops,
)
from orthobench_tucker.objective import (
    AscentState,
    Point,
    check_first_point,
    check_point,
    check_stalled,
    evaluate,
    evaluation_flops,
    gain,
    preconditioned_parameter,
    tolerance_parameter,
)
from orthobench_tucker.whole_tensor import WholeTensorSolver, form_parameter, start_parameter

METHODS = ("lbfgs", "bfgs")
"""Values of the parameter ``method``."""

UPWARD = 1e-8
"""Minimum cosine between a direction and the gradient."""

PATIENCE = 10
"""Number of steps without halving the gradient before a test."""

SUFFICIENT = 1e-4
"""Minimum gain, relative to that predicted by the slope."""

FLATTER = 0.9
"""Maximum slope at the end, relative to that at the start."""

TRIALS = 25
"""Maximum number of trials."""

STRETCH = 4.0
"""Maximum extrapolation, relative to the last trial."""

MARGIN = 0.1
"""Minimum distance of a trial from the ends of its bracket, relative to its width."""


@dataclass(slots=True, kw_only=True)
class QuasiNewtonState(AscentState):
    """The point, and the approximation of the inverse Hessian.

    `least` is the last recorded norm of the gradient, `idle` the number of steps since then.
    """

    inverse: LimitedMemory | LocalMatrix
    least: float = inf
    idle: int = 0

    def record(self) -> None:
        """Record the norm of the gradient if it has halved."""
        self.idle += 1
        if self.point.slope <= self.least / 2:
            self.least, self.idle = self.point.slope, 0


@dataclass(frozen=True)
class QuasiNewton(WholeTensorSolver[QuasiNewtonState]):
    """Quasi-Newton ascent along geodesics of the Grassmannian.

    Each step follows the geodesic in the direction H grad F, where H approximates the inverse
    Hessian of -F, to a point that meets the strong Wolfe conditions. Parallel transport moves H
    there. The step and the change of the gradient update it: ``lbfgs`` keeps the last `memory` of
    these pairs, ``bfgs`` a matrix in local coordinates. H is reset if its direction does not point
    upward.

    With ``preconditioned``, this project's, the initial H is the inverse of V -> V (Q'∇F), else a
    multiple of the identity, as in the paper. The run also ends if the gradient is rounding
    (`stop_at_rounding`).

    Notes
    -----
    One evaluation of F and its gradient for each trial of the line search, usually one a step.
    ``lbfgs`` adds about 16nr² flops for each pair, ``bfgs`` 7 ((n - r) r)². Memory: 2nr doubles for
    each pair, or 2 ((n - r) r)².

    References
    ----------
    Savas and Lim 2010, *Quasi-Newton methods on Grassmannians and multilinear approximations of
    tensors*: BFGS in local coordinates, and L-BFGS, for symmetric tensors. F and its gradient come
    from W = X ·(I, Q, ..., Q) as in Jin, Kileel, Kolda and Ward 2022.
    """

    form: str = form_parameter()
    start: str = start_parameter()
    method: str = parameter("lbfgs", choices=METHODS, help="limited memory, or a dense matrix")
    memory: int = parameter(5, low=1, help="maximum number of pairs of lbfgs", grid=(3, 5, 10))
    preconditioned: bool = preconditioned_parameter()
    tolerance: float = tolerance_parameter()

    name: ClassVar[str] = "quasi-newton"
    source: ClassVar[str] = "Savas and Lim 2010"

    def refuses(self, problem: AnyProblem) -> str | None:
        why = super().refuses(problem)
        if why is None and isinstance(problem, SymmetricTucker) and problem.tensor_shape:
            rank = getattr(problem, "rank", None)
            return self._too_large(problem.tensor_shape[0], rank) if rank else None
        return why

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> QuasiNewtonState:
        """Evaluate F at the first basis.

        Raises
        ------
        UsageError
            If the matrix of ``bfgs`` does not fit into memory.
        """
        why = self._too_large(oracle.n, oracle.k)
        if why is not None:
            raise UsageError(why)
        cores = partial_cores(oracle, self.form)
        point = evaluate(cores, self.first_basis(oracle, rng))
        state = QuasiNewtonState(point=point, inverse=self._limited())
        check_first_point(state, oracle, self.tolerance)
        if state.status is Status.RUNNING:
            state.inverse = self._blank(point)
        state.work.flops += self.start_flops(oracle) + evaluation_flops(cores, oracle.k)
        return state

    def step(self, oracle: SymmetricTensorOracle, state: QuasiNewtonState) -> None:
        cores, point = partial_cores(oracle, self.form), state.point
        direction = self._direction(state)
        geodesic = Geodesic(point.Q, direction)
        probe = partial(_trial, cores, geodesic, point.unit)
        begin = Trial(0.0, point, float(np.vdot(point.gradient, direction)))
        end, trials = wolfe_search(probe, begin, geodesic.longest)
        n, r = point.Q.shape
        state.work.steps += 1
        state.work.flops += geodesic_flops(n, r) + state.inverse.step_flops(n, r)
        state.work.flops += trials * (evaluation_flops(cores, r) + arrival_flops(n, r))
        if end is None:
            self._restart(cores, state)
        else:
            state.work.flops += transport_flops(n, r, r) + flops.gemm(n, r, r)
            self._arrive(cores, state, geodesic, end)

    def solution(self, state: QuasiNewtonState) -> Solution:
        return Solution(state.point.Q.copy())

    def _too_large(self, n: int, r: int) -> str | None:
        if self.method == "lbfgs":
            return None
        k = (n - r) * r
        why = refusal_of(2 * 8 * k * k, f"bfgs, with a matrix of {k} x {k} and as much to work,")
        return why and f"{why}; take method = lbfgs"

    def _blank(self, point: Point) -> LimitedMemory | LocalMatrix:
        if self.method == "bfgs":
            return LocalMatrix.at(point, self.preconditioned)
        return self._limited()

    def _limited(self) -> LimitedMemory:
        return LimitedMemory(self.memory, self.preconditioned)

    def _direction(self, state: QuasiNewtonState) -> Array:
        """Return H grad F, with a blank H if it does not point upward."""
        point = state.point
        direction = state.inverse.direction(point)
        if state.inverse.blank or _upward(point, direction):
            return direction
        state.inverse = self._blank(point)
        return state.inverse.direction(point)

    def _arrive(
        self, cores: PartialCores, state: QuasiNewtonState, geodesic: Geodesic, end: Trial
    ) -> None:
        s = end.t * geodesic.velocity(end.t)
        y = geodesic.transport(state.point.gradient, end.t) - end.point.gradient
        state.inverse.move(geodesic, end.t, s, y)
        state.point = end.point
        if state.inverse.outdated(end.point):
            state.inverse = self._blank(end.point)
        check_point(state, self.tolerance)
        state.record()
        if state.idle >= PATIENCE and state.status is Status.RUNNING and self.tolerance > 0:
            state.idle = 0
            check_stalled(cores, state, stuck=False)

    def _restart(self, cores: PartialCores, state: QuasiNewtonState) -> None:
        if not state.inverse.blank:
            state.inverse = self._blank(state.point)
        elif self.tolerance > 0:
            check_stalled(cores, state, stuck=True)


@dataclass(frozen=True, slots=True)
class Trial:
    """A point on a curve: parameter, function, and derivative along the curve."""

    t: float
    point: Point
    slope: float


def wolfe_search(
    probe: Callable[[float], Trial], start: Trial, longest: float
) -> tuple[Trial | None, int]:
    """Search for a point on a curve that meets the strong Wolfe conditions, for a rising F.

    F(t) - F(0) >= 1e-4 t F'(0), and |F'(t)| <= 0.9 F'(0). Trials within a bracket are maximizers of
    the cubic through both ends. A trial at the maximum t, `longest`, needs only the first
    condition. `probe` maps t to a trial, one evaluation of F and its slope. Returns the last lower
    end of the bracket if no trial is flat enough, None if none of 25 has risen; and the number of
    trials.
    """
    low, high = start, None
    t = min(1.0, longest)
    for tried in range(1, TRIALS + 1):
        trial = probe(t)
        if not _rises(start, trial) or trial.slope < -FLATTER * start.slope:
            high = trial
        elif trial.slope <= FLATTER * start.slope or t >= longest:
            return trial, tried
        else:
            low = trial
        t = min(STRETCH * t, longest) if high is None else _between(low, high)
    return (low if low.t > 0 else None), TRIALS


def _rises(start: Trial, trial: Trial) -> bool:
    slopes = (trial.t * start.slope, trial.t * trial.slope)
    return gain(start.point.value, trial.point.value, slopes) >= SUFFICIENT * trial.t * start.slope


def _between(low: Trial, high: Trial) -> float:
    """Return the maximizer of the cubic through both ends."""
    width = high.t - low.t
    slopes = (width * low.slope, width * high.slope)
    rise = gain(low.point.value, high.point.value, slopes)
    inner = low.slope + high.slope - 3 * rise / width
    root = inner * inner - low.slope * high.slope
    t = low.t + width / 2
    if isfinite(root) and root >= 0:
        bottom = high.slope - low.slope - 2 * sqrt(root)
        if bottom != 0:
            t = high.t - width * (high.slope - sqrt(root) - inner) / bottom
    return min(max(t, low.t + MARGIN * width), high.t - MARGIN * width)


def _trial(cores: PartialCores, geodesic: Geodesic, unit: float, t: float) -> Trial:
    point = evaluate(cores, geodesic.at(t), unit)
    return Trial(t, point, float(np.vdot(point.gradient, geodesic.velocity(t))))


def _upward(point: Point, direction: Array) -> bool:
    rise = float(np.vdot(point.gradient, direction))
    return rise > UPWARD * point.slope * float(np.linalg.norm(direction))

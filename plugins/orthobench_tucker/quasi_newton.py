"""Quasi-Newton methods on the Grassmannian: BFGS and L-BFGS."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf
from typing import ClassVar

import numpy as np

from orthobench.contract import (
    AnyProblem,
    Array,
    Solution,
    Solver,
    Status,
    UsageError,
    flops,
    parameter,
)
from orthobench.families.symmetric_tucker import SymmetricTensorOracle, SymmetricTucker
from orthobench.tools.memory import refusal_of
from orthobench_tucker.endings import tolerance_parameter
from orthobench_tucker.geodesics import (
    Geodesic,
    arrival_flops,
    geodesic_flops,
    transport_flops,
)
from orthobench_tucker.inverse_hessians import InverseHessian, LimitedMemory, LocalMatrix
from orthobench_tucker.line_search import Trial, wolfe_search
from orthobench_tucker.objective import Point, evaluate, evaluation_flops
from orthobench_tucker.partial_cores import (
    PartialCores,
    form_parameter,
    forming_flops,
    partial_cores,
    refusal,
)
from orthobench_tucker.second_order import (
    AscentState,
    preconditioned_parameter,
    settle,
    settle_first,
    settle_stalled,
)
from orthobench_tucker.starts import first_basis, first_basis_flops, start_parameter

METHODS = ("lbfgs", "bfgs")

UPWARD = 1e-8
"""Least cosine between a direction and the gradient; below it the approximation is dropped."""

PATIENCE = 10
"""Steps that may pass without halving the gradient before it is looked at for rounding."""


@dataclass(slots=True, kw_only=True)
class QuasiNewtonState(AscentState):
    """Where the ascent is, and what it knows of the Hessian.

    Attributes
    ----------
    inverse : InverseHessian
    least : float
        The gradient that has not been halved yet.
    idle : int
        Steps since it was noted.
    """

    inverse: InverseHessian
    least: float = inf
    idle: int = 0

    def note(self) -> None:
        """Note whether the gradient has fallen to a half of the last one that was noted."""
        self.idle += 1
        if self.point.slope <= self.least / 2:
            self.least, self.idle = self.point.slope, 0


@dataclass(frozen=True)
class QuasiNewton(Solver[SymmetricTensorOracle, QuasiNewtonState]):
    """Quasi-Newton ascent along geodesics of the Grassmannian.

    Each step follows the geodesic in the direction H grad F, where H approximates the inverse
    Hessian of -F, to a point of the strong Wolfe conditions; then H is carried there by parallel
    transport, and updated with the step and the change of the gradient.

    ``lbfgs`` keeps the last pairs of those, in global coordinates: tangent vectors (n, r), each
    transported. ``bfgs`` keeps H as a matrix in local coordinates, in a frame of the complement
    of Q that is transported in its place: ((n - r) r)² doubles, and refused where that does not
    fit. Pairs without curvature are left out, and what does not point upward is dropped.

    With ``preconditioned``, which is this project's, the first H is that of V -> V (Q'∇F), so
    that the first step is close to one of the power iteration; without it a multiple of the
    identity, as in the paper.

    Ends where the relative gradient |grad F| / F is at most `tolerance`, or where the gradient is
    found to be rounding (`orthobench_tucker.endings.end_in_rounding`): that is asked after ten
    steps that do not halve it, and where no point is found along the gradient itself.

    Parameters
    ----------
    form, start : str
    method : str
    memory : int
        Pairs that ``lbfgs`` keeps.
    preconditioned : bool
    tolerance : float
        Zero to go on for ever.

    Notes
    -----
    A step costs one evaluation of F and its gradient for each trial of the line search, most often
    one, and ``lbfgs`` about 16nr² flops a pair, ``bfgs`` 7 ((n - r) r)².

    References
    ----------
    Savas and Lim 2010, *Quasi-Newton methods on Grassmannians and multilinear approximations of
    tensors*: BFGS in local coordinates, and L-BFGS, for symmetric tensors. F and its gradient come
    from W = X ·(I, Q, ..., Q) as in Jin, Kileel, Kolda and Ward 2022.
    """

    form: str = form_parameter()
    start: str = start_parameter()
    method: str = parameter("lbfgs", choices=METHODS, help="limited memory, or a dense matrix")
    memory: int = parameter(5, low=1, help="pairs that lbfgs keeps", grid=(3, 5, 10))
    preconditioned: bool = preconditioned_parameter()
    tolerance: float = tolerance_parameter()

    name: ClassVar[str] = "quasi-newton"
    needs: ClassVar[type[SymmetricTensorOracle]] = SymmetricTensorOracle  # type: ignore[type-abstract]
    source: ClassVar[str] = "Savas and Lim 2010"

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: as `refusal` has it, or too large a matrix."""
        why = super().refuses(problem) or refusal(problem, self.form, self.start)
        if why is None and isinstance(problem, SymmetricTucker) and problem.tensor_shape:
            rank = getattr(problem, "rank", None)
            return self._too_large(problem.tensor_shape[0], rank) if rank else None
        return why

    def init(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> QuasiNewtonState:
        """Evaluate F at the first basis.

        Raises
        ------
        UsageError
            Where the matrix of ``bfgs`` would not fit into memory.
        """
        del rng
        why = self._too_large(oracle.n, oracle.k)
        if why is not None:
            raise UsageError(why)
        cores = partial_cores(oracle, self.form)
        point = evaluate(cores, first_basis(oracle, self.start, self.form))
        state = QuasiNewtonState(point=point, inverse=LimitedMemory(1, False))
        settle_first(state, oracle, self.tolerance)
        if state.status is Status.RUNNING:
            state.inverse = self._blank(point)
        state.work.flops += (
            forming_flops(oracle, self.form)
            + first_basis_flops(oracle, self.start, self.form)
            + evaluation_flops(cores, oracle.k)
        )
        return state

    def step(self, oracle: SymmetricTensorOracle, state: QuasiNewtonState) -> None:
        """Go along one geodesic; where that leads nowhere, drop what is known of the Hessian."""
        cores, point = partial_cores(oracle, self.form), state.point
        direction = self._direction(state)
        geodesic = Geodesic(point.Q, direction)
        probe = partial(_trial, cores, geodesic, point.unit)
        begin = Trial(0.0, point, float(np.vdot(point.gradient, direction)))
        end, trials = wolfe_search(probe, begin, geodesic.longest)
        n, r = point.Q.shape
        state.work.steps += 1
        state.work.flops += geodesic_flops(n, r) + state.inverse.cost(n, r)
        state.work.flops += trials * (evaluation_flops(cores, r) + arrival_flops(n, r))
        if end is None:
            self._restart(cores, state)
        else:
            state.work.flops += transport_flops(n, r, r) + flops.gemm(n, r, r)
            self._arrive(cores, state, geodesic, end)

    def solution(self, state: QuasiNewtonState) -> Solution:
        """Return Q, (n, r)."""
        return Solution(state.point.Q.copy())

    def _too_large(self, n: int, r: int) -> str | None:
        if self.method == "lbfgs":
            return None
        k = (n - r) * r
        why = refusal_of(2 * 8 * k * k, f"bfgs, with a matrix of {k} x {k} and as much to work,")
        return why and f"{why}; take method = lbfgs"

    def _blank(self, point: Point) -> InverseHessian:
        if self.method == "bfgs":
            return LocalMatrix.at(point, self.preconditioned)
        return LimitedMemory(self.memory, self.preconditioned)

    def _direction(self, state: QuasiNewtonState) -> Array:
        """Return H grad F, from a blank H where it does not point upward."""
        point = state.point
        direction = state.inverse.direction(point)
        if state.inverse.blank or _upward(point, direction):
            return direction
        state.inverse = self._blank(point)
        return state.inverse.direction(point)

    def _arrive(
        self, cores: PartialCores, state: QuasiNewtonState, geodesic: Geodesic, end: Trial
    ) -> None:
        """Carry what is known of the Hessian to the end of a geodesic, and learn from the way."""
        s = end.t * geodesic.velocity(end.t)
        y = geodesic.transport(state.point.gradient, end.t) - end.point.gradient
        state.inverse.move(geodesic, end.t, s, y)
        state.point = end.point
        if state.inverse.outdated(end.point):
            state.inverse = self._blank(end.point)
        settle(state, self.tolerance)
        state.note()
        if state.idle >= PATIENCE and state.status is Status.RUNNING and self.tolerance > 0:
            state.idle = 0
            settle_stalled(cores, state, stuck=False)

    def _restart(self, cores: PartialCores, state: QuasiNewtonState) -> None:
        """Drop what is known of the Hessian; where nothing is, say how the run ends."""
        if not state.inverse.blank:
            state.inverse = self._blank(state.point)
        elif self.tolerance > 0:
            settle_stalled(cores, state, stuck=True)


def _trial(cores: PartialCores, geodesic: Geodesic, unit: float, t: float) -> Trial:
    point = evaluate(cores, geodesic.at(t), unit)
    return Trial(t, point, float(np.vdot(point.gradient, geodesic.velocity(t))))


def _upward(point: Point, direction: Array) -> bool:
    rise = float(np.vdot(point.gradient, direction))
    return rise > UPWARD * point.slope * float(np.linalg.norm(direction))

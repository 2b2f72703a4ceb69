"""Wen and Yin's method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, Status, parameter
from orthobench_stiefel import StiefelOracle
from orthobench_stiefel._kernels.line_search import CUT, RHO, Reference, barzilai_borwein
from orthobench_stiefel._kernels.retractions import CayleyCurve
from orthobench_stiefel.descent import Descent, Iterate, relative_parameter

WINDOW = 5
"""Number of steps over which changes are averaged."""

TRIALS = 5
"""Trial of a line search that the authors accept in any case."""

SAFE_TRIALS = 30
"""Maximum number of trials of the safe search."""


@dataclass(slots=True, kw_only=True)
class WenYinState(Iterate):
    """The iterate, its cost `value`, the curve from it, and the memory of the line search.

    `length` is the first trial of the next step, `reference` the cost for comparison, and
    `changes` those of X and of the cost in the last steps.
    """

    curve: CayleyCurve
    value: float
    length: float
    reference: Reference
    changes: list[tuple[float, float]] = field(default_factory=list)


@dataclass(frozen=True)
class WenYin(Descent[StiefelOracle, WenYinState]):
    """Descent along the Cayley curve Y(t) = (I + tA/2)⁻¹ (I - tA/2) X, A = GX' - XG'.

    Steps are alternately |<S, Y>|/|Y|² and |S|²/|<S, Y>|, with the last changes S of X and Y of G
    - XG'X, cut by .1. The nonmonotone rule is f <= C less 1e-4 t |G - XG'X|²; the authors' slope
    is between one and two times that of the curve, -|A|²/2. As in their code, the fifth trial is
    accepted in any case; ``safe_search`` goes on until the rule is met. Steps and tolerances of
    the authors are absolute.

    It ends if |G - XG'X| < gtol, if |S|/sqrt(n) < xtol and the relative change of the cost < ftol,
    or if the means of these over five steps are below ten times that.

    Notes
    -----
    Flops of a step: 6np² for the curve, 12np, and for each trial a value, a gradient and 6np² +
    40p³/3. If 2p >= n, a curve takes 6n²p and a trial 2n³/3 + 2n²p. Memory: 7np + 4p², or 2n² +
    6np.

    References
    ----------
    Wen and Yin 2013, "A feasible method for optimization with orthogonality constraints",
    Mathematical Programming 142, Algorithm 2, with the settings of the authors' code
    ``OptStiefelGBB``. In its later releases a QR is the default.
    """

    name: ClassVar[str] = "wen-yin"
    converges: ClassVar[bool] = True
    source: ClassVar[str] = "Wen and Yin 2013, Algorithm 2"

    step_size: float = parameter(1e-3, name="step", above=0.0, help="first step")
    gtol: float = parameter(1e-6, low=0.0, help="norm of G - XG'X to end at")
    xtol: float = parameter(1e-6, low=0.0, help="change of X to end at, with ftol")
    ftol: float = parameter(1e-12, low=0.0, help="relative change of the cost to end at, with xtol")
    safe_search: bool = parameter(
        False, help="search until the rule holds, in place of accepting the fifth trial"
    )

    relative: bool = relative_parameter("step and tolerances")

    def init(self, oracle: StiefelOracle, rng: np.random.Generator) -> WenYinState:
        begun = self.begun(oracle)
        X = begun["X"]
        curve, reference = CayleyCurve(X, np.zeros_like(X)), Reference(0.0)
        state = WenYinState(
            **begun, curve=curve, value=0.0, length=self.step_size, reference=reference, unit=1.0
        )
        state.value, G = state.evaluated(oracle, X)
        state.reference.cost = state.value
        if not state.settle(state.norm_of(G), 0.0):
            self._turn(state, G)
        return state

    def step(self, oracle: StiefelOracle, state: WenYinState) -> None:
        state.work.steps += 1
        length, gain = state.length, RHO * state.norm_of(state.curve.slope) ** 2
        for trial in range(1, SAFE_TRIALS + 1):
            X = self._point(state, length)
            if X is not None:
                value, G = state.evaluated(oracle, X)
                last = trial >= TRIALS and not self.safe_search
                if last or state.reference.accepts(value, length * gain):
                    return self._accept(state, X, value, G)
            length *= CUT
        state.status = Status.CONVERGED
        return None

    def _point(self, state: WenYinState, length: float) -> Any:
        """Return a point of the curve; None if its system is singular to rounding."""
        state.work.flops += state.curve.point_flops
        try:
            return state.cleaned(state.curve(length))
        except np.linalg.LinAlgError:
            return None

    def _accept(self, state: WenYinState, X: Array, value: float, G: Array) -> None:
        before, S = state.curve.slope, X - state.X
        state.X = X
        self._turn(state, G)
        Y = state.curve.slope - before
        state.length = barzilai_borwein(S, Y, long=state.work.steps % 2 == 0)
        moved = state.norm_of(S) / float(np.sqrt(len(X)))
        changed = abs(value - state.value) / (abs(value) + 1)
        state.work.flops += 6 * X.size
        state.changes = [*state.changes[1 - WINDOW :], (moved, changed)]
        state.reference.include(value)
        state.value = value
        state.settle(state.norm_of(state.curve.slope), self.gtol)
        if state.status is Status.RUNNING and self._still(state.changes):
            state.status = Status.CONVERGED

    def _turn(self, state: WenYinState, G: Array) -> None:
        state.curve = CayleyCurve(state.X, G)
        state.work.flops += state.curve.flops

    def _still(self, changes: list[tuple[float, float]]) -> bool:
        moved, changed = changes[-1]
        means = np.mean(changes, axis=0)
        below = bool(means[0] < 10 * self.xtol and means[1] < 10 * self.ftol)
        return below or (moved < self.xtol and changed < self.ftol)

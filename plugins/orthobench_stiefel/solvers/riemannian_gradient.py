"""Riemannian gradient descent on the Stiefel manifold."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.arrays import inner, minimum, where
from orthobench_kit.ending import finish_if, read_end, unless_ended
from orthobench_kit.stacks import sizes, transposed

from orthobench.contract import Status, UsageError, flops, namespace, parameter
from orthobench_stiefel import ProductOracle, projected
from orthobench_stiefel._kernels.line_search import CUT, RHO, Reference, barzilai_borwein
from orthobench_stiefel._kernels.retractions import RETRACTIONS
from orthobench_stiefel._kernels.secants import PAIRS, Pair, direction, pair
from orthobench_stiefel.descent import (
    ArrayDescent,
    Iterate,
    batch_parameter,
    momentum_parameter,
    relative_parameter,
    size_of,
    tolerance_parameter,
)

RECENT = 5
"""Number of short steps of which the adaptive rule takes the minimum."""

STEEP = 0.3
"""Ratio of short to long step below which the adaptive rule takes a short one."""

TURNING = 8.0
"""Weight of X skew(X'G) in the turning metric; Euclidean 1, canonical 2."""

WEIGHTS = {"euclidean": 1.0, "canonical": 2.0, "turning": TURNING}
"""Weights of X skew(X'G) by metric."""

TRIALS = 30
"""Maximum number of trials of a line search."""


@dataclass(slots=True, kw_only=True)
class GradientState(Iterate):
    """The iterate, its Riemannian gradient R, and the memory of the line search.

    D is the direction of the next step, `slope` <G, R>, `length` the first trial of the next step,
    `reference` the cost for comparison, `shorts` the last short steps, and `pairs` the last
    changes of X and R.
    """

    R: Any
    D: Any
    slope: Any
    length: Any
    reference: Reference
    shorts: list[Any] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)


@dataclass(frozen=True)
class RiemannianGradient(ArrayDescent[GradientState]):
    """Gradient descent along retractions, with Barzilai-Borwein, Armijo or constant steps.

    X <- Retr_X(-t R) with R = (I - XX')G + w X skew(X'G): w = 1 in the Euclidean metric, 2 in the
    canonical and 8 in the turning one. A step t is accepted if f <= C - 1e-4 t <G, R>, up to
    rounding.

    - ``bb``: t is alternately |S|²/|<S, Y>| and |<S, Y>|/|Y|², with the last changes S of X and Y
      of R, cut by .1 if rejected. C is Zhang and Hager's mean of the costs so far.

    - ``adaptive``: the longer of these steps, unless the shorter is less than .3 of it; then the
      minimum of the last five shorter ones.

    - ``lbfgs``: along the projection of -HR, H the BFGS approximation of the inverse Hessian by
      the last five S and Y. t is 1, halved if rejected; C is the cost. The first H has a step for
      each column outside the span of X, and multiplies X skew(X'G) by w.

    - ``armijo``: twice the last step, halved if rejected; C is the cost. It ends after ten steps
      that lower the cost by rounding.

    - ``constant``: no search. With momentum b the step is along D <- R + b (D - X sym(X'D)).

    The Cayley curve is orthonormalized if it has drifted by more than 1e-13.

    Notes
    -----
    Flops of a step: 4np² for R, 10np for differences, and for each trial a value, a gradient and a
    retraction, 4np² for a QR; 4np² for momentum, 20np² + 64np for BFGS. Memory: 6np, or 18np.

    References
    ----------
    Absil, Mahony and Sepulchre 2008, "Optimization algorithms on matrix manifolds", chapter 4.
    Edelman, Arias and Smith 1998, for the canonical metric. Hüper, Markina and Silva Leite 2021,
    for the family of metrics. Zhang and Hager 2004, "A nonmonotone line search technique".
    Barzilai and Borwein 1988. Frassoldati, Zanni and Zanghirati 2008, "New adaptive stepsize
    selections in gradient methods", rule ABBmin1. Huang, Gallivan and Absil 2015, "A Broyden class
    of quasi-Newton methods for Riemannian optimization". Gilbert and Lemaréchal 1989, for diagonal
    scalings of the first H.
    """

    name: ClassVar[str] = "riemannian-gradient"
    source: ClassVar[str] = "Absil, Mahony and Sepulchre 2008, Algorithm 1"

    metric: str = parameter(
        "euclidean",
        choices=("euclidean", "canonical", "turning"),
        help="metric that defines the gradient",
    )
    retraction: str = parameter(
        "qr", choices=tuple(RETRACTIONS), help="how a step returns to the manifold"
    )
    steps: str = parameter(
        "bb", choices=("bb", "adaptive", "lbfgs", "armijo", "constant"), help="rule of the steps"
    )
    step_size: float = parameter(
        0.1,
        name="step",
        above=0.0,
        grid=(1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0),
        help="first step, or the constant one",
    )
    momentum: float = momentum_parameter("; of constant steps")
    batch: int = batch_parameter()
    tolerance: float = tolerance_parameter()
    relative: bool = relative_parameter()

    @property
    def converges(self) -> bool:  # type: ignore[override]
        return self.steps != "constant"

    @property
    def readings(self) -> float:  # type: ignore[override]
        """One for each trial, and one for each Newton-Schulz retraction."""
        trials = 1 if self.steps == "constant" else TRIALS
        return trials * ((self.steps != "constant") + (self.retraction == "newton-schulz"))

    def init(self, oracle: ProductOracle, rng: np.random.Generator) -> GradientState:
        begun = self.begun(oracle)
        if self.batch and self.steps != "constant":
            raise UsageError(f"steps = {self.steps} searches with the whole cost; take batch = 0")
        if self.momentum and self.steps != "constant":
            raise UsageError(f"steps = {self.steps} has no momentum; take momentum = 0")
        X = begun["X"]
        reference = Reference(0.0, eps=float(namespace(X).finfo(X.dtype).eps))
        state = GradientState(
            **begun, R=X, D=X, slope=0.0, length=self.step_size, reference=reference
        )
        if self.steps == "constant":
            G = state.estimated(oracle, X, self.batch)
        else:
            state.reference.cost, G = state.evaluated(oracle, X)
        state.unit = state.norm_of(G)
        state.R, state.slope = self._gradient(state, X, G)
        state.D = state.R
        state.settle(state.slope, 0.0)
        read_end(oracle, state)
        return state

    def step(self, oracle: ProductOracle, state: GradientState) -> None:
        state.work.steps += 1
        if self.steps == "constant":
            moved = self._retracted(state, self.step_size)
            state.X = unless_ended(state, moved, state.X)
            G = state.estimated(oracle, state.X, self.batch)
            state.R, state.slope = self._gradient(state, state.X, G)
            state.D = state.R + self._carried(state) if self.momentum else state.R
        else:
            self._search(oracle, state)
        state.settle(state.norm_of(state.R), 0.0 if self.batch else self.tolerance)

    def _search(self, oracle: ProductOracle, state: GradientState) -> None:
        """Try steps until one is accepted; without one the method has converged."""
        length, cut = state.length, CUT if self.steps in ("bb", "adaptive") else 0.5
        for _ in range(TRIALS):
            X = self._retracted(state, length)
            value, G = state.evaluated(oracle, X)
            accepted = state.reference.accepts(value, RHO * length * state.slope)
            if accepted if state.ended is None else accepted | (state.ended != 0):
                return self._accept(state, X, value, G, length)
            length = length * cut
        state.status = Status.CONVERGED
        return None

    def _accept(self, state: GradientState, X: Any, value: Any, G: Any, length: Any) -> None:
        R, state.slope = self._gradient(state, X, G)
        D = R
        if self.steps == "armijo":
            state.length = 2 * length
            state.reference.include(value, memory=0.0)
            finish_if(state, state.reference.stalls(value))
        elif self.steps == "lbfgs":
            D = self._direction(state, X, R)
            state.length, state.slope = 1.0, inner(R, D)
            state.reference.include(value, memory=0.0)
        else:
            state.length = self._next_length(state, X - state.X, R - state.R)
            state.reference.include(value)
            state.work.flops += 2 * size_of(X)
        state.X, state.R, state.D = unless_ended(state, X, state.X), R, D

    def _next_length(self, state: GradientState, S: Any, Y: Any) -> Any:
        state.work.flops += 4 * size_of(S)
        if self.steps == "bb":
            return barzilai_borwein(S, Y, long=state.work.steps % 2 == 0)
        state.work.flops += 4 * size_of(S)
        long, short = (barzilai_borwein(S, Y, long=which) for which in (True, False))
        state.shorts = [*state.shorts[1 - RECENT :], short]
        return where(short < STEEP * long, reduce(minimum, state.shorts), long)

    def _direction(self, state: GradientState, X: Any, R: Any) -> Any:
        before = state.pairs[-1].step if state.pairs else self.step_size
        last = pair(X, X - state.X, R - state.R, before)
        state.pairs = [*state.pairs[1 - PAIRS :], last]
        m, n, p = sizes(X)
        state.work.flops += m * (10 * flops.gemm(n, p, p) + 9 * p * p)
        state.work.flops += (24 + 8 * len(state.pairs)) * size_of(X)
        return direction(X, R, state.pairs, WEIGHTS[self.metric])

    def _gradient(self, state: GradientState, X: Any, G: Any) -> tuple[Any, Any]:
        m, n, p = sizes(X)
        R = G - X @ self._inner(transposed(X) @ G)
        state.work.flops += m * (2 * flops.gemm(n, p, p) + 3 * n * p)
        state.work.flops += m * {"euclidean": 2, "canonical": 0, "turning": 3}[self.metric] * p * p
        return R, inner(G, R)

    def _inner(self, XG: Any) -> Any:
        """Return X'G - w skew(X'G), the difference of G and R in coordinates of X."""
        metric = "euclidean" if self.steps == "lbfgs" else self.metric
        if metric == "canonical":
            return transposed(XG)
        turned = XG - TURNING / 2 * (XG - transposed(XG))
        return turned if metric == "turning" else (XG + transposed(XG)) / 2

    def _carried(self, state: GradientState) -> Any:
        m, n, p = sizes(state.X)
        state.work.flops += m * (2 * flops.gemm(n, p, p) + 3 * n * p + 2 * p * p)
        return self.momentum * projected(state.X, state.D)

    def _retracted(self, state: GradientState, length: Any) -> Any:
        X, done = RETRACTIONS[self.retraction](state.X, -length * state.D)
        state.work.flops += done + size_of(X)
        return state.cleaned(X) if self.retraction == "cayley" else X

"""Constraint dissolving."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np
from orthobench_kit.arrays import inner

from orthobench.contract import Array, Status, flops, parameter
from orthobench_stiefel import StiefelOracle
from orthobench_stiefel._kernels.line_search import RHO, Reference
from orthobench_stiefel._kernels.secants import two_loop
from orthobench_stiefel.descent import Descent, Iterate, relative_parameter, tolerance_parameter

Change: TypeAlias = tuple[Array, Array, float]
"""Changes S of the point and Y of the gradient, and 1/<S, Y>."""

FARTHEST = 1.0
"""Maximum defect |X'X - I| of iterates."""

TRIALS = 30
"""Maximum number of trials of a line search."""


@dataclass(slots=True, kw_only=True)
class DissolvedState(Iterate):
    """The iterate, the value and gradient H of the penalty function, and the memory of L-BFGS."""

    H: Array
    reference: Reference
    changes: list[Change] = field(default_factory=list)


@dataclass(frozen=True)
class CDOpt(Descent[StiefelOracle, DissolvedState]):
    """Minimize f(X (3I - X'X)/2) + penalty/4 |X'X - I|² over all X, by L-BFGS.

    For a penalty above 3/2 of the largest eigenvalue of sym(X'G) its minima near the manifold are
    those of f on it. Its gradient is G (3I - X'X)/2 - X sym(X'G) + penalty X (X'X - I), G at X (3I
    - X'X)/2. Steps are 1, halved until the value falls by 1e-4 of the slope and |X'X - I| < 1.

    Notes
    -----
    Flops of a step: for each trial a value, a gradient and 12np²; 8np for each change that is
    kept. Memory: (5 + 2 memory) np.

    References
    ----------
    Xiao, Liu and Toh 2024, "Dissolving constraints for Riemannian optimization", Mathematics of
    Operations Research 49; Hu, Xiao, Liu and Toh 2022, "A constraint dissolving approach for
    nonsmooth optimization over the Stiefel manifold" and CDOpt, arXiv:2212.02698.
    """

    name: ClassVar[str] = "cdopt"
    converges: ClassVar[bool] = True
    source: ClassVar[str] = "Xiao, Liu and Toh, CDOpt, arXiv:2212.02698"

    penalty: float = parameter(
        1.0, above=0.0, grid=(0.3, 1.0, 3.0, 10.0), help="weight of |X'X - I|²/4"
    )
    memory: int = parameter(10, low=1, help="changes that L-BFGS keeps")
    tolerance: float = tolerance_parameter()
    relative: bool = relative_parameter("penalty")

    def init(self, oracle: StiefelOracle, rng: np.random.Generator) -> DissolvedState:
        begun = self.begun(oracle)
        X = begun["X"]
        state = DissolvedState(**begun, H=X, reference=Reference(0.0))
        state.reference.cost, state.H = self._dissolved(oracle, state, X)
        state.unit = state.norm_of(state.H)
        # no factor: the gradient is zero, or not finite
        state.settle(state.unit if state.factor else 0.0 * state.unit, 0.0)
        return state

    def step(self, oracle: StiefelOracle, state: DissolvedState) -> None:
        state.work.steps += 1
        D = self._direction(state)
        slope, length = float(inner(state.H, D)), 1.0
        state.work.flops += 2 * D.size
        for _ in range(TRIALS):
            X = state.X - length * D
            value, H = self._dissolved(oracle, state, X)
            state.work.flops += 2 * D.size
            if state.reference.accepts(value, RHO * length * slope):
                return self._accept(state, X, value, H)
            length /= 2
        state.status = Status.CONVERGED
        return None

    def _dissolved(
        self, oracle: StiefelOracle, state: DissolvedState, X: Array
    ) -> tuple[float, Array]:
        n, p = X.shape
        D = X.T @ X - np.eye(p)
        square = float(inner(D, D))
        state.work.flops += flops.gemm(n, p, p) + 3 * p * p
        if square >= FARTHEST**2:
            return np.inf, X
        half = np.eye(p) - D / 2
        value, G = state.evaluated(oracle, X @ half)
        XG = X.T @ G
        H: Array = G @ half + X @ (self.penalty * D - (XG + XG.T) / 2)
        state.work.flops += 4 * flops.gemm(n, p, p) + n * p + 7 * p * p
        return value + self.penalty / 4 * square, H

    def _accept(self, state: DissolvedState, X: Array, value: float, H: Array) -> None:
        S, Y = X - state.X, H - state.H
        product, square = float(inner(S, Y)), float(inner(Y, Y))
        state.work.flops += 8 * X.size
        if product > np.finfo(float).eps * square:
            state.changes = [*state.changes[1 - self.memory :], (S, Y, 1 / product)]
        state.X, state.H = X, H
        state.reference.include(value, memory=0.0)
        state.settle(state.norm_of(H), self.tolerance)

    def _direction(self, state: DissolvedState) -> Array:
        if not state.changes:
            return np.asarray(0.1 / state.norm_of(state.H) * state.H)
        state.work.flops += (8 * len(state.changes) + 3) * state.H.size
        _, Y, over = state.changes[-1]
        scale = over * float(inner(Y, Y))
        return np.asarray(two_loop(state.H, state.changes, lambda D: D / scale))

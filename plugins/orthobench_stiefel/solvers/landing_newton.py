"""Landing with Newton steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench_kit.arrays import inner
from orthobench_kit.polar import newton_schulz

from orthobench.contract import Array, Status, flops
from orthobench_stiefel import StiefelOracle
from orthobench_stiefel._kernels.line_search import RHO, Reference
from orthobench_stiefel.descent import (
    Descent,
    Iterate,
    relative_parameter,
    size_of,
    tolerance_parameter,
)

LONGEST = 0.5
"""Maximum length of a tangent step: Newton-Schulz converges from its defect."""

DIFFERENCE = 1e-7
"""Length of gradient differences in place of Hessian products."""

FORCING = 0.1
"""Maximum relative residual of Newton's equation."""

TRIALS = 12
"""Maximum number of trials of a line search."""

SMALL = 1e-12
"""Length of N below which a failed search means convergence."""


@dataclass(slots=True, kw_only=True)
class NewtonState(Iterate):
    """The iterate, and the values at the nearest point of Newton-Schulz, Y = X (3I - X'X)/2.

    G are the partial derivatives at Y, R their tangent part, `value` is the cost. V and `sums` (p,
    p) are the eigenvectors of Y'Y, and the sums of any two eigenvalues.
    """

    Y: Array
    G: Array
    R: Array
    V: Array
    sums: Array
    value: float = np.nan


@dataclass(frozen=True)
class LandingNewton(Descent[StiefelOracle, NewtonState]):
    """X <- X + N + D: a Newton-Schulz step N = X (3I - X'X)/2 - X, and a tangent Newton step D.

    D solves P(H[D] - D sym(Y'G)) = -P(G), with gradient G and Hessian H at Y = X + N (in the paper
    at X) and the projection P onto Y'D + D'Y = 0. Conjugate gradients reach a residual of min(.1,
    |P(G)|), or end if the curvature is not positive. D is cut to a length of 1/2, and halved until
    the cost at the next Y falls by 1e-4 <G, D>; the whole D is also accepted if it halves |P(G)|.
    Without success N alone is the step.

    Notes
    -----
    Flops of a step: for each conjugate gradient a product with the Hessian, or a gradient if there
    is none, and 6np² + 8p³ + 16np; for each trial a value, a gradient, 10np² and 17p³. Memory:
    9np.

    References
    ----------
    Xiong, Gao and Absil 2026, "A second-order method landing on the Stiefel manifold via
    Newton-Schulz iteration", arXiv:2605.02838; Dembo, Eisenstat and Steihaug 1982, for the
    residuals.
    """

    name: ClassVar[str] = "landing-newton"
    converges: ClassVar[bool] = True
    source: ClassVar[str] = "Xiong, Gao and Absil 2026"

    tolerance: float = tolerance_parameter()
    relative: bool = relative_parameter("residuals")

    def init(self, oracle: StiefelOracle, rng: np.random.Generator) -> NewtonState:
        begun = self.begun(oracle)
        X = begun["X"]
        state = NewtonState(**begun, Y=X, G=X, R=X, V=X, sums=X)
        self._move(oracle, state, X)
        state.unit = state.norm_of(state.G)
        state.settle(state.norm_of(state.R), self.tolerance)
        return state

    def step(self, oracle: StiefelOracle, state: NewtonState) -> None:
        state.work.steps += 1
        Y, D = state.Y, self._newton(oracle, state)
        reference, slope = Reference(state.value), -float(inner(state.G, D))
        half, normal = state.norm_of(state.R) / 2, state.norm_of(Y - state.X)
        for length in 0.5 ** np.arange(TRIALS):
            self._move(oracle, state, Y + length * D)
            halved = length == 1 and state.norm_of(state.R) <= half
            if halved or reference.accepts(state.value, RHO * length * slope):
                break
        else:
            self._move(oracle, state, Y)
            if normal <= SMALL:
                state.status = Status.CONVERGED
        state.work.flops += 3 * size_of(D)
        state.settle(state.norm_of(state.R), self.tolerance)

    def _move(self, oracle: StiefelOracle, state: NewtonState, X: Array) -> None:
        n, p = X.shape
        state.X, state.Y = X, newton_schulz(X)
        values, state.V = np.linalg.eigh(state.Y.T @ state.Y)
        state.sums = values[:, None] + values
        state.value, state.G = state.evaluated(oracle, state.Y)
        state.R = self._tangent(state, state.G)
        state.work.flops += 3 * flops.gemm(n, p, p) + flops.eigh(p) + 2 * n * p + 4 * p * p

    def _tangent(self, state: NewtonState, Z: Array) -> Array:
        """Return P(Z), exact even if Y'Y is not yet the unit matrix."""
        n, p = Z.shape
        Y, V = state.Y, state.V
        M = V.T @ (Y.T @ Z) @ V
        state.work.flops += 2 * flops.gemm(n, p, p) + 4 * flops.gemm(p, p, p) + n * p + 2 * p * p
        return np.asarray(Z - Y @ (V @ ((M + M.T) / state.sums) @ V.T))

    def _newton(self, oracle: StiefelOracle, state: NewtonState) -> Array:
        r, D = -state.R, np.zeros_like(state.R)
        d, square = r, float(inner(r, r))
        small = square * min(FORCING, square**0.5) ** 2
        n, p = r.shape
        for number in range(n * p):
            Hd = self._product(oracle, state, d)
            curvature = float(inner(d, Hd))
            state.work.flops += 12 * n * p
            if curvature <= 0:
                D = d if number == 0 else D
                break
            length = square / curvature
            D, r = D + length * d, r - length * Hd
            before, square = square, float(inner(r, r))
            if square <= small or inner(D, D) > LONGEST**2:
                break
            d = r + (square / before) * d
        D = self._tangent(state, D)
        state.work.flops += 5 * n * p
        return D * min(1.0, LONGEST / max(float(np.linalg.norm(D)), 1e-300))

    def _product(self, oracle: StiefelOracle, state: NewtonState, D: Array) -> Array:
        n, p = D.shape
        YG = state.Y.T @ state.G
        curved = self._hessian(oracle, state, D) - D @ ((YG + YG.T) / 2)
        state.work.flops += 2 * flops.gemm(n, p, p) + n * p + 2 * p * p
        return self._tangent(state, curved)

    def _hessian(self, oracle: StiefelOracle, state: NewtonState, D: Array) -> Array:
        factor = 1.0 if state.factor is None else state.factor
        state.work.samples += oracle.terms
        if oracle.hessian is not None:
            state.work.flops += oracle.hessian_flops + size_of(D)
            return np.asarray(factor * oracle.hessian(state.Y, D))
        h = DIFFERENCE / max(state.norm_of(D), 1e-300)
        state.work.flops += oracle.gradient_flops + 5 * size_of(D)
        return np.asarray((factor * oracle.gradient(state.Y + h * D) - state.G) / h)

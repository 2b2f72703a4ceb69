"""Roots by the coupled Newton-Schulz iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.arrays import sqrt
from orthobench_kit.polar import polynomial
from orthobench_kit.stacks import each, lengths, sizes, stacked

from orthobench.contract import AnyProblem, Oracle, Status, UsageError, identity
from orthobench_polar.base import PolarState, counted
from orthobench_polar.oracle import PolarOracle, PolarSolution, SpectralOracle
from orthobench_polar.solvers.newton_schulz import ScheduledSolver, by_schatten_norm

EXPONENTS = (-1.0, -0.5, 0.0, 0.5)
"""Exponents that one root or two reach."""


@dataclass(slots=True, kw_only=True)
class CoupledState(PolarState):
    """The matrix X = A / `unit`, and a root with its inverse.

    Y and Z (p, p) go to S^½ and S^-½ of S = X'X, and then to those of `inverse`, (X'X)^-½.
    """

    unit: Any
    Y: Any
    Z: Any
    inverse: Any = None
    root_unit: Any = 1.0


@dataclass(frozen=True)
class CoupledNewtonSchulz(ScheduledSolver[CoupledState]):
    """Y <- Y h(ZY), Z <- h(ZY) Z from Y = X'X, Z = I: Z goes to (X'X)^-½, and then to its root.

    h(t) = a + b t + c t² is the polynomial of a Newton-Schulz schedule: singular values x of X
    move as x h(x²). Exponents 0 and -1 take one root, 1/2 and -1/2 another one of (X'X)^-½. X is A
    over its Schatten 4-norm. The source's seven steps of ``quintic`` a root reach singular values
    above some 2 % of the largest, `polar-express` a thousandth.

    Notes
    -----
    Flops of a step: 8p³, 6p³ if c = 0; 2np² to begin and 2np² to end. Memory: 2np + 5p².

    References
    ----------
    Higham 2008, "Functions of matrices", section 6.7; MuonRemez of marin-community/levanter 2025,
    for 1/2.
    """

    name: ClassVar[str] = "coupled-newton-schulz"
    source: ClassVar[str] = "Higham 2008, section 6.7; MuonRemez 2025"
    needs: ClassVar[type[Oracle]] = SpectralOracle

    def refuses(self, problem: AnyProblem) -> str | None:
        return super().refuses(problem) or _refusal(getattr(problem, "exponent", 0.0))

    def init(self, oracle: PolarOracle, rng: np.random.Generator) -> CoupledState:
        if why := _refusal(oracle.exponent):
            raise UsageError(why)
        X, S = by_schatten_norm(oracle.A)
        _, n, p = sizes(X)
        unit = lengths(oracle.A) / lengths(X)
        state = CoupledState(X=X, rows=n, unit=unit, Y=S, Z=identity(p, X) + 0 * S)
        counted(state, tall=1, other=8 * n * p + 3 * p * p)
        return state

    def step(self, oracle: PolarOracle, state: CoupledState) -> None:
        state.work.steps += 1
        p = state.X.shape[-1]
        number = (state.work.steps - 1) % self.total + 1
        first = number == 1
        S = state.Y if first else state.Z @ state.Y  # Z begins as the unit matrix
        P, small = polynomial(S, self.at(number))
        state.Y, state.Z = state.Y @ P, P if first else P @ state.Z
        counted(state, small=small + (1 if first else 3), other=5 * p * p)
        if number < self.total:
            return
        if state.inverse is not None or oracle.exponent in (0, -1):
            state.X, done = self.power(oracle.exponent, state)
            counted(state, tall=1, small=done)
            state.Y = state.Z = state.inverse = None
            state.status = Status.COMPLETE
            return
        state.inverse = state.Z
        state.root_unit = lengths(state.Z)
        state.Y = state.Z / each(state.root_unit)
        state.Z = identity(p, state.X) + 0 * state.Y
        counted(state, other=3 * p * p)

    def power(self, exponent: float, state: CoupledState) -> tuple[Any, int]:
        """Return the power of A by the current roots, and the number of products (p, p)."""
        if state.inverse is None:
            factor, done = (state.Z, 0) if exponent == 0 else (state.Z @ state.Z, 1)
        else:
            factor, done = state.Y * each(sqrt(state.root_unit)), 0
            if exponent < 0:
                factor, done = state.inverse @ factor, 1
        return each(state.unit**exponent) * (state.X @ factor), done

    def solution(self, state: CoupledState) -> PolarSolution:
        """Return the power at the end, and the polar factor so far before."""
        if state.Y is None:
            return super().solution(state)
        factor = state.Z if state.inverse is None else state.inverse
        return PolarSolution(stacked(state.X @ factor), products=state.products + 1)


def _refusal(exponent: float) -> str | None:
    if exponent in EXPONENTS:
        return None
    return f"roots lead to the exponents -1, -1/2, 0 and 1/2, not to {exponent}"

"""Newton-Schulz and a polynomial of A'A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.polar import gram, polynomial
from orthobench_kit.stacks import each, lengths, sizes

from orthobench.contract import Oracle, Status, identity, parameter
from orthobench_polar.base import PolarState, counted
from orthobench_polar.minimax import power_polynomial
from orthobench_polar.oracle import PolarOracle, SpectralOracle
from orthobench_polar.solvers.newton_schulz import ScheduledSolver


@dataclass(slots=True, kw_only=True)
class CorrectedState(PolarState):
    """The point, the first Gram matrix S (p, p), and the divisor `unit` of A."""

    S: Any
    unit: Any


@dataclass(frozen=True)
class CorrectedNewtonSchulz(ScheduledSolver[CorrectedState]):
    """X <- X (a I + b X'X + c (X'X)²) from X = A / |A|, and at the end X q(A'A / |A|²).

    The polynomial q is near t^(exponent/2):

    - ``minimax``: the minimal largest relative error on [low², 1]; with low = .01 and degree 2, 32
      % for exponent -1/4, 26 % for 1/4 and 43 % for 1/2.

    - ``taylor``: the series at t = 1, as in DynMuon's code, of degree 2 for negative exponents,
      after five steps of ``you``; from 0 to 1/4 the polar factor, and beyond 1/4 A.

    Notes
    -----
    Flops: those of Newton-Schulz, and 2np² + 2(degree - 1)p³ in a last step. Memory: 2np + 4p².

    References
    ----------
    Wu et al. 2026, "DynMuon", arXiv:2605.17109, and its code.
    """

    name: ClassVar[str] = "corrected-newton-schulz"
    source: ClassVar[str] = "Wu et al. 2026"
    needs: ClassVar[type[Oracle]] = SpectralOracle

    correction: str = parameter(
        "minimax", choices=("minimax", "taylor"), help="polynomial of A'A at the end"
    )
    degree: int = parameter(2, low=1, high=12, help="degree of that polynomial")
    low: float = parameter(
        0.01, above=0.0, below=1.0, help="lowest singular value over |A| for minimax"
    )

    def init(self, oracle: PolarOracle, rng: np.random.Generator) -> CorrectedState:
        unit = lengths(oracle.A)
        X = oracle.A / each(unit)
        _, n, p = sizes(X)
        state = CorrectedState(X=X, rows=n, S=gram(X), unit=unit)
        counted(state, tall=1, other=3 * n * p)
        return state

    def step(self, oracle: PolarOracle, state: CorrectedState) -> None:
        state.work.steps += 1
        number, p = state.work.steps, state.X.shape[-1]
        if number <= self.total:
            S = state.S if number == 1 else gram(state.X)
            P, small = polynomial(S, self.at(number))
            state.X = state.X @ P
            counted(state, tall=1 + (number > 1), small=small, other=(1 + 4 * small) * p * p)
        else:
            q, small = self.corrected(state.S, oracle.exponent)
            state.X = each(state.unit**oracle.exponent) * (state.X @ q)
            counted(state, tall=1, small=small, other=state.rows * p + (small + 1) * p)
        if number >= self.total + (oracle.exponent != 0):
            state.status = Status.COMPLETE

    def corrected(self, S: Any, exponent: float) -> tuple[Any, int]:
        """Return q(S) by Horner's rule, and the number of products of matrices (p, p)."""
        unit = identity(S.shape[-1], S)
        if self.correction == "minimax":
            weights = power_polynomial(exponent / 2, self.degree, self.low**2)
        else:
            weights, S = binomial(exponent / 2, self.degree), S - unit
        q = weights[-1] * S + weights[-2] * unit
        for weight in weights[-3::-1]:
            q = q @ S + weight * unit
        return q, self.degree - 1


def binomial(exponent: float, degree: int) -> tuple[float, ...]:
    """Return the coefficients of the series of (1 + e)^exponent, lowest first."""
    found = [1.0]
    for k in range(degree):
        found.append(found[-1] * (exponent - k) / (k + 1))
    return tuple(found)

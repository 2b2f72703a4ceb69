"""Spectral powers by one rational function."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log2, sqrt
from typing import ClassVar

import numpy as np
from orthobench_kit.stacks import each, lengths

from orthobench.contract import AnyProblem, Oracle, Status, UsageError, parameter
from orthobench_polar.base import counted, rounding_unit
from orthobench_polar.minimax import power_fractions
from orthobench_polar.oracle import PolarOracle, SpectralOracle
from orthobench_polar.solvers.rational import SAFE, SquareSolver, SquareState, resolvent

TERMS = 32
"""Maximum number of terms."""

WIDEST = 0.5
"""Maximum lower bound of an interval."""


@dataclass(frozen=True)
class RationalPower(SquareSolver):
    """X (m I + sum_j a_j (X'X + c_j I)⁻¹), nearly the best rational function for its degree.

    m + sum_j a_j / (t + c_j) is near t^((exponent - 1)/2) on [l², 1], with a lower bound l of the
    singular values of X. The AAA algorithm finds the poles, least squares the weights. All terms
    are independent, and make one step. The relative error falls by a factor of about exp(2π² /
    log(16 / l²)) with each term: 5 at condition 1e2, 2.2 at 1e5.

    Parameters
    ----------
    terms : int
        r; 0: the number for an error of rounding, at most 32.

    Notes
    -----
    Flops: as `QDWH` at the beginning and the end, and r times 5p³, or 9p³ by QR with small poles.
    Memory: np + 7p².

    References
    ----------
    Nakatsukasa, Sete and Trefethen 2018, "The AAA algorithm for rational approximation"; Higham
    2008, "Functions of matrices", section 4.4.
    """

    name: ClassVar[str] = "rational-power"
    source: ClassVar[str] = "Nakatsukasa, Sete and Trefethen 2018"
    needs: ClassVar[type[Oracle]] = SpectralOracle

    terms: int = parameter(0, low=0, high=TERMS, help="poles; 0: for rounding errors, at most 32")

    def refuses(self, problem: AnyProblem) -> str | None:
        return super().refuses(problem) or _refusal(getattr(problem, "exponent", 0.0))

    def init(self, oracle: PolarOracle, rng: np.random.Generator) -> SquareState:
        if why := _refusal(oracle.exponent):
            raise UsageError(why)
        return super().init(oracle, rng)

    def step(self, oracle: PolarOracle, state: SquareState) -> None:
        state.work.steps += 1
        X, p, unit = state.X, state.X.shape[-1], rounding_unit(state.X)
        # a power of two, so that rounding does not choose another function
        low = min(2.0 ** floor(log2(max(state.low, unit))), WIDEST)
        function = power_fractions(
            (oracle.exponent - 1) / 2, low**2, self.terms or TERMS, 0.0 if self.terms else 16 * unit
        )
        found, total = function.constant * X, p * p
        for weight, pole in zip(function.weights, function.poles, strict=True):
            term, done = resolvent(X, sqrt(pole), by_qr=pole < 1 / SAFE)
            found, total = found + weight * term, total + done + 2 * p * p
        scale = lengths(oracle.A) / lengths(X)
        state.X = each(scale**oracle.exponent) * found
        counted(state, other=total + p * p)
        state.status = Status.COMPLETE


def _refusal(exponent: float) -> str | None:
    if exponent > -1:
        return None
    return "the exponent must be above -1: the function 1 / t has its pole at 0"

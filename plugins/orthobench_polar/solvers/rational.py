"""Rational iterations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import asinh, isfinite, pi, sinh, sqrt
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.polar import gram
from orthobench_kit.stacks import lengths, most, sizes, stacked, transposed

from orthobench.contract import Status, copied, flops, identity, namespace, parameter
from orthobench_polar.base import (
    Factorizing,
    PolarState,
    completed,
    counted,
    lost,
    rounding_unit,
)
from orthobench_polar.oracle import PolarOracle, PolarSolution

SAFE = 100.0
"""Maximum weight of X'X for solving with I + cX'X without QR."""

ITERATIONS = 40
"""Maximum number of steps of Newton's method."""

DEGREES = 8
"""Maximum number of terms of a Zolotarev function."""


@dataclass(slots=True, kw_only=True)
class SquareState(PolarState):
    """A square point, and the Q factor (n, p) of A if that is not square.

    `low` is a lower bound of the singular values of X, which are at most 1; `degree` the number of
    terms of Zolotarev functions, 0 before the first step.
    """

    Q: Any
    low: float
    degree: int = 0


class SquareSolver(Factorizing[SquareState]):
    """Base of methods on the triangular factor of A."""

    def init(self, oracle: PolarOracle, rng: np.random.Generator) -> SquareState:
        """Begin at R / a of A = QR with a bound a of |A|_2; a square A stays itself.

        The lower bound of singular values is 1 / |R⁻¹|_F, for a batch the minimum.
        """
        xp, A = namespace(oracle.A), oracle.A
        _, n, p = sizes(A)
        Q, R = xp.linalg.qr(A)
        X = R if n > p else copied(A)
        bound = xp.sqrt(_norms(X))
        low = max(1 / inverse_norm(R / bound), rounding_unit(X) / 1024)
        state = SquareState(X=X / bound, rows=n, Q=Q if n > p else None, low=min(low, 1.0))
        counted(state, other=flops.qr(n, p) + 2 * p**3 + 9 * p * p)
        return state

    def solution(self, state: Any) -> PolarSolution:
        if state.Q is None:
            return super().solution(state)
        return PolarSolution(stacked(state.Q @ state.X), products=state.products + 1)


def _end(state: SquareState) -> None:
    if lost(state.X):
        state.X = completed(state.X, state.X)
    state.status = Status.CONVERGED


def inverse_norm(R: Any) -> float:
    """Return the maximum |R⁻¹|_F of a batch, infinite if a matrix is singular."""
    try:
        found = float(most(lengths(namespace(R).linalg.inv(R))))
    except Exception:  # each library has an error of its own for a singular matrix
        return float("inf")
    return found if isfinite(found) else float("inf")


def resolvent(X: Any, weight: float, by_qr: bool) -> tuple[Any, int]:
    """Return X (X'X + weight² I)⁻¹ for X (p, p) or (b, p, p), and its flops.

    By LU with a weight of at least 1/10, or stably by QR: [X; weight I] = QR gives Q1 Q2' /
    weight.
    """
    xp, p = namespace(X), X.shape[-1]
    if not by_qr:
        M = gram(X) + weight * weight * identity(p, X)
        solved = transposed(xp.linalg.solve(M, transposed(X)))
        return solved, 2 * flops.gemm(p, p, p) + 2 * p**3 // 3
    unit = weight * identity(p, X)
    if X.ndim > 2:
        unit = xp.broadcast_to(unit, X.shape)
    Q, _ = xp.linalg.qr(xp.concat([X, unit], axis=-2))
    product = Q[..., :p, :] @ transposed(Q[..., p:, :])
    return product / weight, flops.qr(2 * p, p) + flops.gemm(p, p, p) + p * p


@dataclass(frozen=True)
class QDWH(SquareSolver):
    """X <- X (a I + b X'X) (I + c X'X)⁻¹ with weights from a bound of the singular values.

    The weights are the best for singular values in [l, 1]: six steps from condition 1e16 to 1e-16,
    three from 10. While c > 100 a step factorizes [sqrt(c) X; I], which is stable; then it solves
    with I + cX'X. Other than square matrices are reduced to their triangular factors.

    Notes
    -----
    Flops: 4np² - 4p³/3 and 2p³ before the first step, about 9p³ a step by QR and 5p³ by solving,
    2np² at the end; if n = p, without the terms of n. Memory: np + 6p².

    References
    ----------
    Nakatsukasa, Bai and Gygi 2010, "Optimizing Halley's iteration for computing the matrix polar
    decomposition"; Nakatsukasa and Higham 2013, algorithm 5.1.
    """

    name: ClassVar[str] = "qdwh"
    source: ClassVar[str] = "Nakatsukasa, Bai and Gygi 2010"
    readings: ClassVar[float] = 0

    def step(self, oracle: PolarOracle, state: SquareState) -> None:
        state.work.steps += 1
        a, b, c = halley_weights(state.low)
        inverse, done = resolvent(state.X, 1 / sqrt(c), by_qr=c > SAFE)
        # (I + cX'X)⁻¹ = (X'X + I/c)⁻¹ / c
        state.X = (b / c) * state.X + ((a - b / c) / c) * inverse
        counted(state, other=done + 3 * state.X.shape[-1] ** 2)
        square = state.low**2
        state.low = min(1.0, state.low * (a + b * square) / (1 + c * square))
        if 1 - state.low <= 4 * rounding_unit(state.X):
            _end(state)


def halley_weights(low: float) -> tuple[float, float, float]:
    """Return a, b and c of x (a + b x²) / (1 + c x²), the best map of [low, 1] to near 1.

    Nakatsukasa, Bai and Gygi 2010, equations 3.9 to 3.11.
    """
    square = low * low
    d = float(np.cbrt(4 * (1 - square) / (square * square)))
    root = sqrt(1 + d)
    a = root + 0.5 * sqrt(max(0.0, 8 - 4 * d + 8 * (2 - square) / (square * root)))
    b = (a - 1) ** 2 / 4
    return a, b, a + b - 1


@dataclass(frozen=True)
class Zolotarev(SquareSolver):
    """X <- M (X + sum_j a_j X (X'X + c_j I)⁻¹): two steps with the best rational function.

    Zolotarev's function of type (2r + 1, 2r) is the best approximation of the sign on [l, 1]. Its
    composition with that of the image is the best of degree (2r + 1)². The number r is the minimum
    with which two steps reach rounding, at most 8.

    Notes
    -----
    Flops: as `QDWH` at the beginning and the end; r times about 9p³ in the first step and 5p³ in
    the second. Memory: np + 7p².

    References
    ----------
    Nakatsukasa and Freund 2016, "Computing fundamental matrix decompositions accurately via the
    matrix sign function in two iterations: the power of Zolotarev's functions", algorithm 3.2.
    """

    name: ClassVar[str] = "zolotarev"
    source: ClassVar[str] = "Nakatsukasa and Freund 2016"

    def step(self, oracle: PolarOracle, state: SquareState) -> None:
        state.work.steps += 1
        X, p = state.X, state.X.shape[-1]
        state.degree = state.degree or degree(state.low, rounding_unit(X))
        function = ZolotarevFunction.of(state.degree, state.low)
        found, total = X, 0
        for weight, pole in zip(function.weights, function.poles, strict=True):
            term, done = resolvent(X, sqrt(pole), by_qr=pole < 1 / SAFE)
            found, total = found + weight * term, total + done + 2 * p * p
        state.X = function.scale * found
        counted(state, other=total + p * p)
        state.low = min(1.0, function(state.low))
        if 1 - state.low <= 16 * rounding_unit(X):
            _end(state)


@dataclass(frozen=True)
class ZolotarevFunction:
    """M x (1 + sum_j a_j / (x² + c_j)), the best odd function of its degree on [l, 1].

    With M, `scale`, the value at 1 is 1; `weights` and `poles` are a_j and c_j.
    """

    scale: float
    weights: tuple[float, ...]
    poles: tuple[float, ...]

    def __call__(self, x: float) -> float:
        """Return its value."""
        terms = (a / (x * x + c) for a, c in zip(self.weights, self.poles, strict=True))
        return self.scale * x * (1 + sum(terms))

    @classmethod
    def of(cls, r: int, low: float) -> ZolotarevFunction:
        """Return the function of type (2r + 1, 2r) for [low, 1].

        Nakatsukasa and Freund 2016, section 3: c_i = l² sn² / cn² at iK'/(2r + 1), with elliptic
        functions of modulus sqrt(1 - l²).
        """
        tangents = elliptic_tangents(low, [i / (2 * r + 1) for i in range(1, 2 * r + 1)])
        c = [low * low * t * t for t in tangents]
        poles, zeros = c[0::2], c[1::2]
        weights = []
        for j, pole in enumerate(poles):
            value = -1.0
            for k, zero in enumerate(zeros):
                value *= pole - zero
                if k != j:
                    value /= pole - poles[k]
            weights.append(value)
        unscaled = cls(1.0, tuple(weights), tuple(poles))
        return cls(1 / unscaled(1.0), unscaled.weights, unscaled.poles)


def degree(low: float, unit: float) -> int:
    """Return the minimum r with which two Zolotarev functions map [low, 1] to 1 up to rounding."""
    for r in range(1, DEGREES):
        middle = ZolotarevFunction.of(r, low)(low)
        if 1 - middle <= 8 * unit or 1 - ZolotarevFunction.of(r, middle)(middle) <= 8 * unit:
            return r
    return DEGREES


def elliptic_tangents(low: float, shares: Sequence[float]) -> list[float]:
    """Return sn/cn(share K') with modulus sqrt(1 - low²) and the quarter period K'.

    It is sn(i share K') / i with modulus `low`, by descending Landen transformations (Abramowitz
    and Stegun 16.4 and 16.20), which lose no digits. Above one half it is 1 / (low sn/cn((1 -
    share) K')).
    """
    ratios: list[float] = []
    mean, other, half = 1.0, sqrt(max(0.0, 1 - low * low)), low
    while half > 1e-17 * mean:
        mean, other = (mean + other) / 2, sqrt(mean * other)
        half = half * half / (4 * mean)  # (mean - other) / 2 before, without cancellation
        ratios.append(half / mean)
    quarter = pi / 2 / arithmetic_geometric_mean(low)
    found = []
    for share in shares:
        angle = 2.0 ** len(ratios) * mean * min(share, 1 - share) * quarter
        for ratio in reversed(ratios):
            angle = (angle + asinh(ratio * sinh(angle))) / 2
        tangent = sinh(angle)
        found.append(tangent if share <= 0.5 else 1 / (low * tangent))
    return found


def arithmetic_geometric_mean(x: float) -> float:
    """Return the arithmetic-geometric mean of 1 and x."""
    a = 1.0
    while abs(a - x) > 4e-16 * a:
        a, x = (a + x) / 2, sqrt(a * x)
    return a


@dataclass(frozen=True)
class PolarNewton(SquareSolver):
    """X <- (g X + X'⁻¹ / g) / 2, scaled by g = (|X⁻¹|_1 |X⁻¹|_inf / |X|_1 |X|_inf)^(1/4).

    Other than square matrices are reduced to their triangular factors; singular ones fail.

    Parameters
    ----------
    scaling : bool
        Without it g = 1: a step for each factor of two of the condition number.

    Notes
    -----
    Flops: 2p³ a step, and those of `QDWH` at the beginning and the end. Memory: np + 3p².

    References
    ----------
    Higham 1986, "Computing the polar decomposition with applications", algorithm Polar with
    equation 3.9.
    """

    name: ClassVar[str] = "polar-newton"
    source: ClassVar[str] = "Higham 1986"
    readings: ClassVar[float] = 2

    scaling: bool = parameter(True, help="scale each iterate")

    def step(self, oracle: PolarOracle, state: SquareState) -> None:
        state.work.steps += 1
        xp, X, p = namespace(state.X), state.X, state.X.shape[-1]
        try:
            inverse = xp.linalg.inv(X)
        except Exception:  # each library has an error of its own for a singular matrix
            state.status, state.reason = Status.FAILED, "a matrix is singular: it has no inverse"
            return
        g: Any = 1.0
        if self.scaling:
            g = xp.sqrt(xp.sqrt(_norms(inverse) / _norms(X)))
        state.X = 0.5 * (g * X + transposed(inverse) / g)
        counted(state, small=1, other=16 * p * p)
        moved = float(most(lengths(state.X - X) / lengths(state.X)))
        if not isfinite(moved):
            state.status, state.reason = Status.FAILED, "a matrix is singular: it has no inverse"
        elif moved <= sqrt(rounding_unit(X)) or state.work.steps >= ITERATIONS:
            state.status = Status.CONVERGED


def _norms(X: Any) -> Any:
    """Return |X|_1 |X|_inf of each matrix, shape (..., 1, 1)."""
    xp = namespace(X)
    size = xp.abs(X)
    columns = xp.max(xp.sum(size, axis=-2, keepdims=True), axis=-1, keepdims=True)
    rows = xp.max(xp.sum(size, axis=-1, keepdims=True), axis=-2, keepdims=True)
    return columns * rows

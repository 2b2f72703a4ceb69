"""POGO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.arrays import sqrt
from orthobench_kit.ending import unless_ended
from orthobench_kit.polar import gram, polynomial
from orthobench_kit.stacks import each, lengths, sizes

from orthobench.contract import Array, ParameterError, flops, namespace, parameter
from orthobench_stiefel import ProductOracle
from orthobench_stiefel.descent import (
    Iterate,
    batch_parameter,
    momentum_parameter,
    relative_parameter,
    size_of,
    tolerance_parameter,
)
from orthobench_stiefel.landing_field import FieldDescent

SAFE_DEFECT = 0.5
"""Maximum |M'M - I| of the intermediate point of a safe step."""

BETAS = (0.9, 0.999)
"""Shares of Adam's means that each step keeps."""

EPS = 1e-8
"""Adam's addend to the root of the mean square."""

SMALL = 1e-7
"""|M'M - I| below which the best weight of the second half is 1/2."""


@dataclass(slots=True, kw_only=True)
class PogoState(Iterate):
    """The iterate and the means of the base optimizer.

    `mean` is the sum of gradients with momentum, or Adam's mean; `square` Adam's mean of |G|², one
    number a matrix.
    """

    mean: Any
    square: Any = 0.0


@dataclass(frozen=True)
class POGO(FieldDescent[PogoState]):
    """M = X - t (G X'X - XG'X)/2, then X <- M + normal (M - MM'M).

    With normal = 1/2 a step leaves a defect of O(t⁴|G|⁴). The method breaks down if M has
    singular values near sqrt(3); ``safe_step`` bounds t so that |M'M - I| <= 1/2. With
    ``best_normal`` the weight minimizes the defect, a quartic polynomial; the authors' code takes
    the real part of a root.

    - ``sgd``: G is the gradient, or with momentum b the sum B <- bB + G, first B = G.

    - ``vector-adam``: G is Adam's mean of gradients, divided by the root of its mean of |G|², one
      number a matrix, so that t|G| is about t.

    Notes
    -----
    Flops of a step: a gradient and 12np² + 7np. Memory: 4np, or 5np with momentum or Adam.

    References
    ----------
    Javaloy and Vergari 2026, "An embarrassingly simple way to optimize orthogonal matrices at
    scale". The authors' code skips steps if all entries of G are below 1e-8, and its first B is (1
    + b)G; neither is done here.
    """

    name: ClassVar[str] = "pogo"
    source: ClassVar[str] = "Javaloy and Vergari 2026"

    step_size: float = parameter(
        0.1, name="step", above=0.0, grid=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0), help="learning rate"
    )
    base: str = parameter("sgd", choices=("sgd", "vector-adam"), help="base optimizer")
    momentum: float = momentum_parameter("; of sgd")
    normal: float = parameter(0.5, above=0.0, help="weight of the step back to the manifold")
    best_normal: bool = parameter(False, help="take the weight after which the defect is least")
    safe_step: bool = parameter(False, help="bound steps so that the defect stays below 1/2")
    batch: int = batch_parameter()
    tolerance: float = tolerance_parameter()
    relative: bool = relative_parameter()

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        if self.best_normal and self.place.library != "numpy":
            message = f"on={self.on} has no roots of polynomials; leave best_normal, or on"
            raise ParameterError("on", message)

    def init(self, oracle: ProductOracle, rng: np.random.Generator) -> PogoState:
        begun = self.begun(oracle)
        return PogoState(**begun, mean=namespace(begun["X"]).zeros_like(begun["X"]))

    @np.errstate(over="ignore", invalid="ignore")  # a run that diverges ends as failed
    def step(self, oracle: ProductOracle, state: PogoState) -> None:
        state.work.steps += 1
        before = state.X
        if self.move(oracle, state, 0.0, SAFE_DEFECT):
            M = state.X
            m, n, p = sizes(M)
            S = gram(M)
            normal = best_normal(S, state) if self.best_normal else self.normal
            corrected = M @ polynomial(S, (1 + normal, -normal, 0.0))[0]
            state.X = unless_ended(state, corrected, before)
            state.work.flops += m * (2 * flops.gemm(n, p, p) + 3 * p * p)

    def followed(self, state: PogoState, G: Any) -> Any:
        if self.base == "vector-adam":
            return _adam(state, G)
        if self.momentum:
            state.mean = self.momentum * state.mean + G
            state.work.flops += 2 * size_of(G)
            return state.mean
        return G


def _adam(state: PogoState, G: Any) -> Any:
    (first, second), count = BETAS, state.work.steps
    state.mean = first * state.mean + (1 - first) * G
    state.square = second * state.square + (1 - second) * lengths(G) ** 2
    scale = sqrt(state.square / (1 - second**count)) + EPS
    state.work.flops += 6 * size_of(G)
    return state.mean / ((1 - first**count) * each(scale))


def best_normal(S: Array, state: PogoState) -> float:
    """Return the weight l with the smallest |Y'Y - I|² for Y = M + l (M - MM'M).

    With S = M'M and D = I - S it is |-D + 2l SD + l² SD²|², whose derivative is a cubic.
    """
    m, p, _ = sizes(S)
    D = np.eye(p) - S
    state.work.flops += m * (2 * flops.gemm(p, p, p) + 13 * p * p)
    if not np.linalg.norm(D) > SMALL:
        return 0.5
    E = 2 * (S @ D)
    F = E @ D / 2
    dd, de, ee = np.vdot(D, D), np.vdot(D, E), np.vdot(E, E)
    df, ef, ff = np.vdot(D, F), np.vdot(E, F), np.vdot(F, F)
    quartic = np.array([ff, 2 * ef, ee - 2 * df, -2 * de, dd])
    if not np.isfinite(quartic).all():
        return 0.5
    roots = np.roots(np.polyder(quartic)).real
    return float(roots[np.argmin(np.polyval(quartic, roots))])

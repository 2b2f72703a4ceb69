"""SPEL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, flops, parameter
from orthobench_stiefel import StiefelOracle, projected
from orthobench_stiefel.descent import (
    Iterate,
    momentum_parameter,
)
from orthobench_stiefel.spectral import SpectralDescent, msign


@dataclass(slots=True, kw_only=True)
class SpelState(Iterate):
    """The iterate and the sum of gradients, `mean` (n, p)."""

    mean: Array


@dataclass(frozen=True)
class SPEL(SpectralDescent[SpelState]):
    """X <- msign(X - t msign(P(G))), with the projection P(G) = G - X sym(X'G) and polar factors.

    Steps have spectral norm t: with ``schedule = constant`` the run ends in a circle of that size
    around an optimum. With momentum G is the sum B <- bB + G, which is projected. Without
    ``projection`` the direction is msign(G), as in a public implementation until September 2026.

    Notes
    -----
    Flops of a step: a gradient, 24np² and 40p³. Memory: 4np.

    References
    ----------
    "Manifold constrained steepest descent" 2026, arXiv:2601.21487.
    """

    name: ClassVar[str] = "spel"
    source: ClassVar[str] = "arXiv:2601.21487"

    momentum: float = momentum_parameter()
    projection: bool = parameter(True, help="project gradients to the tangent space")

    def init(self, oracle: StiefelOracle, rng: np.random.Generator) -> SpelState:
        begun = self.begun(oracle)
        return SpelState(**begun, mean=np.zeros_like(begun["X"]))

    def direction(self, state: SpelState, G: Array) -> Array:
        n, p = G.shape
        B = G
        if self.momentum:
            state.mean = B = self.momentum * state.mean + G
            state.work.flops += 2 * n * p
        if self.projection:
            B = projected(state.X, B)
            state.work.flops += 2 * flops.gemm(n, p, p) + n * p + 2 * p * p
        A, done = msign(B)
        state.work.flops += done
        return A

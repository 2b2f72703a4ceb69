"""Spectral steps."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from orthobench.contract import Array, flops, parameter
from orthobench_stiefel import StiefelOracle, projected
from orthobench_stiefel.descent import (
    Descent,
    Iterate,
    batch_parameter,
    tolerance_parameter,
)

POWERS = {"constant": 0.0, "1/sqrt(t)": 0.5, "1/t": 1.0}
"""Powers of the step number by which steps are divided."""

IterateT = TypeVar("IterateT", bound=Iterate)


def msign(A: Array) -> tuple[Array, int]:
    """Return the polar factor UV' of A (n, p) = U S V', p <= n, and its flops, 8np² + 20p³.

    Singular values below rounding count as zero.
    """
    U, values, Vt = np.linalg.svd(A, full_matrices=False)
    there = values > A.shape[0] * np.finfo(values.dtype).eps * values[0]
    return (U * there) @ Vt, flops.polar(*A.shape) + A.size


@dataclass(frozen=True)
class SpectralDescent(Descent[StiefelOracle, IterateT]):
    """Base of the methods X <- msign(X - t A) whose directions A have singular values of one.

    Steps have to fall for convergence.
    """

    step_size: float = parameter(
        0.1, name="step", above=0.0, grid=(0.03, 0.1, 0.3, 1.0), help="first step, in radians"
    )
    schedule: str = parameter(
        "1/sqrt(t)", choices=tuple(POWERS), help="how steps fall with their number"
    )
    batch: int = batch_parameter()
    tolerance: float = tolerance_parameter()

    @abstractmethod
    def direction(self, state: Any, G: Array) -> Array:
        """Return A for a gradient G, and count its flops."""

    def step(self, oracle: StiefelOracle, state: Any) -> None:
        state.work.steps += 1
        G = state.estimated(oracle, state.X, self.batch)
        if state.measured(G):
            return
        n, p = G.shape
        state.work.flops += 2 * flops.gemm(n, p, p) + n * p + 2 * p * p
        tangent = state.norm_of(projected(state.X, G))
        if state.settle(tangent, 0.0 if self.batch else self.tolerance):
            return
        length = self.step_size / state.work.steps ** POWERS[self.schedule]
        state.X, done = msign(state.X - length * self.direction(state, G))
        state.work.flops += done + 2 * n * p

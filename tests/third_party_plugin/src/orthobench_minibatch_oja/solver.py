"""The solver: its parameters, its iterate, and what one step does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench.contract import (
    Array,
    SampleOracle,
    Solution,
    Solver,
    State,
    flops,
    orthonormalize,
    parameter,
)


@dataclass(slots=True, kw_only=True)
class Iterate(State):
    """All that changes during a run.

    Attributes
    ----------
    U : ndarray, shape (n, k)
        Orthonormal columns.
    """

    U: Array


@dataclass(frozen=True)
class MinibatchOja(Solver[SampleOracle, Iterate]):
    """Oja's method on mini-batches: stochastic gradient ascent with orthonormalization.

    Step t takes the next b samples, the rows of X, and sets U <- qf(U + c / sqrt(t) X'XU / b).
    Here qf is the Q factor. With b = 1 this is Oja's method.

    A step costs 4bnk + 2nk + (4nk² - 4k³/3) flops and (2k + b)n doubles of memory.

    Parameters
    ----------
    step_size : float
        The constant c > 0; users call it ``step``.
    batch : int
        The samples b that one step takes.

    References
    ----------
    Oja and Karhunen 1985, "On stochastic approximation of the eigenvectors and eigenvalues of
    the expectation of a random matrix", Journal of Mathematical Analysis and Applications 106.
    """

    name: ClassVar[str] = "minibatch-oja"
    source: ClassVar[str] = "Oja and Karhunen 1985, on mini-batches"

    step_size: float = parameter(
        8.0,
        name="step",
        help="constant c of the step size c / sqrt(t)",
        above=0.0,
        high=1e100,
        grid=(2.0, 4.0, 8.0, 16.0, 32.0),
    )
    batch: int = parameter(8, help="samples that one step takes", unit="samples", low=1)

    def init(self, oracle: SampleOracle, rng: np.random.Generator) -> Iterate:
        """Begin at ``oracle.start``, which is the same for all solvers."""
        del rng  # the method draws nothing itself
        return Iterate(U=oracle.start.copy())

    def step(self, oracle: SampleOracle, state: Iterate) -> None:
        """Take one mini-batch."""
        X = oracle.take(self.batch)
        state.work.steps += 1
        eta = self.step_size / state.work.steps**0.5
        state.U = orthonormalize(state.U + eta / self.batch * (X.T @ (X @ state.U)))
        n, k = state.U.shape
        state.work.samples += self.batch
        state.work.flops += 4 * self.batch * n * k + 2 * n * k + flops.qr(n, k)

    def solution(self, state: Iterate) -> Solution:
        """Return U, in an array that the solver will not touch again."""
        return Solution(state.U.copy())

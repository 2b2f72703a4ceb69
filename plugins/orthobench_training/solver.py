"""Base of the methods: batches, a falling step, and buffers of each matrix."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from orthobench_kit.polar import gram, polynomial
from orthobench_polar.coefficients import SCHEDULES

from orthobench.contract import Array, Solution, Solver, State, flops, parameter
from orthobench_training.oracle import TrainingOracle

POLYNOMIALS = 5
"""Number of Newton-Schulz steps of a polar factor, as in Muon."""


@dataclass(slots=True, kw_only=True)
class TrainingState(State):
    """The weights, and two buffers of each matrix.

    `momenta` are zero at first, `others` from `TrainingSolver.other`; `embedding` if the first
    matrix is one.
    """

    weights: list[Array]
    momenta: list[Array]
    others: list[Any] = field(default_factory=list)
    embedding: bool = False


@dataclass(frozen=True)
class TrainingSolver(Solver[TrainingOracle, TrainingState]):
    """Base: a batch, its gradients, and an update of each matrix (in, out).

    The step falls linearly from `step` to zero at the end of the samples. One method moves all
    matrices.
    """

    step_size: float = parameter(
        0.03, name="step", above=0.0, help="first step", grid=(0.003, 0.01, 0.03, 0.1, 0.3)
    )
    batch: int = parameter(50, low=1, help="samples a step")

    def init(self, oracle: TrainingOracle, rng: np.random.Generator) -> TrainingState:
        del rng
        weights = [self.begun(i, W, oracle) for i, W in enumerate(oracle.weights)]
        return TrainingState(
            weights=weights, momenta=[np.zeros_like(W) for W in weights],
            others=[self.other(W) for W in weights], embedding=oracle.network.symbols > 0,
        )  # fmt: skip

    def begun(self, number: int, W: Array, oracle: TrainingOracle) -> Array:
        """Return the first weights of a matrix; here a copy."""
        del number, oracle
        return W.copy()

    def other(self, W: Array) -> Any:
        """Return a second buffer of a matrix; here none."""
        del W

    def step(self, oracle: TrainingOracle, state: TrainingState) -> None:
        length = self.step_size * oracle.remaining() / oracle.total
        gradients, count = oracle.gradient(state.weights, self.batch)
        state.work.steps += 1
        state.work.samples += count
        state.work.flops += count * oracle.network.sample_flops
        for i, G in enumerate(gradients):
            update, done = self.update(state, i, G)
            state.weights[i] = self.returned(state, i, state.weights[i] - length * update)
            state.work.flops += done + 2 * G.size

    @abstractmethod
    def update(self, state: TrainingState, i: int, G: Array) -> tuple[Array, int]:
        """Return the step of matrix i at step size one, and its flops."""

    def returned(self, state: TrainingState, i: int, W: Array) -> Array:
        """Return the matrix after a step; here as it is."""
        del state, i
        return W

    def solution(self, state: TrainingState) -> Solution:
        return Solution(np.concatenate([W.ravel() for W in state.weights])[:, None])


@dataclass(frozen=True)
class SummedGradients(TrainingSolver):
    """Base of methods with the sum M <- momentum M + G."""

    momentum: float = parameter(0.95, low=0.0, below=1.0, help="decay of the sum of gradients")

    def summed(self, state: TrainingState, i: int, G: Array) -> Array:
        """Add a gradient to the sum of matrix i, and return the sum."""
        state.momenta[i] = self.momentum * state.momenta[i] + G
        return state.momenta[i]


def orthogonalized(M: Array, coefficients: str = "jordan") -> tuple[Array, int]:
    """Return Muon's polar factor, five steps of a schedule, and its flops."""
    wide = M.shape[0] < M.shape[1]
    X = M.T if wide else M
    n, p = X.shape
    X = X / max(float(np.linalg.norm(X)), float(np.finfo(np.float64).tiny))
    for number in range(POLYNOMIALS):
        X = X @ polynomial(gram(X), SCHEDULES[coefficients].at(number))[0]
    done = 3 * n * p + POLYNOMIALS * (2 * flops.gemm(n, p, p) + flops.gemm(p, p, p) + 5 * p * p)
    return (X.T if wide else X), done


def scale(W: Array) -> float:
    """Return Muon's factor max(1, out / in)^½."""
    rows, columns = W.shape
    return float(max(1.0, columns / rows) ** 0.5)

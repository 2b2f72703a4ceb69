"""Manifold Muon: hidden layers keep their singular values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_stiefel.solvers.manifold_muon import dual_ascent

from orthobench.contract import Array, flops, parameter
from orthobench_training.oracle import TrainingOracle
from orthobench_training.solver import SummedGradients, TrainingState, orthogonalized, scale


@dataclass(frozen=True)
class TrainManifoldMuon(SummedGradients):
    """W = c Q, Q on the Stiefel manifold: Q <- msign(Q - t A), A the steepest tangent direction.

    A has |A|_2 <= 1 and comes from dual ascent on the mean of gradients. c is the mean singular
    value of the first weights, which become c times their polar factor. Embeddings and the last
    layer move as with `train-muon`.

    Notes
    -----
    Flops of a step: a gradient, and 12np² + 20p³ for each dual step, of each hidden matrix of sides
    n >= p. Memory: 5 numbers for each weight.

    References
    ----------
    Bernstein 2025, "Modular manifolds", Thinking Machines.
    """

    dual_steps: int = parameter(5, low=1, help="largest number of dual steps")

    name: ClassVar[str] = "train-manifold-muon"
    source: ClassVar[str] = "Bernstein 2025"

    def begun(self, number: int, W: Array, oracle: TrainingOracle) -> Array:
        last, first = len(oracle.weights) - 1, oracle.network.symbols > 0
        if number == last or (number == 0 and first):
            return W.copy()
        U, values, Vt = np.linalg.svd(W, full_matrices=False)
        return np.asarray(values.mean() * U @ Vt)

    def other(self, W: Array) -> Any:
        return float(np.linalg.norm(W) / np.sqrt(min(W.shape)))

    def update(self, state: TrainingState, i: int, G: Array) -> tuple[Array, int]:
        M = self.summed(state, i, G)
        if not hidden(state, i):
            factor, done = orthogonalized(G + self.momentum * M)
            return scale(G) * factor, done + 5 * G.size
        c, wide = state.others[i], G.shape[0] < G.shape[1]
        Q, D = state.weights[i] / c, M
        if wide:
            Q, D = Q.T, D.T
        unit = float(np.linalg.norm(D)) / np.sqrt(D.shape[1])
        A, _, done = dual_ascent(Q, D, 0.2, self.dual_steps, max(unit, 1e-300))
        return c * (A.T if wide else A), done + 6 * G.size

    def returned(self, state: TrainingState, i: int, W: Array) -> Array:
        if not hidden(state, i):
            return W
        U, _, Vt = np.linalg.svd(W, full_matrices=False)
        state.work.flops += flops.polar(max(W.shape), min(W.shape))
        return np.asarray(state.others[i] * U @ Vt)


def hidden(state: TrainingState, i: int) -> bool:
    """Return whether a matrix is neither an embedding nor the last layer."""
    return i < len(state.weights) - 1 and not (i == 0 and state.embedding)

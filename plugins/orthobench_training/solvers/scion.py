"""Scion: steps of one length in a norm for each layer."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, parameter
from orthobench_training.solver import TrainingSolver, TrainingState, orthogonalized


@dataclass(frozen=True)
class TrainScion(TrainingSolver):
    """M <- M + a (G - M), W <- W - t lmo(M), unconstrained.

    The steps are (out/in)^½ msign(M) for hidden layers, the first at least msign(M). For the last
    layer they are `last` sign(M) / in, and for embeddings rows in use of root mean square one.

    Notes
    -----
    Flops of a step: a gradient, and 20np² + 10p³ for each hidden matrix of sides n >= p. Memory: 2
    numbers for each weight.

    References
    ----------
    Pethick et al. 2025, "Training deep learning models with norm-constrained LMOs",
    arXiv:2502.07529.
    """

    share: float = parameter(0.1, above=0.0, high=1.0, help="share of a gradient in the mean")
    last: float = parameter(16.0, above=0.0, help="radius of the last layer over the others'")

    name: ClassVar[str] = "train-scion"
    source: ClassVar[str] = "Pethick et al. 2025"

    def update(self, state: TrainingState, i: int, G: Array) -> tuple[Array, int]:
        state.momenta[i] = M = state.momenta[i] + self.share * (G - state.momenta[i])
        rows, columns = G.shape
        if i == len(state.weights) - 1:
            return self.last / rows * np.sign(M), 5 * G.size
        if i == 0 and state.embedding:
            lengths = np.linalg.norm(M, axis=1, keepdims=True)
            used = np.where(lengths > 0, lengths, 1.0)
            return sqrt(columns) * M / used, 7 * G.size
        factor, done = orthogonalized(M)
        ratio = sqrt(columns / rows)
        return (max(1.0, ratio) if i == 0 else ratio) * factor, done + 4 * G.size

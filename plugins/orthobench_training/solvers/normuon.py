"""NorMuon: Muon with rows of neurons normalized by their mean squares."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, parameter
from orthobench_training.solver import TrainingSolver, TrainingState, orthogonalized

EPS = 1e-8
"""Addend to mean squares."""


@dataclass(frozen=True)
class TrainNorMuon(TrainingSolver):
    """O = msign(M), v the mean of its squares for each neuron, W <- W - t .2 (mn)^½ Q / |Q|.

    Q = O / v^½ has neurons of one length; the norm of a step is that of an Adam update with entries
    of .2. M is the mean of gradients.

    Notes
    -----
    Flops of a step: a gradient, and 20np² + 10p³ for each matrix of sides n >= p. Memory: 3 numbers
    for each weight.

    References
    ----------
    Li et al. 2025, "NorMuon: making Muon more efficient and scalable", arXiv:2510.05491. Its code
    has another factor than .2 (mn)^½ / |Q|.
    """

    step_size: float = parameter(
        0.01, name="step", above=0.0, help="first step", grid=(0.003, 0.01, 0.03, 0.1, 0.3)
    )
    first: float = parameter(0.95, low=0.0, below=1.0, help="decay of the mean of gradients")
    second: float = parameter(0.95, low=0.0, below=1.0, help="decay of the mean of squares")

    name: ClassVar[str] = "train-normuon"
    source: ClassVar[str] = "Li et al. 2025"

    def other(self, W: Array) -> Any:
        return np.zeros(W.shape[1])

    def update(self, state: TrainingState, i: int, G: Array) -> tuple[Array, int]:
        state.momenta[i] = self.first * state.momenta[i] + (1 - self.first) * G
        factor, done = orthogonalized(state.momenta[i])
        mean = np.mean(factor * factor, axis=0)
        state.others[i] = self.second * state.others[i] + (1 - self.second) * mean
        Q = factor / np.sqrt(state.others[i] + EPS)
        length = max(float(np.linalg.norm(Q)), EPS)
        return (0.2 * sqrt(G.size) / length) * Q, done + 9 * G.size

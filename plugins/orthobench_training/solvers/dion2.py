"""Dion2: Muon on the rows of the momentum that are longest."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from orthobench.contract import Array, parameter
from orthobench_training.solver import TrainingSolver, TrainingState, orthogonalized, scale


@dataclass(frozen=True)
class TrainDion2(TrainingSolver):
    """M <- M + G; the longest slices K: W_K <- W_K - t max(1, out/in)^½ msign(M_K), M_K <- b M_K.

    Slices are along the shorter side. Other slices keep their sum of gradients.

    Notes
    -----
    Flops of a step: a gradient, and 20nq² + 10q³ for each matrix of sides n >= p, q = fraction p.
    Memory: 2 numbers for each weight.

    References
    ----------
    Ahn et al. 2025, "Dion2: a simple method to shrink matrix in Muon", arXiv:2512.16928.
    """

    momentum: float = parameter(0.95, low=0.0, below=1.0, help="decay of chosen slices")
    fraction: float = parameter(0.25, above=0.0, high=1.0, help="share of slices a step")

    name: ClassVar[str] = "train-dion2"
    source: ClassVar[str] = "Ahn et al. 2025"

    def update(self, state: TrainingState, i: int, G: Array) -> tuple[Array, int]:
        state.momenta[i] = M = state.momenta[i] + G
        across = G.shape[0] > G.shape[1]
        slices = M.T if across else M
        chosen = np.argsort(-np.linalg.norm(slices, axis=1), kind="stable")
        chosen = chosen[: ceil(self.fraction * len(slices))]
        factor, done = orthogonalized(slices[chosen])
        found = np.zeros_like(slices)
        found[chosen] = scale(G) * factor
        slices[chosen] *= self.momentum
        return (found.T if across else found), done + 4 * G.size + 2 * factor.size

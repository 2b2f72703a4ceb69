"""Adam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, parameter
from orthobench_training.solver import TrainingSolver, TrainingState

EPS = 1e-8
"""Addend to the root of the mean square."""


@dataclass(frozen=True)
class TrainAdam(TrainingSolver):
    """W <- W - t m / (v^½ + 1e-8), m and v the means of G and of its squares, without their bias.

    Parameters
    ----------
    first, second : float
        Decays of the means.

    Notes
    -----
    Flops of a step: a gradient, and 13 for each weight. Memory: 3 numbers for each weight.

    References
    ----------
    Kingma and Ba 2015, "Adam: a method for stochastic optimization", algorithm 1.
    """

    step_size: float = parameter(
        0.003, name="step", above=0.0, help="first step", grid=(0.0003, 0.001, 0.003, 0.01, 0.03)
    )
    first: float = parameter(0.9, low=0.0, below=1.0, help="decay of the mean of gradients")
    second: float = parameter(0.999, low=0.0, below=1.0, help="decay of the mean of squares")

    name: ClassVar[str] = "train-adam"
    source: ClassVar[str] = "Kingma and Ba 2015, algorithm 1"

    def other(self, W: Array) -> Any:
        return np.zeros_like(W)

    def update(self, state: TrainingState, i: int, G: Array) -> tuple[Array, int]:
        t = state.work.steps
        state.momenta[i] = self.first * state.momenta[i] + (1 - self.first) * G
        state.others[i] = self.second * state.others[i] + (1 - self.second) * G * G
        mean = state.momenta[i] / (1 - self.first**t)
        return mean / (np.sqrt(state.others[i] / (1 - self.second**t)) + EPS), 11 * G.size

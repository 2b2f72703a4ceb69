"""Stochastic gradients with momentum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from orthobench.contract import Array, parameter
from orthobench_training.solver import SummedGradients, TrainingState


@dataclass(frozen=True)
class TrainSGD(SummedGradients):
    """M <- momentum M + G, W <- W - t M.

    Notes
    -----
    Flops of a step: a gradient, and 4 for each weight. Memory: 2 numbers for each weight.

    References
    ----------
    Polyak 1964; Sutskever, Martens, Dahl and Hinton 2013.
    """

    step_size: float = parameter(
        0.1, name="step", above=0.0, help="first step", grid=(0.01, 0.03, 0.1, 0.3, 1.0)
    )
    momentum: float = parameter(0.9, low=0.0, below=1.0, help="decay of the sum of gradients")

    name: ClassVar[str] = "train-sgd"
    source: ClassVar[str] = "Polyak 1964"

    def update(self, state: TrainingState, i: int, G: Array) -> tuple[Array, int]:
        return self.summed(state, i, G), 2 * G.size

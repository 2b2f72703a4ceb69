"""Muon: the sum of gradients, orthogonalized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from orthobench.contract import Array, parameter
from orthobench_training.solver import SummedGradients, TrainingState, orthogonalized, scale


@dataclass(frozen=True)
class TrainMuon(SummedGradients):
    """M <- momentum M + G, W <- W - t max(1, out/in)^½ msign(G + momentum M).

    msign is five steps of Newton-Schulz with Jordan's coefficients, which leave singular values
    between .47 and 1.2, or with those of Polar Express.

    Notes
    -----
    Flops of a step: a gradient, and 20np² + 10p³ for each matrix of sides n >= p. Memory: 3 numbers
    for each weight.

    References
    ----------
    Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"; Amsel et al.
    2025, "The Polar Express".
    """

    coefficients: str = parameter(
        "jordan", choices=("jordan", "polar-express"), help="of the five Newton-Schulz steps"
    )

    name: ClassVar[str] = "train-muon"
    source: ClassVar[str] = "Jordan et al. 2024"

    def update(self, state: TrainingState, i: int, G: Array) -> tuple[Array, int]:
        factor, done = orthogonalized(
            G + self.momentum * self.summed(state, i, G), self.coefficients
        )
        return scale(G) * factor, done + 5 * G.size

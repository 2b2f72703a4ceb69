"""The judge of trained networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from orthobench.contract import Solution
from orthobench_training.network import Network

Held: TypeAlias = tuple[Any, Any]
"""Inputs and classes of samples that no solver sees."""


@dataclass(frozen=True)
class TrainingJudge:
    """Measures the loss on samples not used for training."""

    network: Network
    validation: Held
    test: Held

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return ``test_loss``, the primary metric, ``validation_loss`` and ``test_error``.

        Losses are mean cross-entropies in nats, ``test_error`` the share of wrong classes.
        """
        weights = self.network.split(solution.point)
        loss, wrong = self.network.loss(weights, *self.test)
        validation = self.network.loss(weights, *self.validation)
        return {"test_loss": loss, "validation_loss": validation[0], "test_error": wrong}

"""Training: oracle, maker, and base class of problems."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, Instance, Oracle, Problem
from orthobench.contract.problem import unchanged
from orthobench_training.judge import TrainingJudge
from orthobench_training.network import Network, Weights


class TrainingOracle(Oracle):
    """A network and samples in batches, the same for all solvers of a seed.

    A point is all weights one below another, shape (size, 1). Training ends after `passes` passes,
    each in another order. `weights` are those of the start.
    """

    window = 2**14

    def __init__(
        self, network: Network, weights: Weights, inputs: Any, classes: Any, passes: int
    ) -> None:
        self.network, self.weights, self.passes = network, weights, passes
        self.inputs, self.classes = inputs, classes
        self.n, self.k = network.size, 1
        self.total = passes * len(classes)
        self._taken = 0
        for W in weights:
            W.flags.writeable = False

    def rewind(self, rng: np.random.Generator) -> None:
        count = len(self.classes)
        self._order = np.concatenate([rng.permutation(count) for _ in range(self.passes)])
        self._taken = 0

    @property
    def taken(self) -> int:
        return self._taken

    def remaining(self) -> int:
        return self.total - self._taken

    def gradient(self, weights: Any, batch: int) -> tuple[list[Array], int]:
        """Return the gradients of the mean loss of the next `batch` samples, and their number."""
        chosen = self._order[self._taken : self._taken + batch]
        self._taken += len(chosen)
        found = self.network.gradient(weights, self.inputs[chosen], self.classes[chosen])
        return found, len(chosen)


def training(
    network: Network, rng: np.random.Generator, inputs: Any, classes: Any, passes: int
) -> Instance[TrainingOracle]:
    """Make the training of a network: half of the samples, a fifth for tuning, the rest a test.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the parts and the first weights.
    inputs : ndarray, shape (N, widths[0]), or of whole numbers, shape (N, context)
    classes : ndarray of int, shape (N,)
    passes : int
        Number of passes over the training part.
    """
    order, ends = rng.permutation(len(classes)), [int(0.5 * len(classes)), int(0.7 * len(classes))]
    train, validation, test = ((inputs[i], classes[i]) for i in np.split(order, ends))
    oracle = TrainingOracle(network, network.drawn(rng), *train, passes)
    judge = TrainingJudge(network, validation, test)
    return Instance(oracle, judge, {}, violation=lambda _: 0.0, nearest=unchanged)


class Training(Problem[TrainingOracle]):
    """Base of the problems of this family."""

    family: ClassVar[str] = "training"
    offers: ClassVar[type[TrainingOracle]] = TrainingOracle
    primary: ClassVar[str] = "test_loss"
    tuned_by: ClassVar[str] = "validation_loss"

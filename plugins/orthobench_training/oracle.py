"""Training: the oracle with its batches, the judge, the maker, and the base class of problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, Instance, Oracle, Problem, Solution
from orthobench.contract.problem import unchanged
from orthobench_training.network import Network, Weights


class TrainingOracle(Oracle):
    """A network and samples, which go by in batches, the same for all solvers of a seed.

    A point is all weights one below another, shape (size, 1). The samples go by `passes` times,
    each time in another order, and then training ends.

    Parameters
    ----------
    network : Network
    weights : tuple of ndarray
        Where training begins, read-only.
    inputs : ndarray, shape (N, ...)
    classes : ndarray of int, shape (N,)
    passes : int
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
        """Go back to the first sample of an order that `rng` draws."""
        count = len(self.classes)
        self._order = np.concatenate([rng.permutation(count) for _ in range(self.passes)])
        self._taken = 0

    @property
    def taken(self) -> int:
        """The samples that gradients were computed of."""
        return self._taken

    def remaining(self) -> int:
        """Return how many samples are left."""
        return self.total - self._taken

    def gradient(self, weights: Any, batch: int) -> tuple[list[Array], int]:
        """Return the gradients of the mean loss of the next samples, and how many there were.

        Parameters
        ----------
        weights : sequence of ndarray
        batch : int
            There are fewer at the end.
        """
        chosen = self._order[self._taken : self._taken + batch]
        self._taken += len(chosen)
        found = self.network.gradient(weights, self.inputs[chosen], self.classes[chosen])
        return found, len(chosen)


@dataclass(frozen=True)
class Held:
    """Samples that no solver sees.

    Attributes
    ----------
    inputs, classes : ndarray
    """

    inputs: Any
    classes: Any


@dataclass(frozen=True)
class TrainingJudge:
    """Measures the loss on samples that were not trained on.

    Attributes
    ----------
    network : Network
    validation, test : Held
    """

    network: Network
    validation: Held
    test: Held

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return ``test_loss``, the primary metric, ``validation_loss`` and ``test_error``.

        Losses are mean cross-entropies in nats, ``test_error`` the share of samples told wrong.
        """
        weights = self.network.split(solution.point)
        loss, wrong = self.network.loss(weights, self.test.inputs, self.test.classes)
        validation = self.network.loss(weights, self.validation.inputs, self.validation.classes)
        return {"test_loss": loss, "validation_loss": validation[0], "test_error": wrong}


def training(
    network: Network, rng: np.random.Generator, inputs: Any, classes: Any, passes: int
) -> Instance[TrainingOracle]:
    """Make the training of a network: half of the samples, a fifth for tuning, the rest a test.

    Parameters
    ----------
    network : Network
    rng : numpy.random.Generator
        Draws the parts and the first weights.
    inputs : ndarray, shape (N, widths[0]), or of whole numbers, shape (N, context)
    classes : ndarray of int, shape (N,)
    passes : int
        How often the training part goes by.
    """
    order, ends = rng.permutation(len(classes)), [int(0.5 * len(classes)), int(0.7 * len(classes))]
    train, validation, test = ((inputs[i], classes[i]) for i in np.split(order, ends))
    oracle = TrainingOracle(network, network.drawn(rng), *train, passes)
    judge = TrainingJudge(network, Held(*validation), Held(*test))
    return Instance(oracle, judge, {}, violation=lambda _: 0.0, nearest=unchanged)


class Training(Problem[TrainingOracle]):
    """Base of the problems of this family: its oracle, and the metrics that rank and tune."""

    family: ClassVar[str] = "training"
    offers: ClassVar[type[TrainingOracle]] = TrainingOracle
    primary: ClassVar[str] = "test_loss"
    tuned_by: ClassVar[str] = "validation_loss"

"""Networks for digits, and one for the next character of a text."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from orthobench_kit.data import digits, mnist
from orthobench_kit.data.mnist import TEST_IMAGES, TEST_LABELS

from orthobench.contract import Array, Instance, parameter
from orthobench_training.network import Network
from orthobench_training.oracle import Training, TrainingOracle, training

CLASSES = 10
CONTEXT, EMBEDDING = 6, 12
"""Number of characters before the predicted one, and of numbers for each."""

SYMBOLS = 48
"""Number of different characters; the rarest are one."""


@dataclass(frozen=True)
class DigitsTraining(Training):
    """The 1,797 digits of scikit-learn: 64 pixels, two hidden layers, ten classes."""

    name = "train-digits"
    source = "handwritten digits of scikit-learn (Alpaydin and Kaynak 1998)"

    width: int = parameter(64, low=1, help="units of a hidden layer")
    passes: int = parameter(10, low=1, help="how often the training part goes by")

    def build(self, rng: np.random.Generator) -> Instance[TrainingOracle]:
        network = Network((64, self.width, self.width, CLASSES))
        images = normalized(digits.pixels().astype(np.float64))
        return training(network, rng, images, digits.labels(), self.passes)

    def checksum(self) -> str:
        return digits.CHECKSUM


@dataclass(frozen=True)
class MnistTraining(Training):
    """The 10,000 test images of MNIST: 784 pixels, two hidden layers, ten classes."""

    name = "train-mnist"
    source = "the MNIST database of handwritten digits (LeCun, Cortes and Burges)"

    width: int = parameter(64, low=1, help="units of a hidden layer")
    passes: int = parameter(4, low=1, help="how often the training part goes by")

    def build(self, rng: np.random.Generator) -> Instance[TrainingOracle]:
        images = mnist.read(TEST_IMAGES).reshape(-1, 784).astype(np.float64)
        network = Network((784, self.width, self.width, CLASSES))
        labels = mnist.read(TEST_LABELS).astype(np.intp)
        return training(network, rng, normalized(images), labels, self.passes)

    def checksum(self) -> str:
        return sha256(f"{TEST_IMAGES.sha256} {TEST_LABELS.sha256}".encode()).hexdigest()


@dataclass(frozen=True)
class TextTraining(Training):
    """The next character of the help that comes with Python, from the six before it.

    The 47 most frequent characters are themselves, all others one more. The text depends on the
    version of Python.
    """

    name = "train-text"
    source = "pydoc_data.topics of Python"

    characters: int = parameter(30_000, low=100, help="length of the text")
    width: int = parameter(64, low=1, help="units of a hidden layer")
    passes: int = parameter(2, low=1, help="how often the training part goes by")

    def build(self, rng: np.random.Generator) -> Instance[TrainingOracle]:
        text = np.array(encoded(self.characters))
        contexts = np.lib.stride_tricks.sliding_window_view(text[:-1], CONTEXT)
        network = Network(
            (CONTEXT * EMBEDDING, self.width, self.width, SYMBOLS), SYMBOLS, EMBEDDING
        )
        return training(network, rng, contexts, text[CONTEXT:], self.passes)

    def checksum(self) -> str:
        return sha256(bytes(encoded(self.characters))).hexdigest()


def normalized(images: Array) -> Array:
    """Return images of mean zero, whose entries have mean square one."""
    centred = images - images.mean(axis=0)
    return np.asarray(centred / np.sqrt(np.mean(centred * centred)))


def encoded(count: int) -> list[int]:
    """Return the first characters of Python's help as numbers."""
    from pydoc_data.topics import topics

    text = "".join(topics[name] for name in sorted(topics))[:count]
    often = sorted(set(text), key=lambda character: (-text.count(character), character))
    numbers = {character: min(i, SYMBOLS - 1) for i, character in enumerate(often)}
    return [numbers[character] for character in text]

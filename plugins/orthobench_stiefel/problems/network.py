"""A network with an orthogonal layer that classifies handwritten digits."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.data import digits, mnist
from orthobench_kit.data.mnist import TEST_IMAGES, TEST_LABELS

from orthobench.contract import Array, Instance, parameter
from orthobench.tools.flops import gemm
from orthobench_stiefel import FiniteSumOracle, Stiefel, StiefelOracle, instance

PIXELS = {"digits": 64, "mnist": 784}
"""Number of pixels of an image, by the parameter ``images``."""

CLASSES = 10

SHARES = (0.5, 0.7)
"""Cumulative shares of images for training and validation; the rest is for the judge."""


class NetworkOracle(FiniteSumOracle):
    """The oracle of the mean cross-entropy of the network relu(AX)C.

    A (N, n) are images, Y (N, 10) their classes, one-hot, and C (p, 10) the fixed last layer.
    """

    def __init__(self, A: Array, Y: Array, C: Array) -> None:
        self.A, self.Y, self.C = A, Y, C
        (self.terms, self.n), self.k = A.shape, len(C)
        forward = gemm(1, self.k, self.n) + gemm(1, CLASSES, self.k) + self.k + 4 * CLASSES
        self.term_flops = 2 * forward
        self.cost_flops, self.gradient_flops = self.terms * forward, self.terms * self.term_flops
        self.both_flops = self.gradient_flops

    def value(self, X: Any) -> float:
        return entropy(logits(self.A, X, self.C)[1], self.Y)

    def gradient(self, X: Any) -> Any:
        return self._both(X, self.A, self.Y)[1]

    def value_and_gradient(self, X: Any) -> tuple[Any, Any]:
        return self._both(X, self.A, self.Y)

    def terms_gradient(self, X: Any, chosen: Any) -> Any:
        return self._both(X, self.A[chosen], self.Y[chosen])[1]

    def _both(self, X: Any, A: Any, Y: Any) -> tuple[float, Any]:
        H, Z = logits(A, X, self.C)
        P = np.exp(Z)
        back = ((P - Y) @ self.C.T) * (H > 0)
        return entropy(Z, Y), A.T @ back / len(A)


def logits(A: Array, X: Array, C: Array) -> tuple[Array, Array]:
    """Return the hidden layer relu(AX), and log probabilities of the classes."""
    H = np.maximum(A @ X, 0.0)
    Z = H @ C
    Z -= Z.max(axis=1, keepdims=True)
    return H, Z - np.log(np.exp(Z).sum(axis=1, keepdims=True))


def entropy(Z: Array, Y: Array) -> float:
    """Return the mean cross-entropy of log probabilities."""
    return -float(np.vdot(Z, Y)) / len(Y)


@dataclass(frozen=True)
class OrthogonalNetwork(Stiefel):
    """Train the orthogonal layer X of the network relu(AX)C on handwritten digits.

    The last layer C is drawn once and not trained. Images are centred, scaled to a mean square of
    one, and split at random 50/20/30 into training, validation and test parts. The primary metric
    is ``test_loss``; ``test_error`` is the share of wrong classes.

    References
    ----------
    Arjovsky, Shah and Bengio 2016, "Unitary evolution recurrent neural networks", for networks
    with orthogonal layers; Alpaydin and Kaynak 1998 and LeCun, Cortes and Burges, for the images.
    """

    name = "orthogonal-network"
    source = "handwritten digits of scikit-learn (Alpaydin and Kaynak 1998)"
    offers = NetworkOracle
    primary: ClassVar[str] = "test_loss"
    tuned_by: ClassVar[str] = "validation_loss"

    images: str = parameter(
        "digits", help="the digits of scikit-learn, or 10,000 of MNIST", choices=tuple(PIXELS)
    )
    p: int = parameter(40, help="columns of X: units of the hidden layer", low=CLASSES)
    gain: float = parameter(4.0, help="size of the entries of C, times sqrt(p)", above=0.0)

    @property
    def n(self) -> int:  # type: ignore[override]
        """Rows of X: pixels of an image."""
        return PIXELS[self.images]

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        A, labels = _images(self.images)
        A = A - A.mean(axis=0)
        A /= np.sqrt(np.mean(A * A))
        Y = np.eye(CLASSES)[labels]
        order, ends = rng.permutation(len(A)), [int(share * len(A)) for share in SHARES]
        train, validation, test = ((A[part], Y[part]) for part in np.split(order, ends))
        C = rng.standard_normal((self.p, CLASSES)) * (self.gain / np.sqrt(self.p))
        return instance(NetworkOracle(*train, C), 0.0, further=HeldOut(*validation, *test, C))

    def checksum(self) -> str:
        if self.images == "digits":
            return digits.CHECKSUM
        return sha256(f"{TEST_IMAGES.sha256} {TEST_LABELS.sha256}".encode()).hexdigest()


@dataclass(frozen=True)
class HeldOut:
    """The network on images not used for training: V for validation, T for test, and C (p, 10)."""

    V: Array
    V_classes: Array
    T: Array
    T_classes: Array
    C: Array

    def __call__(self, X: Array) -> dict[str, float]:
        """Return ``test_loss``, ``validation_loss`` and ``test_error``."""
        Z = logits(self.T, X, self.C)[1]
        wrong = Z.argmax(axis=1) != self.T_classes.argmax(axis=1)
        return {
            "test_loss": entropy(Z, self.T_classes),
            "validation_loss": entropy(logits(self.V, X, self.C)[1], self.V_classes),
            "test_error": float(np.mean(wrong)),
        }


def _images(name: str) -> tuple[Array, NDArray[np.intp]]:
    if name == "digits":
        return digits.pixels().astype(np.float64), digits.labels()
    images, labels = mnist.read(TEST_IMAGES), mnist.read(TEST_LABELS)
    return images.reshape(len(images), -1).astype(np.float64), labels.astype(np.intp)

"""A network of matrices: optional embedding, layers with relu, softmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from orthobench.contract import Array, flops

Weights: TypeAlias = tuple[Array, ...]


@dataclass(frozen=True)
class Network:
    """The shapes of a network, and what it computes.

    Inputs are rows of numbers, or of integers below `symbols`, whose embeddings are put side by
    side. There are no biases: every parameter is a matrix, (in, out).

    Attributes
    ----------
    widths : tuple of int
        Widths of the input, of the hidden layers, and of the classes.
    symbols : int
        0: inputs are numbers.
    embedding : int
        The width of an embedding.
    """

    widths: tuple[int, ...]
    symbols: int = 0
    embedding: int = 0

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """The shapes of its matrices, an embedding first."""
        layers = tuple(zip(self.widths[:-1], self.widths[1:], strict=True))
        return ((self.symbols, self.embedding), *layers) if self.symbols else layers

    @property
    def size(self) -> int:
        """The number of all parameters."""
        return sum(a * b for a, b in self.shapes)

    @property
    def sample_flops(self) -> int:
        """Flops of the gradient of one sample."""
        layers = zip(self.widths[:-1], self.widths[1:], strict=True)
        whole = sum(3 * flops.gemm(1, b, a) + 2 * b for a, b in layers) + 3 * self.widths[-1]
        return whole if self.symbols else whole - flops.gemm(1, self.widths[1], self.widths[0])

    def drawn(self, rng: np.random.Generator) -> Weights:
        """Return normal weights of variance 2 / in; the last 1 / in, embeddings 1."""
        found = []
        for i, (rows, columns) in enumerate(self.shapes):
            last = i == len(self.shapes) - 1
            variance = 1.0 if self.symbols and i == 0 else (1.0 if last else 2.0) / rows
            found.append(np.sqrt(variance) * rng.standard_normal((rows, columns)))
        return tuple(found)

    def split(self, point: Array) -> Weights:
        """Return the matrices of a point (size, 1)."""
        ends = np.cumsum([a * b for a, b in self.shapes])[:-1]
        parts = np.split(point.ravel(), ends)
        return tuple(p.reshape(s) for p, s in zip(parts, self.shapes, strict=True))

    def activations(self, weights: Sequence[Array], inputs: Any) -> list[Array]:
        """Return the inputs of each layer, and log probabilities of the classes."""
        layers = weights
        if self.symbols:
            inputs, layers = weights[0][inputs].reshape(len(inputs), -1), weights[1:]
        found = [inputs]
        for i, W in enumerate(layers):
            Z = found[-1] @ W
            found.append(np.maximum(Z, 0.0) if i < len(layers) - 1 else Z)
        Z = found[-1] - found[-1].max(axis=1, keepdims=True)
        found[-1] = Z - np.log(np.exp(Z).sum(axis=1, keepdims=True))
        return found

    def loss(self, weights: Sequence[Array], inputs: Any, classes: Any) -> tuple[float, float]:
        """Return the mean cross-entropy, and the share of wrong classes."""
        Z = self.activations(weights, inputs)[-1]
        wrong = Z.argmax(axis=1) != classes
        return -float(Z[np.arange(len(Z)), classes].mean()), float(wrong.mean())

    def gradient(self, weights: Sequence[Array], inputs: Any, classes: Any) -> list[Array]:
        """Return the gradients of the mean cross-entropy, by backpropagation.

        `inputs` are (b, widths[0]), or whole numbers (b, context); `classes` (b,).
        """
        into = self.activations(weights, inputs)
        back = np.exp(into[-1])
        back[np.arange(len(back)), classes] -= 1.0
        back /= len(back)
        first = 1 if self.symbols else 0
        found = []
        for i in range(len(weights) - 1, first - 1, -1):
            H = into[i - first]
            found.append(H.T @ back)
            if i > first:
                back = (back @ weights[i].T) * (H > 0)
            elif self.symbols:
                E, rows = np.zeros_like(weights[0]), (back @ weights[i].T)
                np.add.at(E, inputs.ravel(), rows.reshape(inputs.size, -1))
                found.append(E)
        return found[::-1]

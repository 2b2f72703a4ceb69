"""Stochastic symmetric CP with Adam as anyone would first write it in numpy."""

from __future__ import annotations

import numpy as np

from orthobench.tools.arrays import Array


def integer_power(A: Array, exponent: int) -> Array:
    """Return A raised entry by entry; np.power would be many times slower."""
    powers = A
    for _ in range(exponent - 1):
        powers = powers * A
    return powers


def gradient(V: Array, w: Array, X: Array, order: int) -> tuple[Array, Array]:
    """Return the gradient of |M̂|² - 2<M̂, M> in V (n, r') and w, M the moment of the rows of X."""
    r, b = V.shape[1], len(X)
    shares = w / r
    C, G = X @ V, V.T @ V
    C1, G1 = integer_power(C, order - 1), integer_power(G, order - 1)
    Y, Z = X.T @ C1 / b, V @ (shares[:, None] * G1)
    by_weight = 2 / r * (shares @ (G1 * G) - (C1 * C).mean(axis=0))
    return 2 * order * (Z - Y) * shares, by_weight


class Adam:
    """Algorithm 1 of Kingma and Ba (2015)."""

    def __init__(self, x: Array, rate: float) -> None:
        self.x, self.rate, self.t = x.copy(), rate, 0
        self.m, self.v = np.zeros_like(x), np.zeros_like(x)

    def step(self, g: Array) -> None:
        """Follow a gradient."""
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * g
        self.v = 0.999 * self.v + 0.001 * g**2
        m_hat, v_hat = self.m / (1 - 0.9**self.t), self.v / (1 - 0.999**self.t)
        self.x -= self.rate * m_hat / (np.sqrt(v_hat) + 1e-8)


def run(V: Array, w: Array, X: Array, order: int, batch: int, rate: float) -> tuple[Array, Array]:
    """Do an iteration with each batch of rows of X; return components and weights."""
    components, weights = Adam(V, rate), Adam(w, rate)
    for first in range(0, len(X), batch):
        rows = X[first : first + batch]
        by_component, by_weight = gradient(components.x, weights.x, rows, order)
        components.step(by_component)
        weights.step(by_weight)
    return components.x, weights.x

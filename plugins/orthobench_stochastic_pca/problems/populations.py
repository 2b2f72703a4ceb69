"""Second moments of known distributions, cheaper than a (d, d) matrix."""

from __future__ import annotations

import numpy as np
from orthobench_kit.second_moments import TIED, SecondMoment

from orthobench.contract import Array


class DiagonalMoment(SecondMoment):
    """The diagonal second moment C = diag(values)."""

    def __init__(self, values: Array) -> None:
        self.values, self.d = values, len(values)

    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column; 3dm flops."""
        return self.values @ V**2

    @property
    def trace(self) -> float:
        """The total variance."""
        return float(self.values.sum())

    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the k largest values and their unit vectors; ties by index."""
        which = np.argsort(-self.values, kind="stable")[:k]
        vectors = np.zeros((self.d, k))
        vectors[which, np.arange(k)] = 1.0
        return self.values[which], vectors

    def tied(self, values: Array, vectors: Array) -> bool:
        """Return whether the next value is as large."""
        del vectors
        others = np.sort(self.values)[: self.d - len(values)]
        return bool(np.any(others >= values[-1] - TIED * values[0]))


class SpikedMoment(SecondMoment):
    """The second moment C = gap VV' + noise I, V orthonormal."""

    def __init__(self, V: Array, gap: float, noise: float) -> None:
        self.V, self.gap, self.noise, self.d = V, gap, noise, len(V)

    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column; 2dkm flops."""
        P = self.V.T @ V
        along: Array = np.einsum("ij,ij->j", P, P)
        total: Array = np.einsum("ij,ij->j", V, V)
        return self.gap * along + self.noise * total

    @property
    def trace(self) -> float:
        """The total variance."""
        return float(self.gap * self.V.shape[1] + self.noise * self.d)

    def leading(self, k: int) -> tuple[Array, Array]:
        """Return the first k spikes."""
        return np.full(k, self.gap + self.noise), self.V[:, :k]

    def tied(self, values: Array, vectors: Array) -> bool:
        """Return whether there are more spikes, or none above noise."""
        del vectors
        return bool(len(values) < self.V.shape[1] or self.gap <= TIED * values[0])

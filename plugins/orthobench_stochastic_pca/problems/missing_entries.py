"""Samples near a subspace that moves, of which only some entries are observed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench_kit.geometry import subspace_error

from orthobench.contract import Array, Instance, Solution, parameter, random_point
from orthobench.contract.samples import SampleSource, block_rows
from orthobench_stochastic_pca import EntryOracle, StochasticPCA
from orthobench_stochastic_pca.problems.parts import check_dimension


@dataclass(frozen=True)
class Geodesic:
    """The subspaces U cos(at) + V sin(at): all principal angles to the first are at.

    U and V (n, k) are orthonormal and orthogonal to each other; `speed` is a, in radians a sample.
    """

    U: Array
    V: Array
    speed: float

    def at(self, t: float) -> Array:
        """Return the basis of sample t, counted from 0."""
        return np.asarray(np.cos(self.speed * t) * self.U + np.sin(self.speed * t) * self.V)

    def combinations(self, coefficients: Array, first: int) -> Array:
        """Return combinations of the bases of samples first, first + 1, ..., as rows."""
        angles = self.speed * np.arange(first, first + len(coefficients))[:, None]
        along, across = coefficients * np.cos(angles), coefficients * np.sin(angles)
        return np.asarray(along @ self.U.T + across @ self.V.T)


class EntrySource(SampleSource):
    """Gaussian samples near the subspaces of a geodesic, with zeros for missing entries.

    Parameters
    ----------
    observed : float
        The probability that an entry is observed.
    noise : float
        The root of the expected squared length of the noise.
    """

    def __init__(self, subspaces: Geodesic, observed: float, noise: float) -> None:
        self.subspaces, self.observed, self.noise = subspaces, observed, noise
        self.d, self.size = len(subspaces.U), np.inf

    def blocks(self, rng: np.random.Generator) -> Iterator[Array]:
        first, count, k = 0, block_rows(self.d), self.subspaces.U.shape[1]
        while True:
            coefficients = rng.standard_normal((count, k)) / np.sqrt(k)
            rows = self.subspaces.combinations(coefficients, first)
            rows += rng.standard_normal((count, self.d)) * (self.noise / np.sqrt(self.d))
            yield rows * (rng.random((count, self.d)) < self.observed)
            first += count


@dataclass(frozen=True)
class Judge:
    """Measures the distance from the subspace of the last sample."""

    subspaces: Geodesic

    def __call__(self, solution: Solution, samples: int = 0) -> dict[str, float]:
        """Return ``subspace_error``, |(I - UU')U*|, after a number of samples."""
        truth = self.subspaces.at(max(samples - 1, 0))
        return {"subspace_error": subspace_error(solution.point, truth)}


@dataclass(frozen=True)
class MissingEntries(StochasticPCA):
    """Samples x_t = U_t s_t + noise, each entry observed with a probability; U_t may move.

    s_t is Gaussian with E|s_t|² = 1. After t samples all principal angles of U_t to the first
    subspace are `drift` t / 1000. Methods for whole samples get zeros for missing entries. Ranked
    and tuned by ``subspace_error``, |(I - UU')U_t| at the last sample.
    """

    name = "missing-entries"
    offers: ClassVar[type[EntryOracle]] = EntryOracle
    primary = "subspace_error"
    tuned_by = "subspace_error"

    k: int = parameter(4, help="dimension of the subspace", low=1)
    n: int = parameter(100, help="dimension of a sample, at least 2k", low=2)
    observed: float = parameter(
        0.3, help="probability that an entry is observed", above=0.0, high=1.0
    )
    drift: float = parameter(0.0, help="radians that it moves in 1000 samples", low=0.0, high=100.0)
    noise: float = parameter(
        0.01, help="length of the noise over that of the rest", low=0.0, high=1e6
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_dimension(2 * self.k, self.n)

    def build(self, rng: np.random.Generator) -> Instance[EntryOracle]:
        basis = random_point(self.n, 2 * self.k, rng)
        subspaces = Geodesic(basis[:, : self.k], basis[:, self.k :], self.drift / 1000)
        judge = Judge(subspaces)
        oracle = EntryOracle(EntrySource(subspaces, self.observed, self.noise), self.k)
        return Instance(oracle, judge, {"subspace_error": 0.0}, measure_after=judge)

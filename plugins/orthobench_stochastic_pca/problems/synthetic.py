"""Synthetic distributions, judged on their known second moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_kit.data.generated import (
    BLOCK_HELP,
    LARGEST_BLOCK,
    FactorSamples,
    GeneratedRows,
    key_of,
    normal,
)
from orthobench_kit.data.row_files import IO, IO_HELP
from orthobench_kit.second_moments import TIED, SecondMoment
from orthobench_kit.sources import ArraySource
from orthobench_kit.streams import Sampler

from orthobench.contract import Array, Instance, SampleOracle, parameter, random_point
from orthobench_stochastic_pca import JUDGE_BYTES, StochasticPCA, stochastic_pca
from orthobench_stochastic_pca.problems.parts import PASSES_HELP, check_dimension, independent

VALIDATION = 2000
"""Number of independent samples for tuning."""


class DiagonalMoment(SecondMoment):
    """The diagonal second moment C = diag(values)."""

    def __init__(self, values: Array) -> None:
        self.values, self.d = values, len(values)

    def variances(self, V: Array) -> Array:
        """Return v'Cv for each column; 3dm flops."""
        return self.values @ V**2

    @property
    def trace(self) -> float:
        return float(self.values.sum())

    def leading(self, k: int) -> tuple[Array, Array]:
        which = np.argsort(-self.values, kind="stable")[:k]
        vectors = np.zeros((self.d, k))
        vectors[which, np.arange(k)] = 1.0
        return self.values[which], vectors

    def tied(self, values: Array, vectors: Array) -> bool:
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
        return float(self.gap * self.V.shape[1] + self.noise * self.d)

    def leading(self, k: int) -> tuple[Array, Array]:
        return np.full(k, self.gap + self.noise), self.V[:, :k]

    def tied(self, values: Array, vectors: Array) -> bool:
        del vectors
        return bool(len(values) < self.V.shape[1] or self.gap <= TIED * values[0])


@dataclass(frozen=True)
class OrthogonalDistribution(StochasticPCA):
    """Unit vectors e_i with probability p_i proportional to tau^-i, hard for incremental PCA.

    Arora, Cotter and Srebro (2013), section 4. The second moment is diag(p), the best subspace that
    of the first k unit vectors. Misprint corrected: the paper draws e_i with probability
    ``sqrt(Σ_ii)``, Σ = diag(σ/|σ|), which does not sum to one. With p = σ the second moment is
    diag(σ), as in the text before it up to a factor. Tuned on 2,000 independent draws.
    """

    name = "orthogonal-distribution"

    k: int = parameter(1, help="dimension of the subspace", low=1)
    n: int = parameter(32, help="dimension of a sample", low=1)
    tau: float = parameter(1.1, help="decay: p_i is proportional to tau^-i", above=1.0, high=1e6)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_dimension(self.k, self.n)

    def build(self, rng: np.random.Generator) -> Instance[SampleOracle]:
        return _known_population(self.draw, self.k, DiagonalMoment(self.probabilities), rng)

    @property
    def probabilities(self) -> Array:
        """The probabilities p, shape (n,), decreasing."""
        weights = self.tau ** -np.arange(self.n, dtype=np.float64)
        probabilities: Array = weights / weights.sum()
        return probabilities

    def draw(self, rng: np.random.Generator, count: int) -> Array:
        """Draw ``(count, n)`` samples."""
        return _draw_rows(np.eye(self.n), self.probabilities, rng, count)


@dataclass(frozen=True)
class IncrementalTrap(StochasticPCA):
    """(√3, 0) with probability 1/3, (0, √2) with 2/3: incremental PCA may end at the wrong one.

    Arora, Cotter and Srebro (2013), section 5.2, k = 1. The second moment is diag(1, 4/3), the best
    direction e_2; incremental PCA from zero converges to e_1 with probability 5/9. E|x|² = 7/3: as
    printed, not scaled to 1. Tuned on 2,000 independent draws.
    """

    name = "incremental-trap"

    def build(self, rng: np.random.Generator) -> Instance[SampleOracle]:
        return _known_population(self.draw, 1, DiagonalMoment(np.array([1.0, 4.0 / 3.0])), rng)

    def draw(self, rng: np.random.Generator, count: int) -> Array:
        """Draw ``(count, 2)`` samples."""
        support = np.diag(np.sqrt([3.0, 2.0]))
        return _draw_rows(support, np.array([1.0, 2.0]) / 3.0, rng, count)


@dataclass(frozen=True)
class SpikedCovariance(StochasticPCA):
    """Gaussian samples with covariance gap VV' + noise I, V random with k orthonormal columns.

    E|x|² = k gap + n noise, 1 with the default values. The model of Johnstone (2001, "On the
    distribution of the largest eigenvalue in principal components analysis", Annals of Statistics
    29) with equal spikes. Tuned on 2,000 independent draws, fewer if they take more than 256 MiB.
    """

    name = "spiked-covariance"

    k: int = parameter(4, help="number of spikes, and dimension of the subspace", low=1)
    n: int = parameter(100, help="dimension of a sample", low=1)
    gap: float = parameter(
        0.2, help="variance of a spike above the noise", unit="variance", above=0.0, high=1e100
    )
    noise: float = parameter(
        0.002, help="variance of every other direction", unit="variance", low=0.0, high=1e100
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_dimension(self.k, self.n)

    def build(self, rng: np.random.Generator) -> Instance[SampleOracle]:
        rng = independent(rng)
        V = random_point(self.n, self.k, rng)

        def draw(rng: np.random.Generator, count: int) -> Array:
            spikes = rng.standard_normal((count, self.k)) * np.sqrt(self.gap)
            noise = rng.standard_normal((count, self.n)) * np.sqrt(self.noise)
            samples: Array = spikes @ V.T + noise
            return samples

        return _known_population(draw, self.k, SpikedMoment(V, self.gap, self.noise), rng)


@dataclass(frozen=True)
class GeneratedPCA(SpikedCovariance):
    """Samples of `spiked-covariance` in float32, made block by block whenever they are read.

    A stream of any number of samples without a file. The seed and the number of a block determine
    its samples, by a counter-based generator (Philox; Salmon, Moraes, Dror and Shaw 2011).
    """

    name = "generated-pca"

    samples: int = parameter(100_000, help="samples of one pass", low=1)
    block: int = parameter(4096, help=BLOCK_HELP, low=1, high=LARGEST_BLOCK)
    passes: int = parameter(1, help=PASSES_HELP, low=1)
    io: str = parameter("untimed", help=IO_HELP, choices=IO)

    def build(self, rng: np.random.Generator) -> Instance[SampleOracle]:
        rng = independent(rng)
        V = random_point(self.n, self.k, rng)
        spikes = (V * np.sqrt(self.gap)).astype(np.float32)
        draw = FactorSamples(spikes, float(np.sqrt(self.noise)), normal)
        population = SpikedMoment(V, self.gap, self.noise)
        validation = draw(independent(rng), _validation_rows(self.n))
        rows = GeneratedRows(draw, (self.samples, self.n), self.block, key_of(rng))
        seen = ArraySource(rows, passes=self.passes)
        seen.timed = self.io == "timed"
        return stochastic_pca(seen, self.k, validation=validation, covariance=population)


def _known_population(
    draw: Sampler, k: int, population: SecondMoment, rng: np.random.Generator
) -> Instance[SampleOracle]:
    validation = draw(independent(rng), _validation_rows(population.d))
    return stochastic_pca(draw, k, validation=validation, covariance=population)


def _validation_rows(d: int) -> int:
    return max(1, min(VALIDATION, JUDGE_BYTES // (8 * d)))


def _draw_rows(support: Array, probabilities: Array, rng: np.random.Generator, count: int) -> Array:
    """Draw rows of `support` (m, d) with the given probabilities."""
    edges = np.cumsum(probabilities)
    which = np.searchsorted(edges / edges[-1], rng.random(count), side="right")
    samples: Array = support[which]
    return samples

"""The problem: samples whose best subspace is known, so that the judge needs no data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench.contract import (
    Array,
    Instance,
    SampleOracle,
    UsageError,
    parameter,
    random_point,
)
from orthobench.families.stochastic_pca import StochasticPCA, stochastic_pca

VALIDATION = 1000
"""Samples that parameters are tuned on."""


@dataclass(frozen=True)
class PowerLaw(StochasticPCA):
    """Gaussian samples with variances proportional to i^-decay along random directions.

    The larger the decay, the larger the gaps between the variances, and the easier the problem.
    The variances sum to one: E|x|² = 1.
    """

    name: ClassVar[str] = "minibatch-oja-power-law"

    k: int = parameter(3, help="dimension of the subspace", low=1)
    n: int = parameter(50, help="dimension of a sample", low=1)
    decay: float = parameter(1.0, help="how fast the variances fall", low=0.0, high=100.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k > self.n:
            raise UsageError(f"k = {self.k} is more than the dimension n = {self.n} of a sample")

    @property
    def variances(self) -> Array:
        """The variances, shape (n,), the largest first."""
        weights = np.arange(1.0, self.n + 1.0) ** -self.decay
        variances: Array = weights / weights.sum()
        return variances

    def build(self, rng: np.random.Generator) -> Instance[SampleOracle]:
        """Return the instance; `rng` draws the directions and the validation part."""
        A = random_point(self.n, self.n, rng) * np.sqrt(self.variances)

        def draw(rng: np.random.Generator, count: int) -> Array:
            samples: Array = rng.standard_normal((count, self.n)) @ A.T
            return samples

        return stochastic_pca(draw, self.k, validation=draw(rng, VALIDATION), covariance=A @ A.T)

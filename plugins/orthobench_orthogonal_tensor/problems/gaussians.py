"""Mixtures of Gaussians, drawn as in the experiments of Shalit and Chechik (2014)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, UsageError, parameter
from orthobench_orthogonal_tensor import OrthogonalTensor
from orthobench_orthogonal_tensor.problems.gmm import (
    JUDGED,
    MixtureInstance,
    gmm_tensor,
    mixture_instance,
)
from orthobench_orthogonal_tensor.problems.mixture_moments import (
    ESTIMATES,
    PopulationMoments,
    whitened_moments,
)
from orthobench_orthogonal_tensor.problems.mixtures import Mixture

Labels: TypeAlias = NDArray[np.intp]

BLOCK = 4096
"""Samples that are moved to their centres at once."""


@dataclass(frozen=True)
class GaussianMixtureMoments(OrthogonalTensor):
    """Fit a mixture of spherical Gaussians through the whitened third moment of its samples.

    Shalit and Chechik (2014), section 5.3: 20 components of variance 2, centres from a Gaussian
    whose covariance has an inverse Wishart distribution. The paper leaves open its degrees of
    freedom and its scale, here d and the identity, which give the optimal NMI of its figures
    (0.97 at d = 100), and the weights, here equal. Its d = 10 with 20 components cannot be
    recovered from third moments, which need linearly independent centres.

    Ranked by ``nmi_gap``. Both the mixture found and the true one cluster the samples, or at most
    20,000 of them, evenly spaced; the gap is the difference of the normalized mutual information
    of the two clusterings with the true components.
    """

    name = "gmm-moments"
    primary = "nmi_gap"

    d: int = parameter(50, help="features, at least as many as components", low=1)
    components: int = parameter(20, help="components, of equal weight", low=1)
    samples: int = parameter(
        50_000, help="samples that the moments are measured on; 0: exact moments", low=0
    )
    variance: float = parameter(
        2.0, help="variance of each feature within a component", above=0.0, high=1e100
    )
    variance_estimate: str = parameter(
        "bottom",
        help="from the mean of the d - k + 1 smallest eigenvalues of the covariance, or the least",
        choices=ESTIMATES,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.components > self.d:
            raise UsageError(
                f"{self.components} components cannot be recovered from the third moments of "
                f"d = {self.d} features: their centres must be linearly independent, so d must be "
                f">= {self.components}"
            )
        if 0 < self.samples <= self.d:
            raise UsageError(f"samples must be 0 or more than d = {self.d}, not {self.samples}")

    def build(self, rng: np.random.Generator) -> MixtureInstance:
        """Return the instance; `rng` draws the centres and the samples.

        The samples take 8 d `samples` bytes while it is built; the judge keeps
        8 `components` min(`samples`, 20,000) bytes.
        """
        mixture = self.draw_mixture(rng)
        X, labels = draw(mixture, self.samples or JUDGED, rng)
        if self.samples:
            return gmm_tensor(
                X,
                self.components,
                labels,
                variance_estimate=self.variance_estimate,
                truth=mixture,
            )
        exact = PopulationMoments(mixture)
        moments = whitened_moments(exact, self.components, self.variance_estimate)
        return mixture_instance(moments, X, labels, mixture)

    def draw_mixture(self, rng: np.random.Generator) -> Mixture:
        """Draw the mixture.

        For a Gaussian matrix G (d, d), (GG')^-1 has the inverse Wishart distribution with d
        degrees of freedom and scale I; it is the covariance of (G')^-1 z for z from N(0, I).
        """
        G = rng.standard_normal((self.d, self.d))
        z = rng.standard_normal((self.d, self.components))
        centres = np.ascontiguousarray(np.linalg.solve(G.T, z).T)
        weights = np.full(self.components, 1 / self.components)
        return Mixture(centres, weights, self.variance)


def draw(mixture: Mixture, count: int, rng: np.random.Generator) -> tuple[Array, Labels]:
    """Draw samples (count, d) of a mixture; return them with the components they come from."""
    labels = rng.choice(len(mixture.weights), size=count, p=mixture.weights)
    X = rng.standard_normal((count, mixture.centres.shape[1]))
    X *= math.sqrt(mixture.variance)
    for begin in range(0, count, BLOCK):
        part = slice(begin, begin + BLOCK)
        X[part] += mixture.centres[labels[part]]
    return X, labels

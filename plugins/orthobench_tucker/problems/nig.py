"""The normal-inverse Gaussian distribution of mean 0 and variance 1."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from orthobench.contract import Array


@dataclass(frozen=True)
class NormalInverseGaussian:
    """A normal mean-variance mixture whose variance V has an inverse Gaussian distribution.

    mu + beta V + √V Z with Z standard normal, and V inverse Gaussian of mean delta / gamma and
    shape delta², gamma² = alpha² - beta² (Barndorff-Nielsen 1997, "Normal inverse Gaussian
    distributions and stochastic volatility modelling", Scandinavian Journal of Statistics 24).

    Attributes
    ----------
    alpha : float
        Steepness: tails fall like exp(-alpha |x| + beta x).
    beta : float
        Asymmetry, |beta| < alpha.
    delta : float
        Scale.
    mu : float
        Location.
    """

    alpha: float
    beta: float
    delta: float
    mu: float

    @classmethod
    def standardized(cls, skewness: float, kurtosis: float) -> NormalInverseGaussian:
        """Return the distribution with mean 0, variance 1 and these third and fourth moments.

        With delta gamma = z and beta / alpha = b, the skewness s is 3b / √z and the kurtosis
        3 + 3 (1 + 4b²) / z. So z = 9/q and b² = s²/q for q = 3 (kurtosis - 3) - 4s². The rest
        follows from the variance, delta alpha² / gamma³ = 1, and the mean,
        mu + delta beta / gamma = 0.

        Parameters
        ----------
        skewness : float
        kurtosis : float
            More than ``least_kurtosis(skewness)``, at which b = 1.

        Examples
        --------
        Skewness 1.5 and kurtosis 9 are those of alpha = 4/3, beta = 2/3, delta = √3/2, mu = -1/2:

        >>> found = NormalInverseGaussian.standardized(1.5, 9.0)
        >>> [round(x, 4) for x in (found.alpha, found.beta, found.delta, found.mu)]
        [1.3333, 0.6667, 0.866, -0.5]
        """
        q = 3 * (kurtosis - 3) - 4 * skewness**2
        rest = (q - skewness**2) / q  # 1 - b²
        return cls(
            alpha=3 / (sqrt(q) * rest),
            beta=3 * skewness / (q * rest),
            delta=3 * sqrt(rest / q),
            mu=-3 * skewness / q,
        )

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw independent values in an array of a shape."""
        gamma = sqrt((self.alpha - self.beta) * (self.alpha + self.beta))
        V = rng.wald(self.delta / gamma, self.delta**2, shape)
        values: Array = rng.standard_normal(shape)
        values *= np.sqrt(V)
        V *= self.beta
        values += V
        values += self.mu
        return values


def least_kurtosis(skewness: float) -> float:
    """Return 3 + 5/3 skewness², the bound that the kurtosis of this family exceeds."""
    return 3 + 5 / 3 * skewness**2

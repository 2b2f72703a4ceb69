"""Moments of the linear factor model x = Bf + ε."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, TypeAlias

import numpy as np
from orthobench_kit.data.generated import (
    BLOCK_HELP,
    LARGEST_BLOCK,
    FactorSamples,
    GeneratedRows,
    key_of,
)
from orthobench_kit.data.row_files import IO, IO_HELP
from orthobench_kit.sources import ArraySource

from orthobench.contract import (
    Array,
    Instance,
    ParameterError,
    UsageError,
    orthonormalize,
    parameter,
)
from orthobench_tucker import MomentStream, SymmetricTucker, TuckerOracle, symmetric_tucker
from orthobench_tucker.oracle import check_ranks

Draw: TypeAlias = "Callable[[np.random.Generator, int], Any]"
"""Draws a number of samples, in rows."""

HEAVIEST = 1e4
"""Maximum kurtosis, above which draws lose digits."""


@dataclass(frozen=True)
class NormalInverseGaussian:
    """A normal mean-variance mixture whose variance V has an inverse Gaussian distribution.

    mu + beta V + √V Z with Z standard normal, and V inverse Gaussian of mean delta / gamma and
    shape delta², gamma² = alpha² - beta², |beta| < alpha (Barndorff-Nielsen 1997).
    """

    alpha: float
    beta: float
    delta: float
    mu: float

    @classmethod
    def standardized(cls, skewness: float, kurtosis: float) -> NormalInverseGaussian:
        """Return the distribution with mean 0, variance 1 and these third and fourth moments.

        With delta gamma = z and beta / alpha = b, the skewness s is 3b / √z and the kurtosis 3 + 3
        (1 + 4b²) / z. So z = 9/q and b² = s²/q for q = 3 (kurtosis - 3) - 4s². The kurtosis exceeds
        ``least_kurtosis(skewness)``, at which b = 1.

        Examples
        --------
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
        """Draw independent values."""
        gamma = sqrt((self.alpha - self.beta) * (self.alpha + self.beta))
        V = rng.wald(self.delta / gamma, self.delta**2, shape)
        values: Array = rng.standard_normal(shape)
        values *= np.sqrt(V)
        V *= self.beta
        values += V
        values += self.mu
        return values


def least_kurtosis(skewness: float) -> float:
    """Return 3 + 5/3 skewness², which the kurtosis exceeds."""
    return 3 + 5 / 3 * skewness**2


@dataclass(frozen=True)
class FactorModel(SymmetricTucker):
    """Base of the problems with samples x = Bf + ε of a linear factor model.

    Equation 15 of Jin, Kileel, Kolda and Ward (2022). The judge measures on fresh samples, and
    knows the true basis, the Q factor of B.
    """

    tuned_by: ClassVar[str] = "validation_relative_error"

    n: int = parameter(100, help="variables", low=1)
    order: int = parameter(3, help="order d of the moment", low=2)
    rank: int = parameter(5, help="columns of the basis sought", low=1)
    true_rank: int = parameter(5, help="factors", low=1)
    inverse_snr: float = parameter(
        0.5, help="root mean square norm of the noise over that of the signal", low=0.0, high=1e6
    )
    samples: int = parameter(5000, help="samples that solvers see; 0: an endless stream", low=0)
    test: int = parameter(
        5000, help="fresh samples for the judge; 0: it measures on those of the solvers", low=0
    )
    validation: int = parameter(2000, help="fresh samples to tune on", low=1)
    passes: int = parameter(1, help="how often a stream goes through the samples", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ranks(self.n, rank=self.rank, true_rank=self.true_rank)
        if not self.samples and not self.test:
            raise UsageError("samples = 0 and test = 0: an endless stream needs a test part")
        if not self.samples and self.passes > 1:
            raise ParameterError("passes", "an endless stream has one pass")

    @property
    def tensor_shape(self) -> tuple[int, ...]:
        return (self.n,) * self.order

    @property
    def streamed(self) -> bool:
        return self.samples == 0

    @abstractmethod
    def factors(self, rng: np.random.Generator, count: int) -> Array:
        """Draw factors of mean 0 and variance 1, (count, true_rank)."""

    def build(self, rng: np.random.Generator) -> Instance[TuckerOracle]:
        B = rng.standard_normal((self.n, self.true_rank))
        draw = self._sampler(B, self.inverse_snr * float(np.linalg.norm(B)) / sqrt(self.n))
        test = draw(rng, self.test) if self.test else None
        validation = draw(rng, self.validation)
        samples, passes = self._seen(draw, rng)
        return symmetric_tucker(
            samples,
            order=self.order,
            rank=self.rank,
            test=test,
            validation=validation,
            basis=orthonormalize(B),
            passes=passes,
        )

    def _sampler(self, B: Array, sigma: float) -> Draw:
        def draw(rng: np.random.Generator, count: int) -> Array:
            X: Array = rng.standard_normal((count, self.n))
            X *= sigma
            X += self.factors(rng, count) @ B.T
            return X

        return draw

    def _seen(self, draw: Draw, rng: np.random.Generator) -> tuple[Any, int]:
        return (draw(rng, self.samples) if self.samples else draw), self.passes


@dataclass(frozen=True)
class NIGFactor(FactorModel):
    """Moments of a linear factor model with skewed, heavy-tailed factors.

    x = Bf + ε (Jin, Kileel, Kolda and Ward 2022, equation 15). f has independent entries with a
    normal-inverse Gaussian distribution of mean 0 and variance 1. B (n, true_rank) is standard
    normal for each seed, and ε is N(0, σ² I) with σ = `inverse_snr` |B| / √n. Equation 16 prints a
    ratio of norms of means, which are zero; its right-hand side, σ√n / |B|, is the ratio of root
    mean square norms.

    The paper does not give the distribution's parameters: mean and variance leave `skewness` and
    `kurtosis`. The ordering of Figure 4 at high noise needs heavier tails than the default, such as
    ``skewness=3 kurtosis=27``. Without skewness odd moments are zero up to sampling noise.
    """

    name = "nig-factor"

    skewness: float = parameter(1.5, help="third moment of a factor", low=-100.0, high=100.0)
    kurtosis: float = parameter(
        9.0, help="fourth moment of a factor, above 3 + 5/3 skewness²", above=3.0, high=HEAVIEST
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        least = least_kurtosis(self.skewness)
        if self.kurtosis <= least:
            raise ParameterError(
                "kurtosis",
                f"kurtosis must be > 3 + 5/3 skewness² = {least:g} where the skewness is "
                f"{self.skewness:g}, not {self.kurtosis:g}",
            )

    def factors(self, rng: np.random.Generator, count: int) -> Array:
        return self.law.draw(rng, (count, self.true_rank))

    @property
    def law(self) -> NormalInverseGaussian:
        """The distribution of a factor."""
        return NormalInverseGaussian.standardized(self.skewness, self.kurtosis)


@dataclass(frozen=True)
class GeneratedFactor(NIGFactor):
    """Samples of `nig-factor` in float32, made block by block when they are read."""

    name = "generated-factor"
    offers: ClassVar[type[TuckerOracle]] = MomentStream

    samples: int = parameter(100_000, help="samples of one pass", low=1)
    test: int = parameter(5000, help="fresh samples for the judge", low=1)
    block: int = parameter(4096, help=BLOCK_HELP, low=1, high=LARGEST_BLOCK)
    io: str = parameter("untimed", help=IO_HELP, choices=IO)

    @property
    def streamed(self) -> bool:
        return True

    def _sampler(self, B: Array, sigma: float) -> Draw:
        return FactorSamples(B.astype(np.float32), sigma, self.law.draw)

    def _seen(self, draw: Draw, rng: np.random.Generator) -> tuple[Any, int]:
        rows = GeneratedRows(draw, (self.samples, self.n), self.block, key_of(rng))
        source = ArraySource(rows, passes=self.passes)
        source.timed = self.io == "timed"
        return source, 1


@dataclass(frozen=True)
class GaussianFactor(FactorModel):
    """Moments of a linear factor model with Gaussian factors; else as `nig-factor`.

    Table 2 of Jin, Kileel, Kolda and Ward (2022), section 4.5, measures on the samples that solvers
    see: ``n=500 samples=10000 test=0``. Odd moments are zero up to sampling noise.
    """

    name = "gaussian-factor"

    order: int = parameter(4, help="order d of the moment", low=2)
    inverse_snr: float = parameter(
        0.05, help="root mean square norm of the noise over that of the signal", low=0.0, high=1e6
    )

    def factors(self, rng: np.random.Generator, count: int) -> Array:
        return rng.standard_normal((count, self.true_rank))

"""Mixtures of spherical Gaussians, their moments, their tensor, and the way back.

Hsu and Kakade (2013, "Learning mixtures of spherical Gaussians: moment methods and spectral
decompositions", Theorem 1; Anandkumar et al. 2012, Theorem 3.2). The variance is the smallest
eigenvalue of the covariance. With it M2 = E[xx'] - variance I = sum_i w_i m_i ⊗ m_i, and with the
unit vectors e_j::

    M3 = E[x ⊗ x ⊗ x] - variance sum_j (E[x] ⊗ e_j ⊗ e_j + e_j ⊗ E[x] ⊗ e_j + e_j ⊗ e_j ⊗ E[x])
       = sum_i w_i m_i ⊗ m_i ⊗ m_i.

Only M3(W, W, W), a (k, k, k) tensor, is formed, and sum_j W'e_j ⊗ W'e_j is W'W.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.reading import real
from orthobench_kit.sources import ArraySource
from orthobench_kit.symmetric_tensors import contracted

from orthobench.contract.samples import SampleSource
from orthobench.errors import DataError, UsageError
from orthobench.tools.arrays import Array, check_rows
from orthobench_orthogonal_tensor.problems.whitening import (
    SINGULAR,
    Whitening,
    cyclic_sum,
    exactly_symmetric,
    third_power_sum,
    whitening,
)

ESTIMATES = ("bottom", "smallest")
"""Estimates of the variance from the eigenvalues of the covariance: see `noise_variance`."""


@dataclass(frozen=True)
class Mixture:
    """A mixture of k Gaussians that all have the covariance variance · I.

    Attributes
    ----------
    centres : ndarray, shape (k, d)
        The means m_i.
    weights : ndarray, shape (k,)
        The probabilities w_i: positive, with sum one.
    variance : float
        Variance of each feature within a component, >= 0.

    Raises
    ------
    UsageError
        If shapes, weights or the variance do not fit.
    DataError
        If centres or weights are not finite real numbers.
    """

    centres: Array
    weights: Array
    variance: float

    def __post_init__(self) -> None:
        if np.ndim(self.centres) != 2 or np.shape(self.weights) != np.shape(self.centres)[:1]:
            shapes = f"{np.shape(self.centres)} and {np.shape(self.weights)}"
            raise UsageError(f"centres and weights must be (k, d) and (k,), not {shapes}")
        weights = real(self.weights, "the weights of a mixture")
        check_rows(real(self.centres, "the centres of a mixture"), what="centre")
        if not (np.min(weights) > 0 and math.isclose(np.sum(weights), 1, rel_tol=1e-9)):
            raise UsageError("the weights of a mixture must be positive and sum to one")
        if not 0 <= self.variance < math.inf:
            raise UsageError(f"the variance of a mixture must be >= 0, not {self.variance!r}")

    def assign(self, X: Array) -> NDArray[np.intp]:
        """Return for each row of X (n, d) the component with the largest posterior probability.

        The nearest centre if the variance is zero. 2ndk flops.
        """
        best: NDArray[np.intp] = self._scores(X).argmax(axis=1)
        return best

    def log_likelihood(self, X: Array) -> float:
        """Return the mean of log p(x) over the rows of X (n, d), in nats; variance > 0."""
        scores = self._scores(X) / self.variance
        top = scores.max(axis=1)
        logs = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        logs -= np.einsum("ij,ij->i", X, X) / (2 * self.variance)
        normalizer: float = X.shape[1] / 2 * math.log(2 * math.pi * self.variance)
        return float(logs.mean()) - normalizer

    def _scores(self, X: Array) -> Array:
        """Return variance · (log w_i + log N(x; m_i, variance I)), up to a constant for each x."""
        squares = np.einsum("ij,ij->i", self.centres, self.centres)
        scores: Array = X @ self.centres.T
        scores += self.variance * np.log(self.weights) - squares / 2
        return scores


@dataclass(frozen=True)
class Moments:
    """The first three moments of a mixture: `mean` (d,), `covariance` (d, d), and `third`.

    ``third(W)`` returns E[W'x ⊗ W'x ⊗ W'x], shape (k, k, k), for W (d, k). `count` is the number
    of samples; 0 for exact moments.
    """

    mean: Array
    covariance: Array
    third: Callable[[Array], Array]
    count: int = 0


def population_moments(mixture: Mixture) -> Moments:
    """Return the exact moments of a mixture; the third one takes 2dk² + 2k⁴ flops."""
    mean = mixture.weights @ mixture.centres
    apart = mixture.centres - mean
    between: Array = (apart.T * mixture.weights) @ apart

    def third(W: Array) -> Array:
        centres, weights = mixture.centres @ W, mixture.weights
        T: Array = np.einsum("i,ia,ib,ic->abc", weights, centres, centres, centres, optimize=True)
        return T + cyclic_sum(np.multiply.outer(mixture.variance * (W.T @ W), mean @ W))

    return Moments(mean, between + mixture.variance * np.eye(len(mean)), third)


def sample_moments(source: SampleSource) -> Moments:
    """Return the moments of more samples than features, read here once, and once by `third`.

    DataError if a sample is not finite, there are no more samples than features, or the covariance
    overflows. nd² flops here and 2ndk + nk³ in `third`; memory O(d²) and O(k³), and a block of
    rows.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        count, mean, covariance = _two_moments(_checked(source))
    if count <= source.d:
        raise DataError(
            f"{count} samples of {source.d} features have a singular covariance, which "
            f"hides the noise: at least {source.d + 1} are needed"
        )
    if not np.isfinite(covariance).all():
        raise DataError("the covariance of the samples overflows; rescale the data")

    def third(W: Array) -> Array:
        projected = (block @ W for block in one_pass(source))
        return third_power_sum(projected, W.shape[1]) / count

    return Moments(mean, covariance, third, count)


def one_pass(source: SampleSource) -> Iterator[Array]:
    """Yield all samples of a source once, in blocks."""
    if isinstance(source, ArraySource):
        return source.one_pass()
    return source.blocks(np.random.default_rng(0))


def _checked(source: SampleSource) -> Iterator[Array]:
    first = 0
    for block in one_pass(source):
        check_rows(block, first, source.row_number)
        yield block
        first += len(block)


def _two_moments(blocks: Iterable[Array]) -> tuple[int, Array, Array]:
    """Return the number of rows, their mean and covariance, after a shift against rounding."""
    count, shift, total, products = 0, np.zeros(0), np.zeros(0), np.zeros(0)
    for block in blocks:
        if not count:
            shift = block.mean(axis=0)
            total, products = np.zeros(len(shift)), np.zeros((len(shift), len(shift)))
        block = block - shift
        count += len(block)
        total += block.sum(axis=0)
        products += block.T @ block
    off = total / count
    return count, shift + off, products / count - np.outer(off, off)


def noise_variance(covariance: Array, k: int, estimate: str = "bottom") -> float:
    """Return the variance within the k components of a mixture with this covariance (d, d).

    The centres, minus their mean, span at most k - 1 dimensions: without sampling noise the d - k
    + 1 smallest eigenvalues all equal the variance. The `estimate` "bottom" is their mean,
    "smallest" the smallest one (Hsu and Kakade 2013), too small for few samples. About 4d³/3
    flops.
    """
    values = np.linalg.eigvalsh(covariance)
    bottom = values[: len(values) - k + 1]
    # rounding may make the eigenvalues of data without noise negative
    return max(0.0, float(bottom.mean() if estimate == "bottom" else values[0]))


def noise_spread(moments: Moments, k: int) -> float:
    """Return how the variance within components of samples differs between directions.

    The standard deviation of the d - k + 1 smallest eigenvalues of the covariance over their mean,
    less the part that N samples of spherical Gaussians explain. For m eigenvalues of such samples
    the squared ratio, John's (1972) statistic of sphericity, has mean (m + 1)/N and standard
    deviation 2/N (Ledoit and Wolf 2002, Proposition 2); three of the latter are allowed for.
    """
    values = np.linalg.eigvalsh(moments.covariance)[: len(moments.mean) - k + 1]
    if values[-1] <= SINGULAR * np.trace(moments.covariance):
        return 0.0  # there is no noise
    explained = (len(values) + 7) / moments.count
    return float(max(0.0, (values.std() / values.mean()) ** 2 - explained) ** 0.5)


@dataclass(frozen=True)
class WhitenedMoments:
    """The whitened third moment of a mixture, and the map from decompositions to mixtures.

    `tensor` (k, k, k) is M3(W, W, W): without sampling noise sum_i w_i^(-1/2) u_i ⊗ u_i ⊗ u_i with
    orthonormal u_i. `whitening` is that of M2, `variance` the estimate.
    """

    tensor: Array
    whitening: Whitening
    variance: float

    def mixture(self, U: Array) -> Mixture:
        """Return the mixture of a decomposition U (k, k) of the tensor, up to signs.

        With lambda_i = T(u_i, u_i, u_i), its centres are lambda_i (W')^+ u_i. Its weights are
        lambda_i^-2, at most 1 each, divided by their sum. Anandkumar et al. 2012, Theorem 4.3.
        """
        within = self.coordinates(U)
        return Mixture(within.centres @ self.whitening.basis.T, within.weights, within.variance)

    def coordinates(self, U: Array) -> Mixture:
        """Return the same mixture in the k coordinates of ``whitening.basis``."""
        values = contracted(self.tensor, U)
        weights: Array = np.maximum(np.abs(values), 1.0) ** -2
        centres = self.whitening.vectors(U, values)
        return Mixture(centres, weights / weights.sum(), self.variance)


def whitened_moments(moments: Moments, k: int, estimate: str = "bottom") -> WhitenedMoments:
    """Whiten the third moment of a mixture of k spherical Gaussians, 1 <= k <= d.

    `noise_variance` has the values of `estimate`. DataError if M2 has fewer than k positive
    eigenvalues. Two symmetric eigenproblems of size d, about 8d³/3 flops, and those of
    ``moments.third``.
    """
    variance = noise_variance(moments.covariance, k, estimate)
    second = moments.covariance + np.outer(moments.mean, moments.mean)
    found = whitening(second - variance * np.eye(len(second)), k)
    W = found.matrix
    noise = cyclic_sum(np.multiply.outer(variance * (W.T @ W), moments.mean @ W))
    return WhitenedMoments(exactly_symmetric(moments.third(W) - noise), found, variance)

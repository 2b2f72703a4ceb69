"""Mixtures of spherical Gaussians with one variance, and their moments.

Samples are x = m_i + noise with probability w_i, noise from N(0, variance I). Hsu and Kakade
(2013, "Learning mixtures of spherical Gaussians: moment methods and spectral decompositions",
Theorem 1; Anandkumar et al. 2012, Theorem 3.2): the variance is the smallest eigenvalue of the
covariance, M2 = E[xx'] - variance I = sum_i w_i m_i ⊗ m_i, and with the unit vectors e_j

    M3 = E[x ⊗ x ⊗ x] - variance sum_j (E[x] ⊗ e_j ⊗ e_j + e_j ⊗ E[x] ⊗ e_j + e_j ⊗ e_j ⊗ E[x])
       = sum_i w_i m_i ⊗ m_i ⊗ m_i.

M3 is never formed: whitened it is M3(W, W, W), a (k, k, k) tensor, and sum_j W'e_j ⊗ W'e_j is W'W.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.sources import ArraySource, SampleSource
from orthobench.errors import DataError, UsageError, unknown
from orthobench.families.orthogonal_tensor.whitening import (
    Whitening,
    exactly_symmetric,
    third_power,
    three_ways,
    weights_of,
    whitening,
)
from orthobench.families.symmetric_tensors import contracted
from orthobench.tools.arrays import Array, check_rows, real

ESTIMATES = ("bottom", "smallest")
"""How the variance is estimated from the eigenvalues of the covariance: see `noise_variance`."""


@dataclass(frozen=True)
class Mixture:
    """A mixture of k Gaussians with covariance variance I.

    Attributes
    ----------
    centres : ndarray, shape (k, d)
    weights : ndarray, shape (k,)
        Positive; they sum to one.
    variance : float
        Of each feature within a component, not negative.
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
        """Return for each row of `X` the component with the largest posterior probability.

        The nearest centre where the variance is zero.

        Parameters
        ----------
        X : ndarray, shape (n, d)

        Notes
        -----
        2ndk flops.
        """
        best: NDArray[np.intp] = self._scores(X).argmax(axis=1)
        return best

    def log_likelihood(self, X: Array) -> float:
        """Return the mean over the rows x of log p(x), in nats; the variance must be positive.

        Parameters
        ----------
        X : ndarray, shape (n, d)
        """
        scores = self._scores(X) / self.variance
        top = scores.max(axis=1)
        logs = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        logs -= np.einsum("ij,ij->i", X, X) / (2 * self.variance)
        normalizer: float = X.shape[1] / 2 * math.log(2 * math.pi * self.variance)
        return float(logs.mean()) - normalizer

    def _scores(self, X: Array) -> Array:
        """Return variance (log w_i + log N(x; m_i, variance I)), up to a number for each x."""
        squares = np.einsum("ij,ij->i", self.centres, self.centres)
        scores: Array = X @ self.centres.T
        scores += self.variance * np.log(self.weights) - squares / 2
        return scores


class MixtureMoments(ABC):
    """The first three moments of a mixture, the third whitened.

    Attributes
    ----------
    mean : ndarray, shape (d,)
    covariance : ndarray, shape (d, d)
    """

    mean: Array
    covariance: Array

    @abstractmethod
    def third(self, W: Array) -> Array:
        """Return E[W'x ⊗ W'x ⊗ W'x], shape (k, k, k), for `W` (d, k)."""


class PopulationMoments(MixtureMoments):
    """The exact moments of a mixture.

    Parameters
    ----------
    mixture : Mixture
    """

    def __init__(self, mixture: Mixture) -> None:
        self.mixture = mixture
        self.mean = mixture.weights @ mixture.centres
        apart = mixture.centres - self.mean
        between: Array = (apart.T * mixture.weights) @ apart
        self.covariance = between + mixture.variance * np.eye(len(self.mean))

    def third(self, W: Array) -> Array:
        """Return E[W'x ⊗ W'x ⊗ W'x]; 2dk² + 2k⁴ flops."""
        centres, weights = self.mixture.centres @ W, self.mixture.weights
        T: Array = np.einsum("i,ia,ib,ic->abc", weights, centres, centres, centres, optimize=True)
        return T + three_ways(np.multiply.outer(self.mixture.variance * (W.T @ W), self.mean @ W))


class SampleMoments(MixtureMoments):
    """The moments of samples, which are read block by block: once here, once by `third`.

    Parameters
    ----------
    source : SampleSource
        More samples than features.

    Attributes
    ----------
    count : int
        Samples.

    Raises
    ------
    DataError
        On a sample that is not finite, named by its row; on no more samples than features; on a
        covariance that overflows.

    Notes
    -----
    nd² flops here and 2ndk + nk³ in `third`; memory O(d²) and O(k³), and a block of rows.
    """

    def __init__(self, source: SampleSource) -> None:
        self.source = source
        with np.errstate(over="ignore", invalid="ignore"):
            self.count, self.mean, self.covariance = _two_moments(checked(source))
        if self.count <= source.d:
            raise DataError(
                f"{self.count} samples of {source.d} features have a singular covariance, which "
                f"hides the noise: at least {source.d + 1} are needed"
            )
        if not np.isfinite(self.covariance).all():
            raise DataError("the covariance of the samples overflows; rescale the data")

    def third(self, W: Array) -> Array:
        """Return the mean of W'x ⊗ W'x ⊗ W'x."""
        projected = (block @ W for block in one_pass(self.source))
        return third_power(projected, W.shape[1]) / self.count


def one_pass(source: SampleSource) -> Iterator[Array]:
    """Yield all samples of a source once, in blocks."""
    if isinstance(source, ArraySource):
        return source.one_pass()
    return source.blocks(np.random.default_rng(0))


def checked(source: SampleSource) -> Iterator[Array]:
    """Yield all samples of a source once, in blocks, and refuse those that `check_rows` refuses."""
    first = 0
    for block in one_pass(source):
        check_rows(block, first, source.row_number)
        yield block
        first += len(block)


def _two_moments(blocks: Iterable[Array]) -> tuple[int, Array, Array]:
    """Return the number of rows, their mean and their covariance.

    Products are taken of rows minus the mean of the first block: data far from zero would leave
    nothing but rounding of the variance otherwise.
    """
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


def mixture_moments(centres: Array, weights: Array, variance: float) -> PopulationMoments:
    """Return the exact moments of a mixture of spherical Gaussians.

    Parameters
    ----------
    centres : ndarray, shape (k, d)
    weights : ndarray, shape (k,)
        Positive; they sum to one.
    variance : float

    Raises
    ------
    UsageError
        On shapes that do not fit, or weights or a variance that no mixture has.
    DataError
        On centres or weights that are not real numbers, or centres that are not finite.
    """
    return PopulationMoments(Mixture(centres, weights, variance))


def noise_variance(covariance: Array, k: int, estimate: str = "bottom") -> float:
    """Return the variance within the k components of a mixture that has this covariance.

    The centres, minus their mean, span k - 1 dimensions at most: without sampling noise the
    d - k + 1 smallest eigenvalues all equal the variance.

    Parameters
    ----------
    covariance : ndarray, shape (d, d)
        d >= k.
    k : int
    estimate : {"bottom", "smallest"}
        The mean of these eigenvalues, or the smallest (Hsu and Kakade 2013), which samples
        make smaller than it is: the more so the more features and the fewer samples.
    """
    if estimate not in ESTIMATES:
        raise unknown("variance estimate", estimate, ESTIMATES)
    values = np.linalg.eigvalsh(covariance)
    bottom = values[: len(values) - k + 1]
    # of data without noise, rounding may leave a negative one
    return max(0.0, float(bottom.mean() if estimate == "bottom" else values[0]))


@dataclass(frozen=True)
class WhitenedMoments:
    """The whitened third moment of a mixture, and what leads back from it.

    Attributes
    ----------
    tensor : ndarray, shape (k, k, k)
        M3(W, W, W), symmetric to the last bit; without sampling noise sum_i w_i^(-1/2) u_i ⊗ u_i
        ⊗ u_i with orthonormal u_i.
    whitening : Whitening
    variance : float
        As estimated.
    """

    tensor: Array
    whitening: Whitening
    variance: float

    def mixture(self, U: Array) -> Mixture:
        """Return the mixture that a decomposition stands for.

        Parameters
        ----------
        U : ndarray, shape (k, k)
            Orthonormal columns u_i; their signs do not matter.

        Returns
        -------
        Mixture
            With lambda_i = T(u_i, u_i, u_i), centres lambda_i (W')^+ u_i and weights
            lambda_i^-2, at most 1 each, divided by their sum, which is one without noise.

        References
        ----------
        Anandkumar et al. 2012, Theorem 4.3.
        """
        within = self.coordinates(U)
        return Mixture(within.centres @ self.whitening.basis.T, within.weights, within.variance)

    def coordinates(self, U: Array) -> Mixture:
        """Return the mixture of `mixture` in coordinates of ``whitening.basis``: k dimensions."""
        values = contracted(self.tensor, U)
        weights = weights_of(values)
        centres = self.whitening.vectors(U, values)
        return Mixture(centres, weights / weights.sum(), self.variance)


def check_components(k: int, d: int) -> None:
    """Refuse a number of components that third moments of d features cannot give back.

    Raises
    ------
    UsageError
        Where it is no whole number from 1 to d.
    """
    if not hasattr(k, "__index__"):
        raise UsageError(f"components must be a whole number between 1 and d = {d}, not {k}")
    if not 1 <= k <= d:
        raise UsageError(
            f"{k} components cannot be recovered from the third moments of {d} features: their "
            f"centres must be linearly independent, so there are 1 to {d}"
        )


def whitened_moments(moments: MixtureMoments, k: int, estimate: str = "bottom") -> WhitenedMoments:
    """Whiten the third moment of a mixture of k spherical Gaussians.

    Parameters
    ----------
    moments : MixtureMoments
    k : int
        Components, 1 <= k <= d.
    estimate : {"bottom", "smallest"}
        How the variance is estimated: see `noise_variance`.

    Raises
    ------
    UsageError
        On a number of components that is no whole number from 1 to d.
    DataError
        Where M2 has fewer than k positive eigenvalues; names the first that is not.
    """
    d = len(moments.mean)
    check_components(k, d)
    variance = noise_variance(moments.covariance, k, estimate)
    second = moments.covariance + np.outer(moments.mean, moments.mean)
    found = whitening(second - variance * np.eye(d), k)
    W = found.matrix
    noise = three_ways(np.multiply.outer(variance * (W.T @ W), moments.mean @ W))
    return WhitenedMoments(exactly_symmetric(moments.third(W) - noise), found, variance)

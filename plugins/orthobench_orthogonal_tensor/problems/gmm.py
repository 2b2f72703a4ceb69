"""Gaussian mixtures by tensor decomposition."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from orthobench_kit.rows import Rows
from orthobench_kit.sources import ArraySource
from orthobench_kit.streams import source_of

from orthobench.contract import Array, Instance, Solution, parameter
from orthobench.contract.samples import SampleSource
from orthobench.errors import DataError, UsageError, unknown
from orthobench.tools.arrays import whole
from orthobench_orthogonal_tensor import Judge, OrthogonalTensor, TensorOracle
from orthobench_orthogonal_tensor.problems.mixtures import (
    ESTIMATES,
    Mixture,
    WhitenedMoments,
    noise_spread,
    one_pass,
    population_moments,
    sample_moments,
    whitened_moments,
)
from orthobench_orthogonal_tensor.result import factorization

Labels = NDArray[np.intp]


class MixtureJudge:
    """Measures decompositions of the whitened tensor, and their mixtures.

    X (n, d) are samples to cluster, of which only the coordinates in the k whitened directions are
    stored, `labels` (n,) their true components, `truth` the true mixture, with as many. 2nk² + 2k⁴
    flops a call.
    """

    def __init__(
        self,
        moments: WhitenedMoments,
        X: Array,
        labels: Labels | None = None,
        truth: Mixture | None = None,
    ) -> None:
        self.moments, self.labels, self.truth = moments, labels, truth
        self.decomposition = Judge(moments.tensor)
        self.within = X @ moments.whitening.basis
        self.outside = _log_likelihood_outside(X, self.within, moments.variance)
        self.optimal_nmi: float | None = None
        if labels is not None and truth is not None:
            self.optimal_nmi = nmi(labels, truth.assign(X))

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics of the mixture and of `Judge`.

        With labels, ``nmi`` is the normalized mutual information of the true components and those
        of largest posterior probability under the mixture found. With the truth too,
        ``optimal_nmi`` is that of the true mixture, and ``nmi_gap``, which comes first, the
        difference. With the truth there is `centre_error`. If the estimated variance is positive,
        ``log_likelihood`` is the mean over the samples.
        """
        mixture = self.moments.coordinates(solution.point)
        metrics = self._clustering(mixture) | self.decomposition(solution)
        if self.truth is not None:
            found = self.moments.mixture(solution.point)
            metrics["centre_error"] = centre_error(found.centres, self.truth.centres)
        if mixture.variance > 0:
            metrics["log_likelihood"] = mixture.log_likelihood(self.within) + self.outside
        return metrics

    def _clustering(self, mixture: Mixture) -> dict[str, float]:
        if self.labels is None:
            return {}
        found = nmi(self.labels, mixture.assign(self.within))
        if self.optimal_nmi is None:
            return {"nmi": found}
        gap = self.optimal_nmi - found
        return {"nmi_gap": gap, "nmi": found, "optimal_nmi": self.optimal_nmi}


def _log_likelihood_outside(X: Array, within: Array, variance: float) -> float:
    if variance <= 0:
        return 0.0
    squares = float(np.vdot(X, X) - np.vdot(within, within)) / len(X)
    normalizer: float = (X.shape[1] - within.shape[1]) / 2 * math.log(2 * math.pi * variance)
    return -squares / (2 * variance) - normalizer


def nmi(labels: Labels, found: Labels) -> float:
    """Return the normalized mutual information of two clusterings (n,), I / ((H + H') / 2).

    1 for equal clusterings under any names, 0 for independent ones (Manning, Raghavan and Schütze
    2008, *Introduction to information retrieval*, section 16.3).
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(labels, found, average_method="arithmetic"))


def centre_error(found: Array, true: Array) -> float:
    """Return the error of centres (k, d) over the norm of the true ones, at the best matching."""
    from scipy.optimize import linear_sum_assignment

    squares = np.sum(found**2, axis=1)[:, None] + np.sum(true**2, axis=1) - 2 * found @ true.T
    rows, columns = linear_sum_assignment(squares)
    return float(np.linalg.norm(found[rows] - true[columns]) / np.linalg.norm(true))


SPREAD = 0.1
"""Maximum spread of the noise's eigenvalues (`noise_spread`) without a warning."""

JUDGED = 20_000
"""Maximum number of samples that the judge clusters."""

BLOCK = 4096
"""Number of samples that are moved to their centres at once."""


@dataclass(frozen=True)
class MixtureInstance(Instance[TensorOracle]):
    """An instance whose decompositions correspond to Gaussian mixtures.

    `moments` has the tensor.
    """

    moments: WhitenedMoments = field(kw_only=True)

    def mixture(self, U: Array) -> Mixture:
        """Return the mixture of a solution (k, k): centres, weights, variance."""
        return self.moments.mixture(U)


def gmm_tensor(
    X: NDArray[np.generic] | Rows | ArraySource | Iterable[Array],
    n_components: int,
    labels: ArrayLike | None = None,
    *,
    variance_estimate: str = "bottom",
    truth: Mixture | None = None,
) -> MixtureInstance:
    """Make the tensor whose decomposition fits spherical Gaussians of one variance to your data.

    Parameters
    ----------
    X : ndarray (N, d), memory map, table, or iterable of rows or blocks
        N > d samples, not centred: centred samples have linearly dependent centres. They are read
        three times, block by block; a generator is refused.
    n_components : int
        k, 1 <= k <= d: the centres of the mixture must be linearly independent.
    labels : array_like of int or str, shape (N,), optional
        The true components, for the judge.
    variance_estimate : {"bottom", "smallest"}
        The noise variance as the mean of the d - k + 1 smallest eigenvalues of the covariance, or
        as the smallest (Hsu and Kakade 2013).
    truth : Mixture, optional
        The true mixture, for the judge.

    Returns
    -------
    MixtureInstance
        Its oracle has the whitened third moment (k, k, k). ``instance.mixture(U)`` gives the
        mixture of a solution. `MixtureJudge` measures every s-th sample, at most 20,000.

    Raises
    ------
    UsageError
        If the number of components is not a whole number from 1 to d, the estimate is unknown, or
        the samples are a generator.
    DataError
        If samples are not finite, or no more than features; if labels do not fit; if the second
        moment has fewer than k positive eigenvalues.

    Warns
    -----
    UserWarning
        If the covariance within the components is not spherical, or there are more of them
        (`noise_spread`), which biases the result. With k = d this cannot be seen.

    Notes
    -----
    N(d² + 2dk + k³) flops; memory O(d²), O(k³) and a block of rows: no (d, d, d) array.

    Examples
    --------
    >>> import numpy as np, orthobench as ob
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(3, size=5000)
    >>> X = 4 * np.eye(3, 6)[labels] + rng.standard_normal((5000, 6))
    >>> instance = ob.gmm_tensor(X, n_components=3, labels=labels)
    >>> instance.oracle.T.shape
    (3, 3, 3)
    """
    if isinstance(X, Iterator):
        raise UsageError(
            "a generator can be read once, and whitening reads the samples again; pass an array, "
            "a memory map, or a list of blocks"
        )
    if variance_estimate not in ESTIMATES:
        raise unknown("variance estimate", variance_estimate, ESTIMATES)
    source = source_of(X)
    why = f": the centres of {source.d} features must be linearly independent"
    whole(n_components, "the number of components", 1, source.d, why)
    samples = sample_moments(source)
    moments = whitened_moments(samples, n_components, variance_estimate)
    spread = noise_spread(samples, n_components)
    if spread > SPREAD:
        least = source.d - n_components + 1
        warnings.warn(
            f"the noise of these samples is not spherical, or they have more than {n_components} "
            f"components: the {least} least eigenvalues of their covariance differ by "
            f"{spread:.0%} of their mean; centres and weights are biased by it",
            stacklevel=2,
        )
    stride = -(-samples.count // JUDGED)
    clusters = None if labels is None else _numbered(labels, samples.count)[::stride]
    return mixture_instance(moments, strided(source, samples.count, stride), clusters, truth)


def mixture_instance(
    moments: WhitenedMoments, X: Array, labels: Labels | None = None, truth: Mixture | None = None
) -> MixtureInstance:
    """Make an instance of known moments, such as exact ones.

    X (n, d) are the samples that the judge clusters, `labels` their true components, `truth` the
    true mixture. UsageError if the truth has another number of components or features.
    """
    shape = (len(moments.tensor), X.shape[1])
    if truth is not None and truth.centres.shape != shape:
        raise UsageError(f"the true centres must be {shape}, not {truth.centres.shape}")
    judge = MixtureJudge(moments, X, labels, truth)
    best = {} if judge.optimal_nmi is None else {"nmi_gap": 0.0}
    oracle = TensorOracle(moments.tensor)
    result = partial(factorization, oracle)
    return MixtureInstance(oracle, judge, best, result=result, moments=moments)


def strided(source: SampleSource, count: int, stride: int) -> Array:
    """Return every `stride`-th of the `count` samples of a source, from the first on."""
    rows = np.empty((-(-count // stride), source.d))
    seen = filled = 0
    for block in one_pass(source):
        part = block[-seen % stride :: stride]
        rows[filled : filled + len(part)] = part
        seen, filled = seen + len(block), filled + len(part)
    return rows


def _numbered(labels: ArrayLike, count: int) -> Labels:
    given = np.asarray(labels)
    if given.shape != (count,) or given.dtype.kind not in "iubUS":
        raise DataError(
            f"labels must be {count} integers or strings, one a sample, not an array of shape "
            f"{given.shape} and dtype {given.dtype}"
        )
    _, numbers = np.unique(given, return_inverse=True)
    return numbers.reshape(-1)


@dataclass(frozen=True)
class GaussianMixtureMoments(OrthogonalTensor):
    """Fit a mixture of spherical Gaussians through the whitened third moment of its samples.

    Shalit and Chechik (2014), section 5.3: 20 components of variance 2, centres from a Gaussian
    whose covariance has an inverse Wishart distribution. The paper leaves open its degrees of
    freedom and its scale, here d and the identity, which give the optimal NMI of its figures (0.97
    at d = 100), and the weights, here equal. Its d = 10 with 20 components cannot be recovered
    from third moments. Ranked by ``nmi_gap``, on at most 20,000 samples.
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
        mixture = self.draw_mixture(rng)
        X, labels = draw(mixture, self.samples or JUDGED, rng)
        if self.samples:
            return gmm_tensor(
                X, self.components, labels, variance_estimate=self.variance_estimate, truth=mixture
            )
        exact = population_moments(mixture)
        moments = whitened_moments(exact, self.components, self.variance_estimate)
        return mixture_instance(moments, X, labels, mixture)

    def draw_mixture(self, rng: np.random.Generator) -> Mixture:
        """Draw the mixture.

        (GG')^-1 for a Gaussian G (d, d) has the inverse Wishart distribution with d degrees of
        freedom and scale I; it is the covariance of (G')^-1 z for z from N(0, I).
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

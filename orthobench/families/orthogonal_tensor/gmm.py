"""Makes the tensors whose decomposition fits a Gaussian mixture to your own data."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthobench.contract.problem import Instance
from orthobench.contract.samples import SampleSource
from orthobench.errors import DataError, UsageError
from orthobench.families.orthogonal_tensor.mixture_judge import Labels, MixtureJudge
from orthobench.families.orthogonal_tensor.mixture_moments import (
    SampleMoments,
    WhitenedMoments,
    check_components,
    noise_spread,
    one_pass,
    whitened_moments,
)
from orthobench.families.orthogonal_tensor.mixtures import Mixture
from orthobench.families.orthogonal_tensor.oracle import TensorOracle
from orthobench.families.sources import ArraySource
from orthobench.families.streams import IteratorSource
from orthobench.tools.arrays import Array

SPREAD = 0.1
"""The largest spread of the noise's eigenvalues (`noise_spread`) that is taken as none."""

JUDGED = 20_000
"""Most samples that the judge clusters."""


@dataclass(frozen=True)
class MixtureInstance(Instance[TensorOracle]):
    """An instance whose decompositions stand for Gaussian mixtures.

    Attributes
    ----------
    moments : WhitenedMoments
        Their tensor is the one that is decomposed.
    """

    moments: WhitenedMoments = field(kw_only=True)

    def mixture(self, U: Array) -> Mixture:
        """Return the mixture that a solution (k, k) stands for: centres, weights, variance."""
        return self.moments.mixture(U)


def gmm_tensor(
    X: NDArray[np.generic] | ArraySource | Iterable[Array],
    n_components: int,
    labels: ArrayLike | None = None,
    *,
    variance_estimate: str = "bottom",
    truth: Mixture | None = None,
) -> MixtureInstance:
    """Make the tensor whose decomposition fits spherical Gaussians of one variance to your data.

    Parameters
    ----------
    X : ndarray (N, d), memory map, or iterable of rows or blocks
        N > d samples, not centred: centred samples have linearly dependent centres. An array is
        read twice, anything else three times, block by block; a generator, which can be read only
        once, is refused.
    n_components : int
        k, 1 <= k <= d: the centres of the mixture must be linearly independent.
    labels : array_like of int or str, shape (N,), optional
        The true components, for the judge.
    variance_estimate : {"bottom", "smallest"}
        The noise variance as the mean of the d - k + 1 smallest eigenvalues of the covariance, or
        as the smallest, as Hsu and Kakade (2013) have it.
    truth : Mixture, optional
        The true mixture, for the judge.

    Returns
    -------
    MixtureInstance
        Its oracle holds the whitened third moment (k, k, k). ``instance.mixture(U)`` gives the
        mixture that a solution stands for. Its metrics are those of
        `orthobench.families.orthogonal_tensor.mixture_judge.MixtureJudge`, measured on every s-th
        sample, with the smallest s that leaves at most 20,000.

    Raises
    ------
    UsageError
        Where the number of components is not a whole number from 1 to d, or the samples are a
        generator; before they are read.
    DataError
        Where samples are not finite, named by their row, or no more than features; where labels
        do not fit; where the second moment has fewer than k positive eigenvalues.

    Warns
    -----
    UserWarning
        Where the covariance within the components is not spherical, or there are more of them
        (`noise_spread`), which biases what is found. With k = d nothing is left to see it by.

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
    source = _source(X)
    check_components(n_components, source.d)
    samples = SampleMoments(source)
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
    moments: WhitenedMoments,
    X: Array,
    labels: Labels | None = None,
    truth: Mixture | None = None,
) -> MixtureInstance:
    """Make an instance of moments that are already known, such as exact ones.

    Parameters
    ----------
    moments : WhitenedMoments
        Such as ``whitened_moments(PopulationMoments(mixture), k)``.
    X : ndarray, shape (n, d)
        Samples that the judge clusters.
    labels : ndarray of int, shape (n,), optional
        Their true components.
    truth : Mixture, optional
        The true mixture.

    Raises
    ------
    UsageError
        Where the truth has another number of components or features.
    """
    shape = (len(moments.tensor), X.shape[1])
    if truth is not None and truth.centres.shape != shape:
        raise UsageError(f"the true centres must be {shape}, not {truth.centres.shape}")
    judge = MixtureJudge(moments, X, labels, truth)
    best = {} if judge.optimal_nmi is None else {"nmi_gap": 0.0}
    return MixtureInstance(TensorOracle(moments.tensor), judge, best, moments=moments)


def _source(X: NDArray[np.generic] | ArraySource | Iterable[Array]) -> SampleSource:
    if isinstance(X, np.ndarray):
        return ArraySource(X)
    if isinstance(X, ArraySource):
        return X
    if iter(X) is X:
        raise UsageError(
            "a generator can be read once, and whitening reads the samples again; pass an array, "
            "a memory map, or a list of blocks"
        )
    return IteratorSource(X)


def strided(source: SampleSource, count: int, stride: int) -> Array:
    """Return every `stride`-th of the `count` samples of a source, from the first on."""
    rows = np.empty((-(-count // stride), source.d))
    step = stride
    if isinstance(source, ArraySource):
        order = range(count) if source.order is None else source.order
        source = ArraySource(source.rows, order[::stride], 1, source.scale, source.centre)
        step = 1
    seen = filled = 0
    for block in one_pass(source):
        part = block[-seen % step :: step]
        rows[filled : filled + len(part)] = part
        seen, filled = seen + len(block), filled + len(part)
    return rows


def _numbered(labels: ArrayLike, count: int) -> Labels:
    """Return labels as numbers: 0, 1, ... for the distinct ones.

    Raises
    ------
    DataError
        Where they are not integers or strings, one for each of the `count` samples.
    """
    given = np.asarray(labels)
    if given.shape != (count,) or given.dtype.kind not in "iubUS":
        raise DataError(
            f"labels must be {count} integers or strings, one a sample, not an array of shape "
            f"{given.shape} and dtype {given.dtype}"
        )
    _, numbers = np.unique(given, return_inverse=True)
    return numbers.reshape(-1)

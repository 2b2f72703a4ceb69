"""The judge of Gaussian mixtures that are fitted by orthogonal tensor decomposition."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.problem import Solution
from orthobench.families.orthogonal_tensor.judge import Judge
from orthobench.families.orthogonal_tensor.mixture_moments import WhitenedMoments
from orthobench.families.orthogonal_tensor.mixtures import Mixture
from orthobench.tools.arrays import Array

Labels = NDArray[np.intp]


class MixtureJudge:
    """Measures decompositions, and the mixtures that they stand for.

    Parameters
    ----------
    moments : WhitenedMoments
        Their tensor is the one that is decomposed.
    X : ndarray, shape (n, d)
        Samples to cluster; only their coordinates in the k whitened directions are kept.
    labels : ndarray of int, shape (n,), optional
        Their true components.
    truth : Mixture, optional
        The true mixture, of as many components.

    Notes
    -----
    A call takes 2nk² + 2k⁴ flops: all estimated centres lie in the whitened directions.
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
        """Return the metrics of the mixture and, after those of its clustering, of `Judge`.

        With labels, ``nmi`` is the normalized mutual information (`nmi`) of the true components
        and those of largest posterior probability under the mixture found. With labels and the
        truth, ``optimal_nmi`` is that of the true mixture, and ``nmi_gap``, which comes first, the
        difference of the two. With the truth there is ``centre_error`` (`centre_error`). Where the
        estimated variance is positive, ``log_likelihood`` is the mean over the samples.
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
    """Return the part of the mean log-likelihood outside the whitened directions.

    It is the same for every mixture found.
    """
    if variance <= 0:
        return 0.0
    squares = float(np.vdot(X, X) - np.vdot(within, within)) / len(X)
    normalizer: float = (X.shape[1] - within.shape[1]) / 2 * math.log(2 * math.pi * variance)
    return -squares / (2 * variance) - normalizer


def nmi(labels: Labels, found: Labels) -> float:
    """Return the normalized mutual information of two clusterings, I / ((H + H') / 2).

    Normalized by the arithmetic mean of the two entropies: 1 for equal clusterings under any
    names, 0 for independent ones.

    Parameters
    ----------
    labels, found : ndarray of int, shape (n,)

    References
    ----------
    Manning, Raghavan and Schütze 2008, *Introduction to information retrieval*, section 16.3.
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(labels, found, average_method="arithmetic"))


def centre_error(found: Array, true: Array) -> float:
    """Return the relative error of all centres, matched one to one so that it is smallest.

    The Frobenius norm of the differences over that of the true centres.

    Parameters
    ----------
    found, true : ndarray, shape (k, d)

    Notes
    -----
    2dk² flops, and an assignment problem of size k.
    """
    from scipy.optimize import linear_sum_assignment

    squares = np.sum(found**2, axis=1)[:, None] + np.sum(true**2, axis=1) - 2 * found @ true.T
    rows, columns = linear_sum_assignment(squares)
    return float(np.linalg.norm(found[rows] - true[columns]) / np.linalg.norm(true))

"""Mixtures of Gaussians with one spherical covariance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import UsageError
from orthobench.tools.arrays import Array, check_rows, real


@dataclass(frozen=True)
class Mixture:
    """A mixture of k Gaussians that all have the covariance variance · I.

    Samples are x = m_i + noise with probability w_i, noise from N(0, variance I).

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
        On shapes that do not fit, weights that are not positive or do not sum to one, or a
        variance that is negative or not finite.
    DataError
        On centres or weights that are not real numbers, or centres that are not finite.
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

        Returns
        -------
        ndarray of int, shape (n,)

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

        Notes
        -----
        2ndk flops.
        """
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

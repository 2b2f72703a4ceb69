"""The judge of sparse PCA: explained variance, density and both penalized objectives."""

from __future__ import annotations

import numpy as np

from orthobench.contract.solution import Solution
from orthobench.errors import DataError
from orthobench.families.sparse_pca.loadings import adjusted_variance, explained_variance
from orthobench.families.sparse_pca.problem import SparseSolution
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import polar

OF_PENALIZED = ("penalized_objective", "squared_objective")
"""Metrics of a `SparseSolution` with a penalty only."""


class Judge:
    """Measures loadings on the training part, and on a test part where there is one.

    Parameters
    ----------
    train : ndarray, shape (d, N)
    test : ndarray, shape (d, M), optional

    Raises
    ------
    DataError
        Where the sum of squares of a part underflows or overflows.
    """

    def __init__(self, train: Array, test: Array | None = None) -> None:
        self.train, self.test = train, train if test is None else test
        self.total = _total(train, "the data")
        self.test_total = self.total if test is None else _total(test, "the test part")

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; what is unexplained, the primary one, first.

        ``adjusted_explained_variance`` (`loadings.adjusted_variance`) and
        ``explained_variance`` are shares of the total variance of the test part, or of the
        training part where there is none; ``unexplained_variance`` is one minus the first.
        ``training_unexplained_variance`` is that of the training part. ``nonzeros`` is the mean
        over the components, ``fewest_nonzeros`` and ``most_nonzeros`` its extremes, ``density``
        the share of non-zero loadings, ``empty`` the number of components without any. Of a
        method with an l1 penalty also ``penalized_objective`` and ``squared_objective``,
        equations 5 and 6 at the best U for these loadings.
        """
        Z = solution.point
        adjusted = adjusted_variance(self.test, Z) / self.test_total
        alike = self.test is self.train
        training = adjusted if alike else adjusted_variance(self.train, Z) / self.total
        nonzeros = np.count_nonzero(Z, axis=0)
        metrics = {
            "unexplained_variance": 1 - adjusted,
            "adjusted_explained_variance": adjusted,
            "explained_variance": explained_variance(self.test, Z) / self.test_total,
            "training_unexplained_variance": 1 - training,
            "nonzeros": float(nonzeros.mean()),
            "density": float(nonzeros.mean()) / len(Z),
            "fewest_nonzeros": float(nonzeros.min()),
            "most_nonzeros": float(nonzeros.max()),
            "empty": float(np.count_nonzero(nonzeros == 0)),
        }
        if isinstance(solution, SparseSolution) and solution.gamma is not None:
            metrics |= objectives(self.train, Z, solution.gamma)
        return metrics


def objectives(A: Array, Z: Array, gamma: float) -> dict[str, float]:
    """Return the values of both formulations at the best U for given loadings.

    Parameters
    ----------
    A : ndarray, shape (d, N)
    Z : ndarray, shape (d, m)
        Unit columns, m <= N.
    gamma : float
        Absolute.

    Returns
    -------
    dict
        ``penalized_objective``, |A'Z|_* - gamma |Z|_1: equation 5 of Shalit and Chechik (2014)
        maximized over U; ``squared_objective``, equation 6 at that U. A column of zeros counts
        for nothing in both: its column of U could be any, and equation 6 would depend on which.

    Notes
    -----
    4dNm flops and those of a polar decomposition (N, m).
    """
    Z = Z[:, Z.any(axis=0)]
    scores = A.T @ Z
    U = polar(scores)
    squared = np.maximum(np.abs(A @ U) - gamma, 0.0)
    return {
        "penalized_objective": float(np.vdot(U, scores) - gamma * np.abs(Z).sum()),
        "squared_objective": float(np.vdot(squared, squared)),
    }


def unit_columns(solution: Solution) -> float:
    """Return how far the columns of the loadings are from unit length, those of zeros excepted."""
    norms = np.linalg.norm(solution.point, axis=0)
    return float(np.abs(norms[norms > 0] - 1).max(initial=0.0))


def _total(A: Array, what: str) -> float:
    """Return |A|², the variance that shares are of; refuse zero and infinity."""
    with np.errstate(under="ignore", over="ignore"):
        total = float(np.linalg.norm(A)) ** 2
    if total == 0:
        raise DataError(f"{what}: the sum of squares is zero: there is no variance to explain")
    if total == np.inf:
        raise DataError(f"{what}: the sum of squares overflows; rescale the data")
    return total

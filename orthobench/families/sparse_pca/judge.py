"""The judge of sparse PCA: explained variance, density and both penalized objectives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from orthobench.contract.problem import Solution
from orthobench.errors import DataError
from orthobench.families.sparse_pca.bounds import MOST, VarianceBounds
from orthobench.families.sparse_pca.explained_variance import (
    adjusted_variance,
    explained_variance,
)
from orthobench.families.sparse_pca.solution import SparseSolution
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import polar, unit_columns

PENALIZED_METRICS = ("penalized_objective", "squared_objective")
"""Metrics of a `SparseSolution` with a penalty only."""

BOUND = "unexplained_variance_bound"
"""The metric that the primary one cannot be below, where there are few features."""


class Judge:
    """Measures loadings on the training data, and on test data where there are any.

    Parameters
    ----------
    train : ndarray, shape (d, N)
        Features by samples.
    test : ndarray, shape (d, M), optional
        Fresh samples of the same features; by default the training data.

    Raises
    ------
    DataError
        Where the sum of squares of the training or test data underflows or overflows.

    Notes
    -----
    A call costs 2dm(N + M) flops for the scores of N training and M test samples, and 4m²(N + M)
    to orthogonalize them; where d is at most `MOST`, also `VarianceBounds`.
    """

    def __init__(self, train: Array, test: Array | None = None) -> None:
        self.train, self.test = train, train if test is None else test
        self.total = _total_variance(train, "the data")
        self.test_total = self.total if test is None else _total_variance(test, "the test part")
        self.bounds = VarianceBounds(self.test) if len(train) <= MOST else None

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``unexplained_variance``, the primary one, first.

        ``adjusted_explained_variance`` and ``explained_variance``, of the functions
        `adjusted_variance` and `explained_variance`, are shares of the total variance of the test
        data; ``unexplained_variance`` is one minus the first, and
        ``training_unexplained_variance`` the same on the training data. ``nonzeros`` is the mean
        number of non-zero loadings of a component, ``fewest_nonzeros`` and ``most_nonzeros`` the
        extremes, ``density`` the share of non-zero loadings, ``empty`` the number of components
        without any. Solutions of methods with an l1 penalty also have ``penalized_objective`` and
        ``squared_objective`` (`objectives`). Where there are few features,
        ``unexplained_variance_bound`` is what the best components with as many loadings leave
        unexplained, or less (`VarianceBounds`).
        """
        Z = solution.point
        adjusted = adjusted_variance(self.test, Z) / self.test_total
        same = self.test is self.train
        training = adjusted if same else adjusted_variance(self.train, Z) / self.total
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
        if self.bounds is not None:
            metrics[BOUND] = max(0.0, 1 - self.bounds(nonzeros) / self.test_total)
        if isinstance(solution, SparseSolution) and solution.gamma is not None:
            metrics |= objectives(self.train, Z, solution.gamma)
        return metrics


def objectives(A: Array, Z: Array, gamma: float) -> dict[str, float]:
    """Return both penalized objectives at the best U for given loadings.

    Parameters
    ----------
    A : ndarray, shape (d, N)
    Z : ndarray, shape (d, m)
        Unit columns, m <= N.
    gamma : float
        The penalty, absolute.

    Returns
    -------
    dict
        ``penalized_objective``, |A'Z|_* - gamma |Z|_1: equation 5 of Shalit and Chechik (2014)
        maximized over U; ``squared_objective``, equation 6 at that U. Columns of zeros are left
        out of both: their columns of U are arbitrary, and equation 6 would depend on them.

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


def violation(solution: Solution) -> float:
    """Return the largest deviation of a column of loadings from unit length.

    Columns of zeros are allowed, and left out.
    """
    norms = np.linalg.norm(solution.point, axis=0)
    return float(np.abs(norms[norms > 0] - 1).max(initial=0.0))


def nearest(solution: Solution) -> Solution:
    """Return the solution with columns of unit length, or of zeros."""
    return replace(solution, point=unit_columns(solution.point))


def _total_variance(A: Array, what: str) -> float:
    """Return |A|²; refuse data of which it is zero or infinite."""
    with np.errstate(under="ignore", over="ignore"):
        total = float(np.linalg.norm(A)) ** 2
    if total == 0:
        raise DataError(f"{what}: the sum of squares is zero: there is no variance to explain")
    if total == np.inf:
        raise DataError(f"{what}: the sum of squares overflows; rescale the data")
    return total

"""The judge of sparse components."""

from __future__ import annotations

import numpy as np

from orthobench.contract.problem import Solution
from orthobench.errors import DataError
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import polar, unit_columns
from orthobench_sparse_pca.bounds import MOST, VarianceBounds
from orthobench_sparse_pca.oracle import UNDELIVERED, SparseSolution

DEPENDENT = 1e-10
"""Relative distance from the span of earlier scores below which scores are dependent."""


def explained_variance(A: Array, Z: Array) -> float:
    """Return |A'Z|², the sum of the variances of components Z (d, m) of data A (d, N); 2dNm flops.

    Variance that two components share counts twice.
    """
    return float(np.linalg.norm(A.T @ Z)) ** 2


def adjusted_variance(A: Array, Z: Array) -> float:
    """Return the adjusted variance: the part of each component beyond the ones before it.

    It is sum_j R_jj² of the QR decomposition of the scores A'Z, A (d, N) and Z (d, m). The unit
    columns of Z are sorted by the variance of each alone, largest first, ties by index. 2dNm +
    4Nm² flops, by Gram-Schmidt with reorthogonalization.

    References
    ----------
    Zou, Hastie and Tibshirani 2006, section 3.4, in the order of the components.
    """
    scores = A.T @ Z
    alone = np.einsum("ij,ij->j", scores, scores)
    basis = np.empty(scores.shape, order="F")
    total, rank = 0.0, 0
    for j in np.argsort(-alone, kind="stable"):
        before, rest = basis[:, :rank], scores[:, j]
        for _ in range(2):
            rest = rest - before @ (before.T @ rest)
        beyond = float(rest @ rest)
        if beyond > DEPENDENT**2 * alone[j]:
            basis[:, rank] = rest / np.sqrt(beyond)
            total, rank = total + beyond, rank + 1
    return total


PENALIZED_METRICS = ("penalized_objective", "squared_objective")
"""Metrics of a `SparseSolution` with a penalty only."""


BOUND = "unexplained_variance_bound"
"""The lower bound of the primary metric, with few features."""


class Judge:
    """Measures loadings on training data (d, N), and on test data (d, M) of the same features.

    Without a test part the training data are both; `each` is that of `sparse_pca`. 2dm(N + M)
    flops for scores, and 4m²(N + M) to orthogonalize them; with at most `MOST` features also
    `VarianceBounds`.
    """

    def __init__(
        self,
        train: Array,
        test: Array | None = None,
        cardinality: int | None = None,
        each: bool = True,
    ) -> None:
        self.cardinality, self.each = cardinality, each
        self.train, self.test = train, train if test is None else test
        self.total = total_variance(train, "the data")
        self.test_total = self.total if test is None else total_variance(test, "the test part")
        self.bounds = VarianceBounds(self.test) if len(train) <= MOST else None

    def __call__(self, solution: Solution) -> dict[str, float]:
        """Return the metrics; ``unexplained_variance``, the primary one, first.

        ``adjusted_explained_variance`` and ``explained_variance`` are shares of the total variance
        of the test data, from `adjusted_variance` and `explained_variance`. One minus the first is
        ``unexplained_variance``; ``training_unexplained_variance`` is the same on the training
        data. Non-zero loadings of a component are ``nonzeros``, the mean, ``fewest_nonzeros`` and
        ``most_nonzeros``; their share is ``density``, the number of components without any
        ``empty``. The share of variance in the span of the loadings is
        ``span_explained_variance``; the sum of |z_s'z_t| over pairs s < t ``overlap``; the largest
        correlation of two scores ``score_correlation``; the number of features in more than one
        component ``shared``.

        ``undelivered`` is the number of loadings beyond a problem's cardinality and of empty
        components. Methods with an l1 penalty also have ``penalized_objective`` and
        ``squared_objective`` (`objectives`). With few features, ``unexplained_variance_bound`` is
        a lower bound of ``unexplained_variance``.
        """
        Z = solution.point
        adjusted = adjusted_variance(self.test, Z) / self.test_total
        same = self.test is self.train
        training = adjusted if same else adjusted_variance(self.train, Z) / self.total
        nonzeros, scores = np.count_nonzero(Z, axis=0), unit_columns(self.test.T @ Z)
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
            "span_explained_variance": _span_variance(self.test, Z) / self.test_total,
            "overlap": float(np.triu(np.abs(Z.T @ Z), 1).sum()),
            "score_correlation": float(np.triu(np.abs(scores.T @ scores), 1).max()),
            "shared": float(np.count_nonzero(np.count_nonzero(Z, axis=1) > 1)),
        }
        if self.cardinality is not None:
            beyond = (nonzeros if self.each else nonzeros.sum()) - self.cardinality
            metrics[UNDELIVERED] = float(np.maximum(beyond, 0).sum()) + metrics["empty"]
        if self.bounds is not None:
            metrics[BOUND] = max(0.0, 1 - self.bounds(nonzeros) / self.test_total)
        if isinstance(solution, SparseSolution) and solution.gamma is not None:
            metrics |= objectives(self.train, Z, solution.gamma)
        return metrics


def objectives(A: Array, Z: Array, gamma: float) -> dict[str, float]:
    """Return both penalized objectives at the best U for given unit loadings Z (d, m), m <= N.

    ``penalized_objective`` is |A'Z|_* - gamma |Z|_1, equation 5 of Shalit and Chechik (2014)
    maximized over U; ``squared_objective`` is equation 6 at that U. 4dNm flops and a polar
    decomposition (N, m).
    """
    Z = Z[:, Z.any(axis=0)]
    scores = A.T @ Z
    U = polar(scores)
    squared = np.maximum(np.abs(A @ U) - gamma, 0.0)
    return {
        "penalized_objective": float(np.vdot(U, scores) - gamma * np.abs(Z).sum()),
        "squared_objective": float(np.vdot(squared, squared)),
    }


def _span_variance(A: Array, Z: Array) -> float:
    """Return |A'Q|² of an orthonormal basis Q of the span of Z."""
    left, sizes, _ = np.linalg.svd(Z, full_matrices=False)
    return explained_variance(A, left[:, sizes > DEPENDENT * sizes.max(initial=0.0)])


def total_variance(A: Array, what: str) -> float:
    """Return |A|²; refuse zero or infinity."""
    with np.errstate(under="ignore", over="ignore"):
        total = float(np.linalg.norm(A)) ** 2
    if total == 0:
        raise DataError(f"{what}: the sum of squares is zero: there is no variance to explain")
    if total == np.inf:
        raise DataError(f"{what}: the sum of squares overflows; rescale the data")
    return total

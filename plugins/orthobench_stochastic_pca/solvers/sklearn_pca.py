"""PCA by scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.peer import Peer, finite
from orthobench_kit.rerun import Batch, BatchState

from orthobench.contract import (
    Array,
    SampleOracle,
    Solution,
    State,
    UsageError,
    complete,
    flops,
    parameter,
)

EPS = float(np.finfo(np.float64).eps)

OVERSAMPLED = 10
"""scikit-learn's default number of additional vectors."""


def with_mean(pca: Any, count: int, k: int) -> Array:
    """Return the k leading eigenvectors of the uncentred moment, from a PCA, which centres.

    The moment is (V'S²V + nmm') / n for singular values S and vectors V of n centred samples, and
    their mean m; exact if no component was cut off. `pca` is fitted to `count` = n samples. For c
    components, r = c + 1 the smaller of r and d: r²d + 9r³ flops.
    """
    from scipy.linalg import eigh

    kept = np.asarray(pca.singular_values_)[:, None] * np.asarray(pca.components_)
    R = np.vstack([kept, np.sqrt(count) * np.asarray(pca.mean_)])
    wide = len(R) < R.shape[1]
    square = R @ R.T if wide else R.T @ R
    side = len(square)
    values, found = eigh(square, subset_by_index=[side - min(k, side), side - 1])
    found = found[:, ::-1][:, values[::-1] > side * EPS * values[-1]]
    return np.linalg.qr(R.T @ found)[0] if wide else found


@dataclass(frozen=True)
class SklearnPCA(Batch):
    """scikit-learn's PCA of all samples so far.

    scikit-learn centres samples, but this family's second moment is not centred: `with_mean` puts
    the mean back, on the clock. Exact solvers give the subspace of `batch-pca`.
    ``svd_solver="full"`` is used if n < d; ``"randomized"`` has 10 additional vectors and 4 or 7
    power iterations, as in scikit-learn.

    Notes
    -----
    For n samples: 6nd² + 20d³ flops for the SVD if n >= d, 2nd² + 3d² + 9d³ by the covariance, or
    4nd(k + 10)(q + 1) with q power iterations. Means take up to 2nd, besides `with_mean`.

    References
    ----------
    Pedregosa et al. 2011, "Scikit-learn: machine learning in Python"; Halko, Martinsson and Tropp
    2011, "Finding structure with randomness", Algorithms 4.4 and 5.1, for the randomized solver.
    """

    svd_solver: str = parameter(
        "covariance_eigh",
        help="SVD, eigendecomposition of the covariance, or randomized",
        choices=("full", "covariance_eigh", "randomized"),
    )

    name: ClassVar[str] = "sklearn-pca"
    source: ClassVar[str] = "scikit-learn: sklearn.decomposition.PCA"
    packages: ClassVar[tuple[str, ...]] = ("scikit-learn",)

    def fit(self, X: Array, k: int, state: BatchState) -> tuple[Array, int]:
        from sklearn.decomposition import PCA

        n, d = X.shape
        if n == 1:  # without variance
            return X.T / np.linalg.norm(X), flops.qr(d, 1)
        method = "full" if self.svd_solver == "covariance_eigh" and n < d else self.svd_solver
        wanted = k if method == "randomized" else None
        pca = PCA(wanted, svd_solver=method, random_state=state.seed)
        with np.errstate(invalid="ignore"):  # shares of no variance
            pca.fit(X)
        side, other = sorted((len(pca.components_) + 1, d))
        extra = side**2 * other + flops.eigh(side)
        return with_mean(pca, n, k), self._flops(method, n, d, k) + extra

    def _flops(self, method: str, rows: int, d: int, k: int) -> int:
        means = rows * d
        if method == "full":
            return 2 * means + flops.svd(rows, d)
        if method == "covariance_eigh":
            return means + flops.gemm(d, d, rows) + 3 * d**2 + flops.eigh(d)
        iterations = 7 if k < 0.1 * min(rows, d) else 4
        return 2 * means + 2 * (iterations + 1) * flops.gemm(rows, k + OVERSAMPLED, d)


@dataclass(slots=True, kw_only=True)
class IncrementalState(State):
    """The estimator of scikit-learn, and the common start."""

    start: Array
    estimator: Any


@dataclass(frozen=True)
class SklearnIncrementalPCA(Peer[SampleOracle, IncrementalState]):
    """scikit-learn's IncrementalPCA, a batch a step.

    The singular values and vectors so far and a new batch are decomposed together, and truncated to
    rank k, centred. The mean is put back when the solution is read (`with_mean`). Fewer than k
    samples left at the end are not used. scikit-learn's default batch is 5d.

    Notes
    -----
    A thin SVD of k + batch + 1 rows for each step: vectors, samples, and a correction of the mean.
    Memory: d (k + batch) doubles.

    References
    ----------
    Ross, Lim, Lin and Yang 2008, "Incremental learning for robust visual tracking".
    """

    batch: int = parameter(
        100, help="samples a step", unit="samples", low=1, grid=(25, 50, 100, 200)
    )

    name: ClassVar[str] = "sklearn-incremental-pca"
    source: ClassVar[str] = "scikit-learn: sklearn.decomposition.IncrementalPCA"
    packages: ClassVar[tuple[str, ...]] = ("scikit-learn",)

    def begin(self, oracle: SampleOracle, rng: np.random.Generator) -> IncrementalState:
        """Return a state without samples.

        Raises
        ------
        UsageError
            If a batch has fewer samples than k.
        """
        del rng
        if self.batch < oracle.k:
            raise UsageError(f"batch must be at least k = {oracle.k}, not {self.batch}")
        return IncrementalState(start=oracle.start.copy(), estimator=self.estimator(oracle.k))

    def flops(self, d: int, k: int) -> int:
        """Return the flops of a step."""
        return flops.svd(k + self.batch + 1, d)

    def estimator(self, k: int) -> Any:
        """Return scikit-learn's estimator of k components."""
        from sklearn.decomposition import IncrementalPCA

        return IncrementalPCA(k)

    def fit(self, estimator: Any, X: Array) -> None:
        """Show a batch to the estimator."""
        with np.errstate(invalid="ignore"):  # variances of a single sample
            estimator.partial_fit(X)

    def step(self, oracle: SampleOracle, state: IncrementalState) -> None:
        X = finite(oracle.take(self.batch), "samples")
        if X.any() and len(X) >= oracle.k:  # the estimator refuses fewer
            self.fit(state.estimator, X)
        state.work.steps += 1
        state.work.samples += len(X)
        state.work.flops += self.flops(oracle.n, oracle.k)

    def solution(self, state: IncrementalState) -> Solution:
        start, seen = state.start, int(getattr(state.estimator, "n_samples_seen_", 0))
        if not seen:
            return Solution(start.copy())
        k = start.shape[1]
        return Solution(complete(with_mean(state.estimator, seen, k), start, k))

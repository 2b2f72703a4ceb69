"""PCA by scikit-learn: of all samples at once, or of batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orthobench.contract import Array, SampleOracle, Solution, State, UsageError, flops, parameter
from orthobench_peers.peer import Peer, finite
from orthobench_peers.rerun import Batch, BatchState

OVERSAMPLED = 10
"""Vectors that the randomized solver iterates beyond those sought: scikit-learn's default."""


def mirrored(X: Array) -> Array:
    """Return the samples and then their negatives: mean zero, and the same second moment.

    Parameters
    ----------
    X : ndarray, shape (n, d)

    Returns
    -------
    ndarray, shape (2n, d)
    """
    both = np.empty((2 * len(X), X.shape[1]))
    both[: len(X)] = X
    np.negative(X, out=both[len(X) :])
    return both


@dataclass(frozen=True)
class SklearnPCA(Batch):
    """scikit-learn's PCA of all samples so far.

    scikit-learn centres samples, but this family's second moment is not centred: it is given each
    sample with its negative. That doubles the rows, and makes the subspace that of `batch-pca`.

    It cannot be stepped: there is a decomposition at every checkpoint, each with its own time.

    Parameters
    ----------
    svd_solver : str
        ``"full"``: LAPACK's SVD of the samples. ``"covariance_eigh"``: the eigendecomposition of
        their covariance, by far the fastest where there are many more samples than features, and so
        the default here. ``"randomized"``: with 10 vectors more than are sought and 4 or 7 power
        iterations, as scikit-learn has them.

    Notes
    -----
    For n samples, 2n rows: 12nd² + 20d³ flops for the SVD where 2n >= d, 4nd² + 3d² + 9d³ for the
    covariance, or 8nd(k + 10)(q + 1) with q power iterations; and 2nd for means, and except for the
    covariance 2nd to subtract them.

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
        """Fit PCA to the samples and their negatives."""
        from sklearn.decomposition import PCA

        pca = PCA(k, copy=False, svd_solver=self.svd_solver, random_state=state.seed)
        components: Array = pca.fit(mirrored(X)).components_
        return components.T, self._flops(2 * len(X), X.shape[1], k)

    def _flops(self, rows: int, d: int, k: int) -> int:
        means = rows * d
        if self.svd_solver == "full":
            return 2 * means + flops.svd(rows, d)
        if self.svd_solver == "covariance_eigh":
            return means + flops.gemm(d, d, rows) + 3 * d**2 + flops.eigh(d)
        iterations = 7 if k < 0.1 * min(rows, d) else 4
        return 2 * means + 2 * (iterations + 1) * flops.gemm(rows, k + OVERSAMPLED, d)


@dataclass(slots=True, kw_only=True)
class IncrementalState(State):
    """The estimator of scikit-learn.

    Attributes
    ----------
    start : ndarray, shape (d, k)
        The common start, the solution before the first batch.
    estimator : sklearn.decomposition.IncrementalPCA
    """

    start: Array
    estimator: Any


@dataclass(frozen=True)
class SklearnIncrementalPCA(Peer[SampleOracle, IncrementalState]):
    """scikit-learn's IncrementalPCA, a batch a step.

    The singular values and vectors so far and a new batch are decomposed together, and truncated
    to rank k: as `incremental-pca`, but with batches. Like `sklearn-pca` it is given each sample
    with its negative. Samples after the last whole batch are not used.

    Parameters
    ----------
    batch : int
        At least k. Truncation loses information: less with larger batches, which also take less
        time for each sample up to a few multiples of d. scikit-learn's default is 5d.

    Notes
    -----
    A thin SVD of k + 2 batch + 1 rows for each step (`flops.svd`): the vectors kept, the samples
    and their negatives, and a correction of the mean. Memory: d (k + 2 batch) doubles.

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
            Where a batch has fewer samples than k.
        """
        del rng
        if self.batch < oracle.k:
            raise UsageError(f"batch must be at least k = {oracle.k}, not {self.batch}")
        return IncrementalState(start=oracle.start.copy(), estimator=self.estimator(oracle.k))

    def flops(self, d: int, k: int) -> int:
        """Return the flops of a step."""
        return flops.svd(k + 2 * self.batch + 1, d)

    def estimator(self, k: int) -> Any:
        """Return scikit-learn's estimator of k components."""
        from sklearn.decomposition import IncrementalPCA

        return IncrementalPCA(k, copy=False)

    def fit(self, estimator: Any, X: Array) -> None:
        """Show a batch to the estimator."""
        estimator.partial_fit(X)

    def step(self, oracle: SampleOracle, state: IncrementalState) -> None:
        """Take one batch."""
        X = finite(oracle.take(self.batch), "samples")
        if X.any() and len(X) >= oracle.k:  # the estimator refuses fewer
            self.fit(state.estimator, mirrored(X))
        state.work.steps += 1
        state.work.samples += len(X)
        state.work.flops += self.flops(oracle.n, oracle.k)

    def solution(self, state: IncrementalState) -> Solution:
        """Return the components, (d, k); the start before the first batch."""
        found: Array | None = getattr(state.estimator, "components_", None)
        return Solution(state.start.copy() if found is None else found.T.copy())

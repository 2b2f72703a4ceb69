"""PCA by cuML, on a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.peer import ArrayPeer
from orthobench_kit.rerun import Batch, BatchState

from orthobench.contract import (
    SampleOracle,
    Solution,
    State,
    UsageError,
    copied,
    flops,
    namespace,
    parameter,
)
from orthobench.contract.solver import OracleT_contra, StateT

CUML = "cuml-cu12"
"""The distribution of cuML."""


def place_parameter() -> Any:
    """Declare the parameter ``on`` for cuML."""
    return parameter("cupy", help="place of the computation: cupy or cupy/float32")


def mirrored(X: Any) -> Any:
    """Return samples and their negatives, which have mean zero and the same second moment."""
    return namespace(X).concat([X, -X])


class CumlPeer(ArrayPeer[OracleT_contra, StateT]):
    """Base of the methods of cuML."""

    library: ClassVar[str] = "cupy"
    extra: ClassVar[str] = "cuml"

    @property
    def packages(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*super().packages, CUML)


@dataclass(frozen=True, kw_only=True)
class CumlPCA(Batch, CumlPeer[SampleOracle, BatchState]):
    """cuML's PCA of all samples so far, by the eigendecomposition of their covariance.

    cuML centres samples, but this family's second moment is not centred: it gets each sample with
    its negative, on the clock.

    Notes
    -----
    4nd² + 3d² + 9d³ + 2nd flops for n samples. Memory: the samples twice, and about three matrices
    (d, d).

    References
    ----------
    Raschka, Patterson and Nolet 2020, "Machine learning in Python: main developments and technology
    trends in data science, machine learning, and artificial intelligence".
    """

    on: str = place_parameter()

    name: ClassVar[str] = "cuml-pca"
    source: ClassVar[str] = "cuML: cuml.decomposition.PCA"

    def fit(self, X: Any, k: int, state: BatchState) -> tuple[Any, int]:
        from cuml.decomposition import PCA

        del state
        n, d = X.shape
        pca = PCA(n_components=k, svd_solver="full", output_type="cupy")
        count = 2 * n * d + flops.gemm(d, d, 2 * n) + 3 * d**2 + flops.eigh(d)
        return pca.fit(mirrored(X)).components_.T, count


@dataclass(slots=True, kw_only=True)
class CumlState(State):
    """The estimator of cuML, and the common start (d, k)."""

    start: Any
    estimator: Any


@dataclass(frozen=True, kw_only=True)
class CumlIncrementalPCA(CumlPeer[SampleOracle, CumlState]):
    """cuML's IncrementalPCA, a batch a step.

    The singular values and vectors so far and a new batch are decomposed together, and truncated to
    rank k. Like `cuml-pca` it gets each sample with its negative. Fewer than k samples left at the
    end are not used.

    Notes
    -----
    A thin SVD of k + 2 batch + 1 rows for each step. Memory: d (k + 2 batch) numbers.

    References
    ----------
    Ross, Lim, Lin and Yang 2008, "Incremental learning for robust visual tracking".
    """

    batch: int = parameter(
        100, help="samples a step", unit="samples", low=1, grid=(25, 50, 100, 200)
    )
    on: str = place_parameter()

    name: ClassVar[str] = "cuml-incremental-pca"
    source: ClassVar[str] = "cuML: cuml.decomposition.IncrementalPCA"

    def begin(self, oracle: SampleOracle, rng: np.random.Generator) -> CumlState:
        """Return a state without samples.

        Raises
        ------
        UsageError
            If a batch has fewer samples than k.
        """
        from cuml.decomposition import IncrementalPCA

        del rng
        if self.batch < oracle.k:
            raise UsageError(f"batch must be at least k = {oracle.k}, not {self.batch}")
        estimator = IncrementalPCA(n_components=oracle.k, output_type="cupy")
        return CumlState(start=copied(oracle.start), estimator=estimator)

    def step(self, oracle: SampleOracle, state: CumlState) -> None:
        X = oracle.take(self.batch)
        if len(X) >= oracle.k:  # the estimator refuses fewer
            state.estimator.partial_fit(mirrored(X))
        state.work.steps += 1
        state.work.samples += len(X)
        state.work.flops += flops.svd(oracle.k + 2 * len(X) + 1, oracle.n)

    def solution(self, state: CumlState) -> Solution:
        begun = state.work.steps > 0
        return Solution(copied(state.estimator.components_.T if begun else state.start))

"""Sparse PCA by scikit-learn."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.peer import finite, numpy_seeded
from orthobench_kit.rerun import Rerun, RerunState, Run

from orthobench.contract import AnyProblem, Array, Solution, flops, parameter, unit_columns
from orthobench_sparse_pca import SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.delivery import bisected
from orthobench_sparse_pca.oracle import gamma_parameter, settled

UNIT = "the norm of the longest row of the data, from which on all loadings are zero"
"""Unit of the relative penalty."""


class Sparse(Rerun[SparsePCAOracle]):
    """Base of scikit-learn's sparse PCA."""

    packages: ClassVar[tuple[str, ...]] = ("scikit-learn",)

    gamma: float

    def refuses(self, problem: AnyProblem) -> str | None:
        return super().refuses(problem) or settled(self, problem, "gamma")

    def prepare(self, oracle: SparsePCAOracle) -> tuple[Any, Solution, int]:
        finite(oracle.A, "data")
        return None, SparseSolution(oracle.start.copy()), flops.svd(*oracle.A.shape)

    def run(self, oracle: SparsePCAOracle, state: RerunState, iterations: int) -> Run:
        counts: list[int] = []
        method: Any = self

        def fit(gamma: float, own: SparsePCAOracle) -> Array:
            estimator = replace(method, gamma=gamma).estimator(own, state, iterations)
            # coordinate descent draws from numpy's global generator
            with warnings.catch_warnings(), numpy_seeded(state.seed):
                warnings.simplefilter("ignore", UserWarning)  # advice on the lasso of one feature
                # scikit-learn compares with fixed numbers
                scaled = own.A.T / own.unit
                estimator.fit(scaled / (float(np.linalg.norm(scaled, axis=0).max()) or 1.0))
            counts.append(min(int(estimator.n_iter_), iterations))
            found: Array = unit_columns(estimator.components_.T)
            return found

        asked = oracle.cardinality is not None
        Z = bisected(fit, oracle) if asked else fit(self.gamma, oracle)
        width = 1 if asked and oracle.each else oracle.k
        count = sum(counts) * 2 * flops.gemm(oracle.n, width, oracle.samples)
        count += (len(counts) - 1) * flops.svd(*oracle.A.shape)
        return Run(SparseSolution(Z), max(counts), count)

    @abstractmethod
    def estimator(self, oracle: SparsePCAOracle, state: RerunState, iterations: int) -> Any:
        """Return scikit-learn's estimator, not fitted yet."""


@dataclass(frozen=True)
class SklearnSparsePCA(Sparse):
    """scikit-learn's SparsePCA: dictionary learning on features, with an l1 penalty on loadings.

    It minimizes |A - ZU'|² / 2 + alpha |Z|_1 over Z, and U with columns of at most unit length,
    alternately. The loadings are the columns of Z at unit length. For a problem's cardinality all
    fits count.

    Notes
    -----
    `flops.svd` of (d, N) at the start, and 4dNm flops for each iteration, without the sweeps of
    coordinate descent. Memory: the data twice more.

    References
    ----------
    Mairal, Bach, Ponce and Sapiro 2009, "Online dictionary learning for sparse coding"; Jenatton,
    Obozinski and Bach 2010, "Structured sparse principal component analysis".
    """

    gamma: float = gamma_parameter(0.1, UNIT)
    tolerance: float = parameter(1e-8, help="relative gain of the objective to end at", low=0.0)

    name: ClassVar[str] = "sklearn-sparse-pca"
    source: ClassVar[str] = "scikit-learn: sklearn.decomposition.SparsePCA"

    def estimator(self, oracle: SparsePCAOracle, state: RerunState, iterations: int) -> Any:
        from sklearn.decomposition import SparsePCA

        return SparsePCA(
            oracle.k, alpha=self.gamma, max_iter=iterations, tol=self.tolerance, method="cd",
            random_state=state.seed,
        )  # fmt: skip


@dataclass(frozen=True)
class SklearnMiniBatchSparsePCA(Sparse):
    """scikit-learn's MiniBatchSparsePCA: like `sklearn-sparse-pca`, on a few features at a time.

    A step is a pass over all features; costs are counted as there.

    References
    ----------
    Mairal, Bach, Ponce and Sapiro 2009, "Online dictionary learning for sparse coding", Algorithm
    1.
    """

    gamma: float = gamma_parameter(0.1, UNIT)
    features: int = parameter(100, help="features in a batch", unit="features", low=1)

    name: ClassVar[str] = "sklearn-minibatch-sparse-pca"
    source: ClassVar[str] = "scikit-learn: sklearn.decomposition.MiniBatchSparsePCA"

    def estimator(self, oracle: SparsePCAOracle, state: RerunState, iterations: int) -> Any:
        from sklearn.decomposition import MiniBatchSparsePCA

        return MiniBatchSparsePCA(
            oracle.k, alpha=self.gamma, max_iter=iterations, batch_size=self.features,
            method="cd", random_state=state.seed,
        )  # fmt: skip

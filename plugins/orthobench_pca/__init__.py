"""Principal components of a matrix that is there: dense, sparse, mapped, chunked or an operator.

A family outside the core: oracle, judge, maker, problems and solvers need `orthobench.contract`;
``ob.pca`` is found by its entry point. Streams of samples are the family of stochastic PCA.
"""

from __future__ import annotations

from pathlib import Path

from orthobench.contract import AnyProblem, AnySolver, hookimpl
from orthobench_pca.gram import GramPCA
from orthobench_pca.incremental import IncrementalPCA
from orthobench_pca.libraries import SklearnPCA, SklearnTruncatedSVD, TorchPCALowrank
from orthobench_pca.maker import pca
from orthobench_pca.oracle import PCAOracle
from orthobench_pca.problems import (
    FlatSpectrumPCA,
    NpyPCA,
    PrincipalComponents,
    SparseCountsPCA,
    SparseTermsPCA,
    TallPCA,
    WidePCA,
)
from orthobench_pca.randomized import BlockKrylovPCA, RandomizedPCA
from orthobench_pca.scipy_methods import ScipyEigsh, ScipyLOBPCG, ScipySVDS

__all__ = ["PCAOracle", "PrincipalComponents", "pca"]


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [
        GramPCA, BlockKrylovPCA, RandomizedPCA, ScipySVDS, ScipyEigsh, ScipyLOBPCG, SklearnPCA,
        SklearnTruncatedSVD, IncrementalPCA, TorchPCALowrank,
    ]  # fmt: skip


@hookimpl
def orthobench_problems() -> list[type[AnyProblem]]:
    """Return the problems of the plugin."""
    return [TallPCA, WidePCA, FlatSpectrumPCA, SparseCountsPCA, SparseTermsPCA, NpyPCA]


@hookimpl
def orthobench_suites() -> list[Path]:
    """Return the suites of the plugin."""
    return sorted(Path(__file__).parent.glob("suites/*.toml"))

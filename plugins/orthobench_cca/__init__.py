"""Canonical correlation analysis and generalized eigenvectors: families outside the core.

Oracles, judges, makers, problems and solvers need what any other package may import; ``ob.cca`` and
``ob.generalized_eigenvectors`` are found by entry points in the group ``orthobench.makers``.
"""

from __future__ import annotations

from pathlib import Path

from orthobench.contract import AnyProblem, AnySolver, hookimpl
from orthobench_cca.alternating import AlternatingLeastSquares
from orthobench_cca.app_grad import AppGrad
from orthobench_cca.exact import Exact
from orthobench_cca.generalized import GenELinK, GeneralizedExact
from orthobench_cca.krylov import BlockKrylov
from orthobench_cca.maker import cca
from orthobench_cca.oracle import PairsMatrices, PairsOracle
from orthobench_cca.pencil import PencilOracle, generalized_eigenvectors
from orthobench_cca.pencil_problems import (
    DigitDiscriminants,
    GeneralizedEigenvectors,
    PlantedPencil,
)
from orthobench_cca.problems import (
    CCA,
    DigitHalves,
    NpyCCA,
    PlantedCorrelations,
    SparsePairs,
)
from orthobench_cca.sklearn_methods import SklearnCCA, SklearnPLSSVD
from orthobench_cca.stochastic import CCAEY, SGHA, GammaEigengame

__all__ = [
    "CCA",
    "GeneralizedEigenvectors",
    "PairsMatrices",
    "PairsOracle",
    "PencilOracle",
    "cca",
    "generalized_eigenvectors",
]


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers of the plugin."""
    return [
        Exact,
        AlternatingLeastSquares,
        AppGrad,
        BlockKrylov,
        CCAEY,
        SGHA,
        GammaEigengame,
        SklearnCCA,
        SklearnPLSSVD,
        GeneralizedExact,
        GenELinK,
    ]


@hookimpl
def orthobench_problems() -> list[type[AnyProblem]]:
    """Return the problems of the plugin."""
    return [
        PlantedCorrelations,
        DigitHalves,
        NpyCCA,
        SparsePairs,
        PlantedPencil,
        DigitDiscriminants,
    ]


@hookimpl
def orthobench_suites() -> list[Path]:
    """Return the suites of the plugin."""
    return sorted(Path(__file__).parent.glob("suites/*.toml"))

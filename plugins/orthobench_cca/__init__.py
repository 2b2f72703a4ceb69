"""Canonical correlation analysis, and generalized eigenvectors."""

from orthobench.contract import discovered
from orthobench_cca.maker import cca
from orthobench_cca.oracle import PairsMatrices, PairsOracle
from orthobench_cca.pencil import PencilOracle, generalized_eigenvectors
from orthobench_cca.problems.pairs import CCA
from orthobench_cca.problems.pencils import GeneralizedEigenvectors

__all__ = [
    "CCA",
    "GeneralizedEigenvectors",
    "PairsMatrices",
    "PairsOracle",
    "PencilOracle",
    "cca",
    "generalized_eigenvectors",
]

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)

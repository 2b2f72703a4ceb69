"""Principal components of a matrix: dense, sparse, mapped, chunked or an operator."""

from orthobench.contract import discovered
from orthobench_pca.maker import pca
from orthobench_pca.oracle import PCAOracle
from orthobench_pca.problems.matrices import PrincipalComponents

__all__ = [
    "PCAOracle",
    "PrincipalComponents",
    "pca",
]

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)

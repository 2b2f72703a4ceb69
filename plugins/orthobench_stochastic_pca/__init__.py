"""Stochastic PCA: maximize tr(U'CU) subject to U'U = I, C = E[xx'], from samples x alone.

Arora, Cotter and Srebro 2013, equation 2.1.
"""

from orthobench.contract import discovered
from orthobench_stochastic_pca.maker import JUDGE_BYTES, stochastic_pca
from orthobench_stochastic_pca.oracle import EntryOracle, Positions, RelaxedSolution, StochasticPCA

__all__ = [
    "JUDGE_BYTES",
    "EntryOracle",
    "Positions",
    "RelaxedSolution",
    "StochasticPCA",
    "stochastic_pca",
]

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)

"""orthobench: benchmarks for optimization under orthogonality constraints.

Examples
--------
>>> import numpy as np, orthobench as ob
>>> X = np.random.default_rng(0).standard_normal((2000, 30)) * np.linspace(2, 1, 30)
>>> instance = ob.stochastic_pca(X, k=3)
>>> outcome = ob.solve("capped-msg", instance, budget=ob.Budget(samples=1000), seed=0, step=1.0)
>>> outcome.solution.shape
(30, 3)
"""

from orthobench._version import __version__
from orthobench.api import catalogue, run, solve
from orthobench.errors import DataError, OrthobenchError, StoreError, UsageError
from orthobench.families.stochastic_pca import stochastic_pca
from orthobench.harness import Outcome
from orthobench.results import Results
from orthobench.stopping import Budget, Target

__all__ = [
    "Budget",
    "DataError",
    "OrthobenchError",
    "Outcome",
    "Results",
    "StoreError",
    "Target",
    "UsageError",
    "__version__",
    "catalogue",
    "run",
    "solve",
    "stochastic_pca",
]

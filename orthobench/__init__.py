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
from orthobench.families.stochastic_pca import stochastic_pca
from orthobench.stopping import Budget

__all__ = ["Budget", "__version__", "stochastic_pca"]

"""Methods on the convex relaxation: iterates M, and runs on given samples."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from orthobench_stochastic_pca import RelaxedSolution, stochastic_pca

from orthobench.contract import Array, random_point
from orthobench_papers import runs


def begin(solver: str, X: Array, k: int, seed: int, /, **parameters: Any) -> runs.DrivenRun:
    """Begin a run on the rows of X, in their order."""
    first, own = np.random.SeedSequence(seed).spawn(2)
    start = random_point(X.shape[1], k, np.random.default_rng(first))
    return runs.begin(solver, stochastic_pca(X, k), own, start, **parameters)


def iterate(run: runs.DrivenRun) -> Array:
    """Return the iterate M of a run of a relaxed method, shape (d, d)."""
    now = cast(RelaxedSolution, run.solution)
    outside = np.eye(len(now.point)) - now.vectors @ now.vectors.T
    M: Array = (now.vectors * now.values) @ now.vectors.T + now.floor * outside
    return M

"""Times of svds solvers of scipy, 2021 and 2023: some runs ended far from the solution."""

from __future__ import annotations

from functools import cache
from math import inf

import numpy as np

import orthobench as ob
from orthobench_papers.reproduce import Evidence

KINDS = (
    "spectrum-svd k=25",
    "spectrum-svd k=25 spectrum=flat",
    "spectrum-svd k=25 unit=1e-6",
    "sparse-svd k=25",
    "sparse-svd k=25 kind=survey",
    "sparse-svd k=25 kind=difference",
)
"""Kinds of matrices, with as many vectors as in scipy's benchmark."""


@cache
def residual(kind: str, solver: str, seed: int) -> float:
    """Return the largest residual |X'Xv - s²v| / s₁² of a result, infinite if there is none."""
    instance = ob.instance(kind, seed)
    try:
        V = ob.solve("scipy-svds", instance, seed=seed, solver=solver).solution
    except RuntimeError:
        return inf
    product = instance.oracle.normal_times(V)
    squares = np.sum(V * product, axis=0)
    return float(np.linalg.norm(product - V * squares, axis=0).max() / squares.max())


def far(evidence: Evidence, solver: str, above: float) -> list[bool]:
    """Return whether the residual of each run is above some value, or infinite."""
    seeds = evidence.seeds[: evidence.sized(10, 3, 1)]
    found = [residual(kind, solver, seed) for kind in KINDS for seed in seeds]
    return [each > above or each == inf for each in found]

"""The orthogonal distribution of section 4: unit vectors with geometric probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthobench.contract import Array
from orthobench_papers.reproduce import catalogue
from orthobench_papers.runs import DrivenRun, begin_as_in_suite

TAU, DIMENSION = 1.1, 32


def begin(solver: str, k: int, seed: int, /, **parameters: Any) -> DrivenRun:
    """Begin a suite's run on this distribution."""
    problem = catalogue().problem("orthogonal-distribution", {"k": k})
    return begin_as_in_suite(solver, problem, seed, **parameters)


def probabilities() -> Array:
    """Return the probabilities of the unit vectors, in descending order."""
    weights = TAU ** -np.arange(1.0, DIMENSION + 1)
    p: Array = weights / weights.sum()
    return p


def missed(point: Array) -> float:
    """Return the variance that a subspace has less than the best one of its dimension."""
    p, k = probabilities(), point.shape[1]
    return float(p[:k].sum() - p @ (point**2).sum(axis=1))


def half_gap(k: int) -> float:
    """Return half of the loss of the second-best subspace."""
    p = probabilities()
    return float(p[k - 1] - p[k]) / 2

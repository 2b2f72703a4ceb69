"""The truncated power method in plain numpy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from orthobench.contract import Array


def truncated_power(
    S: Array, cardinality: int, phases: Iterable[int] = (1,), iterations: int = 200
) -> Array:
    """Return a component by Algorithm 1 of Yuan and Zhang 2013.

    Each phase has a multiple of the loadings sought.
    """
    x: Array = np.eye(len(S))[np.argmax(np.diag(S))]
    for factor in phases:
        for _ in range(iterations):
            y = S @ x
            kept = np.argsort(-np.abs(y), kind="stable")[: factor * cardinality]
            x = np.zeros(len(S))
            x[kept] = y[kept] / np.linalg.norm(y[kept])
    return x

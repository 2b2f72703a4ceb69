"""Small instances for conformance checks: `EXAMPLES`."""

from __future__ import annotations

import numpy as np

from orthobench.contract.problem import AnyInstance
from orthobench.tools.arrays import Array
from orthobench_stiefel.orthogonal_group import orthogonal_group
from orthobench_stiefel.problems.ica import ICA
from orthobench_stiefel.problems.procrustes import StiefelProcrustes


def _least_squares() -> AnyInstance:
    return StiefelProcrustes(n=24, p=3, rows=2000).build(np.random.default_rng(24))


def _quadratic() -> AnyInstance:
    n = 5
    S = np.random.default_rng(3).standard_normal((n, n))
    A, N = S + S.T, np.arange(1.0, n + 1)

    def cost(U: Array) -> float:
        return float(np.einsum("ij,ij,j->", U, A @ U, N))

    def gradient(U: Array) -> Array:
        partial: Array = 2 * (A @ U) * N
        return partial

    return orthogonal_group(cost, gradient, n=n)


def _components() -> AnyInstance:
    return ICA(n=4, samples=2000).build(np.random.default_rng(4))


EXAMPLES = (_least_squares, _quadratic, _components)

"""Small instances that conformance checks run solvers on: `EXAMPLES`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from orthobench.contract.problem import AnyInstance
from orthobench.tools.arrays import Array
from orthobench_stiefel.orthogonal_group.maker import orthogonal_group
from orthobench_stiefel.orthogonal_group.oracle import ComponentsOracle


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
    rows = np.random.default_rng(4).exponential(size=(2000, 4))
    rows -= rows.mean(axis=0)
    Z: Array = np.linalg.svd(rows, full_matrices=False)[0] * np.sqrt(len(rows))

    def cost(U: Array) -> float:
        return -float(np.sum((Z @ U) ** 4)) / len(Z)

    def gradient(U: Array) -> Array:
        partial: Array = -4 / len(Z) * Z.T @ (Z @ U) ** 3
        return partial

    oracle = ComponentsOracle(cost, 4, gradient)
    oracle.Z = Z
    return replace(orthogonal_group(cost, gradient, n=4), oracle=oracle)


EXAMPLES = (_quadratic, _components)

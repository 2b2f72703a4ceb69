"""Small instances for conformance checks: `EXAMPLES`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from orthobench_kit.arrays import inner, rows_of

from orthobench.contract.problem import AnyInstance
from orthobench.tools.arrays import Array
from orthobench_stiefel.judge import instance
from orthobench_stiefel.oracle import FiniteSumOracle
from orthobench_stiefel.orthogonal_group import ComponentsOracle, orthogonal_group


class _Moment(FiniteSumOracle):
    """-tr(X'CXN)/2 for the second moment C of samples and N = diag(1, 2, ...)."""

    portable = True

    def __init__(self, samples: Array, p: int) -> None:
        self.samples, self.C = samples, samples.T @ samples / len(samples)
        self.terms, self.n = samples.shape
        self.k, self.weights = p, np.arange(1.0, p + 1)
        size = self.n * p
        self.cost_flops, self.gradient_flops = (2 * self.n + 3) * size, (2 * self.n + 2) * size
        self.term_flops = 4 * size

    def value(self, X: Any) -> Any:
        return -inner(X * self.weights, self.C @ X) / 2

    def gradient(self, X: Any) -> Any:
        return -(self.C @ X) * self.weights

    def terms_gradient(self, X: Any, chosen: Any) -> Any:
        A = rows_of(self.samples, chosen)
        return -(A.T @ (A @ X)) * self.weights / A.shape[0]


def _moment() -> AnyInstance:
    skewed = np.random.default_rng(24).exponential(size=(2000, 24))
    return instance(_Moment(skewed * np.linspace(0.2, 0.02, 24), 3), 0.0)


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


EXAMPLES = (_moment, _quadratic, _components)

"""Small instances that conformance checks run solvers on: `EXAMPLES`."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance
from orthobench.tools.arrays import Array, inner, rows_of
from orthobench_stiefel.judge import instance
from orthobench_stiefel.oracle import FiniteSumOracle


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


EXAMPLES = (_moment,)

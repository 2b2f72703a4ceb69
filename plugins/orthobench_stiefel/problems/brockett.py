"""Brockett's function of orthonormal columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from orthobench_kit.arrays import inner, rows_of

from orthobench.contract import Array, Instance, parameter, random_point
from orthobench.tools.flops import gemm
from orthobench_stiefel import Stiefel, StiefelOracle, instance


class WeightedTraceOracle(StiefelOracle):
    """The oracle of tr(X'AXN), for a symmetric A (n, n) and the diagonal `weights` (p,) of N."""

    portable = True

    def __init__(self, A: Array, weights: Array) -> None:
        self.A, self.weights, self.n, self.k = A, weights, len(A), len(weights)
        self.gradient_flops = gemm(self.n, self.k, self.n) + self.n * self.k + self.k
        self.cost_flops = gemm(self.n, self.k, self.n) + 3 * self.n * self.k
        self.both_flops = self.gradient_flops + 2 * self.n * self.k

    def value(self, X: Any) -> Any:
        return inner(X * self.weights, self._product(X))

    def gradient(self, X: Any) -> Any:
        return self._product(X) * (2 * self.weights)

    def value_and_gradient(self, X: Any) -> tuple[Any, Any]:
        G = self.gradient(X)
        return inner(X, G) / 2, G

    def gradient_rows(self, X: Any, rows: Any) -> Any:
        return (rows_of(self.A, rows) @ X) * (2 * self.weights)

    def gradient_rows_flops(self, count: int) -> int:
        return gemm(count, self.k, self.n) + count * self.k + self.k

    def _product(self, X: Any) -> Any:
        """Return AX, as (X'A)', which is twice as fast for few columns."""
        return (X.T @ self.A).T


@dataclass(frozen=True)
class StiefelBrockett(Stiefel):
    """Minimize tr(X'AXN) for a symmetric positive A and N = diag(p, p-1, ..., 1)/p.

    A = QDQ' for a random orthogonal Q, with eigenvalues in geometric progression from 1/condition
    to 1. The optimum are the eigenvectors of the p smallest, in increasing order, up to signs.
    There are no other local minima.

    References
    ----------
    Brockett 1991, "Dynamical systems that sort lists, diagonalize matrices, and solve linear
    programming problems", Linear Algebra and its Applications 146; Absil, Mahony and Sepulchre
    2008, section 4.8.
    """

    name = "stiefel-brockett"
    offers = WeightedTraceOracle

    n: int = parameter(50, help="rows of X", low=1)
    p: int = parameter(5, help="columns of X", low=1)
    condition: float = parameter(10.0, help="condition number of A", low=1.0, high=1e12)

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        Q = random_point(self.n, self.n, rng)
        values = np.geomspace(1 / self.condition, 1.0, self.n)
        A = (Q * values) @ Q.T
        weights = np.arange(self.p, 0, -1) / self.p
        oracle = WeightedTraceOracle((A + A.T) / 2, weights)
        gap = Gap(Q, np.subtract.outer(values, values[: self.p]) * weights)
        return instance(oracle, float(values[: self.p] @ weights), gap)


@dataclass(frozen=True)
class Gap:
    """The cost minus its minimum, without cancellation: sum_ij W_ij² (d_i - d_j) N_j, W = Q'X.

    `losses` (n, p) are (d_i - d_j) N_j. 2n²p flops.
    """

    Q: Array
    losses: Array

    def __call__(self, X: Array) -> float:
        """Return the gap at X."""
        W = self.Q.T @ X
        return float(np.vdot(W * W, self.losses))

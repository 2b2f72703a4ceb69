"""The quadratic assignment problem, relaxed to orthogonal matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from orthobench_kit.arrays import inner

from orthobench.contract import Array, Instance, parameter
from orthobench_stiefel import Stiefel, StiefelOracle, instance


class AssignmentOracle(StiefelOracle):
    """The oracle of tr(A'YBY')/|B|² with Y = X∘X, for symmetric A and B (n, n)."""

    portable = True

    def __init__(self, A: Array, B: Array) -> None:
        self.A, self.B, self.n, self.k = A, B, len(A), len(A)
        self.scale = 1 / inner(B, B)
        self.cost_flops = 4 * self.n**3 + 3 * self.n**2 + 1
        self.gradient_flops = 4 * self.n**3 + 3 * self.n**2
        self.both_flops = 4 * self.n**3 + 5 * self.n**2 + 1

    def value(self, X: Any) -> Any:
        Y = X * X
        return self.scale * inner(Y, self.A @ Y @ self.B)

    def gradient(self, X: Any) -> Any:
        return self.value_and_gradient(X)[1]

    def value_and_gradient(self, X: Any) -> tuple[Any, Any]:
        Y = X * X
        product = self.A @ Y @ self.B
        return self.scale * inner(Y, product), (4 * self.scale) * X * product


@dataclass(frozen=True)
class QuadraticAssignment(Stiefel):
    """Minimize tr(A'(X∘X)B(X∘X)')/|B|² over orthogonal X, with a planted permutation.

    B is a random symmetric matrix and A = -PBP' for a random permutation P. Squares X∘X are doubly
    stochastic, so that -1, attained at P, is the global minimum. There are many local minima;
    every signed permutation is a stationary point.

    References
    ----------
    Wen and Yin 2013, section 5.5.
    """

    name = "quadratic-assignment"
    offers = AssignmentOracle

    n: int = parameter(20, help="rows and columns of X", low=1)

    def build(self, rng: np.random.Generator) -> Instance[StiefelOracle]:
        B = rng.standard_normal((self.n, self.n))
        B = B + B.T
        order = rng.permutation(self.n)
        return instance(AssignmentOracle(-B[np.ix_(order, order)], B), -1.0)

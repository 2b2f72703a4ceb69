"""Orthonormal factors and weights of a tensor, from a judged point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from orthobench_kit.signs import signs
from orthobench_kit.symmetric_tensors import contracted

from orthobench.contract import Array, Result, Solution
from orthobench_orthogonal_tensor.oracle import AnyOrderOracle


@dataclass(frozen=True, repr=False, eq=False)
class TensorResult(Result):
    """An orthogonal decomposition of a symmetric tensor, sum_i w_i u_i ⊗ ... ⊗ u_i.

    Attributes
    ----------
    factors : ndarray, shape (n, n)
        Orthonormal columns u, the weight of largest absolute value first. For odd order weights
        are not negative; for even order the largest entry of each column is positive.
    weights : ndarray, shape (n,)
        T(u, ..., u).
    """

    factors: Annotated[Array, "orthonormal columns, the largest absolute weight first"]
    weights: Annotated[Array, "T(u, ..., u), unit of the tensor"]


def factorization(oracle: AnyOrderOracle, solution: Solution) -> TensorResult:
    """Return the factors of a point with the best weights for them; 2n⁴ flops of order 3."""
    U, weights = solution.point, contracted(oracle.T, solution.point)
    order = np.argsort(-np.abs(weights), kind="stable")
    U, weights = U[:, order], weights[order]
    if oracle.T.ndim % 2 == 0:
        return TensorResult(U * signs(U), weights)
    return TensorResult(U * np.where(weights < 0, -1.0, 1.0), np.abs(weights))

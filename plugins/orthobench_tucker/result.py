"""Basis and core from a judged point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from orthobench_kit.signs import signs

from orthobench.contract import Array, Result, Solution
from orthobench_tucker.judge import DataTensor
from orthobench_tucker.oracle import ComponentSolution

LARGEST_CORE = 2**24
"""Maximum number of entries of a core."""


@dataclass(frozen=True, repr=False, eq=False)
class TuckerResult(Result):
    """A symmetric Tucker decomposition, core · (basis, ..., basis).

    Attributes
    ----------
    basis : ndarray, shape (n, r)
        Orthonormal columns; the entry of largest absolute value of each is positive. Slices of the
        core are orthogonal, the largest first (higher-order singular value decomposition).
    core : ndarray, shape (r,) * d, or None
        Core of the tensor, or of the moment that the judge measures on. None if it has more than
        2^24 entries; the basis is then that of the solver.
    """

    basis: Annotated[Array, "orthonormal columns, the largest slice of the core first"]
    core: Annotated[Array | None, "unit of the tensor; None: more than 2^24 entries"]


@dataclass(frozen=True, repr=False, eq=False)
class ComponentResult(Result):
    """A symmetric CP decomposition, sum_i w_i v_i ⊗ ... ⊗ v_i.

    Attributes
    ----------
    factors : ndarray, shape (n, r)
        Unit columns, by descending absolute weight. The entry of largest absolute value of each is
        positive; for odd order the weight has the sign.
    weights : ndarray, shape (r,)
    """

    factors: Annotated[Array, "unit columns, the largest absolute weight first"]
    weights: Annotated[Array, "unit of the tensor"]


def decomposition(data: DataTensor, solution: Solution) -> Result:
    """Return the decomposition at a point; 2r^(d + 1) flops, and the core twice."""
    Q, r = solution.point, solution.point.shape[1]
    if isinstance(solution, ComponentSolution):
        return _components(data.order, Q, np.asarray(solution.weights))
    if r**data.order > LARGEST_CORE:
        return TuckerResult(Q * signs(Q), None)
    rows = data.core(Q).reshape(r, -1)
    turned = Q @ np.linalg.eigh(rows @ rows.T)[1][:, ::-1]
    basis = turned * signs(turned)
    return TuckerResult(basis, data.core(basis))


def _components(order: int, V: Array, weights: Array) -> ComponentResult:
    ranks = np.argsort(-np.abs(weights), kind="stable")
    V, flips = V[:, ranks], signs(V[:, ranks])
    return ComponentResult(V * flips, weights[ranks] * flips**order)

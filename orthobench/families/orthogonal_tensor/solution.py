"""Solutions of orthogonal tensor decomposition: orthonormal factors with their weights."""

from __future__ import annotations

from typing import Any

from orthobench.contract.problem import Solution
from orthobench.tools.arrays import copied, namespace


def decomposition(U: Any, weights: Any, order: int = 3) -> Solution:
    """Return the solution with these factors and weights, of odd order made positive by flips.

    Parameters
    ----------
    U : array, shape (n, n)
        Orthonormal columns u.
    weights : array, shape (n,)
        T(u, ..., u) of each; of odd order that of -u is the negative.
    order : int
        That of T.
    """
    if order % 2 == 0:
        return Solution(copied(U), weights=copied(weights))
    ones = namespace(weights).ones_like(weights)
    signs = namespace(weights).where(weights < 0, -ones, ones)
    return Solution(U * signs, weights=weights * signs)

"""What a solver returns when it is asked."""

from __future__ import annotations

from dataclasses import dataclass

from orthobench.tools.arrays import Array


@dataclass(frozen=True)
class Solution:
    """A solution, in arrays of its own that the solver never touches again.

    Families that can say more derive from it (`orthobench.families`).

    Attributes
    ----------
    point : ndarray, shape (n, k)
        Orthonormal columns where the family says so.
    weights : ndarray, shape (k,), optional
        The weights of a decomposition.
    core : ndarray, optional
        The core tensor.
    """

    point: Array
    weights: Array | None = None
    core: Array | None = None

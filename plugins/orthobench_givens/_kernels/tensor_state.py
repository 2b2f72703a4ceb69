"""What the two orders of `orthobench_givens.solvers.tensor.GivensTensor` have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias

from orthobench.contract import Solution, State

Limits: TypeAlias = tuple[float, float, int]
"""Of `orthobench_givens._kernels.packed_tensor.try_pairs`."""


@dataclass(slots=True, kw_only=True)
class TensorState(State, ABC):
    """U, and of T~ = T(U, U, U) what an order of pairs needs.

    Attributes
    ----------
    norm : float
        |T|.
    done : int
        Number of pairs already tried, of the round or of those last drawn.
    idle : int
        Number of pairs in a row that needed no rotation.
    """

    norm: float
    done: int = 0
    idle: int = 0

    @abstractmethod
    def try_next(self, most: int, limits: Limits) -> tuple[int, int]:
        """Try at most so many pairs, and at least one; return how many were tried and rotated."""

    @abstractmethod
    def stationary(self, limits: Limits) -> bool:
        """Return whether no pair needs a rotation, after as many in a row as there are pairs."""

    @abstractmethod
    def solution(self) -> Solution:
        """Return U and its weights, the diagonal of T~; columns of negative weight are flipped."""


def pairs_of(d: int) -> int:
    """Return the number of pairs of d indices."""
    return d * (d - 1) // 2

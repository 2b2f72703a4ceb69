"""Riemannian coordinate minimization on the orthogonal group."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, Solution, Solver, State, Status, flops, parameter, rotate
from orthobench.families.orthogonal_group import OrthogonalGroupOracle
from orthobench.families.orthogonal_group.planes import minimize

SAMPLING = ("uniform", "without-replacement")


def pair(index: int) -> tuple[int, int]:
    """Return the pair i < j of an index: 0, 1, 2, 3, ... are (0, 1), (0, 2), (1, 2), (0, 3), ...

    Parameters
    ----------
    index : int
        From 0 to n(n-1)/2 - 1.
    """
    j = (1 + isqrt(8 * index + 1)) // 2
    return index - j * (j - 1) // 2, j


@dataclass(slots=True, kw_only=True)
class GivensState(State):
    """The iterate, and what has been tried since it last changed.

    Attributes
    ----------
    U : ndarray, shape (n, n)
        Fortran order: rotations work on columns.
    carried : object
        What the oracle keeps along rotations.
    rng : numpy.random.Generator
        Draws the pairs.
    pool : ndarray of int, shape (n(n-1)/2,)
        All pairs; the first `drawn` of them were drawn without replacement.
    drawn : int
    idle : int
        Rotations tried since the last that gained.
    scale : float
        The largest range that the objective has shown in a plane.
    """

    U: Array
    carried: Any
    rng: np.random.Generator
    pool: NDArray[np.int64]
    drawn: int = 0
    idle: int = 0
    scale: float = 0.0

    @property
    def exhausted(self) -> bool:
        """Whether all pairs have been drawn without replacement, and none gained."""
        return self.drawn == len(self.pool)

    def draw(self) -> int:
        """Return a random one of the pairs that were not drawn since the last gain."""
        k = self.drawn + int(self.rng.random() * (len(self.pool) - self.drawn))
        chosen = int(self.pool[k])
        self.pool[k], self.pool[self.drawn] = self.pool[self.drawn], chosen
        self.drawn += 1
        return chosen


@dataclass(frozen=True)
class Givens(Solver[OrthogonalGroupOracle, GivensState]):
    """Coordinate minimization by Givens rotations, for any objective on the orthogonal group.

    Each step draws a pair of columns and minimizes the objective over the rotations of the two,
    over the whole circle: U <- U G(i, j, argmin f(U G(i, j, angle))). The objective never rises.

    A rotation is made where it gains more than ``tolerance * scale * |angle|``: near a minimum
    that is a bound on the derivative of the objective along the plane, relative to the largest
    range that the objective has shown in a plane. Pairs are drawn uniformly with replacement
    (Algorithm 1), or without until the objective can improve (Algorithm 4). A row of random pairs
    without a gain proves nothing: after n(n-1)/2 of them the uniform variant draws without
    replacement too, until a pair gains. The solver has converged when no pair is left: then U is
    a minimum in every plane, and a stationary point.

    The sign of det U never changes: on O(n) the optimum may lie on the other component, where
    the solver starts with ``reflected``. On a function that is even in a column both have it.

    The start costs what the oracle says of what it carries, a step what it says of a restriction,
    and where it rotates 6n flops and what the oracle says of a rotation. Memory:
    U, n(n-1)/2 integers, and what the oracle carries.

    References
    ----------
    Shalit and Chechik 2014, Algorithms 1 and 4. The rotation is that of
    `orthobench.tools.geometry.rotate`: section 2.2 of the paper names it with the opposite sign.
    """

    name: ClassVar[str] = "givens"
    needs: ClassVar[type[OrthogonalGroupOracle]] = OrthogonalGroupOracle
    source: ClassVar[str] = "Shalit and Chechik 2014, Algorithm 1"

    sampling: str = parameter("uniform", choices=SAMPLING, help="how pairs of columns are drawn")
    reflected: bool = parameter(
        False, help="start on the other component: the last column of the start negated"
    )
    tolerance: float = parameter(
        1e-12, above=0.0, below=1.0, help="least slope worth a rotation, relative"
    )

    def init(self, oracle: OrthogonalGroupOracle, rng: np.random.Generator) -> GivensState:
        """Begin at ``oracle.start``, or at its reflection."""
        U = np.array(oracle.start, order="F")
        if self.reflected:
            U[:, -1] *= -1
        n = len(U)
        pool = np.arange(n * (n - 1) // 2)
        state = GivensState(U=U, carried=oracle.carry(U), rng=rng, pool=pool)
        state.work.flops += oracle.carry_flops
        state.status = Status.CONVERGED if state.exhausted else Status.RUNNING
        return state

    def step(self, oracle: OrthogonalGroupOracle, state: GivensState) -> None:
        """Try one rotation: what the oracle says it costs, and 6n flops where it is made."""
        i, j = pair(self._drawn(state))
        angle, gain, spread = minimize(oracle.restricted(state.carried, i, j))
        state.scale = max(state.scale, spread)
        state.work.steps += 1
        state.work.flops += oracle.restriction_flops
        if gain > self.tolerance * state.scale * abs(angle):
            rotate(state.U, i, j, angle)
            oracle.rotate(state.carried, i, j, angle)
            state.work.flops += flops.givens(oracle.n) + oracle.rotation_flops
            state.drawn = state.idle = 0
            return
        state.idle += 1
        if state.exhausted:
            state.status = Status.CONVERGED

    def solution(self, state: GivensState) -> Solution:
        """Return U, (n, n)."""
        return Solution(np.array(state.U, order="C"))

    def _drawn(self, state: GivensState) -> int:
        pairs = len(state.pool)
        if self.sampling == "uniform" and state.idle < pairs:
            return int(state.rng.random() * pairs)
        return state.draw()

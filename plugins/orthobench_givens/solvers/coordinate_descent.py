"""Riemannian coordinate minimization on the orthogonal group."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.angles import minimize
from orthobench_kit.geometry import rotate
from orthobench_stiefel import Stiefel, StiefelOracle
from orthobench_stiefel.orthogonal_group import orthogonal

from orthobench.contract import (
    AnyProblem,
    Array,
    Solution,
    Solver,
    State,
    Status,
    UsageError,
    flops,
    parameter,
)

SAMPLING = ("uniform", "without-replacement")

SQUARE = "rotates pairs of columns, which needs as many columns as rows, p = n"
"""Message of a refusal."""


def pair(index: int) -> tuple[int, int]:
    """Return columns i < j of the pair with number `index`: (0, 1), (0, 2), (1, 2), (0, 3), ..."""
    j = (1 + isqrt(8 * index + 1)) // 2
    return index - j * (j - 1) // 2, j


@dataclass(slots=True, kw_only=True)
class GivensState(State):
    """The iterate U (n, n), and the pairs tried since it last changed.

    Attributes
    ----------
    carried : object
        Values that the oracle updates along rotations (`OrthogonalGroupOracle.carry`).
    pool : ndarray of int, shape (n(n-1)/2,)
        The numbers of all pairs (`pair`), those drawn without replacement first.
    drawn, idle : int
        Number of pairs drawn without replacement, and tried, since the last rotation.
    scale : float
        The maximum range of the objective over the circles tried so far.
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
        """Whether every pair has been drawn without replacement, and none gained."""
        return self.drawn == len(self.pool)

    def draw(self) -> int:
        """Draw one of the pairs not drawn since the last rotation, and return its number."""
        k = self.drawn + int(self.rng.random() * (len(self.pool) - self.drawn))
        chosen = int(self.pool[k])
        self.pool[k], self.pool[self.drawn] = self.pool[self.drawn], chosen
        self.drawn += 1
        return chosen


@dataclass(frozen=True)
class Givens(Solver[StiefelOracle, GivensState]):
    """Coordinate minimization by Givens rotations, for any objective on the orthogonal group.

    U <- U G(i, j, argmin f(U G(i, j, angle))) over the whole circle, for a pair of columns a step.
    A pair is rotated only if that gains more than ``tolerance * scale * |angle|``, with the
    maximum range of the objective over a circle so far as scale.

    The uniform variant (Algorithm 1), after n(n-1)/2 random pairs without a gain, draws without
    replacement too, as Algorithm 4 does from the beginning. The method has converged when all
    pairs have been tried without a gain: U is then a minimum in every plane. Rotations keep the
    sign of det U: ``reflected`` starts on the other component, with the last column negated.

    Notes
    -----
    Flops: ``oracle.carry_flops`` at the start, ``oracle.restriction_flops`` a step, and for each
    rotation 6n and ``oracle.rotation_flops``. Memory: U, n(n-1)/2 integers, and what the oracle
    carries.

    References
    ----------
    Shalit and Chechik 2014, Algorithms 1 and 4. The rotation is that of
    `orthobench_kit.geometry.rotate`: section 2.2 of the paper prints it with the opposite sign.
    """

    converges: ClassVar[bool] = True
    name: ClassVar[str] = "givens"
    source: ClassVar[str] = "Shalit and Chechik 2014, Algorithm 1"

    sampling: str = parameter("uniform", choices=SAMPLING, help="how pairs of columns are drawn")
    reflected: bool = parameter(
        False, help="start on the other component: the last column of the start negated"
    )
    tolerance: float = parameter(
        1e-12, above=0.0, below=1.0, help="smallest relative slope for which a pair is rotated"
    )

    def refuses(self, problem: AnyProblem) -> str | None:
        if isinstance(problem, Stiefel) and not problem.square:
            return SQUARE
        return super().refuses(problem)

    def init(self, oracle: StiefelOracle, rng: np.random.Generator) -> GivensState:
        if oracle.n != oracle.k:
            raise UsageError(SQUARE)
        U = np.array(oracle.start, order="F")
        if self.reflected:
            U[:, -1] *= -1
        n = len(U)
        pool = np.arange(n * (n - 1) // 2)
        rotating = orthogonal(oracle)
        state = GivensState(U=U, carried=rotating.carry(U), rng=rng, pool=pool)
        state.work.flops += rotating.carry_flops
        state.status = Status.CONVERGED if state.exhausted else Status.RUNNING
        return state

    def step(self, oracle: StiefelOracle, state: GivensState) -> None:
        i, j = pair(self._draw(state))
        rotating = orthogonal(oracle)
        angle, gain, spread = minimize(rotating.restricted(state.carried, i, j))
        state.scale = max(state.scale, spread)
        state.work.steps += 1
        state.work.flops += rotating.restriction_flops
        if gain > self.tolerance * state.scale * abs(angle):
            rotate(state.U, i, j, angle)
            rotating.rotate(state.carried, i, j, angle)
            state.work.flops += flops.givens(oracle.n) + rotating.rotation_flops
            state.drawn = state.idle = 0
            return
        state.idle += 1
        if state.exhausted:
            state.status = Status.CONVERGED

    def solution(self, state: GivensState) -> Solution:
        return Solution(np.array(state.U, order="C"))

    def _draw(self, state: GivensState) -> int:
        pairs = len(state.pool)
        if self.sampling == "uniform" and state.idle < pairs:
            return int(state.rng.random() * pairs)
        return state.draw()

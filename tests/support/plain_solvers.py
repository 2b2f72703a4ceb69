"""The base of methods that are written plainly, so that their operations can be counted."""

from dataclasses import dataclass
from typing import Any, ClassVar

from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.solver import Solver, State


class PlainState(State):
    """Takes any attributes."""


@dataclass(frozen=True)
class Plain(Solver[Any, PlainState]):
    """Keeps a point U; a subclass says how a step `moves` it."""

    needs: ClassVar[type[Oracle]] = Oracle
    name: ClassVar[str] = "plain"

    def step(self, oracle, state):
        state.work.steps += 1
        self.move(oracle, state)

    def solution(self, state):
        return Solution(state.U.copy())

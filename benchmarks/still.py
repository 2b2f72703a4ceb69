"""A problem and solvers for what the harness costs: one does nothing, one multiplies matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract.parameters import parameter
from orthobench.contract.problem import Instance, Oracle, Problem, Solution
from orthobench.contract.solver import Solver, State


@dataclass(frozen=True)
class Nowhere(Problem[Oracle]):
    """A point with nothing to optimize."""

    name: ClassVar = "nowhere"
    family: ClassVar = "overhead"
    offers: ClassVar = Oracle
    primary: ClassVar = "zero"
    tuned_by: ClassVar = "zero"

    def build(self, rng):
        del rng
        oracle = Oracle()
        oracle.n, oracle.k = 100, 5
        return Instance(oracle, lambda _: {"zero": 0.0})


@dataclass(slots=True, kw_only=True)
class Rest(State):
    U: np.ndarray


@dataclass(frozen=True)
class Still(Solver[Oracle, Rest]):
    """Counts steps."""

    name: ClassVar = "still"
    needs: ClassVar = Oracle
    number: int = parameter(0, help="tells one from the other")

    def init(self, oracle, rng):
        del rng
        return Rest(U=oracle.start.copy())

    def advance(self, oracle, state, count):
        del oracle
        state.work.steps += count

    def solution(self, state):
        return Solution(state.U.copy())


@dataclass(frozen=True)
class Steady(Still):
    """Multiplies matrices that fit into the first caches."""

    name: ClassVar = "steady"

    def advance(self, oracle, state, count):
        del oracle
        A = np.eye(100)
        for _ in range(count):
            A @ state.U
        state.work.steps += count

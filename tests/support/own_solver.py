"""The source of a solver of a user's own, in NumPy alone."""

MY_OJA = """
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orthobench.contract import SampleOracle, Solution, Solver, State, parameter

RATE = 1.0


def orthonormal(M):
    return np.linalg.qr(M)[0]


@dataclass(slots=True, kw_only=True)
class Iterate(State):
    U: np.ndarray


@dataclass(frozen=True)
class MyOja(Solver[SampleOracle, Iterate]):
    name: ClassVar[str] = "my-oja"
    batch: ClassVar[int] = 1
    rate: float = parameter(RATE, help="step", above=0)

    def init(self, oracle, rng):
        return Iterate(U=oracle.start.copy())

    def step(self, oracle, state):
        x = oracle.take(1)
        state.work.steps += 1
        state.work.samples += len(x)
        state.U = orthonormal(state.U + self.rate / state.work.steps * x.T @ (x @ state.U))

    def solution(self, state):
        return Solution(state.U)
"""

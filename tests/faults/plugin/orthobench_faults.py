"""Solvers that fail in every way that a process can, beside one that is sound."""

import os
import pickle
import signal
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from orthobench_stochastic_pca import StochasticPCA, stochastic_pca

from orthobench.contract import hookimpl
from orthobench.contract.parameters import parameter
from orthobench.contract.problem import Solution
from orthobench.contract.samples import SampleOracle
from orthobench.contract.solver import Solver, State


@dataclass(slots=True, kw_only=True)
class PointState(State):
    U: np.ndarray


class Walk(Solver):
    """A sound method: a step of Oja's rule for each sample."""

    needs: ClassVar = SampleOracle
    batch = 1
    fails_at: ClassVar = 60  # warm-up ends at 40

    def init(self, oracle, rng):
        return PointState(U=oracle.start.copy())

    def step(self, oracle, state):
        x = oracle.take(1)[0]
        state.U = np.linalg.qr(state.U + 0.1 * np.outer(x, x @ state.U))[0]
        state.work.steps += 1
        state.work.samples += 1
        state.work.flops += 4 * oracle.n * oracle.k
        # what warm-up meets is met again on the clock
        if state.work.samples == self.fails_at:
            self.fail(oracle, state)

    def fail(self, oracle, state):
        """Do nothing wrong."""

    def solution(self, state):
        return Solution(state.U.copy())


@dataclass(frozen=True)
class Sound(Walk):
    name = "sound"
    number: int = parameter(0, help="tells one from the other")
    nap: float = parameter(0.0, help="seconds that each tenth step sleeps")

    def step(self, oracle, state):
        super().step(oracle, state)
        if self.nap and state.work.steps % 10 == 0:
            time.sleep(self.nap)


@dataclass(frozen=True)
class Raising(Walk):
    name = "raising"

    def fail(self, oracle, state):
        raise ArithmeticError("a wrong turn")


@dataclass(frozen=True)
class Hanging(Walk):
    name = "hanging"

    def fail(self, oracle, state):
        import ctypes

        ctypes.PyDLL(None).sleep(10**6)  # keeps Python's lock, as compiled code does


@dataclass(frozen=True)
class Greedy(Walk):
    name = "greedy-of-memory"

    def fail(self, oracle, state):
        hoard = []
        while True:
            hoard.append(np.ones(2**24))


@dataclass(frozen=True)
class Segfaulting(Walk):
    name = "segfaulting"

    def fail(self, oracle, state):
        import ctypes

        print("a step\n" * 5000, flush=True)  # noqa: T201 - as solvers do
        ctypes.string_at(0)


@dataclass(frozen=True)
class Forking(Walk):
    name = "forking"

    def fail(self, oracle, state):
        if os.fork() == 0:
            time.sleep(1000)
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class NotANumber(Walk):
    name = "not-a-number"

    def fail(self, oracle, state):
        state.U = state.U * np.nan


@dataclass(frozen=True)
class Drawn(Walk):
    """Returns, counts, raises or prints a value that was drawn, from some step on."""

    name = "drawn"
    fault: str = parameter("", help="a place, a value, a step, and whether only there, pickled")
    number: int = parameter(0, help="tells one from the other")

    PLACES: ClassVar = (
        "flops", "samples", "steps", "work", "reason", "status", "U", "raise", "exit", "print",
        "write", "solution", "point", "weights", "core", "state", "oracle", "init",
    )  # fmt: skip

    @property
    def drawn(self):
        return pickle.loads(bytes.fromhex(self.fault))  # noqa: S301 - a test wrote it

    def init(self, oracle, rng):
        state = super().init(oracle, rng)
        place, value, *_ = self.drawn
        return value if place == "init" else state

    def step(self, oracle, state):
        super().step(oracle, state)
        place, value, at, once = self.drawn
        if state.work.steps < at or (once and state.work.steps > at):
            return
        match place:
            case "flops" | "samples" | "steps":
                setattr(state.work, place, value)
            case "work" | "reason" | "status" | "U":
                setattr(state, place, value)
            case "raise":
                raise ArithmeticError(value)
            case "exit":
                raise SystemExit(value)
            case "print":
                print(value)  # noqa: T201 - as solvers do
            case "write":
                os.write(1, pickle.dumps(value))
            case "oracle":
                oracle.start = value

    def solution(self, state):
        place, value, at, once = self.drawn
        if state.work.steps < at or (once and state.work.steps > at):
            return super().solution(state)
        match place:
            case "solution":
                return value
            case "point":
                return Solution(value)
            case "weights" | "core":
                return Solution(state.U.copy(), **{place: value})
        return super().solution(state)


@dataclass(frozen=True)
class Cloud(StochasticPCA):
    """Gaussian samples."""

    name = "cloud"
    d: int = parameter(6, help="features")
    k: int = parameter(2, help="columns")

    def build(self, rng):
        X = rng.standard_normal((200, self.d)) * np.arange(self.d, 0, -1)
        return stochastic_pca(X, self.k, validation=X[:50])


def no_room(cell, threads, limits):
    """Fail as a machine does whose disk is full, in place of executing a cell."""
    raise OSError(28, "No space left on device")


@hookimpl
def orthobench_solvers():
    return [Sound, Raising, Hanging, Greedy, Segfaulting, Forking, NotANumber]


@hookimpl
def orthobench_problems():
    return [Cloud]

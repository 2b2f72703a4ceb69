"""A solver that runs on an oracle, and its clock."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from time import perf_counter_ns
from typing import TypeVar

import numpy as np

from orthobench.contract.parameters import values_of
from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.solver import AnySolver, State, Status
from orthobench.harness.identity import Streams
from orthobench.harness.placement import MeasuredPlace, calls
from orthobench.harness.stopping import Budget
from orthobench.harness.trace import Checkpoint
from orthobench.tools.geometry import random_point
from orthobench.tools.machine import Peak

T = TypeVar("T")
OracleT = TypeVar("OracleT", bound=Oracle)

WARM_UP_STEPS = 40
"""Maximum number of steps of a warm-up."""

WARM_UP_SECONDS = 0.2
"""Approximate maximum time of a warm-up, in seconds."""

MEASURES = (MEMORY,) = ("memory",)
"""Measurements besides time; they slow a run down, so that such a run is another cell."""

PEAK = "peak_bytes"
"""Metric: peak memory of the calls of the solver, in bytes."""

CLOCK: ContextVar[Callable[[], int]] = ContextVar("CLOCK", default=perf_counter_ns)
"""Function that the clock reads, in nanoseconds; wall-clock time by default."""


class Execution:
    """A solver that runs on an oracle, and its clock.

    Attributes
    ----------
    state : State
    seconds : float
        Seconds on the clock; with `reruns` those of ``init`` and the last ``advance``.
    batch : int
        Maximum number of samples of a step.
    """

    state: State
    seconds: float

    def __init__(
        self, oracle: Oracle, solver: AnySolver, budget: Budget, streams: Streams, measure: str = ""
    ) -> None:
        self.oracle, self.solver = oracle, solver
        self._calls = calls(solver, oracle, budget, streams)
        self.batch, self._peak = self._calls.batch, Peak(solver.place) if measure else None
        rng = np.random.default_rng(streams.solver)
        self._init_seconds, self.state = self._call(partial(self._calls.init, oracle, rng))
        self.seconds = self._init_seconds

    def advance(self, count: int) -> None:
        """Do `count` steps, or as many as the data allow."""
        while count > 0 and self.state.status is Status.RUNNING:
            drawn = self.batch if self._calls.streams else 0
            steps = prepare_steps(self.oracle, drawn, count, self.solver.reruns)
            steps = int(min(steps, self._calls.left(self.state)))
            if steps < 1:
                return
            self._calls.rehearse(self.oracle, self.state, steps)
            before = self.state.work.steps
            spent, _ = self._call(partial(self._calls.advance, self.oracle, self.state, steps))
            spent -= self._calls.besides
            self.seconds = spent + (self._init_seconds if self.solver.reruns else self.seconds)
            done = self.state.work.steps - before
            if done != steps and self.state.status is Status.RUNNING:
                raise RuntimeError(f"advance({steps}) counted {done} steps in state.work.steps")
            self._check_samples()
            count -= steps

    def read(self) -> tuple[Checkpoint, Solution]:
        """Return a checkpoint without metrics, and the solution."""
        reading, solution = self._call(partial(self._calls.solution, self.state), keeps=False)
        solution = self._calls.fetched(solution)
        check_solution(solution)
        extra = self._calls.extra_metrics()
        if self._peak:
            extra[PEAK] = self._peak.value
        work = replace(self.state.work)
        return Checkpoint(self.seconds, reading, work, extra_metrics=extra), solution

    def close(self) -> None:
        """Release the resources of the run."""
        self._calls.close()

    def _call(self, call: Callable[[], T], keeps: bool = True) -> tuple[float, T]:
        """Time a call, and measure its memory if asked; `keeps` if its result stays."""
        with self._peak.measuring(keeps) if self._peak else nullcontext():
            return timed_call(call, self._calls.collects)

    def _check_samples(self) -> None:
        counted, taken = self.state.work.samples, self.oracle.taken
        if counted < taken and self.state.status is not Status.FAILED:
            why = f"{counted} samples are counted in state.work.samples, {taken} were taken"
            raise RuntimeError(why)


def check_solution(solution: object) -> None:
    """Raise a `TypeError` for anything but a solution on the host with a real matrix."""
    found = solution.point if isinstance(solution, Solution) else solution
    wanted = "solution() must return a Solution of an array (n, k)"
    if found is solution or not isinstance(found, np.ndarray):
        raise TypeError(f"{wanted}, not a {type(found).__name__}")
    if found.ndim != 2 or found.dtype.kind in "bcmMOSU":
        raise TypeError(f"{wanted} of real numbers, not {found.shape} of {found.dtype}")


def timed_call(call: Callable[[], T], collect: bool = False) -> tuple[float, T]:
    """Call, without garbage collection unless `collect`; return its seconds and its result."""
    collecting = gc.isenabled() and not collect
    clock = CLOCK.get()
    try:
        if collecting:
            gc.disable()
        begin = clock()
        result = call()
        spent = clock() - begin
    finally:
        if collecting:
            gc.enable()
    return spent * 1e-9, result


def ready_oracle(oracle: OracleT, solver: AnySolver, streams: Streams) -> tuple[OracleT, float]:
    """Warm up the solver; return the oracle at its start, on the solver's device, and a time.

    The time is in seconds, for `Budget.after`.
    """
    warmed = 0.0
    if solver.reads_start:
        oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(streams.start))
        oracle.start.flags.writeable = False
    if solver.place.moves:
        place = MeasuredPlace(solver.place)
        with place.warm_up():  # load the library, and initialise the device
            place.array(np.zeros(1))
        oracle = oracle.to(place)
        with place.warm_up():
            warmed = _warm_up(oracle, solver, streams)
    elif not solver.place.reduces:  # workers are warmed up one by one
        warmed = _warm_up(oracle, solver, streams)
    oracle.rewind(np.random.default_rng(streams.samples))
    return oracle, warmed


def prepare_steps(oracle: Oracle, batch: int, steps: int, whole: bool = False) -> int:
    """Prepare samples of at most `steps` steps; return the number of steps that they suffice for.

    The data may allow fewer, as does the window unless each call is a `whole` run. The last step
    may have less than a batch.
    """
    if not batch:
        return steps
    if not whole:
        steps = min(steps, max(1, oracle.window // batch))
    oracle.prepare(steps * batch)
    return math.ceil(min(steps * batch, oracle.remaining()) / batch)


_warm: set[tuple[object, ...]] = set()


def _warm_up(oracle: Oracle, solver: AnySolver, streams: Streams) -> float:
    """Compile and load the code of a run by a few steps; return the seconds of all but the first.

    On `Oracle.miniature`, once a process for equal types, `Oracle.sizes` and parameters other than
    floats; on the data each time if code is compiled for each shape.
    """
    if not solver.place.compiles:
        oracle = oracle.miniature()
    choices = [value for value in values_of(solver).values() if not isinstance(value, float)]
    key = (type(solver), type(oracle), *choices, *oracle.sizes)
    if key in _warm and not solver.place.compiles:
        return 0.0
    _warm.add(key)
    oracle.rewind(np.random.default_rng(streams.samples))
    spent = 0.0
    try:
        state = solver.init(oracle, np.random.default_rng(streams.solver))
        most = 1 if solver.reruns else WARM_UP_STEPS
        left = prepare_steps(oracle, solver.batch, most)
        # the first compiles, the next ones measure the time of a step
        for steps in (1, 2, WARM_UP_STEPS):
            steps = min(steps, left)
            if steps < 1 or state.status is not Status.RUNNING:
                break
            taken, _ = timed_call(partial(solver.advance, oracle, state, steps))
            spent += taken if steps > 1 else 0.0
            left -= steps if spent * WARM_UP_STEPS / 2 <= WARM_UP_SECONDS else left
        solver.solution(state)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: S110 - the run itself meets and records it
        pass
    return spent

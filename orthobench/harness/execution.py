"""A solver at work on an oracle, the only clock of the project, and what is prepared off it."""

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
from weakref import WeakValueDictionary

import numpy as np

from orthobench.contract.parameters import values_of
from orthobench.contract.problem import Oracle, Solution
from orthobench.contract.solver import AnySolver, State, Status
from orthobench.harness.identity import Streams
from orthobench.harness.placement import MeasuredPlace, calls
from orthobench.harness.stopping import Budget
from orthobench.harness.trace import Checkpoint
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import random_point
from orthobench.tools.machine import Peak

T = TypeVar("T")
OracleT = TypeVar("OracleT", bound=Oracle)

WARM_UP_STEPS = 40
"""The most steps of a warm-up."""

WARM_UP_SECONDS = 0.2
"""More steps of a warm-up than the first three take no longer than about this."""

MEASURES = (MEMORY,) = ("memory",)
"""What a run can measure beside time, which slows it down: such a run is a cell of its own."""

PEAK = "peak_bytes"
"""The metric that runs have which measure memory: `Peak` of the calls of the solver."""

CLOCK: ContextVar[Callable[[], int]] = ContextVar("CLOCK", default=perf_counter_ns)
"""The function that the clock reads, in nanoseconds; by default it returns wall time."""


TRIES = 5
"""How often an idle device is waited for, the least time of which counts."""


class Execution:
    """A solver at work on an oracle, and its clock.

    Attributes
    ----------
    state : State
    seconds : float
        On the clock so far. Of a solver with `reruns`: of ``init`` and the last ``advance``, which
        together are one run of all steps so far.
    batch : int
        The most samples of a step.
    waiting : float
        The seconds on the clock that a call waits for an idle device; zero on the host.
    """

    state: State
    seconds: float
    waiting: float = 0.0

    def __init__(
        self,
        oracle: Oracle,
        solver: AnySolver,
        budget: Budget,
        streams: Streams,
        measure: str = "",
    ) -> None:
        self.oracle, self.solver = oracle, solver
        self._calls = calls(solver, oracle, budget, streams)
        self.batch, self._peak = self._calls.batch, Peak(solver.place) if measure else None
        if self._calls.waits:
            self.waiting = min(timed_call(self._calls.idle)[0] for _ in range(TRIES))
        rng = np.random.default_rng(streams.solver)
        self._init_seconds, self.state = self._call(partial(self._calls.init, oracle, rng))
        self.seconds = self._init_seconds

    def advance(self, count: int) -> None:
        """Do `count` steps, or as many as there are data for."""
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
        """Return seconds and work so far, without metrics, and the solution."""
        reading, solution = self._call(partial(self._calls.solution, self.state), keeps=False)
        solution = self._calls.fetched(solution)
        check_solution(solution)
        extra = self._calls.extra_metrics(self.oracle)
        if self._peak:
            extra[PEAK] = self._peak.value
        return Checkpoint(
            self.seconds, reading, replace(self.state.work), extra_metrics=extra
        ), solution

    def close(self) -> None:
        """Give back what the run needed."""
        self._calls.close()

    def _call(self, call: Callable[[], T], keeps: bool = True) -> tuple[float, T]:
        """Time a call; where memory is measured, what it leaves behind counts where it stays."""
        with self._peak.measuring(keeps) if self._peak else nullcontext():
            return timed_call(call, self._calls.collects)

    def _check_samples(self) -> None:
        """Refuse a solver that counts fewer samples than it took, unless it broke off."""
        counted, taken = self.state.work.samples, self.oracle.taken
        if counted < taken and self.state.status is not Status.FAILED:
            raise RuntimeError(
                f"{counted} samples are counted in state.work.samples, {taken} were taken"
            )


def check_solution(solution: object) -> None:
    """Refuse what is no solution on the host: a matrix of real numbers.

    Raises
    ------
    TypeError
        Says what it is instead.
    """
    found = solution.point if isinstance(solution, Solution) else solution
    wanted = "solution() must return a Solution of an array (n, k)"
    if found is solution or not isinstance(found, np.ndarray):
        raise TypeError(f"{wanted}, not a {type(found).__name__}")
    if found.ndim != 2 or found.dtype.kind in "bcmMOSU":
        raise TypeError(f"{wanted} of real numbers, not {found.shape} of {found.dtype}")


def timed_call(call: Callable[[], T], collect: bool = False) -> tuple[float, T]:
    """Call with the garbage collector off; return the seconds that it took, and its result.

    Parameters
    ----------
    call : callable
    collect : bool
        Whether to leave the collector on, as a call needs that takes hours.
    """
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
    """Return the oracle at the beginning of its data, with a start, and the solver warmed up.

    Of a solver that computes elsewhere it is a copy with its arrays there. With it come the seconds
    that the warm-up took, for `Budget.after`.
    """
    warmed = 0.0
    oracle.start = _start(oracle, streams.start)
    if solver.place.moves:
        place = MeasuredPlace(solver.place)
        place.touch()
        oracle = oracle.to(place)
        with place.warm_up():
            warmed = _warm_up(oracle, solver, streams)
    elif not solver.place.reduces:  # workers are warmed up one by one
        warmed = _warm_up(oracle, solver, streams)
    oracle.rewind(np.random.default_rng(streams.samples))
    return oracle, warmed


def prepare_steps(oracle: Oracle, batch: int, steps: int, whole: bool = False) -> int:
    """Prepare the samples of the next steps; return how many steps they are enough for.

    Parameters
    ----------
    oracle : Oracle
    batch : int
        `Solver.batch`.
    steps : int
        How many are wanted. There are fewer where the oracle's window or its data end before; the
        last step takes the samples that are left, which may be fewer than a batch.
    whole : bool
        Whether the window is no limit, since each call would be a run from the start.
    """
    if not batch:
        return steps
    if not whole:
        steps = min(steps, max(1, oracle.window // batch))
    oracle.prepare(steps * batch)
    return math.ceil(min(steps * batch, oracle.remaining()) / batch)


_drawn: WeakValueDictionary[tuple[object, ...], Array] = WeakValueDictionary()
"""The starts that oracles still have, by what they were drawn from."""


def _start(oracle: Oracle, stream: np.random.SeedSequence) -> Array:
    """Return a random point, read-only: the one that the oracle has, if it was drawn like this."""
    key = oracle.n, oracle.k, repr(stream)
    last: Array | None = vars(oracle).get("start")
    if last is not None and last is _drawn.get(key):
        return last
    start = random_point(oracle.n, oracle.k, np.random.default_rng(stream))
    start.flags.writeable = False
    _drawn[key] = start
    return start


_warm: set[tuple[object, ...]] = set()


def _warm_up(oracle: Oracle, solver: AnySolver, streams: Streams) -> float:
    """Compile and load what the run will use: do a few steps, and forget them; return the seconds.

    They are those of steps after the first, which compiles. With reruns there is no other.

    Once a process for each type of solver and oracle, `Oracle.sizes`, and parameters that are not
    floats: words choose between kernels, numbers do not. Each time where code is compiled for all
    shapes of the data; else it is done on `Oracle.miniature`. An error here comes again in the run,
    where it is recorded. Samples are prepared only once, so that generators can be read again.
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
        # the first may compile, the second tells what one takes
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

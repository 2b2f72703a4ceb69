"""The run: the only loop, and the only clock of the project.

The clock runs during `init` and `advance`; `solution` is timed apart, as ``reading``. Samples
are prepared, solutions are checked and metrics are computed off the clock, and metrics only
after the run, since pausing the clock for them would still evict the caches that the solver
lives in.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from time import perf_counter_ns
from typing import TypeVar

import numpy as np

from orthobench.contract.parameters import values_of
from orthobench.contract.problem import AnyInstance, Oracle
from orthobench.contract.solution import Solution
from orthobench.contract.solver import AnySolver, State, Status
from orthobench.harness.identity import Streams
from orthobench.harness.judging import judged, metrics_of, progress_of, stop_of
from orthobench.harness.stopping import Budget, Ending, Rule, Stop
from orthobench.harness.trace import Journal, Mark, Outcome, Recording
from orthobench.tools.geometry import random_point

T = TypeVar("T")

ONLINE_SECONDS = 0.02
"""Least time on the clock between two looks at metrics during a run."""

WARM_UP_STEPS = 40

RATIO = 1.3
"""Of the step counts of one checkpoint and the next."""

CLOCK: ContextVar[Callable[[], int]] = ContextVar("CLOCK", default=perf_counter_ns)
"""What the clock reads, in nanoseconds: wall time, unless whoever runs a solver sets another."""


def checkpoints(ratio: float = RATIO) -> Iterator[int]:
    """Yield the log-spaced step counts at which a run is recorded: 1, 2, 3, 4, 5, 6, 7, 9, ..."""
    at = 1
    while True:
        yield at
        at = max(at + 1, int(at * ratio))


def run(
    instance: AnyInstance,
    solver: AnySolver,
    budget: Budget,
    streams: Streams,
    until: Rule | None = None,
    journal: Journal | None = None,
    ratio: float = RATIO,
) -> Outcome:
    """Run one solver on one instance, record it, then judge it.

    A solver that raises ends its run with ``Ending.ERROR`` and keeps its curve so far; so
    this returns whatever a solver does.

    Parameters
    ----------
    instance : Instance
    solver : Solver
    budget : Budget
        Hard limits.
    streams : Streams
        The random streams of the run.
    until : Rule, optional
        Stop at the first checkpoint where the rule says so. The rule is looked at during the
        run at most every 20 ms on the clock, and once more on the whole trace, which ends at
        the first checkpoint that meets it, however late that was noticed.
    journal : callable, optional
        Is told every point as it is recorded, off the clock, so that a curve outlives its process.
    ratio : float
        Of the step counts of one checkpoint and the next; the iterates do not depend on it.
    """
    oracle = _ready(instance, solver, streams)
    recording = Recording()
    look = _journaled(_online(instance, until) if until else _never, journal)
    try:
        rng = np.random.default_rng(streams.solver)
        stop = _drive(oracle, solver, budget, rng, recording, look, ratio)
    except Exception as error:
        stop = stop_of(error, type(solver).name)
        recording.error = error
    return judged(instance, recording, stop, until)


def timed(instance: AnyInstance, solver: AnySolver, steps: int, streams: Streams) -> float:
    """Return the seconds of a run of `steps` steps that nobody looks at before it ends.

    Those of ``init``, of the steps, all at once, and of reading the last solution.

    Parameters
    ----------
    instance : Instance
    solver : Solver
    steps : int
        No more than the data allow.
    streams : Streams

    Raises
    ------
    RuntimeError
        Where the run fails or ends before its last step.
    """
    oracle = _ready(instance, solver, streams)
    begun, state = _timed(partial(solver.init, oracle, np.random.default_rng(streams.solver)))
    spent = _chunk(oracle, solver, state, steps)
    reading, _ = _timed(partial(solver.solution, state))
    if state.status is Status.FAILED or state.work.steps != steps:
        why = state.reason or f"it ended after {state.work.steps} of {steps} steps"
        raise RuntimeError(f"{solver.name}: {why}")
    return begun + spent + reading


def _ready(instance: AnyInstance, solver: AnySolver, streams: Streams) -> Oracle:
    """Return the oracle as a run of this solver finds it: at its start, and warm."""
    oracle: Oracle = instance.oracle
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(streams.start))
    oracle.start.flags.writeable = False
    _warm_up(oracle, solver, streams)
    oracle.rewind(np.random.default_rng(streams.samples))
    return oracle


def _drive(
    oracle: Oracle,
    solver: AnySolver,
    budget: Budget,
    rng: np.random.Generator,
    recording: Recording,
    look: Callable[[Mark, Solution], Stop | None],
    ratio: float,
) -> Stop:
    """Alternate timed chunks with untimed snapshots until something ends the run."""
    begun, state = _timed(partial(solver.init, oracle, rng))
    seconds, clipped = begun, False
    stop = _record(solver, state, seconds, recording, look)
    for target in checkpoints(ratio):
        if stop is not None:
            return stop
        wanted = target - state.work.steps
        # what every run from the start costs before its first step says nothing about the rate
        first = recording.marks[solver.reruns and len(recording.marks) > 1]
        count = budget.left(seconds, state.work, first, solver.batch)
        if count < 1 or clipped:
            return Stop(Ending.BUDGET, "the budget is spent")
        before = state.work.steps
        spent = _chunk(oracle, solver, state, int(min(wanted, count)))
        seconds = spent + (begun if solver.reruns else seconds)
        # what is left of an estimate is not worth one more run from the start
        clipped = solver.reruns and count < wanted
        if state.work.steps == before and state.status is Status.RUNNING:
            return Stop(Ending.DONE, "the data are used up")
        stop = _record(solver, state, seconds, recording, look)
    raise AssertionError("checkpoints never end")


def _chunk(oracle: Oracle, solver: AnySolver, state: State, count: int) -> float:
    """Advance by `count` steps, or as many as there are data for; return the seconds spent.

    The steps are done in pieces that fit the oracle's window; of a solver that begins anew
    with each of them, the last one is all that counts.
    """
    seconds, batch = 0.0, solver.batch
    most = max(1, oracle.window // batch) if batch else count
    while count > 0 and state.status is Status.RUNNING:
        piece = min(count, most)
        if batch:
            oracle.prepare(piece * batch)
            piece = int(min(piece, oracle.remaining() // batch))
            if piece < 1:
                break
        before = state.work.steps
        spent, _ = _timed(partial(solver.advance, oracle, state, piece))
        seconds = spent + (0.0 if solver.reruns else seconds)
        if state.work.steps != before + piece and state.status is Status.RUNNING:
            done = state.work.steps - before
            raise RuntimeError(f"advance({piece}) counted {done} steps in state.work.steps")
        count -= piece
    return seconds


def _record(
    solver: AnySolver,
    state: State,
    seconds: float,
    recording: Recording,
    look: Callable[[Mark, Solution], Stop | None],
) -> Stop | None:
    """Append a mark, and return why the run ends here, if it does."""
    reading, solution = _timed(partial(solver.solution, state))
    if state.status is Status.FAILED or not _finite(solution):
        why = state.reason or f"the solution at step {state.work.steps} is not finite"
        return Stop(Ending.DIVERGED, why)
    mark = Mark(seconds, reading, replace(state.work))
    recording.marks.append(mark)
    recording.solutions.append(solution)
    if state.status is Status.CONVERGED:
        return Stop(Ending.DONE, f"converged after {state.work.steps} steps")
    return look(mark, solution)


def _journaled(
    look: Callable[[Mark, Solution], Stop | None], journal: Journal | None
) -> Callable[[Mark, Solution], Stop | None]:
    if journal is None:
        return look

    def told(mark: Mark, solution: Solution) -> Stop | None:
        journal(mark, solution)
        return look(mark, solution)

    return told


def _never(mark: Mark, solution: Solution) -> Stop | None:
    del mark, solution
    return None


def _online(instance: AnyInstance, until: Rule) -> Callable[[Mark, Solution], Stop | None]:
    """Return a look at the rule that happens at most every `ONLINE_SECONDS` on the clock."""
    last = -ONLINE_SECONDS

    def look(mark: Mark, solution: Solution) -> Stop | None:
        nonlocal last
        if mark.seconds - last < ONLINE_SECONDS:
            return None
        last = mark.seconds
        return until(progress_of(replace(mark, metrics=metrics_of(instance, solution))))

    return look


def _finite(solution: Solution) -> bool:
    parts = (solution.point, solution.weights, solution.core)
    return all(np.isfinite(part).all() for part in parts if part is not None)


def _timed(call: Callable[[], T]) -> tuple[float, T]:
    """Call, with the garbage collector off, and return the seconds it took and its result."""
    collecting = gc.isenabled()
    clock = CLOCK.get()
    gc.disable()
    try:
        begin = clock()
        result = call()
        spent = clock() - begin
    finally:
        if collecting:
            gc.enable()
    return spent * 1e-9, result


_warm: set[tuple[object, ...]] = set()


def _warm_up(oracle: Oracle, solver: AnySolver, streams: Streams) -> None:
    """Compile and touch what the run will use: a few steps that leave no trace.

    Done once a process for each class of solver and oracle, `Oracle.sizes`, and choice of
    parameters that are not floats: a number does not choose between kernels, a word does. An
    error here is an error of the run too, where it is recorded.
    """
    choices = [value for value in values_of(solver).values() if not isinstance(value, float)]
    key = (type(solver), type(oracle), *choices, *oracle.sizes)
    if key in _warm:
        return
    _warm.add(key)
    oracle.rewind(np.random.default_rng(streams.samples))
    try:
        state = solver.init(oracle, np.random.default_rng(streams.solver))
        _chunk(oracle, solver, state, _rehearsal(oracle, solver))
        solver.solution(state)
    except Exception:  # noqa: S110 - the run itself meets and records it
        pass


def _rehearsal(oracle: Oracle, solver: AnySolver) -> int:
    """Return the steps of a warm-up: no more than one `prepare` serves, so that streams survive."""
    batch = solver.batch
    return min(WARM_UP_STEPS, max(1, oracle.window // batch)) if batch else WARM_UP_STEPS

"""The run of a solver on an instance: the only loop of the project.

`Solver.init` and `Solver.advance` are on the clock; `Solver.solution` is timed apart. Metrics are
computed after the run, because judging in between would evict the caches of the solver.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, TypeAlias

from orthobench.contract.problem import AnyInstance, Oracle, Solution
from orthobench.contract.solver import AnySolver, Status
from orthobench.errors import UsageError
from orthobench.harness.execution import Execution, ready_oracle
from orthobench.harness.identity import Streams
from orthobench.harness.judging import judged, stop_at, stop_of
from orthobench.harness.restarts import on_all_components
from orthobench.harness.stopping import CONVERGED, USED_UP, Budget, Rule, RunStatus, Termination
from orthobench.harness.trace import Checkpoint, Outcome, Recording, checked, spent_seconds
from orthobench.tools.formatting import budget_text, plural
from orthobench.tools.machine import load
from orthobench.tools.processes import Alarm

RATIO = 1.3
"""Ratio of the step counts of successive checkpoints."""

RERUN_RATIO = 4
"""The same for a solver with `reruns`."""

OVERSHOOT = 0.1
"""Share of the seconds of a budget above which a run explains its excess."""

UNCOUNTED = 1000
"""Number of steps after which a solver must have counted flops."""

LATE = 60.0
"""Time besides its budget after which a run in this process writes what ends it, in seconds."""

Journal: TypeAlias = Callable[[Checkpoint, Solution], None]
"""Called with each checkpoint of a run and its solution."""

Stops: TypeAlias = Callable[[], Termination | None]
"""Returns why a run stops at its last checkpoint, or None."""

_RUNNING: dict[int, object] = {}
"""The oracles that are in use, by identity, each with the run that uses it."""


def run(
    instance: AnyInstance,
    solver: AnySolver,
    budget: Budget,
    streams: Streams,
    until: Rule | None = None,
    **how: Any,
) -> Outcome:
    """Run a solver on an instance in this process, then judge; the outcome records errors.

    The solver can reach the judge, the clock and all data; only a guarded run separates them.

    Parameters
    ----------
    instance : Instance
    solver : Solver
    budget : Budget
    streams : Streams
    until : Rule, optional
        A rule that stops the run, evaluated at each checkpoint.
    **how
        `ratio`, `measure` and `curve` of `recorded`.

    Raises
    ------
    UsageError
        If another run uses the instance.
    """
    return judged(instance, recorded(instance, solver, budget, streams, until, **how), until)


def recorded(
    instance: AnyInstance,
    solver: AnySolver,
    budget: Budget,
    streams: Streams,
    until: Rule | None = None,
    ratio: float = RATIO,
    measure: str = "",
    curve: bool = True,
) -> Recording:
    """Run a solver as `run`, but judge only what a rule needs.

    Parameters
    ----------
    instance, solver, budget, streams, until
        As in `run`.
    ratio : float
        Ratio of the step counts of successive checkpoints; iterates do not depend on it.
    measure : str
        One of `orthobench.harness.execution.MEASURES`, or empty.
    curve : bool
        Whether to record more than the start and the end of a run without a rule.
    """
    recording = Recording(curve=curve or until is not None)
    if not recording.curve and math.isinf(budget.seconds):
        ratio = math.inf
    rule = None if until is None else partial(stop_at, instance, until, recording)
    patience = LATE + (0.0 if math.isinf(budget.seconds) else budget.seconds)
    late = Alarm(partial(_write_late, solver, budget, patience), patience)
    with _alone(instance.oracle), late:
        oracle, warmed = ready_oracle(instance.oracle, solver, streams)
        before = load()
        recording.stop, recording.error = record(
            oracle, solver, budget.after(warmed), streams, recording.add, rule, ratio, measure
        )
        recording.load = before, load()
    return recording


@contextmanager
def _alone(oracle: Oracle) -> Iterator[None]:
    """Refuse an oracle that another run uses, such as one in another thread."""
    own = object()
    if _RUNNING.setdefault(id(oracle), own) is not own:  # one step, so that no thread comes between
        why = "another run on this instance has not ended: make an instance for each thread"
        raise UsageError(why)
    try:
        yield
    finally:
        del _RUNNING[id(oracle)]


def _write_late(solver: AnySolver, budget: Budget, seconds: float) -> None:
    if not budget.binds(solver.batch):
        ends = "it ends when it converges, and budget=ob.Budget(seconds=60) in any case"
    else:
        ends = f"its {budget_text(budget.limits)} ends it"
        ends += "" if math.isinf(budget.seconds) else " as soon as its step is over"
    sys.stderr.write(f"{solver.name} has run for {seconds:g} s: {ends}; Ctrl-C ends it now\n")


def record(
    oracle: Oracle,
    solver: AnySolver,
    budget: Budget,
    streams: Streams,
    journal: Journal,
    rule: Stops | None = None,
    ratio: float = RATIO,
    measure: str = "",
) -> tuple[Termination, BaseException | None]:
    """Run a solver on an oracle of `ready_oracle`; return how the run ended, and its error.

    Other parameters are as in `recorded`.

    Parameters
    ----------
    journal : callable
        Called with each checkpoint, off the clock; it must copy the solution to keep it.
    rule : callable, optional
        Returns why the run stops at the checkpoint that was recorded last.
    """
    trace: list[Checkpoint] = []
    solver = on_all_components(solver, oracle)

    def keep(checkpoint: Checkpoint, solution: Solution) -> None:
        trace.append(checkpoint)
        journal(checkpoint, solution)

    try:
        with closing(Execution(oracle, solver, budget, streams, measure)) as execution:
            sparse = solver.reruns or math.isinf(ratio)
            targets = checkpoints(RERUN_RATIO if sparse else ratio)
            stop = _checkpoint(execution, keep, rule)
            while stop is None:
                stop = _chunk(execution, budget, next(targets), trace, ratio)
                stop = stop or _checkpoint(execution, keep, rule)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return stop_of(error, solver.name), error
    return stop, None


def timed(instance: AnyInstance, solver: AnySolver, steps: int, streams: Streams) -> float:
    """Return the seconds of ``init``, all steps, and one reading; raise if the run ends before."""
    oracle, _ = ready_oracle(instance.oracle, solver, streams)
    with closing(Execution(oracle, solver, Budget(), streams)) as execution:
        execution.advance(steps)
        checkpoint, _ = execution.read()
    state, done = execution.state, checkpoint.work.steps
    if state.status is Status.FAILED or done != steps:
        reason = state.reason or f"it ended after {done} of {steps} steps"
        raise RuntimeError(f"{solver.name}: {reason}")
    return checkpoint.seconds + checkpoint.readout_seconds


def checkpoints(ratio: float = RATIO) -> Iterator[int]:
    """Yield the log-spaced step counts of checkpoints: 1, 2, 3, 4, 5, 6, 7, 9, ..."""
    steps = 1
    while True:
        yield steps
        steps = max(steps + 1, int(steps * ratio))


def _checkpoint(execution: Execution, keep: Journal, rule: Stops | None) -> Termination | None:
    """Read and record the solution; return why the run ends here, or None."""
    state = execution.state
    checkpoint, solution = execution.read()
    if state.status is Status.FAILED or not solution.is_finite:
        reason = state.reason or f"the solution at step {checkpoint.work.steps} is not finite"
        return Termination(RunStatus.DIVERGED, reason)
    checkpoint = checked(checkpoint)
    keep(checkpoint, solution)
    if state.status is Status.CONVERGED:
        return Termination(RunStatus.DONE, f"{CONVERGED} {plural(checkpoint.work.steps, 'step')}")
    if state.status is Status.COMPLETE:
        ended = f"complete after {plural(checkpoint.work.steps, 'step')}"
        return Termination(RunStatus.DONE, ": ".join(filter(None, (ended, state.reason))))
    return rule() if rule else None


def _chunk(
    execution: Execution, budget: Budget, target: int, trace: list[Checkpoint], ratio: float
) -> Termination | None:
    solver, now = execution.solver, trace[-1]
    if budget.limits.keys() == {"flops"} and now.work.steps >= UNCOUNTED and not now.work.flops:
        why = f"{solver.name} counts no flops, so that a budget in flops does not end it"
        return Termination(RunStatus.ERROR, f"{why}: give steps, samples or seconds")
    left = _left(execution, budget, trace)
    # a run from the start must at least double the steps
    if left < 1 or (solver.reruns and left < now.work.steps):
        reason = f"the budget is spent {execution.state.reason}".rstrip()
        if (spent := spent_seconds(trace, solver.reruns)) > (1 + OVERSHOOT) * budget.seconds:
            reason += f"; it took {spent:.3g} s, since no call is interrupted"
        return Termination(RunStatus.BUDGET, reason)
    wanted: float = target - now.work.steps
    if solver.reruns:
        batch = execution.batch
        end = min(left, (execution.oracle.remaining() + batch - 1) / batch if batch else left)
        wanted = end if end < max(ratio, RERUN_RATIO) * wanted else wanted
    execution.advance(int(min(wanted, left)))
    state = execution.state
    if state.work.steps == now.work.steps and state.status is Status.RUNNING:
        return Termination(RunStatus.DONE, USED_UP)
    return None


def _left(execution: Execution, budget: Budget, trace: list[Checkpoint]) -> int | float:
    now, reruns = trace[-1], execution.solver.reruns
    # the first checkpoint of a rerun has the cost of its init, which is not that of a step
    start = trace[1] if reruns and len(trace) > 1 else trace[0]
    again = now.seconds - trace[0].seconds if reruns else 0.0
    besides = spent_seconds(trace, reruns) - now.seconds + now.readout_seconds + again
    left = budget.left(now, start, execution.batch, besides)
    if len(trace) < 2:
        return left
    seconds = Budget(seconds=budget.seconds)
    return min(left, max(1, seconds.left(now, trace[-2], 0, besides)))

"""The judgement of a run: metrics of every recorded point, off the clock, when the run is over."""

from __future__ import annotations

import traceback
from dataclasses import replace

from orthobench.contract.exhibits import checked
from orthobench.contract.problem import AnyInstance
from orthobench.contract.solution import Solution
from orthobench.errors import OrthobenchError
from orthobench.harness.stopping import Ending, Progress, Rule, Stop
from orthobench.harness.trace import Mark, Outcome, Recording

VIOLATION = "constraint_violation"
"""The metric that the harness adds to every judge's: `Instance.violation` of the solution."""

FEASIBLE = 1e-8
"""Largest constraint violation of a feasible solution."""


def judged(
    instance: AnyInstance, recording: Recording, stop: Stop, until: Rule | None = None
) -> Outcome:
    """Measure every recorded point, and end the trace where the rule is first met.

    Parameters
    ----------
    instance : Instance
    recording : Recording
        Of a run on it, whole or broken off.
    stop : Stop
        How the run ended.
    until : Rule, optional
    """
    trace: list[Mark] = []
    for mark, solution in zip(recording.marks, recording.solutions, strict=True):
        try:
            judged = replace(mark, metrics=metrics_of(instance, solution))
            met = until(progress_of(judged)) if until else None
        except Exception as error:
            stop = stop_of(error, "the judge")
            recording.error = error
            break
        trace.append(judged)
        if met:
            stop = met
            break
    final = recording.solutions[len(trace) - 1] if trace else None
    outcome = Outcome(_feasible(trace, stop), tuple(trace), final=final, error=recording.error)
    return outcome if final is None else _completed(instance, outcome, final)


def _completed(instance: AnyInstance, outcome: Outcome, last: Solution) -> Outcome:
    """Finish the last solution and, where the run did not fail, exhibit it."""
    try:
        final = instance.finish(last)
    except Exception as error:
        return _spoilt(outcome, error, "finishing the solution")
    outcome = replace(outcome, final=final)
    if outcome.stop.status.failed:
        return outcome
    try:
        return replace(outcome, exhibits=checked(instance.exhibits(final)))
    except Exception as error:
        return _spoilt(outcome, error, "exhibits")


def _spoilt(outcome: Outcome, error: Exception, what: str) -> Outcome:
    """Record an error after the run, unless the run had failed before; the trace stays."""
    if outcome.stop.status.failed:
        return outcome
    stop = stop_of(error, what)
    if isinstance(error, OrthobenchError):
        stop = replace(stop, reason=f"{what}: {error}")
    return replace(outcome, stop=stop, error=error)


def _feasible(trace: list[Mark], stop: Stop) -> Stop:
    if stop.status.failed:
        return stop
    for mark in trace:
        violation = mark.metrics[VIOLATION]
        if not violation <= FEASIBLE:
            reason = f"violated by {violation:.1e} at step {mark.work.steps}"
            return Stop(Ending.INFEASIBLE, f"the solution leaves the constraint: {reason}")
    return stop


def metrics_of(instance: AnyInstance, solution: Solution) -> dict[str, float]:
    """Return the judge's metrics of a solution, and its constraint violation."""
    return {**instance.measure(solution), VIOLATION: instance.violation(solution)}


def progress_of(mark: Mark) -> Progress:
    """Return what a stopping rule may see of a checkpoint."""
    return Progress(mark.seconds, mark.work, mark.metrics)


def stop_of(error: Exception, who: str) -> Stop:
    """Return how a run ends in which `who` raised an error."""
    where = "".join(traceback.format_exception(error))
    if isinstance(error, MemoryError):
        return Stop(Ending.MEMORY, f"{who} ran out of memory", where)
    reason = str(error) if isinstance(error, OrthobenchError) else f"{who}: {error!r}"
    return Stop(Ending.ERROR, reason, where)

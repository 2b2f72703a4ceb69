"""The judgement of a run: metrics of every recorded point, off the clock, when the run is over."""

from __future__ import annotations

import traceback
from dataclasses import replace
from math import sqrt
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.exhibits import checked_exhibits
from orthobench.contract.problem import AnyInstance, Solution
from orthobench.errors import OrthobenchError
from orthobench.harness.stopping import USED_UP, Rule, RunStatus, Termination, said
from orthobench.harness.trace import Checkpoint, Outcome, Recording
from orthobench.tools.files import hide_home

VIOLATION = "constraint_violation"
"""The metric that the harness adds to those of every judge: `Instance.violation`."""

FEASIBLE = 1e-8
"""The largest constraint violation of a feasible solution in float64."""

STATIONARITY = {
    "relative_gradient": "relative gradient",
    "relative_gradient_norm": "relative gradient",
    "distance": "distance to the solution",
}
"""Metrics of judges that vanish where a run can converge, relative to their value at a random
point, and what they are."""

STATIONARY = 1e-3
"""The largest of them where a run that says it converged is believed."""

OPTIMAL = 1e-9
"""A metric that is so near to its known optimum may be where a run began."""

TOLERANCE = "constraint_tolerance"
"""The metric that the harness adds where precision allows a larger one: `feasible_up_to`."""


def judged(
    instance: AnyInstance, recording: Recording, stop: Termination, until: Rule | None = None
) -> Outcome:
    """Return the outcome of a run: measure its points, finish and exhibit its last solution.

    Parameters
    ----------
    instance : Instance
    recording : Recording
        What the run recorded, whether it ended or broke off.
    stop : Termination
        How it ended.
    until : Rule, optional
        The trace ends at the first point where the rule says stop.
    """
    trace: list[Checkpoint] = []
    for mark, solution in zip(recording.marks, recording.solutions, strict=True):
        try:
            if instance.settle and not trace and not recording.curve:
                instance.settle(recording.solutions)
            measured = measured_at(instance, mark, solution)
            met = until(measured) if until else None
        except Exception as error:
            stop = stop_of(error, "the judge")
            recording.error = error
            break
        trace.append(measured)
        if met:
            stop = met
            break
    last = recording.solutions[len(trace) - 1] if trace else None
    ended = _feasible(trace, recording.solutions, _checked_end(instance, trace, recording, stop))
    outcome = Outcome(ended, tuple(trace), final=last, error=recording.error)
    return outcome if last is None else _completed(instance, outcome, last)


def measured_at(instance: AnyInstance, mark: Checkpoint, solution: Solution) -> Checkpoint:
    """Return a checkpoint with the judge's metrics, the constraint violation, and seconds apart.

    A point of lower precision than float64 is measured at the nearest feasible one: its metrics
    would show the rounding of the constraint. The violation is that of the point itself.
    """
    given = solution.in_float64
    shown = solution if given is solution else instance.nearest(given)
    violation = instance.violation(given)
    moving = instance.measure_after
    metrics = moving(shown, mark.work.samples) if moving else instance.measure(shown)
    found = {**metrics, VIOLATION: violation}
    found |= {**mark.extra_metrics, **found}  # the names of the judge win
    if given is not solution:
        found[TOLERANCE] = feasible_up_to(solution.point)
    return replace(mark, metrics={name: float(value) for name, value in found.items()})


def excess_violation(mark: Checkpoint) -> float:
    """Return by how much a judged point violates the constraint more than it may, if positive.

    Parameters
    ----------
    mark : Checkpoint
        Or the columns of a trace, for all points at once.
    """
    # a column has NaN where a point says nothing, as a start in double precision before others
    most = np.nan_to_num(mark.metrics.get(TOLERANCE, FEASIBLE), nan=FEASIBLE)
    return mark.metrics.get(VIOLATION, 0.0) - cast(float, most)


def feasible_up_to(point: NDArray[np.floating[Any]]) -> float:
    """Return the largest constraint violation of a feasible point, by its precision.

    A Householder QR in a precision with rounding unit u has |Q'Q - I|_F of at most about
    2 sqrt(k) nk u (Higham 2002, "Accuracy and stability of numerical algorithms", theorem 19.4),
    where rounding errors that are independent make sqrt(nk) of nk. A method has a few such steps
    in a row, for which there is a factor of 10. In float64 it is 1e-8 for all, which is more.

    Parameters
    ----------
    point : ndarray, shape (n, k)
    """
    if point.dtype == np.float64:
        return FEASIBLE
    n, k = point.shape
    unit = float(np.finfo(point.dtype).eps) / 2 if point.dtype.kind == "f" else 0.0
    return float(max(FEASIBLE, 20 * unit * k * sqrt(n)))


def stop_at(
    instance: AnyInstance, until: Rule, mark: Checkpoint, solution: Solution
) -> Termination | None:
    """Measure a point; return why the run stops there by a rule, or None."""
    return until(measured_at(instance, mark, solution))


def stop_of(error: BaseException, culprit: str) -> Termination:
    """Return how a run ends in which an error was raised.

    Parameters
    ----------
    error : BaseException
    culprit : str
        What raised it, for the reason: ``"the judge"``.
    """
    lines = hide_home("".join(traceback.format_exception(error)))
    if isinstance(error, MemoryError):
        return Termination(RunStatus.MEMORY, f"{culprit} ran out of memory", lines)
    known = isinstance(error, OrthobenchError)
    reason = hide_home(str(error) if known else f"{culprit}: {said(error)}")
    return Termination(RunStatus.ERROR, reason, lines)


def _checked_end(
    instance: AnyInstance, trace: list[Checkpoint], recording: Recording, stop: Termination
) -> Termination:
    """Return how a run ended that says it is done: that nothing was done, or is not stationary.

    Nothing was done where it took no step, or ended where it began, unless that is a known optimum
    or the judge finds it stationary. What the judge does not measure cannot be held against it.
    """
    if stop.status is not RunStatus.DONE or not trace:
        return stop
    last = trace[-1]
    residual, kind = max((last.metrics.get(name, 0.0), kind) for name, kind in STATIONARITY.items())
    first, end = recording.solutions[0].point, recording.solutions[len(trace) - 1].point
    still = not last.work.steps or (len(trace) > 1 and np.array_equal(first, end))
    optimal = any(
        abs(last.metrics.get(name, np.inf) - best) <= OPTIMAL
        for name, best in instance.best.items()
    )
    if still and not optimal and (residual > STATIONARY or stop.reason == USED_UP):
        why = "the solution is where it began" if last.work.steps else "no step was taken"
        return Termination(RunStatus.NOTHING_DONE, f"{why}: {stop.reason}")
    if stop.converged and residual > STATIONARY:
        why = f"{stop.reason}, where the {kind} is {residual:.1e}"
        return Termination(RunStatus.NOT_STATIONARY, why)
    return stop


def _feasible(trace: list[Checkpoint], solutions: list[Solution], stop: Termination) -> Termination:
    """Return how a run ended, which is infeasible where any of its points is."""
    if stop.status.failed:
        return stop
    for mark, solution in zip(trace, solutions, strict=False):
        if not excess_violation(mark) <= 0:
            reason = f"violated by {mark.metrics[VIOLATION]:.1e} at step {mark.work.steps}"
            if (kind := solution.point.dtype) != np.float64:
                reason += f", more than rounding in {kind} explains"
            return Termination(
                RunStatus.INFEASIBLE, f"the solution leaves the constraint: {reason}"
            )
    return stop


def _completed(instance: AnyInstance, outcome: Outcome, last: Solution) -> Outcome:
    """Finish the last solution and, where the run did not fail, exhibit it."""
    try:
        final = instance.finish(last)
    except Exception as error:
        return _failed(outcome, error, "finishing the solution")
    outcome = replace(outcome, final=final)
    if outcome.stop.status.failed:
        return outcome
    try:
        return replace(outcome, exhibits=checked_exhibits(instance.exhibits(final)))
    except Exception as error:
        return _failed(outcome, error, "exhibits")


def _failed(outcome: Outcome, error: Exception, culprit: str) -> Outcome:
    """Return the outcome with an error from after the run, unless the run itself had failed."""
    if outcome.stop.status.failed:
        return outcome
    stop = stop_of(error, culprit)
    if isinstance(error, OrthobenchError):
        stop = replace(stop, reason=f"{culprit}: {error}")
    return replace(outcome, stop=stop, error=error)

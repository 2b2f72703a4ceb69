"""The judgement of a run: metrics of every recorded point, off the clock, when the run is over.

`judged` computes them at once. `ob.solve` takes a `LateJudgement`, which waits until they are read.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cached_property, partial
from math import sqrt
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from orthobench.contract.black_boxes import SkipError
from orthobench.contract.exhibits import Exhibit, checked_exhibits
from orthobench.contract.problem import AnyInstance, Solution
from orthobench.contract.result import Result
from orthobench.errors import OrthobenchError
from orthobench.harness.stopping import USED_UP, Rule, RunStatus, Termination, said
from orthobench.harness.trace import Checkpoint, LateCheckpoint, Outcome, Recording
from orthobench.tools.environment import limited
from orthobench.tools.files import hide_home

CORE = "orthobench"

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

EXCESS = 100.0
"""The largest residual, relative to the tolerance that a solver claims, that is believed."""

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
    if stop.status is RunStatus.REFUSED:
        return Outcome(stop, error=recording.error)
    trace: list[Checkpoint] = []
    raised = recording.error
    for mark, solution in zip(recording.marks, recording.solutions, strict=True):
        try:
            if instance.settle and not trace and not recording.curve:
                instance.settle(recording.solutions)
            measured = measured_at(instance, mark, solution)
            met = until(measured) if until else None
        except Exception as error:
            stop, raised = stop_of(error, "the judge"), error
            break
        trace.append(measured)
        if met:
            stop = met
            break
    last = recording.solutions[len(trace) - 1] if trace else None
    ended = _feasible(trace, recording.solutions, _checked_end(instance, trace, recording, stop))
    outcome = Outcome(ended, tuple(trace), final=last, error=raised)
    return outcome if last is None else _exhibited(instance, _finished(instance, outcome, last))


class LateJudgement:
    """The outcome of a run whose metrics are computed when they are read, and then kept.

    What costs little is checked at once: that all points keep the constraint. Its attributes are
    those of `Outcome`.

    Parameters
    ----------
    instance : Instance
    recording : Recording
    stop : Termination
        How the run ended.
    threads : int
        BLAS threads of the judge.
    """

    def __init__(
        self, instance: AnyInstance, recording: Recording, stop: Termination, threads: int
    ) -> None:
        self._instance, self._recording, self._threads = instance, recording, threads
        points = list(zip(recording.marks, recording.solutions, strict=True))
        self.trace = tuple(
            LateCheckpoint(mark, partial(_read, instance, recording, mark, solution, threads))
            for mark, solution in points
        )
        outcome = Outcome(stop, error=recording.error)
        try:
            marks = [replace(m, metrics=constraint_at(instance, s)) for m, s in points]
            outcome = replace(outcome, stop=_feasible(marks, recording.solutions, stop))
        except Exception as error:
            outcome = _failed(outcome, error, "the judge")
        if points:  # a caller may write into what is returned
            outcome = _finished(instance, outcome, deepcopy(recording.solutions[-1]))
        self._stop, self.final, self.error = outcome.stop, outcome.final, outcome.error

    @property
    def stop(self) -> Termination:
        """How the run ended: as the judge finds, once the last metrics are read."""
        if not self.trace or not self.trace[-1].is_judged:
            return self._stop
        return _checked_end(self._instance, self.trace, self._recording, self._stop)

    @cached_property
    def exhibits(self) -> Mapping[str, Exhibit]:
        """Pictures of the last solution, unless the run failed."""
        if self.final is None or self.stop.status.failed:
            return {}
        with limited(self._threads):
            final = self._instance.finish(self._recording.solutions[-1])
            return checked_exhibits(self._instance.exhibits(final))


def needs_judge(recording: Recording, stop: Termination) -> bool:
    """Return whether only the judge can say how a run ended: it claims that its start will do."""
    points = len(recording.marks)
    return points > 0 and stop.status is RunStatus.DONE and _stands_still(recording, points)


def measured_at(instance: AnyInstance, mark: Checkpoint, solution: Solution) -> Checkpoint:
    """Return a checkpoint with the judge's metrics, the constraint violation, and seconds apart.

    A point of lower precision than float64 is measured at the nearest feasible one: its metrics
    would show the rounding of the constraint. The violation is that of the point itself.
    """
    shown = judged_point(instance, solution)
    moving = instance.measure_after
    metrics = moving(shown, mark.work.samples) if moving else instance.measure(shown)
    found = {**metrics, **constraint_at(instance, solution)}
    found |= {**mark.extra_metrics, **found}  # the names of the judge win
    return replace(mark, metrics={name: float(value) for name, value in found.items()})


def judged_point(instance: AnyInstance, solution: Solution) -> Solution:
    """Return the solution in float64, from a lower precision the nearest feasible one."""
    given = solution.in_float64
    return solution if given is solution else instance.nearest(given)


def result_of(instance: AnyInstance, final: Solution | None, threads: int) -> Result | None:
    """Return what a finished solution says, by its family; None if there is neither.

    Parameters
    ----------
    instance : Instance
    final : Solution, optional
    threads : int
        BLAS threads.
    """
    if final is None or instance.result is None:
        return None
    with limited(threads):
        return instance.result(judged_point(instance, final))


def constraint_at(instance: AnyInstance, solution: Solution) -> dict[str, float]:
    """Return the constraint violation of a point; and below float64 how large it may be."""
    given = solution.in_float64
    found = {VIOLATION: instance.violation(given)}
    return found if given is solution else {**found, TOLERANCE: feasible_up_to(solution.point)}


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
    if isinstance(error, SkipError):
        return Termination(RunStatus.REFUSED, hide_home(str(error)))
    known, place = isinstance(error, OrthobenchError), place_of(error)
    reason = hide_home(str(error) if known else f"{culprit}: {said(error)}{place}")
    return Termination(RunStatus.ERROR, reason, lines)


def place_of(error: BaseException) -> str:
    """Return file and line of an error: the innermost in the first package outside the core."""
    found, package = "", ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        top = str(frame.f_globals.get("__name__")).partition(".")[0]
        package = package or (top if top != CORE else "")
        if package and top == package:
            found = f" ({Path(frame.f_code.co_filename).name}, line {line})"
    return found


def _checked_end(
    instance: AnyInstance, trace: Sequence[Checkpoint], recording: Recording, stop: Termination
) -> Termination:
    """Return how a run ended that says it is done: that nothing was done, or is not converged.

    Nothing was done where it took no step, or ended where it began, unless that is a known optimum
    or the judge finds it stationary. What the judge does not measure cannot be held against it.
    """
    if stop.status is not RunStatus.DONE or not trace:
        return stop
    last = trace[-1]
    residual, kind = max((last.metrics.get(name, 0.0), kind) for name, kind in STATIONARITY.items())
    still = _stands_still(recording, len(trace))
    optimal = any(
        abs(last.metrics.get(name, np.inf) - best) <= OPTIMAL
        for name, best in instance.best.items()
    )
    if still and not optimal and (residual > STATIONARY or stop.reason == USED_UP):
        why = "the solution is where it began" if last.work.steps else "no step was taken"
        return Termination(RunStatus.NOTHING_DONE, f"{why}: {stop.reason}")
    claimed, found = recording.solutions[len(trace) - 1], last.metrics.get(instance.residual, 0.0)
    if claimed.tolerance is not None and found > _believed(claimed.tolerance, claimed.point.dtype):
        claim = f"{EXCESS:g} times the tolerance {claimed.tolerance:g}"
        why = f"{stop.reason}, with a residual of {found:.1e}, more than {claim} and rounding"
        return Termination(RunStatus.NOT_CONVERGED, why)
    if stop.converged and residual > STATIONARY:
        why = f"{stop.reason}, where the {kind} is {residual:.1e}"
        return Termination(RunStatus.NOT_STATIONARY, why)
    return stop


def _believed(tolerance: float, dtype: np.dtype[Any]) -> float:
    """Return the largest residual of a run that claims a tolerance.

    A Ritz value is off by the square of its residual at most, over the gap: up to the root of the
    rounding unit no digit of it is lost.
    """
    return max(EXCESS * tolerance, sqrt(np.finfo(dtype).eps))


def _stands_still(recording: Recording, points: int) -> bool:
    """Return whether the first points of a run are no step, or end where they begin."""
    first, end = recording.solutions[0].point, recording.solutions[points - 1].point
    return not recording.marks[points - 1].work.steps or (points > 1 and np.array_equal(first, end))


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


def _finished(instance: AnyInstance, outcome: Outcome, last: Solution) -> Outcome:
    """Return the outcome with its last solution finished."""
    try:
        return replace(outcome, final=instance.finish(last))
    except Exception as error:
        return _failed(replace(outcome, final=last), error, "finishing the solution")


def _exhibited(instance: AnyInstance, outcome: Outcome) -> Outcome:
    """Return the outcome with exhibits of its finished solution, where the run did not fail."""
    if outcome.final is None or outcome.stop.status.failed:
        return outcome
    try:
        return replace(outcome, exhibits=checked_exhibits(instance.exhibits(outcome.final)))
    except Exception as error:
        return _failed(outcome, error, "exhibits")


def _read(
    instance: AnyInstance, recording: Recording, mark: Checkpoint, solution: Solution, threads: int
) -> Mapping[str, float]:
    """Return the metrics of a point of a run that is over."""
    with limited(threads):
        if instance.settle and not recording.curve:  # another run may have been judged since
            instance.settle(recording.solutions)
        return measured_at(instance, mark, solution).metrics


def _failed(outcome: Outcome, error: Exception, culprit: str) -> Outcome:
    """Return the outcome with an error from after the run, unless the run itself had failed."""
    if outcome.stop.status.failed:
        return outcome
    stop = stop_of(error, culprit)
    if isinstance(error, OrthobenchError):
        stop = replace(stop, reason=f"{culprit}: {error}")
    return replace(outcome, stop=stop, error=error)

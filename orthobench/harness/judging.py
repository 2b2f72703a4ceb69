"""Judging of a run: metrics of each checkpoint, off the clock, after the run.

`judged` computes them at once; a `LateJudgement`, which `ob.solve` returns, when they are read.
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
"""Metric that the harness adds: `Instance.violation`."""

FEASIBLE = 1e-8
"""Maximum constraint violation of a feasible solution in float64."""

STATIONARITY = {
    "relative_gradient": "relative gradient",
    "relative_gradient_norm": "relative gradient",
    "distance": "distance to the solution",
}
"""Metrics of judges that vanish at a stationary point, and their names for people."""

STATIONARY = 1e-3
"""Maximum of these metrics at a point of convergence."""

EXCESS = 100.0
"""Maximum ratio of the residual to the tolerance of a solver."""

OPTIMAL = 1e-9
"""Maximum distance from a known optimum at which a run may end at its start."""

TOLERANCE = "constraint_tolerance"
"""Metric that the harness adds below float64: `feasible_up_to`."""


def judged(instance: AnyInstance, recording: Recording, until: Rule | None = None) -> Outcome:
    """Measure the checkpoints of a run, up to one at which the rule stops; return the outcome."""
    stop, error = recording.stop, recording.error
    if stop.status is RunStatus.REFUSED:
        return Outcome(stop, error=error, load=recording.load)
    trace: list[Checkpoint] = []
    for checkpoint, solution in zip(recording.trace, recording.solutions, strict=True):
        try:
            if instance.settle and not trace and not recording.curve:
                instance.settle(recording.solutions)
            measured = measured_at(instance, checkpoint, solution)
            met = until(measured) if until else None
        except Exception as raised:
            stop, error = stop_of(raised, "the judge"), raised
            break
        trace.append(measured)
        if met:
            stop = met
            break
    stop = _feasible(trace, recording.solutions, _checked_end(instance, trace, recording, stop))
    outcome = Outcome(stop, tuple(trace), error=error, load=recording.load)
    if not trace:
        return outcome
    outcome = _finished(instance, outcome, recording.solutions[len(trace) - 1])
    if outcome.final is None or outcome.stop.status.failed:
        return outcome
    try:
        return replace(outcome, exhibits=checked_exhibits(instance.exhibits(outcome.final)))
    except Exception as error:
        return _failed(outcome, error, "exhibits")


class LateJudgement:
    """An outcome whose metrics are computed when they are read; the constraint is checked at once.

    The attributes are those of `Outcome`.
    """

    def __init__(self, instance: AnyInstance, recording: Recording, threads: int) -> None:
        self._instance, self._recording, self._threads = instance, recording, threads
        points = list(zip(recording.trace, recording.solutions, strict=True))
        self.trace = tuple(
            LateCheckpoint(checkpoint, partial(_read, instance, recording, number, threads))
            for number, checkpoint in enumerate(recording.trace)
        )
        outcome = Outcome(recording.stop, error=recording.error)
        try:
            trace = [replace(m, metrics=constraint_at(instance, s)) for m, s in points]
            outcome = replace(outcome, stop=_feasible(trace, recording.solutions, outcome.stop))
        except Exception as error:
            outcome = _failed(outcome, error, "the judge")
        if points:  # a caller may write into what is returned
            outcome = _finished(instance, outcome, deepcopy(recording.solutions[-1]))
        self._stop, self.final, self.error = outcome.stop, outcome.final, outcome.error

    @property
    def stop(self) -> Termination:
        """How the run ended; checked by the judge once the last metrics are read."""
        if not self.trace or not self.trace[-1].is_judged:
            return self._stop
        return _checked_end(self._instance, self.trace, self._recording, self._stop)

    @cached_property
    def exhibits(self) -> Mapping[str, Exhibit]:
        """Pictures of the last solution; empty if the run failed."""
        if self.final is None or self.stop.status.failed:
            return {}
        with limited(self._threads):
            final = self._instance.finish(self._recording.solutions[-1])
            return checked_exhibits(self._instance.exhibits(final))


def needs_judge(recording: Recording) -> bool:
    """Return whether only the judge knows how a run ended, because it did not move."""
    points, done = len(recording.trace), recording.stop.status is RunStatus.DONE
    return points > 0 and done and _stands_still(recording, points)


def measured_at(instance: AnyInstance, checkpoint: Checkpoint, solution: Solution) -> Checkpoint:
    """Return a checkpoint with its metrics; below float64 those of the nearest feasible point."""
    if checkpoint.is_judged:
        return checkpoint
    shown = judged_point(instance, solution)
    moving = instance.measure_after
    metrics = moving(shown, checkpoint.work.samples) if moving else instance.measure(shown)
    found = {**metrics, **constraint_at(instance, solution)}
    found |= {**checkpoint.extra_metrics, **found}  # the names of the judge win
    return replace(checkpoint, metrics={name: float(value) for name, value in found.items()})


def judged_point(instance: AnyInstance, solution: Solution) -> Solution:
    """Return the solution in float64; the nearest feasible one if the precision was lower."""
    given = solution.in_float64
    return solution if given is solution else instance.nearest(given)


def result_of(instance: AnyInstance, final: Solution | None, threads: int) -> Result | None:
    """Return the result of a finished solution, or None."""
    if final is None or instance.result is None:
        return None
    with limited(threads):
        return instance.result(judged_point(instance, final))


def constraint_at(instance: AnyInstance, solution: Solution) -> dict[str, float]:
    """Return the constraint violation of a point; below float64 also its tolerance."""
    given = solution.in_float64
    found = {VIOLATION: instance.violation(given)}
    return found if given is solution else {**found, TOLERANCE: feasible_up_to(solution.point)}


def excess_violation(checkpoint: Checkpoint) -> float:
    """Return the constraint violation of a checkpoint, or of a trace, minus its tolerance."""
    # a column has NaN at points in float64
    most = np.nan_to_num(checkpoint.metrics.get(TOLERANCE, FEASIBLE), nan=FEASIBLE)
    return checkpoint.metrics.get(VIOLATION, 0.0) - cast(float, most)


def feasible_up_to(point: NDArray[np.floating[Any]]) -> float:
    """Return the maximum constraint violation of a feasible point (n, k), by its precision.

    In float64 it is 1e-8, else 20 sqrt(n) k u with the rounding unit u. These are ten steps of a
    Householder QR with |Q'Q - I|_F <= 2 sqrt(k) nk u (Higham 2002, "Accuracy and stability of
    numerical algorithms", theorem 19.4). Since errors are independent, sqrt(nk) replaces nk.
    """
    if point.dtype == np.float64:
        return FEASIBLE
    n, k = point.shape
    unit = float(np.finfo(point.dtype).eps) / 2 if point.dtype.kind == "f" else 0.0
    return float(max(FEASIBLE, 20 * unit * k * sqrt(n)))


def stop_at(instance: AnyInstance, until: Rule, recording: Recording) -> Termination | None:
    """Measure the last point of a run; return why the run stops there by a rule, or None."""
    trace, solutions = recording.trace, recording.solutions
    trace[-1] = measured_at(instance, trace[-1], solutions[-1])
    return until(trace[-1])


def stop_of(error: BaseException, culprit: str) -> Termination:
    """Return the end of a run in which `culprit`, such as ``"the judge"``, raised an error."""
    lines = hide_home("".join(traceback.format_exception(error)))
    if isinstance(error, MemoryError):
        return Termination(RunStatus.MEMORY, f"{culprit} ran out of memory", lines)
    if isinstance(error, SkipError):
        return Termination(RunStatus.REFUSED, hide_home(str(error)))
    known, place = isinstance(error, OrthobenchError), place_of(error)
    reason = hide_home(str(error) if known else f"{culprit}: {said(error)}{place}")
    return Termination(RunStatus.ERROR, reason, lines)


def place_of(error: BaseException) -> str:
    """Return file and line of an error, outside the core."""
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
    """Return the end of a run, unless the judge finds that it did nothing or did not converge."""
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
    """Return the maximum residual: that of rounding costs no digit of a Ritz value."""
    return max(EXCESS * tolerance, sqrt(np.finfo(dtype).eps))


def _stands_still(recording: Recording, points: int) -> bool:
    """Return whether a run is at its start after `points` points."""
    first, end = recording.solutions[0].point, recording.solutions[points - 1].point
    return not recording.trace[points - 1].work.steps or (points > 1 and np.array_equal(first, end))


def _feasible(trace: list[Checkpoint], solutions: list[Solution], stop: Termination) -> Termination:
    if stop.status.failed:
        return stop
    for checkpoint, solution in zip(trace, solutions, strict=False):
        if excess_violation(checkpoint) <= 0:
            continue
        by, at = checkpoint.metrics[VIOLATION], checkpoint.work.steps
        reason = f"the solution leaves the constraint: violated by {by:.1e} at step {at}"
        if (kind := solution.point.dtype) != np.float64:
            reason += f", more than rounding in {kind} explains"
        return Termination(RunStatus.INFEASIBLE, reason)
    return stop


def _finished(instance: AnyInstance, outcome: Outcome, last: Solution) -> Outcome:
    try:
        return replace(outcome, final=instance.finish(last))
    except Exception as error:
        return _failed(replace(outcome, final=last), error, "finishing the solution")


def _read(
    instance: AnyInstance, recording: Recording, number: int, threads: int
) -> Mapping[str, float]:
    with limited(threads):
        if instance.settle and not recording.curve:  # another run may have settled it since
            instance.settle(recording.solutions)
        found = measured_at(instance, recording.trace[number], recording.solutions[number])
        return found.metrics


def _failed(outcome: Outcome, error: Exception, culprit: str) -> Outcome:
    """Return the outcome with an error after the run, unless the run itself failed."""
    if outcome.stop.status.failed:
        return outcome
    stop = stop_of(error, culprit)
    if isinstance(error, OrthobenchError):
        stop = replace(stop, reason=f"{culprit}: {error}")
    return replace(outcome, stop=stop, error=error)

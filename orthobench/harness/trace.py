"""Checkpoints of a run, their recording, and the outcome."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import index
from typing import Any

from orthobench.contract.exhibits import Exhibit
from orthobench.contract.problem import Solution
from orthobench.contract.solver import Work
from orthobench.errors import quoted
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.tools.machine import Load

LARGEST_COUNT = 2**63
"""Bound of whole numbers, as in SQLite and pandas."""

NOT_RUN = Termination(RunStatus.MISSING, "it has not run")

LONGEST_CLOCK = 1e9
"""Maximum of a clock, in seconds."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint of a run.

    Attributes
    ----------
    seconds : float
        Seconds in ``init`` and ``advance`` so far.
    readout_seconds : float
        Seconds in `Solver.solution` at this checkpoint; not part of `seconds`.
    work : Work
        Steps, samples and flops so far.
    metrics : mapping
        Metrics of the judge and the constraint violation; empty before judging.
    extra_metrics : mapping
        Measurements of the harness besides the clock, by name.
    """

    seconds: float
    readout_seconds: float
    work: Work
    metrics: Mapping[str, float] = field(default_factory=dict)
    extra_metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_judged(self) -> bool:
        """Whether it has metrics."""
        return bool(self.metrics)

    def __reduce__(self) -> tuple[type[Checkpoint], tuple[object, ...]]:
        """Pickle a plain checkpoint as a call, in half the time of a dataclass with slots."""
        given = self.seconds, self.readout_seconds, self.work, self.metrics, self.extra_metrics
        return Checkpoint, given


class LateCheckpoint(Checkpoint):
    """A checkpoint that is judged when its metrics are read for the first time, by `judge`."""

    def __init__(self, checkpoint: Checkpoint, judge: Callable[[], Mapping[str, float]]) -> None:
        super().__init__(*checkpoint.__reduce__()[1])  # type: ignore[arg-type]
        del vars(self)["metrics"]
        vars(self)["_judge"] = judge

    @cached_property
    def metrics(self) -> Mapping[str, float]:
        """Metrics of the judge and the constraint violation."""
        found: Mapping[str, float] = vars(self)["_judge"]()
        del vars(self)["_judge"]  # it holds the data
        return found

    @property
    def is_judged(self) -> bool:
        """Whether its metrics were read."""
        return "metrics" in vars(self)

    def __repr__(self) -> str:
        known = vars(self).get("metrics", {})
        return repr(
            Checkpoint(self.seconds, self.readout_seconds, self.work, known, self.extra_metrics)
        )


def checked(checkpoint: Checkpoint) -> Checkpoint:
    """Return a checkpoint with counts as `int` and times as `float`.

    Raises
    ------
    ValueError
        Names a count or a time that is not possible; a float is no count even if it is whole.
    """
    counts = {f.name: _count(f.name, getattr(checkpoint.work, f.name, None)) for f in fields(Work)}
    times = [_seconds(seconds) for seconds in (checkpoint.seconds, checkpoint.readout_seconds)]
    for name, value in checkpoint.extra_metrics.items():
        if not fits_store(value):
            raise ValueError(f"it measured {quoted(name)} as {quoted(value)}: a number is needed")
    return replace(checkpoint, seconds=times[0], readout_seconds=times[1], work=Work(**counts))


def fits_store(value: Any) -> bool:
    """Return whether a value is a finite number that a store holds."""
    if isinstance(value, int):
        return -LARGEST_COUNT <= value < LARGEST_COUNT
    return isinstance(value, float) and math.isfinite(value)


def _count(name: str, value: Any) -> int:
    try:
        count = index(value)
    except TypeError:
        count = -1
    if not 0 <= count < LARGEST_COUNT:
        needed = "a whole number from 0 to 2**63 - 1 is needed"
        raise ValueError(f"it counts {name} as {quoted(value)}: {needed}")
    return count


def _seconds(value: Any) -> float:
    if not (isinstance(value, (int, float)) and 0 <= value <= LONGEST_CLOCK):
        raise ValueError(f"it took {quoted(value)} seconds: a number from 0 to 1e9 is needed")
    return float(value)


def spent_seconds(trace: Sequence[Checkpoint], reruns: bool) -> float:
    """Return the seconds of all calls of a run so far, with readings and reruns."""
    reading = sum(checkpoint.readout_seconds for checkpoint in trace)
    if not trace or not reruns:
        return reading + sum(checkpoint.seconds for checkpoint in trace[-1:])
    begin = trace[0].seconds
    return reading + begin + sum(checkpoint.seconds - begin for checkpoint in trace)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes
    ----------
    stop : Termination
    trace : tuple of Checkpoint
        Empty if the run failed before the first.
    exhibits : mapping
        Pictures of the last solution by name.
    final : Solution, optional
        The last solution; not stored.
    error : BaseException, optional
        Not stored; its text is in `stop`.
    load : pair of Load, optional
        Load of the machine before and after the timed part.
    """

    stop: Termination
    trace: tuple[Checkpoint, ...] = ()
    exhibits: Mapping[str, Exhibit] = field(default_factory=dict)
    final: Solution | None = None
    error: BaseException | None = None
    load: tuple[Load, Load] | None = None

    @property
    def stored(self) -> Outcome:
        """The outcome without solution and error, which a store does not keep."""
        return replace(self, final=None, error=None)


@dataclass
class Recording:
    """A run for the judge: its checkpoints, their solutions, its end, error and load.

    Without `curve` only the first and the last checkpoint are kept.
    """

    trace: list[Checkpoint] = field(default_factory=list)
    solutions: list[Solution] = field(default_factory=list)
    stop: Termination = NOT_RUN
    curve: bool = True
    error: BaseException | None = None
    load: tuple[Load, Load] | None = None

    def add(self, checkpoint: Checkpoint, solution: Solution) -> None:
        """Add a checkpoint and a copy of its solution, whose arrays the solver may overwrite."""
        at = len(self.trace) if self.curve else 1
        self.trace[at:], self.solutions[at:] = [checkpoint], [deepcopy(solution)]

"""What a run leaves behind: its checkpoints, what was recorded at them, and the outcome."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import index
from typing import Any, TypeAlias

from orthobench.contract.exhibits import Exhibit
from orthobench.contract.problem import Solution
from orthobench.contract.solver import Work
from orthobench.errors import quoted
from orthobench.harness.stopping import Termination
from orthobench.tools.arrays import Array
from orthobench.tools.machine import Load

LARGEST = 2**63
"""The bound of whole numbers, as in SQLite and pandas."""

LONGEST_CLOCK = 1e9
"""The largest number of seconds on a clock, three decades."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint of a run.

    Attributes
    ----------
    seconds : float
        Seconds on the clock so far, in ``init`` and ``advance``.
    readout_seconds : float
        Seconds that `Solver.solution` took at this checkpoint; not part of `seconds`.
    work : Work
        Steps, samples and flops so far.
    metrics : mapping
        The judge's metrics of the solution, and its constraint violation; empty until it is
        judged.
    extra_metrics : mapping
        What was measured beside the clock, by name: of a run elsewhere than in NumPy the seconds
        of moving arrays, of one over blocks what its workers needed, of a run that measures memory
        its peak. Shown with the metrics.
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

    @property
    def judged(self) -> Checkpoint:
        """The same with its metrics, and nothing that computes them."""
        return self

    def __reduce__(self) -> tuple[type[Checkpoint], tuple[object, ...]]:
        """Pickle it as a call, in half the time that a dataclass with slots takes."""
        return Checkpoint, (
            self.seconds,
            self.readout_seconds,
            self.work,
            self.metrics,
            self.extra_metrics,
        )


class LateCheckpoint(Checkpoint):
    """A checkpoint that is judged when its metrics are read for the first time.

    Parameters
    ----------
    mark : Checkpoint
        Without metrics.
    judge : callable
        Returns them.
    """

    def __init__(self, mark: Checkpoint, judge: Callable[[], Mapping[str, float]]) -> None:
        super().__init__(
            mark.seconds, mark.readout_seconds, mark.work, extra_metrics=mark.extra_metrics
        )
        del vars(self)["metrics"]
        vars(self)["_judge"] = judge

    @cached_property
    def metrics(self) -> Mapping[str, float]:
        """The judge's metrics of the solution, and its constraint violation."""
        found: Mapping[str, float] = vars(self)["_judge"]()
        del vars(self)["_judge"]  # it holds the data
        return found

    @property
    def is_judged(self) -> bool:
        """Whether its metrics were read."""
        return "metrics" in vars(self)

    @property
    def judged(self) -> Checkpoint:
        """The same with its metrics, which are computed if need be."""
        return self._with(self.metrics)

    def __repr__(self) -> str:
        return repr(self._with(vars(self).get("metrics", {})))

    def _with(self, metrics: Mapping[str, float]) -> Checkpoint:
        given = self.seconds, self.readout_seconds, self.work, metrics, self.extra_metrics
        return Checkpoint(*given)


def checked(mark: Checkpoint) -> Checkpoint:
    """Return a checkpoint whose counts are whole numbers of Python, and whose times are floats.

    It is the one schema of a checkpoint: what a solver counts, what its process sends and what a
    store holds are checked here. Whole numbers of numpy are taken. A float is refused even if it is
    whole: whether a formula gives one depends on the size of the data.

    Raises
    ------
    ValueError
        If a count or a time is not possible; says the value.
    """
    counts = {f.name: _count(f.name, getattr(mark.work, f.name, None)) for f in fields(Work)}
    times = [_seconds(seconds) for seconds in (mark.seconds, mark.readout_seconds)]
    for name, value in mark.extra_metrics.items():
        if not is_number(value):
            raise ValueError(f"it measured {quoted(name)} as {quoted(value)}: a number is needed")
    return replace(mark, seconds=times[0], readout_seconds=times[1], work=Work(**counts))


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number."""
    if isinstance(value, int):
        return -LARGEST <= value < LARGEST
    return isinstance(value, float) and math.isfinite(value)


def _count(name: str, value: Any) -> int:
    try:
        count = index(value)
    except TypeError:
        count = -1
    if not 0 <= count < LARGEST:
        raise ValueError(
            f"it counts {name} as {quoted(value)}: a whole number from 0 to 2**63 - 1 is needed"
        )
    return count


def _seconds(value: Any) -> float:
    if not (isinstance(value, (int, float)) and 0 <= value <= LONGEST_CLOCK):
        raise ValueError(f"it took {quoted(value)} seconds: a number from 0 to 1e9 is needed")
    return float(value)


def spent_seconds(marks: Sequence[Checkpoint], reruns: bool) -> float:
    """Return the seconds of all calls of a run so far: on the clock, again, and of reading.

    Parameters
    ----------
    marks : sequence of Checkpoint
        All that it recorded.
    reruns : bool
        As of the solver.
    """
    reading = sum(mark.readout_seconds for mark in marks)
    if not marks or not reruns:
        return reading + sum(mark.seconds for mark in marks[-1:])
    begin = marks[0].seconds
    return reading + begin + sum(mark.seconds - begin for mark in marks)


Journal: TypeAlias = Callable[[Checkpoint, Solution], None]
"""Called with each point of a run as it is recorded."""

PointRule: TypeAlias = Callable[[Checkpoint, Solution], Termination | None]
"""Returns why a run is to stop at a point, or None."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes
    ----------
    stop : Termination
        How and why the run ended.
    trace : tuple of Checkpoint
        The checkpoints; empty where the run failed before the first.
    exhibits : mapping
        Pictures of the last solution by name, where the problem has any and the run did not fail.
    final : Solution, optional
        The last solution; a store does not keep it.
    error : BaseException, optional
        The error that was raised; a store keeps its text, in `stop`.
    load : pair of Load, optional
        How busy the machine was before and after the timed part; None where that did not end.
    """

    stop: Termination
    trace: tuple[Checkpoint, ...] = ()
    exhibits: Mapping[str, Exhibit] = field(default_factory=dict)
    final: Solution | None = None
    error: BaseException | None = None
    load: tuple[Load, Load] | None = None

    @property
    def solution(self) -> Array | None:
        """The point of the last solution, ``(n, k)``; None where there is no solution."""
        return None if self.final is None else self.final.point

    @property
    def weights(self) -> Array | None:
        """The weights of the last solution, where it has any."""
        return None if self.final is None else self.final.weights

    @property
    def core(self) -> Array | None:
        """The core tensor of the last solution, where it has one."""
        return None if self.final is None else self.final.core

    @property
    def stored(self) -> Outcome:
        """The outcome without what a store does not keep: the solution and the error."""
        return replace(self, final=None, error=None)

    @property
    def work(self) -> Work:
        """The work at the last checkpoint."""
        return self.trace[-1].work if self.trace else Work()


@dataclass
class Recording:
    """The points of a run that are not judged yet, whether it ended or broke off.

    Parameters
    ----------
    curve : bool
        Whether to keep more than the first point and the last.

    Attributes
    ----------
    marks : list of Checkpoint
        Without metrics.
    solutions : list of Solution
        The solution at each mark.
    error : BaseException, optional
        The error that the solver raised.
    """

    marks: list[Checkpoint] = field(default_factory=list)
    solutions: list[Solution] = field(default_factory=list)
    error: BaseException | None = None
    curve: bool = True

    def add(self, mark: Checkpoint, solution: Solution) -> None:
        """Add a point, with a copy of the solution: the solver may go on in the same arrays."""
        at = len(self.marks) if self.curve else 1
        self.marks[at:], self.solutions[at:] = [mark], [deepcopy(solution)]

"""What a run leaves behind: its checkpoints, what was recorded at them, and the outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from orthobench.contract.exhibits import Exhibit
from orthobench.contract.problem import Solution
from orthobench.contract.solver import Work
from orthobench.harness.stopping import Termination
from orthobench.tools.arrays import Array
from orthobench.tools.machine import Load


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
    error : Exception, optional
        The error that was raised; a store keeps its text, in `stop`.
    load : pair of Load, optional
        How busy the machine was before and after the timed part; None where that did not end.
    """

    stop: Termination
    trace: tuple[Checkpoint, ...] = ()
    exhibits: Mapping[str, Exhibit] = field(default_factory=dict)
    final: Solution | None = None
    error: Exception | None = None
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
    error : Exception, optional
        The error that the solver raised.
    """

    marks: list[Checkpoint] = field(default_factory=list)
    solutions: list[Solution] = field(default_factory=list)
    error: Exception | None = None
    curve: bool = True

    def add(self, mark: Checkpoint, solution: Solution) -> None:
        """Add a point, with a copy of the solution: the solver may go on in the same arrays."""
        at = len(self.marks) if self.curve else 1
        self.marks[at:], self.solutions[at:] = [mark], [deepcopy(solution)]

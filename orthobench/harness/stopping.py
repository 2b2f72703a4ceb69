"""When a run ends: hard budgets, composable rules, and how it ended."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Protocol

from orthobench.contract.solver import Work
from orthobench.errors import UsageError


class Ending(Enum):
    """How a cell ended; the store's column ``status``."""

    DONE = "done"
    """The solver converged, or the data were used up."""
    TARGET = "target"
    """A rule was met."""
    BUDGET = "budget"
    """The budget was spent."""
    DIVERGED = "diverged"
    """A solution was not finite."""
    ERROR = "error"
    """The solver, the problem or the judge raised."""
    REFUSED = "refused"
    """The solver cannot take the problem, and said why."""
    INFEASIBLE = "infeasible"
    """A solution left the constraint."""
    TIMEOUT = "timeout"
    """It took longer than the time limit, and was killed."""
    MEMORY = "memory"
    """It needed more memory than there was, or than its limit."""
    CRASHED = "crashed"
    """Its process died."""
    MISSING = "missing"
    """Planned, and not run yet."""

    @property
    def failed(self) -> bool:
        """Whether the cell counts as a failure in every comparison."""
        return self not in (Ending.DONE, Ending.TARGET, Ending.BUDGET)


@dataclass(frozen=True, slots=True)
class Stop:
    """How and why a run ended.

    Attributes
    ----------
    status : Ending
    reason : str
        A sentence for people.
    traceback : str
        Where something raised.
    """

    status: Ending
    reason: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a rule may look at: one checkpoint."""

    seconds: float
    work: Work
    metrics: Mapping[str, float]


class Clock(Protocol):
    """Anything that knows the seconds and the work up to a point of a run."""

    @property
    def seconds(self) -> float:
        """Seconds on the clock."""

    @property
    def work(self) -> Work:
        """The work done."""


@dataclass(frozen=True)
class Budget:
    """Hard limits of a run; the harness clips the next chunk so that none is exceeded.

    Parameters
    ----------
    steps, samples, flops : float
        Counts of `Work`; infinite where not limited.
    seconds : float
        Seconds on the solver's clock.

    Notes
    -----
    Steps and samples are kept exactly; seconds and flops, whose cost for a step may vary, are
    clipped at the rate so far.
    """

    steps: float = math.inf
    samples: float = math.inf
    seconds: float = math.inf
    flops: float = math.inf

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or math.isnan(value) or value < 0:
                raise UsageError(f"budget: {f.name} must be a number >= 0, not {value!r}")

    @property
    def limits(self) -> dict[str, float]:
        """The finite limits, by name; empty where nothing is limited."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if math.isfinite(value)}

    def left(self, seconds: float, work: Work, start: Clock, batch: int) -> int | float:
        """Return how many steps still fit: counted exactly, or estimated at the rate so far.

        Parameters
        ----------
        seconds : float
            Seconds on the clock so far.
        work : Work
            Work done so far.
        start : Clock
            Seconds and work after ``init``, which is spent but says nothing about the rate.
        batch : int
            Samples that one step draws.
        """
        room: list[float] = [self.steps - work.steps]
        if batch:
            room.append((self.samples - work.samples) // batch)
        steps = work.steps - start.work.steps
        room += [
            _fits(self.seconds - seconds, seconds - start.seconds, steps),
            _fits(self.flops - work.flops, work.flops - start.work.flops, steps),
        ]
        least = min(room)
        return least if math.isinf(least) else math.floor(least)


def _fits(left: float, used: float, steps: int) -> float:
    """Return how many steps fit in what is left, where `steps` of them used `used`."""
    if left <= 0:
        return 0
    return left * steps / used if used > 0 and steps > 0 else math.inf


class Rule(ABC):
    """A pure function of a checkpoint that says whether to stop; composes with | and &."""

    @abstractmethod
    def __call__(self, progress: Progress) -> Stop | None:
        """Return the stop, or None to go on."""

    def __or__(self, other: Rule) -> Rule:
        return Either(self, other)

    def __and__(self, other: Rule) -> Rule:
        return Both(self, other)


@dataclass(frozen=True)
class Target(Rule):
    """Stop once a metric is at most `value`."""

    metric: str
    value: float

    def __call__(self, progress: Progress) -> Stop | None:
        """Return the stop once the metric is there.

        Raises
        ------
        UsageError
            Where the judge reports no such metric.
        """
        if self.metric not in progress.metrics:
            known = ", ".join(progress.metrics)
            raise UsageError(f"no metric {self.metric!r} to stop by; the judge reports {known}")
        if progress.metrics[self.metric] <= self.value:
            return Stop(Ending.TARGET, f"{self.metric} <= {self.value:g}")
        return None


@dataclass(frozen=True)
class AtLeast(Rule):
    """Stop no earlier than after this many steps; for use with &."""

    steps: int

    def __call__(self, progress: Progress) -> Stop | None:
        """Return the stop once the steps are done."""
        if progress.work.steps >= self.steps:
            return Stop(Ending.TARGET, f"at least {self.steps} steps")
        return None


@dataclass(frozen=True)
class Either(Rule):
    """Stop where one of two rules says so; both are always asked."""

    first: Rule
    second: Rule

    def __call__(self, progress: Progress) -> Stop | None:
        """Return the stop of the first rule that is met."""
        first, second = self.first(progress), self.second(progress)
        return first or second


@dataclass(frozen=True)
class Both(Rule):
    """Stop where two rules say so at the same checkpoint."""

    first: Rule
    second: Rule

    def __call__(self, progress: Progress) -> Stop | None:
        """Return a stop with both reasons."""
        first, second = self.first(progress), self.second(progress)
        if first is None or second is None:
            return None
        return Stop(Ending.TARGET, f"{first.reason} and {second.reason}")

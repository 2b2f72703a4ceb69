"""What ends a run, budgets and rules, and how it ended: `RunStatus` and `Termination`."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from orthobench.contract.placed_solvers import SummarySolver
from orthobench.contract.solver import AnySolver
from orthobench.errors import UsageError, quoted
from orthobench.tools.arrays import is_number

if TYPE_CHECKING:
    from orthobench.harness.trace import Checkpoint

LARGEST = 1e300
"""The largest finite limit of a budget; beyond, a whole number of a suite is no float."""

USED_UP = "the data are used up"
"""The reason of a run that ends with its data."""

LONGEST = 20_000
"""The largest number of characters of a text about an ending."""

CUT = "cut by the limit of"
"""How the reason of a run begins that a limit cut."""

FAULTS = {
    "random": "draws from a global random generator: draw from the rng that it is given",
    "output": "prints: keep in the state what matters",
    "inputs": "writes into its data: copy what it changes",
    "threads": "leaves threads running: join them before a step is over",
    "memory": "takes more memory with each step: keep only what the next one needs",
}
"""What a solver must not do and a run notices, with the remedy; the rest is for `plugin check`."""

PATIENCE = 10.0
"""The budget in seconds of cells that nothing else ends."""

CONVERGED = "converged after"
"""How the reason of a run begins whose solver says that more steps would change nothing."""


class RunStatus(Enum):
    """How a cell ended; its value is the column ``status`` of the store."""

    DONE = "done"
    """The solver converged, has done all of its steps, or used up the data."""
    TARGET = "target"
    """A rule stopped it."""
    BUDGET = "budget"
    """The budget was spent."""
    NOT_STATIONARY = "not stationary"
    """The solver says that it converged, and the judge finds otherwise; it counts."""
    NOT_CONVERGED = "not converged"
    """The solver says that it is done, and the residual is above 100 times its tolerance."""
    NOTHING_DONE = "nothing done"
    """It took no step, or ended where it began, and that is no optimum."""
    DIVERGED = "diverged"
    """A solution was not finite, or the solver gave up."""
    ERROR = "error"
    """The solver, the problem or the judge raised."""
    REFUSED = "refused"
    """The solver cannot take the problem."""
    INFEASIBLE = "infeasible"
    """A solution violated the constraint."""
    TIMEOUT = "timeout"
    """A limit cut it: how it would have ended is not known. It runs again under a longer one."""
    MEMORY = "memory"
    """It needed more memory than there was, or than its limit."""
    CRASHED = "crashed"
    """Its process died."""
    SUSPECT = "suspect"
    """Its clock is not what the operating system counted."""
    MISSING = "missing"
    """It is planned, and has not been run yet."""

    @property
    def ok(self) -> bool:
        """Whether the run counts as it is."""
        counting = (RunStatus.DONE, RunStatus.TARGET, RunStatus.BUDGET, RunStatus.NOT_STATIONARY)
        return self in counting

    @property
    def absent(self) -> bool:
        """Whether there is no whole run: it was refused, cut by a limit, or is still to come.

        Then it has no value, NaN, and is neither ranked nor counted as a failure.
        """
        return self in (RunStatus.REFUSED, RunStatus.TIMEOUT, RunStatus.MISSING)

    @property
    def failed(self) -> bool:
        """Whether the run counts as a failure in every comparison, infinitely bad."""
        return not (self.ok or self.absent)


def said(value: object) -> str:
    """Return what a value says as text that can be written anywhere; never raises.

    Parameters
    ----------
    value : object
        A text, or an error. In the place of the middle of a long one are three points.
    """
    try:
        text = value if isinstance(value, str) else repr(value)
        text = text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
    except Exception:
        text = f"{type(value).__name__}, which cannot be printed"
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} ... {text[-half:]}"


@dataclass(frozen=True, slots=True)
class Termination:
    """How and why a run ended.

    Attributes
    ----------
    status : RunStatus
    reason : str
        A sentence for people.
    traceback : str
        The traceback, where something raised.
    """

    status: RunStatus
    reason: str
    traceback: str = ""

    def __post_init__(self) -> None:
        # a solver may have written them, and a store holds UTF-8 alone
        for name in ("reason", "traceback"):
            object.__setattr__(self, name, said(getattr(self, name)))

    @classmethod
    def cut(cls, seconds: float, when: str = "") -> Termination:
        """Return how a run ends that a limit in seconds cut."""
        return cls(RunStatus.TIMEOUT, f"{CUT} {seconds:g} s {when}".rstrip())

    @property
    def limit(self) -> float:
        """The seconds of the limit that cut the run; 0 if none did."""
        if self.status is RunStatus.TIMEOUT and self.reason.startswith(CUT):
            with suppress(ValueError):
                return float(self.reason.removeprefix(CUT).partition(" s")[0])
        return 0.0

    @property
    def faults(self) -> tuple[str, ...]:
        """Those of `FAULTS` that the run noticed."""
        return tuple(text for text in FAULTS.values() if text in self.reason)

    @property
    def converged(self) -> bool:
        """Whether the solver said that more steps would change nothing."""
        return self.status is RunStatus.DONE and self.reason.startswith(CONVERGED)


@dataclass(frozen=True)
class Budget:
    """Hard limits of a run.

    Parameters
    ----------
    steps, samples, flops : float
        Counts of `Work`; infinite where not limited.
    seconds : float
        Seconds that the calls of the solver take: steps, readings, runs from the start where it
        cannot be stepped, and of a warm-up what follows its first step.

    Notes
    -----
    No call is interrupted. Where one took so much longer than those before it promised that the
    seconds are exceeded by more than a tenth, `Termination.reason` says so.

    Steps and samples are limited exactly. What a step costs in seconds and flops may vary, and in
    samples where these are evaluations of a function: there the last chunk is cut by the average
    cost of the steps so far.
    """

    steps: float = math.inf
    samples: float = math.inf
    seconds: float = math.inf
    flops: float = math.inf

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            unlimited = isinstance(value, float) and value == math.inf
            if not unlimited and not (is_number(value) and 0 <= value <= LARGEST):
                message = f"budget: {f.name} must be a number >= 0, not {quoted(value)}"
                raise UsageError(message)
            if isinstance(value, np.generic):
                object.__setattr__(self, f.name, value.item())

    @property
    def limits(self) -> dict[str, float]:
        """The finite limits, by name; empty where nothing is limited."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if math.isfinite(value)}

    def after(self, seconds: float) -> Budget:
        """Return what so many seconds of a warm-up leave: half of those of the budget at least."""
        return replace(self, seconds=max(self.seconds / 2, self.seconds - seconds))

    def binds(self, batch: int) -> bool:
        """Whether it ends every run of a solver that takes `batch` samples a step."""
        return any(name != "samples" or batch > 0 for name in self.limits)

    def left(
        self, now: Checkpoint, start: Checkpoint, batch: int, besides: float = 0.0
    ) -> int | float:
        """Return how many more steps fit; infinite where nothing limits them.

        Parameters
        ----------
        now : Checkpoint
        start : Checkpoint
            The checkpoint after ``init``, whose cost is spent but says nothing about a step's.
        batch : int
            Samples that one step takes, 0 where a step may evaluate a function any number of times.
        besides : float
            Seconds that are spent or promised beside those of `now`.
        """
        room: list[float] = [self.steps - now.work.steps]
        steps, samples = now.work.steps - start.work.steps, self.samples - now.work.samples
        room += [
            samples // batch
            if batch
            else _steps_for(samples, now.work.samples - start.work.samples, steps),
            _steps_for(self.seconds - now.seconds - besides, now.seconds - start.seconds, steps),
            _steps_for(self.flops - now.work.flops, now.work.flops - start.work.flops, steps),
        ]
        least = min(room)
        return least if math.isinf(least) else math.floor(least)


def _steps_for(left: float, spent: float, steps: int) -> float:
    """Return how many steps fit in what is left, where so many steps cost what is spent."""
    if left <= 0:
        return 0
    return left * steps / spent if spent > 0 and steps > 0 else math.inf


def terminates(solver: AnySolver, budget: Budget) -> bool:
    """Return whether each run of a solver ends: by itself, or by a budget."""
    if isinstance(solver, SummarySolver) and solver.place.reduces:
        return math.isfinite(solver.passes) or bool(budget.limits)
    return solver.converges or budget.binds(solver.batch)


def ending(solver: AnySolver, budget: Budget) -> Budget:
    """Return a budget that ends each run of a solver: with `PATIENCE` if nothing else does."""
    return budget if terminates(solver, budget) else replace(budget, seconds=PATIENCE)


Rule: TypeAlias = "Callable[[Checkpoint], Termination | None]"
"""A pure function of a checkpoint: returns why the run is to stop there, or None."""


@dataclass(frozen=True)
class Target:
    """A value that a metric is to reach: a rule that stops a run there, or a level of a suite.

    Parameters
    ----------
    metric : str
        A metric that the judge reports.
    value : float
        The run stops once the metric is at most this; at a level, only trials can be chosen that
        end there.
    """

    metric: str
    value: float

    def __post_init__(self) -> None:
        metric, value = cast(Any, self.metric), cast(Any, self.value)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not isinstance(metric, str) or not number or math.isnan(value):
            given = f"{quoted(metric)}, {quoted(value)}"
            raise UsageError(f"a target is the name of a metric and a number, not {given}")

    def __str__(self) -> str:
        return f"{self.metric.replace('_', ' ')} <= {self.value:g}"

    def __call__(self, checkpoint: Checkpoint) -> Termination | None:
        """Return why the run stops at a checkpoint, or None.

        Raises
        ------
        UsageError
            Where the judge does not report the metric.
        """
        if self.metric not in checkpoint.metrics:
            known = ", ".join(checkpoint.metrics)
            raise UsageError(f"no metric {self.metric!r} to stop by; the judge reports {known}")
        if checkpoint.metrics[self.metric] <= self.value:
            return Termination(RunStatus.TARGET, f"{self.metric} <= {self.value:g}")
        return None

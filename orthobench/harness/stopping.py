"""Budgets and rules that end a run, and how it ended: `RunStatus` and `Termination`."""

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

LARGEST_LIMIT = 1e300
"""Maximum of a finite limit of a budget."""

USED_UP = "the data are used up"
"""The reason of a run that ends with its data."""

LONGEST_TEXT = 20_000
"""Maximum length of a reason or a traceback, in characters."""

CUT = "cut by the limit of"
"""Beginning of the reason of a run that a limit cut."""

OUTLASTED = "the budget is spent, and its process was ended in a call"
"""Beginning of the reason of a run whose call outlasted its budget in seconds."""

FAULTS = {
    "random": "draws from a global random generator: draw from the rng that it is given",
    "output": "prints: keep in the state what matters",
    "inputs": "writes into its data: copy what it changes",
    "threads": "leaves threads running: join them before a step is over",
    "memory": "takes more memory with each step: keep only what the next one needs",
}
"""Faults of a solver that a run notices, each with its remedy."""

DEFAULT_SECONDS = 10.0
"""Budget of cells that nothing else ends, in seconds."""

CONVERGED = "converged after"
"""Beginning of the reason of a run that converged."""


class RunStatus(Enum):
    """How a cell ended; its value is the column ``status`` of the store."""

    DONE = "done"
    """The solver converged, did all of its steps, or used up the data."""
    TARGET = "target"
    """A rule stopped it."""
    BUDGET = "budget"
    """The budget was spent."""
    NOT_STATIONARY = "not stationary"
    """It converged by its own test, but the judge finds a large gradient; the run counts."""
    NOT_CONVERGED = "not converged"
    """It is done, but the residual is above 100 times its tolerance."""
    NOTHING_DONE = "nothing done"
    """It ended at its start, which is no optimum."""
    DIVERGED = "diverged"
    """A solution was not finite, or the solver gave up."""
    ERROR = "error"
    """The solver, the problem or the judge raised."""
    REFUSED = "refused"
    """The solver cannot take the problem."""
    INFEASIBLE = "infeasible"
    """A solution violated the constraint."""
    TIMEOUT = "timeout"
    """A limit cut it; it runs again under a longer limit."""
    MEMORY = "memory"
    """It needed more memory than its limit, or than the machine has."""
    CRASHED = "crashed"
    """Its process died."""
    SUSPECT = "suspect"
    """Its clock differs from what the operating system counted."""
    MISSING = "missing"
    """It is planned, but did not run yet."""

    @property
    def ok(self) -> bool:
        """Whether the run counts as it is."""
        counting = (RunStatus.DONE, RunStatus.TARGET, RunStatus.BUDGET, RunStatus.NOT_STATIONARY)
        return self in counting

    @property
    def absent(self) -> bool:
        """Whether there is no whole run, which is neither ranked nor a failure."""
        return self in (RunStatus.REFUSED, RunStatus.TIMEOUT, RunStatus.MISSING)

    @property
    def failed(self) -> bool:
        """Whether the run counts as a failure, infinitely bad."""
        return not (self.ok or self.absent)


def said(value: object) -> str:
    """Return a text, or the `repr` of an error, in UTF-8 and shortened; never raises."""
    try:
        text = value if isinstance(value, str) else repr(value)
        text = text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
    except Exception:
        text = f"{type(value).__name__}, which cannot be printed"
    half = LONGEST_TEXT // 2
    return text if len(text) <= LONGEST_TEXT else f"{text[:half]} ... {text[-half:]}"


@dataclass(frozen=True, slots=True)
class Termination:
    """How and why a run ended; `reason` is for people, `traceback` that of an error."""

    status: RunStatus
    reason: str
    traceback: str = ""

    def __post_init__(self) -> None:
        for name in ("reason", "traceback"):
            object.__setattr__(self, name, said(getattr(self, name)))

    @classmethod
    def cut(cls, seconds: float, when: str = "") -> Termination:
        """Return the end of a run that a limit in seconds cut."""
        return cls(RunStatus.TIMEOUT, f"{CUT} {seconds:g} s {when}".rstrip())

    @classmethod
    def in_call(cls, seconds: float, recorded: bool) -> Termination:
        """Return the end of a run, `recorded` or without a checkpoint, of which a call was ended.

        `seconds` were on its clock. Without a checkpoint there is no whole run.
        """
        reason = f"{OUTLASTED} after {seconds:.3g} s"
        if not recorded:
            return cls(RunStatus.TIMEOUT, f"{reason}, before its first checkpoint")
        return cls(RunStatus.BUDGET, reason)

    @property
    def outlasted(self) -> bool:
        """Whether the run was ended in a call that outlasted its budget in seconds."""
        return self.reason.startswith(OUTLASTED)

    @property
    def limit(self) -> float:
        """Limit that cut the run, in seconds; 0 if none did."""
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
        """Whether the solver's own test ended the run."""
        return self.status is RunStatus.DONE and self.reason.startswith(CONVERGED)


@dataclass(frozen=True)
class Budget:
    """Hard limits of a run, infinite by default.

    Parameters
    ----------
    steps, samples, flops : float
        Counts of `Work`. Flops and evaluations of a function are limited by their average for a
        step so far.
    seconds : float
        Seconds in all calls of the solver, with readings and the warm-up after its first step. A
        call that outlasts them by a tenth is ended if the run has a process of its own. In this
        process no call is interrupted, and `Termination.reason` names the excess.
    """

    steps: float = math.inf
    samples: float = math.inf
    seconds: float = math.inf
    flops: float = math.inf

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            unlimited = isinstance(value, float) and value == math.inf
            if not unlimited and not (is_number(value) and 0 <= value <= LARGEST_LIMIT):
                message = f"budget: {f.name} must be a number >= 0, not {quoted(value)}"
                raise UsageError(message)
            if isinstance(value, np.generic):
                object.__setattr__(self, f.name, value.item())

    @property
    def limits(self) -> dict[str, float]:
        """The finite limits, by name."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if math.isfinite(value)}

    def after(self, seconds: float) -> Budget:
        """Return the budget less a warm-up, but at least half of its seconds."""
        return replace(self, seconds=max(self.seconds / 2, self.seconds - seconds))

    def binds(self, batch: int) -> bool:
        """Return whether it ends each run of a solver that takes `batch` samples a step."""
        return any(name != "samples" or batch > 0 for name in self.limits)

    def left(
        self, now: Checkpoint, start: Checkpoint, batch: int, besides: float = 0.0
    ) -> int | float:
        """Return the number of steps that still fit; infinite if nothing limits them.

        `start` is the checkpoint after ``init``; `batch` is 0 if a step may evaluate a function any
        number of times; `besides` are seconds besides those of `now`.
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
    if left <= 0:
        return 0
    return left * steps / spent if spent > 0 and steps > 0 else math.inf


def terminates(solver: AnySolver, budget: Budget) -> bool:
    """Return whether each run of a solver ends, by its own test or by a budget."""
    if isinstance(solver, SummarySolver) and solver.place.reduces:
        return math.isfinite(solver.passes) or bool(budget.limits)
    return solver.converges or budget.binds(solver.batch)


def ending(solver: AnySolver, budget: Budget) -> Budget:
    """Return a budget that ends each run of a solver, by `DEFAULT_SECONDS` if nothing else does."""
    return budget if terminates(solver, budget) else replace(budget, seconds=DEFAULT_SECONDS)


Rule: TypeAlias = "Callable[[Checkpoint], Termination | None]"
"""A pure function of a checkpoint that returns why the run stops there, or None."""


@dataclass(frozen=True)
class Target:
    """A bound of a metric: a rule that stops a run there, or a level of a suite."""

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
        """Return why the run stops at a checkpoint, or None; refuse an unknown metric."""
        if self.metric not in checkpoint.metrics:
            known = ", ".join(checkpoint.metrics)
            raise UsageError(f"no metric {self.metric!r} to stop by; the judge reports {known}")
        if checkpoint.metrics[self.metric] <= self.value:
            return Termination(RunStatus.TARGET, f"{self.metric} <= {self.value:g}")
        return None

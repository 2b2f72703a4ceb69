"""A reported result against a recomputed one: bit for bit, or within a tolerance.

Seconds are never compared. Nothing else depends on a clock, but for where a budget in seconds, or
the end of its process, cut a run: there the checkpoints that both have are compared. Exhibits are
compared bit for bit, or not at all: another platform may turn what is shown, such as the sign of a
column, and leave every metric as it is.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orthobench.contract.exhibits import Exhibit, packed
from orthobench.harness.cell import Cell
from orthobench.harness.execution import PEAK
from orthobench.harness.placement import TRANSFER, WARM_UP
from orthobench.harness.reducing.parts import WORKER_METRICS
from orthobench.harness.run import RATIO
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint, Outcome
from orthobench.results.runs import Run
from orthobench.stats.run_pairs import EXACT, PLATFORMS, differences
from orthobench.tools.places import Place

OF_MACHINE = (RunStatus.TIMEOUT, RunStatus.MEMORY, RunStatus.CRASHED, RunStatus.SUSPECT)
"""Endings that say something about a machine, and that another run need not repeat."""

DIGITS = 12
"""The hexadecimal digits of an exhibit's digest that people are shown."""

MEASURED = frozenset({TRANSFER, WARM_UP, PEAK, *WORKER_METRICS})
"""Metrics that a machine decides, and that another run need not repeat."""


@dataclass(frozen=True)
class Mismatch:
    """A value of a result that did not come out again.

    Attributes
    ----------
    key, cell : str
        What identifies the cell; the cell, for people.
    metric : str
        What differs: a metric, ``steps``, ``samples``, ``flops``, ``checkpoints``, ``ending``.
    step : int, optional
        The checkpoint where it differs first.
    stored, recomputed : object
    """

    key: str
    cell: str
    metric: str
    step: int | None
    stored: Any
    recomputed: Any


def called(run: Run) -> str:
    """Return what a run of a store is called, with the beginning of its key."""
    return f"{run.label} (cell {run.key[:12]})"


def depends_on_clock(run: Run) -> bool:
    """Return whether a clock, or the end of the process, may have cut a run."""
    return "seconds" in run.budget or run.stop.status in OF_MACHINE


def bounded(cell: Cell, run: Run) -> Cell:
    """Return a cell with a budget that a run ends in which gives what was reported.

    The budget in seconds is left out, and steps end soon after the last that was reported: at the
    checkpoint after it, where a run that broke off there would have been seen to.
    """
    last = run.trace[-1].work.steps if run.trace else 0
    beyond = max(last + 1, int(RATIO * last)) + 1
    cut = depends_on_clock(run) and run.stop.status not in (
        RunStatus.DONE, RunStatus.DIVERGED, RunStatus.INFEASIBLE, RunStatus.ERROR
    )  # fmt: skip
    steps = min(cell.budget.steps, last if cut else beyond)
    return replace(cell, budget=replace(cell.budget, steps=steps, seconds=math.inf))


def mismatches(run: Run, outcome: Outcome, place: Place, exact: bool) -> list[Mismatch]:
    """Return what of a result did not come out again, of each metric the first checkpoint.

    Parameters
    ----------
    run : Run
    outcome : Outcome
        Of the `bounded` cell.
    place : Place
        Where the solver computes, whose precision decides how much values may differ.
    exact : bool
        Whether every bit has to be the same, as on the same platform.
    """
    by_metric: dict[str, Mismatch] = {}
    for metric, step, old, new in _differences(run, outcome, place, exact):
        one = Mismatch(run.key, called(run), metric, step, old, new)
        by_metric.setdefault(metric, one)
    return list(by_metric.values())


def common(
    stored: Sequence[Checkpoint], again: Sequence[Checkpoint]
) -> list[tuple[Checkpoint, Checkpoint]]:
    """Return the checkpoints of two traces that are after as many steps."""
    by_steps = {mark.work.steps: mark for mark in again}
    return [(mark, by_steps[mark.work.steps]) for mark in stored if mark.work.steps in by_steps]


def _differences(
    run: Run, outcome: Outcome, place: Place, exact: bool
) -> Iterator[tuple[str, int | None, Any, Any]]:
    stored, again = tuple(run.trace), outcome.trace
    start = again[0].metrics if again else {}
    rule = EXACT if exact else PLATFORMS[place.dtype]
    pairs = common(stored, again)
    yield from _endings(run, outcome, exact)
    if exact and comparable(run, outcome):
        if len(stored) != len(again):
            yield "checkpoints", None, len(stored), len(again)
        pairs = list(zip(stored, again, strict=False))
    elif stored and again and not outcome.stop.status.failed:
        too_short = stored[-1].work.steps > again[-1].work.steps
        pairs += [(stored[-1], again[-1])] if too_short or not exact else []
    for old, new in pairs:
        step = old.work.steps
        if exact or step == new.work.steps:
            for name in ("steps", "samples", "flops"):
                if (a := getattr(old.work, name)) != (b := getattr(new.work, name)):
                    yield name, step, a, b
        for metric, x, y in differences(old.metrics, new.metrics, start, rule, MEASURED):
            yield metric, step, x, y


def _endings(run: Run, outcome: Outcome, exact: bool) -> Iterator[tuple[str, None, Any, Any]]:
    old, new = run.stop, outcome.stop
    cut = depends_on_clock(run) and old.status in (RunStatus.BUDGET, RunStatus.TARGET)
    if cut or old.status in OF_MACHINE or new.status in OF_MACHINE:
        return
    if old.status is not new.status:
        yield "ending", None, old.status.value, new.status.value
    elif exact and old.status is not RunStatus.ERROR and old.reason != new.reason:
        yield "reason", None, old.reason, new.reason


def digests(exhibits: Mapping[str, Exhibit]) -> dict[str, str]:
    """Return what changes with any bit of each exhibit, by its name."""
    parts = {name: packed(exhibit) for name, exhibit in exhibits.items()}
    return {
        name: hashlib.sha256(f"{kind} {labels} ".encode() + data).hexdigest()[:DIGITS]
        for name, (kind, labels, data) in parts.items()
    }


def comparable(run: Run, outcome: Outcome) -> bool:
    """Return whether both runs end with the same solution, on the same platform."""
    return not depends_on_clock(run) and outcome.stop.status not in OF_MACHINE


def otherwise(run: Run, stored: Mapping[str, str], outcome: Outcome) -> Iterator[Mismatch]:
    """Yield the exhibits of a result, by their `digests`, that did not come out again."""
    again = digests(outcome.exhibits)
    for name in dict.fromkeys([*stored, *again]):
        if (old := stored.get(name)) != (new := again.get(name)):
            yield Mismatch(run.key, called(run), f"exhibit {name!r}", None, old, new)

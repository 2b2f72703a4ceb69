"""The table of costs, with names, units and texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from orthobench.harness.trace import Checkpoint
from orthobench.results.runs import Run
from orthobench.tools.formatting import clean, count, duration, number, si
from orthobench.tools.machine import readable


@dataclass(frozen=True)
class Cost:
    """A cost of a run; called with a checkpoint, it returns the amount up to it.

    Attributes
    ----------
    name, label, title : str
        ``"seconds"``; on an axis ``"time (s), clock + reading"``; above a column ``"time"``.
    unit : float
        Minimum amount, so that ratios exist.
    dearer : str
        The text of a factor: ``"takes {} times as long"``.
    text, read : callable
        Return the text of an amount, and the amount at a checkpoint, or at one of arrays.
    """

    name: str
    label: str
    title: str
    unit: float
    dearer: str
    text: Callable[[float], str]
    read: Callable[[Checkpoint], float]

    def __call__(self, checkpoint: Checkpoint) -> float:
        """Return the amount up to a checkpoint; NaN if it was not measured."""
        return self.read(checkpoint)


def _measured(name: str) -> Callable[[Checkpoint], float]:
    return lambda at: at.metrics.get(name, math.nan)


ALL_COSTS: Mapping[str, Cost] = {
    cost.name: cost
    for cost in (
        Cost("seconds", "time (s), clock + reading", "time", 1e-9,
             "takes {} times as long", duration, lambda at: at.seconds + at.readout_seconds),
        Cost("flops", "floating-point operations", "flops", 1.0,
             "needs {} times as many flops", si, lambda at: at.work.flops),
        Cost("samples", "samples", "samples", 1.0,
             "needs {} times as many samples", count, lambda at: at.work.samples),
        Cost("steps", "steps", "steps", 1.0,
             "needs {} times as many steps", count, lambda at: at.work.steps),
        Cost("passes", "passes over the data", "passes", 1.0,
             "needs {} times as many passes", count, _measured("passes")),
        Cost("products", "products of matrices", "products", 1e-3,
             "needs {} times as many products", "{:.3g}".format, _measured("products")),
        Cost("memory", "peak memory (bytes)", "memory", 1.0,
             "needs {} times as much memory", lambda amount: readable(round(amount)),
             _measured("peak_bytes")),
    )
}  # fmt: skip
"""All costs by name, in the order in which they are offered. Seconds are those of the solver's
clock, and those of reading this solution."""

COSTS: Mapping[str, Cost] = {
    name: ALL_COSTS[name] for name in ("samples", "seconds", "flops", "steps")
}
"""The costs that the harness counts."""

COMMON_COSTS = ("flops", "seconds")
"""The costs that every run has."""


def cost_of(name: str) -> Cost:
    """Return one of `ALL_COSTS`, or else the cost of a unit of imported runs."""
    return ALL_COSTS.get(name) or Cost(
        name, clean(name), clean(name), 1e-9,
        f"needs {{}} times as many {clean(name)}", number, _measured(name),
    )  # fmt: skip


def costs_of(runs: Iterable[Run]) -> Mapping[str, Cost]:
    """Return the costs of the curves of some runs: `COSTS`, or the units of imported runs."""
    units = {unit: cost_of(unit) for run in runs for unit in run.imported.costs}
    return units or COSTS


def shared_costs(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the costs by which runs can be compared: those that every run has, or all spent."""
    if units := tuple(dict.fromkeys(unit for run in runs for unit in run.imported.costs)):
        return units
    checkpoints = [run.trace[-1] for run in runs if len(run.trace) > 1]
    return tuple(
        name
        for name, cost in ALL_COSTS.items()
        if name in (*COMMON_COSTS, "steps")
        or (checkpoints and all(cost(checkpoint) > 0 for checkpoint in checkpoints))
    )

"""The table of costs: what a run spends up to a checkpoint, with names, units and texts."""

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
    """Something that a run spends; called with a checkpoint, it returns how much so far.

    Attributes
    ----------
    name : str
    label : str
        What an axis is called: ``"time (s), clock + reading"``.
    title : str
        One word, for the column of a table: ``"time"``.
    unit : float
        The least amount: smaller ones count as this, so that ratios exist.
    cheaper, dearer : str
        How a factor reads: ``"faster"``; ``"takes {} times as long"``.
    text : callable
        Returns an amount for people.
    read : callable
        Reads it off a checkpoint, by arithmetic that arrays can do as well.
    """

    name: str
    label: str
    title: str
    unit: float
    cheaper: str
    dearer: str
    text: Callable[[float], str]
    read: Callable[[Checkpoint], float]

    def __call__(self, checkpoint: Checkpoint) -> float:
        """Return how much a run spent up to a checkpoint; NaN if that was not measured."""
        return self.read(checkpoint)


def _measured(name: str) -> Callable[[Checkpoint], float]:
    return lambda at: at.metrics.get(name, math.nan)


ALL_COSTS: Mapping[str, Cost] = {
    cost.name: cost
    for cost in (
        Cost("seconds", "time (s), clock + reading", "time", 1e-9, "faster",
             "takes {} times as long", duration, lambda at: at.seconds + at.readout_seconds),
        Cost("flops", "floating-point operations", "flops", 1.0, "fewer flops",
             "needs {} times as many flops", si, lambda at: at.work.flops),
        Cost("samples", "samples", "samples", 1.0, "fewer samples",
             "needs {} times as many samples", count, lambda at: at.work.samples),
        Cost("steps", "steps", "steps", 1.0, "fewer steps",
             "needs {} times as many steps", count, lambda at: at.work.steps),
        Cost("passes", "passes over the data", "passes", 1.0, "fewer passes",
             "needs {} times as many passes", count, _measured("passes")),
        Cost("products", "products of matrices", "products", 1e-3, "fewer products",
             "needs {} times as many products", "{:.3g}".format, _measured("products")),
        Cost("memory", "peak memory (bytes)", "memory", 1.0, "less memory",
             "needs {} times as much memory", lambda amount: readable(round(amount)),
             _measured("peak_bytes")),
    )
}  # fmt: skip
"""All costs by name, in the order in which they are offered. Seconds are those of the solver's
clock and those of reading this one solution off its state: when a user could have had it."""

COSTS: Mapping[str, Cost] = {
    name: ALL_COSTS[name] for name in ("samples", "seconds", "flops", "steps")
}
"""Those of them that the harness counts."""

COMMON_COSTS = ("flops", "seconds")
"""Those that tell solvers of any kind apart: every run has them."""


def cost_of(name: str) -> Cost:
    """Return a cost by its name: one of `ALL_COSTS`, or the unit that imported runs have."""
    return ALL_COSTS.get(name) or Cost(
        name, clean(name), clean(name), 1e-9, f"fewer {clean(name)}",
        f"needs {{}} times as many {clean(name)}", number, _measured(name),
    )  # fmt: skip


def costs_of(runs: Iterable[Run]) -> Mapping[str, Cost]:
    """Return the costs that curves of some runs are drawn over: `COSTS`, or those imported."""
    units = {unit: cost_of(unit) for run in runs for unit in run.imported.costs}
    return units or COSTS


def shared_costs(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the costs by which runs can be compared: seconds, flops, steps, and what all spent."""
    if units := tuple(dict.fromkeys(unit for run in runs for unit in run.imported.costs)):
        return units
    checkpoints = [run.trace[-1] for run in runs if len(run.trace) > 1]
    return tuple(
        name
        for name, cost in ALL_COSTS.items()
        if name in (*COMMON_COSTS, "steps")
        or (checkpoints and all(cost(checkpoint) > 0 for checkpoint in checkpoints))
    )

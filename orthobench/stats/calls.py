"""Calls: the cost and the value of a solver at each stop that a caller could set.

A call is a solver with a stop: its own end, the budget of a suite, or a number of steps, which
repeats a checkpoint of the run bit for bit. So one run has many calls.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from orthobench.harness.run import RATIO, RERUN_RATIO, checkpoints
from orthobench.results.runs import Run
from orthobench.stats.cost_curve import CostCurve
from orthobench.tools.arrays import Array
from orthobench.tools.formatting import plural

LONGEST = 2**40
"""Maximum number of steps of a stop."""


@dataclass(frozen=True)
class Stop:
    """The stop of a call: the budget, as ``(("steps", 129),)``; empty if the solver ends itself."""

    limits: tuple[tuple[str, float], ...] = ()

    @classmethod
    def at(cls, **limits: float) -> Stop:
        """Return the stop of a budget, as ``Stop.at(steps=129)``."""
        return cls(tuple(limits.items()))

    @property
    def own(self) -> bool:
        """Whether the solver ends by itself."""
        return not self.limits

    @property
    def argument(self) -> str:
        """The argument of `orthobench.solve`, as Python; empty without a limit."""
        values = (f"{name}={float(value)!r}".removesuffix(".0") for name, value in self.limits)
        return f"ob.Budget({', '.join(values)})" if self.limits else ""

    def __str__(self) -> str:
        limits = (plural(round(value), name.removesuffix("s")) for name, value in self.limits)
        return ", ".join(limits) or "own end"


@dataclass(frozen=True)
class Call:
    """A solver that ends at one stop, over all seeds.

    Attributes
    ----------
    stop : Stop
    cost : float
        Median over the seeds whose runs did not fail; infinite without any.
    reached, seeds : int
        Number of seeds on which it ends within the tolerance, and of all seeds with a run.
    place : int
        Its place in `Calls`.
    metrics : mapping
        The judge's metrics at the stop: the largest value over the seeds.
    """

    stop: Stop
    cost: float
    reached: int
    seeds: int
    place: int = -1
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def misses(self) -> int:
        """Number of seeds on which it ends above the tolerance."""
        return self.seeds - self.reached


@dataclass(frozen=True)
class Calls:
    """The J calls of the runs of a solver on S seeds, the shortest first.

    Attributes
    ----------
    stops : tuple of Stop
    values : ndarray, shape (J, S)
        The value at which each call ends; infinite if the run failed, NaN without a run.
    places : ndarray of int, shape (J, S)
        The checkpoint of each call; negative without one.
    whole : bool
        Whether the last call is the end of all runs, none of which the clock cut.
    """

    stops: tuple[Stop, ...]
    values: Array
    places: NDArray[np.intp]
    whole: bool

    @classmethod
    def of_ends(cls, values: Sequence[float]) -> Calls:
        """Return the calls of runs with known ends alone, shape (S,)."""
        ends = np.asarray(values, dtype=np.float64)[None]
        return cls((Stop(),), ends, np.zeros(ends.shape, np.intp), whole=True)

    def costs(self, spent: Sequence[Array | None]) -> Array:
        """Return the cost of each call, shape (J, S), from the cost up to each checkpoint by seed.

        It is NaN without a sound run.
        """
        found = np.full(self.values.shape, math.nan)
        for s, own in enumerate(spent):
            if own is not None:
                found[:, s] = own[self.places[:, s]]
        return found

    def call(self, place: int, costs: Array, targets: Array) -> Call:
        """Return the call at one stop; `costs` and `targets` have shape (S,)."""
        values, known = self.values[place], costs[np.isfinite(costs)]
        reached = int((np.isfinite(values) & (values <= targets)).sum())
        cost = float(np.median(known)) if len(known) else math.inf
        return Call(self.stops[place], cost, reached, int((~np.isnan(values)).sum()), place)

    def metrics(self, place: int, runs: Sequence[Run | None]) -> dict[str, float]:
        """Return the judge's metrics at one stop: the largest values over the seeds."""
        found: dict[str, float] = {}
        for at, run in zip(self.places[place].tolist(), runs, strict=True):
            for name, value in run.trace[at].metrics.items() if run and at >= 0 else ():
                found[name] = max(value, found.get(name, value))
        return found


def calls_of(
    curves: Sequence[CostCurve | None], failed: Sequence[bool], ratio: float = RATIO
) -> Calls:
    """Return the calls of the runs of a solver.

    Parameters
    ----------
    curves : sequence of CostCurve or None
        For each seed; None without a sound run.
    failed : sequence of bool
        For each seed.
    ratio : float
        The ratio of the numbers of steps of two checkpoints.
    """
    sound = {s: curve for s, curve in enumerate(curves) if curve is not None}
    if not sound:
        nothing = np.empty((0, len(curves)))
        return Calls((), nothing, nothing.astype(np.intp), whole=False)
    name, grid = _stops([*sound.values()], ratio)
    last, places = np.full(len(curves), -1), np.full((len(grid), len(curves)), -1)
    testable = np.ones(len(grid), bool)
    for s, curve in sound.items():
        place, last[s] = np.searchsorted(curve.steps, grid), len(curve.steps) - 1
        places[:, s] = np.minimum(place, last[s])
        testable &= np.where(place > last[s], curve.ended, curve.steps[places[:, s]] == grid)
    whole = all(curve.ended or curve.limits for curve in sound.values())
    if whole:
        testable &= ~(places == last).all(axis=1)
    stops, places = [Stop.at(**{name: int(n)}) for n in grid[testable]], places[testable]
    if whole:
        # one seed may end by its steps, and another one by its samples
        limits = {n: limit for curve in sound.values() for n, limit in curve.limits.items()}
        stops.append(Stop.at(**limits))
        places = np.vstack([places, last])
    values = np.tile(np.where(failed, math.inf, math.nan), (len(stops), 1))
    for s, curve in sound.items():
        values[:, s] = curve.values[places[:, s]]
    return Calls(tuple(stops), values, places, whole)


def offered(curve: CostCurve, ratio: float = RATIO) -> CostCurve:
    """Return a curve up to the last checkpoint that a call repeats.

    The clock cuts a run at a number of steps that only chance has chosen. No call ends there, so
    that none is compared with that value: the last number on the grid stands for the end of the
    run.
    """
    if not curve.cut or (curve.run and curve.run.imported.unit):
        return curve
    places = np.flatnonzero(np.isin(curve.steps, _grid(ratio)) & np.isfinite(curve.values))
    count = places[-1] + 1 if len(places) else len(curve.steps)
    return replace(curve, steps=curve.steps[:count], values=curve.values[:count])


def ratio_of(run: Run) -> float:
    """Return the ratio of the numbers of steps of two checkpoints of a run."""
    return RERUN_RATIO if run.solver.reruns else RATIO


def _stops(curves: Sequence[CostCurve], ratio: float) -> tuple[str, NDArray[np.int64]]:
    """Return the unit that a caller can set, and its numbers that have checkpoints."""
    imported = next((c.run.imported for c in curves if c.run and c.run.imported.unit), None)
    if imported is None:
        grid = _grid(ratio)
        return "steps", grid[grid <= max(int(curve.steps[-1]) for curve in curves)]
    steps = np.unique(np.concatenate([curve.steps for curve in curves]))
    return imported.stops, steps[: len(steps) if imported.stops else 0]


@cache
def _grid(ratio: float) -> NDArray[np.int64]:
    numbers = itertools.takewhile(lambda n: n <= LONGEST, checkpoints(ratio))
    return np.fromiter(numbers, np.int64)

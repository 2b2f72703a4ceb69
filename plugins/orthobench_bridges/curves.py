"""Curves of other harnesses, and the runs that a store keeps of them."""

from __future__ import annotations

import hashlib
import itertools
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from orthobench.contract.solver import Work
from orthobench.errors import DataError, UsageError, quoted
from orthobench.harness.identity import Identity, canonical
from orthobench.harness.run import RATIO, checkpoints
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import LONGEST_CLOCK, Checkpoint
from orthobench.results.runs import IMPORTED, Imported, ProblemInfo, Run, SolverInfo, run_label
from orthobench.tools.collections import grouped

VALUE = "value"
"""The metric of imported runs; smaller is better."""

SECONDS = ("s", "sec", "second", "seconds", "time")
"""Names of the unit that is seconds here."""

WHOLE = ("steps", "samples", "flops")
"""Units that the harness counts, in whole numbers."""

LARGEST = 2**53
"""Maximum cost and seed: larger floats are not distinct whole numbers."""


class Point(NamedTuple):
    """A point of a curve; `steps` is negative if they are not known."""

    cost: float
    value: float
    steps: int = -1


@dataclass(frozen=True)
class Curve:
    """A run of another harness: its points in any order, and its start or NaN."""

    problem: str
    solver: str
    seed: float
    points: Sequence[Point]
    unit: str
    start: float

    @property
    def label(self) -> str:
        """The label of its run."""
        return run_label(self.solver, self.problem, int(self.seed))


def checked(curve: Curve, place: str) -> Curve:
    """Return a curve whose numbers are possible, with the unit of this harness.

    Raises
    ------
    DataError
        If a store cannot have them; names `place`.
    """
    if not (curve.problem and curve.solver):
        raise DataError(f"{place} names no problem or no solver: name both")
    if not (0 <= curve.seed < LARGEST and curve.seed == int(curve.seed)):
        raise DataError(f"{place} has the seed {quoted(curve.seed)}: a whole number is needed")
    unit = "seconds" if curve.unit.lower() in SECONDS else curve.unit
    most = LONGEST_CLOCK if unit == "seconds" else LARGEST
    if wrong := [cost for cost, *_ in curve.points if not 0 <= cost <= most]:
        raise DataError(f"{place} has the cost {quoted(wrong[0])}: 0 to {most:g} is possible")
    return replace(curve, unit=unit, seed=int(curve.seed))


def runs_of(curves: Sequence[Curve], source: str) -> list[Run]:
    """Return the runs of curves, problem by problem.

    A curve without a start begins with the worst value of any curve on its problem and seed.

    Parameters
    ----------
    curves : sequence of Curve
    source : str
        The name of their file.

    Raises
    ------
    DataError
        If there are none, or two of them are of the same run.
    UsageError
        If they have different units.
    """
    if not curves:
        raise DataError(f"{source} has no runs: it needs at least one row of data")
    unit, *others = dict.fromkeys(curve.unit for curve in curves)
    if others:
        units = " and in ".join([unit, *others])
        raise UsageError(f"{source} has costs in {units}: import them apart")
    about = {
        solver: Imported(source, unit, _stops(own, unit))
        for solver, own in grouped(curves, lambda c: c.solver).items()
    }
    found = []
    for of_problem in grouped(curves, lambda c: c.problem).values():
        for of_seed in grouped(of_problem, lambda c: c.seed).values():
            values = (p.value for c in of_seed for p in c.points if math.isfinite(p.value))
            worst = max(values, default=0.0)
            for solver, (curve, *same) in grouped(of_seed, lambda c: c.solver).items():
                if same:
                    raise DataError(f"{source} has two runs of {curve.label}: change a seed")
                found.append(_run(curve, worst, about[solver]))
    return found


def _stops(curves: Sequence[Curve], unit: str) -> str:
    """Return the unit at which callers can end a solver earlier, if all of its points have it."""
    points = [point for curve in curves for point in curve.points]
    whole = all(float(point.cost).is_integer() for point in points)
    if unit in WHOLE and not whole:
        raise DataError(f"{curves[0].label} has {unit} that are not whole numbers: mend them")
    if whole and unit != "seconds":
        return unit
    return "steps" if all(0 <= point.steps < LARGEST for point in points) else ""


def _run(curve: Curve, worst: float, about: Imported) -> Run:
    """Return the run of a curve from its start, or else from the worst value."""
    by_steps = about.stops not in ("", about.unit)  # each point is a run of its own; costs may fall
    start = curve.start if math.isfinite(curve.start) else worst
    marks = {0.0: Point(0.0, start, 0)}
    marks |= {float(p.steps if by_steps else p.cost): p for p in curve.points}
    points = [marks[place] for place in sorted(marks)]
    if about.stops == about.unit:
        points = _on_grid(points)
    sound = [*itertools.takewhile(lambda point: math.isfinite(point.value), points)]
    stop = Termination(RunStatus.DONE, "it ended here in the harness that made it")
    if len(sound) < len(points):
        cost, value, _ = points[len(sound)]
        stop = Termination(RunStatus.DIVERGED, f"its value is {value} at {cost:g} {about.unit}")
    digest = hashlib.sha256(repr([tuple(point) for point in points]).encode()).hexdigest()
    imported = replace(about, digest=digest)
    settings = {"budget": {}, "until": None, "versions": {}, "imported": asdict(imported)}
    problem, solver = (
        canonical({"name": name, "parameters": {}}) for name in (curve.problem, curve.solver)
    )
    identity = Identity(problem, solver, int(curve.seed), canonical(settings))
    return Run(
        identity.key, ProblemInfo(curve.problem, curve.problem, {}, IMPORTED, VALUE, VALUE),
        SolverInfo(curve.solver, name=curve.solver), identity.seed, stop,
        tuple(_checkpoint(point, about.unit) for point in sound),
        imported=imported, identity=identity,
    )  # fmt: skip


def _on_grid(points: Sequence[Point]) -> list[Point]:
    """Return the points at the costs at which runs are recorded here, and the end."""
    costs, last = [point.cost for point in points], points[-1]
    numbers = itertools.takewhile(lambda n: n < last.cost, checkpoints(RATIO))
    found = {n: points[bisect_right(costs, n) - 1].value for n in numbers}
    ends = {0: points[0].value, **found, int(last.cost): last.value}
    return [Point(float(n), value, n) for n, value in ends.items()]


def _checkpoint(point: Point, unit: str) -> Checkpoint:
    counts, metrics = {"steps": max(point.steps, 0)}, {VALUE: point.value}
    if unit in WHOLE:
        counts[unit] = int(point.cost)
    elif unit != "seconds":
        metrics["peak_bytes" if unit == "memory" else unit] = point.cost
    return Checkpoint(point.cost if unit == "seconds" else 0.0, 0.0, Work(**counts), metrics)

"""Curves of other harnesses: what all readers return, and the runs of a store made of them."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from orthobench.contract.solver import Work
from orthobench.errors import DataError, UsageError
from orthobench.harness.identity import Identity, canonical
from orthobench.harness.run import RATIO, checkpoints
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import LONGEST_CLOCK, Checkpoint
from orthobench.results.runs import IMPORTED, Imported, ProblemInfo, Run, SolverInfo
from orthobench.tools.collections import grouped

VALUE = "value"
"""The metric of imported runs; smaller is better."""

SECONDS = {"s": "seconds", "sec": "seconds", "second": "seconds", "time": "seconds"}
"""Units that are called seconds here."""

WHOLE = ("steps", "samples", "flops")
"""Units that the harness counts, in whole numbers."""

LARGEST = 2**53
"""Costs from here on are no whole numbers of a float."""


@dataclass(frozen=True)
class Point:
    """A row of a curve.

    Attributes
    ----------
    cost : float
        At least 0.
    value : float
        It is not finite if the run had failed by then.
    steps : int
        Iterations up to it; negative if they are not told.
    """

    cost: float
    value: float
    steps: int = -1


@dataclass(frozen=True)
class Curve:
    """A run of another harness.

    Attributes
    ----------
    problem, solver : str
        Labels.
    seed : int
    points : sequence of Point
        At least one, in any order.
    unit : str
        Of their costs.
    start : float
        The value before any work; NaN if it is not told.
    """

    problem: str
    solver: str
    seed: int
    points: Sequence[Point]
    unit: str = "cost"
    start: float = math.nan

    @property
    def label(self) -> str:
        """What people call it."""
        return f"{self.solver} on {self.problem}, seed {self.seed}"


def runs_of(curves: Sequence[Curve], source: str) -> list[Run]:
    """Return the runs that a store keeps of some curves, in the order of problems.

    A curve without a start begins with the worst value that any curve has on its problem and seed.

    Parameters
    ----------
    curves : sequence of Curve
    source : str
        The file that they come from, for people.

    Raises
    ------
    DataError
        If there are none, or two of them are of the same run.
    UsageError
        If they have different units.
    """
    if not curves:
        raise DataError(f"{source} has no runs: it needs at least one row of data")
    units = list(dict.fromkeys(SECONDS.get(curve.unit.lower(), curve.unit) for curve in curves))
    if len(units) > 1:
        raise UsageError(f"{source} has costs in {' and in '.join(units)}: import them apart")
    by_run = grouped(curves, lambda c: (c.problem, c.solver, c.seed)).values()
    if twice := next((own[0] for own in by_run if len(own) > 1), None):
        raise DataError(f"{source} has two runs of {twice.label}: give them different seeds")
    unit, found = units[0], []
    about = {
        solver: Imported(source, unit, _stops(own, unit))
        for solver, own in grouped(curves, lambda c: c.solver).items()
    }
    for own in grouped(curves, lambda c: (c.problem, c.seed)).values():
        worst = max((p.value for c in own for p in c.points if math.isfinite(p.value)), default=0.0)
        for curve in own:
            start = curve.start if math.isfinite(curve.start) else worst
            found.append(_run(replace(curve, unit=unit, start=start), about[curve.solver]))
    order = {name: place for place, name in enumerate(dict.fromkeys(c.problem for c in curves))}
    return sorted(found, key=lambda run: order[run.problem.label])


def _stops(curves: Sequence[Curve], unit: str) -> str:
    """Return what callers can set to end a solver earlier, if all of its runs tell it."""
    costs = [(curve, point.cost) for curve in curves for point in curve.points]
    broken = next((c for c, cost in costs if not (cost.is_integer() and cost < LARGEST)), None)
    if broken and unit in WHOLE:
        raise DataError(f"{broken.label} has {unit} that are not whole numbers: mend them")
    if unit != "seconds" and broken is None:
        return unit
    late = next((c for c, cost in costs if unit == "seconds" and cost > LONGEST_CLOCK), None)
    if late:
        raise DataError(f"{late.label} has more than {LONGEST_CLOCK:g} seconds: mend its costs")
    stepped = all(point.steps >= 0 for curve in curves for point in curve.points)
    return "steps" if stepped else ""


def _run(curve: Curve, about: Imported) -> Run:
    """Return the run of a curve whose start is known."""
    by_steps = about.stops not in ("", curve.unit)  # their costs may fall: each is a run of its own

    def place(point: Point) -> float:
        return point.steps if by_steps else point.cost

    points = sorted(curve.points, key=place)
    if place(points[0]) > 0:
        points.insert(0, Point(0.0, curve.start, 0))
    points = [[*same][-1] for _, same in itertools.groupby(points, place)]
    points = _on_grid(points) if about.stops == curve.unit else points
    good = next((i for i, p in enumerate(points) if not math.isfinite(p.value)), len(points))
    trace = tuple(_checkpoint(point, curve.unit) for point in points[:good])
    stop = Termination(RunStatus.DONE, "it ended here in the harness that made it")
    if good < len(points):
        why = f"its value is {points[good].value} at {points[good].cost:g} {curve.unit}"
        stop = Termination(RunStatus.DIVERGED, why)
    told = repr((curve.start, [(point.cost, point.value, point.steps) for point in points]))
    imported = replace(about, digest=hashlib.sha256(told.encode()).hexdigest())
    settings = {"budget": {}, "until": None, "versions": {}, "imported": asdict(imported)}
    problem, solver = (
        canonical({"name": name, "parameters": {}}) for name in (curve.problem, curve.solver)
    )
    identity = Identity(problem, solver, curve.seed, canonical(settings))
    return Run(
        identity.key, ProblemInfo(curve.problem, curve.problem, {}, IMPORTED, VALUE, VALUE),
        SolverInfo(curve.solver, name=curve.solver), curve.seed, stop, trace,
        imported=imported, identity=identity,
    )  # fmt: skip


def _on_grid(points: Sequence[Point]) -> list[Point]:
    """Return what calls with certain whole numbers of the unit give, and the end.

    The numbers are those at which runs are recorded here, so that seeds can be compared at the same
    ones. Between two rows the value is the earlier one's.
    """
    found, place, last = [points[0]], 0, points[-1]
    for number in itertools.takewhile(lambda n: n < last.cost, checkpoints(RATIO)):
        while points[place + 1].cost <= number:
            place += 1
        found.append(Point(float(number), points[place].value, number))
    return [*found, replace(last, steps=int(last.cost))] if last.cost else found


def _checkpoint(point: Point, unit: str) -> Checkpoint:
    counts = {unit: int(point.cost)} if unit in WHOLE else {}
    metrics = {VALUE: point.value}
    if unit not in (*WHOLE, "seconds"):
        metrics["peak_bytes" if unit == "memory" else unit] = point.cost
    work = Work(**{"steps": max(point.steps, 0), **counts})
    return Checkpoint(point.cost if unit == "seconds" else 0.0, 0.0, work, metrics)

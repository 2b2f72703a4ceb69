"""Trade-offs: what each solver reaches, and at what cost, at each level of another metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.harness.stopping import Ending
from orthobench.report.plots.labels import COSTS, about, axis_label
from orthobench.report.words import assigned, clean
from orthobench.results.tuning import Entry, Trial
from orthobench.stats.curves import AXES
from orthobench.stats.seeds import final, metric_of, quantiles


@dataclass(frozen=True)
class Front:
    """One solver's trials: each a point of the trade-off, as medians over the seeds.

    Attributes
    ----------
    solver : str
    metric, primary : str
        What is traded for what.
    points : tuple of (mapping, mapping)
        The tuned values of each trial that has medians, and its ``metric``, ``primary``,
        ``flops`` and ``seconds``, by the metric ascending.
    trials : int
        All of them: those without a point have failed at too many seeds.
    """

    solver: str
    metric: str
    primary: str
    points: tuple[tuple[Mapping[str, object], Mapping[str, float]], ...]
    trials: int

    @property
    def label(self) -> str:
        """The solver, and how many of its trials failed."""
        failed = self.trials - len(self.points)
        note = f" (failed {failed} of {self.trials} trials)" if failed else ""
        return clean(f"{self.solver}{note}")


def tradeoffs(entries: Sequence[Entry]) -> list[Plot]:
    """Return the trade-off of each problem that is compared at levels, where it has any point.

    Parameters
    ----------
    entries : sequence of Entry
        Of any number of problems; those that are compared at no level have none.
    """
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.level is not None:
            name = f"{entry.facts.label} by {entry.level.metric.replace('_', ' ')}"
            groups.setdefault(name, []).append(entry)
    found = [(name, group, fronts(group)) for name, group in groups.items()]
    return [
        tradeoff(name, group, lines)
        for name, group, lines in found
        if any(front.points for front in lines)
    ]


def tradeoff(name: str, entries: Sequence[Entry], found: Sequence[Front]) -> Plot:
    """Return the plot of what solvers reach, and at what cost, against what that is traded for.

    Parameters
    ----------
    name : str
    entries : sequence of Entry
        Of one problem, at all its levels.
    found : sequence of Front
        At least one: `fronts`.
    """
    levels = tuple(dict.fromkeys(e.level.most for e in entries if e.level is not None))
    options = (found[0].primary, *COSTS)

    def draw(key: Key) -> Panel:
        return tradeoff_panel(found, key[0], levels)

    return Plot(
        name=name,
        kind="tradeoff",
        choices={"y": options},
        draw=draw,
        sheet=[(option,) for option in options],
        about=about(entries, banded=False, crossed=False),
    )


def tradeoff_panel(found: Sequence[Front], y: str, levels: Sequence[float]) -> Panel:
    """Return a panel: the medians of all trials, with rules at the levels.

    Parameters
    ----------
    found : sequence of Front
        At least one.
    y : str
        The primary metric's name, ``"flops"`` or ``"seconds"``.
    levels : sequence of float
        Of the metric, that solvers are compared at.
    """
    metric = found[0].metric
    at = [point[metric] for front in found for _, point in front.points]
    log = min([*at, *levels]) > 0
    return Panel(
        Axis(metric, axis_label(metric), log),
        Axis(y, axis_label(y)),
        tuple(_series(front, y) for front in found),
        rules=tuple(levels),
    )


def fronts(entries: Sequence[Entry]) -> list[Front]:
    """Return the front of each solver on one problem; it has no points where all trials failed.

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem at one or several levels of one metric: all have the same trials. A solver
        that cannot take the problem is left out.
    """
    by_solver = {entry.solver: entry for entry in entries}
    return [_front(entry) for entry in by_solver.values() if _takes_part(entry)]


def _takes_part(entry: Entry) -> bool:
    # refused at a level, a solver has trials all the same
    runs = (record for trial in entry.trials for record in trial.records)
    return any(record.stop.status is not Ending.REFUSED for record in runs)


def _series(front: Front, y: str) -> Series:
    places = np.array([(point[front.metric], point[y]) for _, point in front.points])
    places = places.reshape(-1, 2)
    notes = tuple(assigned(tuned) for tuned, _ in front.points)
    return Series(front.label, places[:, 0], places[:, 1], solver=front.solver, notes=notes)


def _front(entry: Entry) -> Front:
    if entry.level is None:
        raise ValueError(f"{entry.problem} is compared at no level")
    primary = entry.facts.primary
    metric = entry.level.metric
    points = [(trial.tuned, _point(trial, metric, primary)) for trial in entry.trials]
    finite = [(tuned, at) for tuned, at in points if all(map(math.isfinite, at.values()))]
    finite.sort(key=lambda point: point[1][metric])
    return Front(entry.solver, metric, primary, tuple(finite), len(points))


def _point(trial: Trial, metric: str, primary: str) -> dict[str, float]:
    values = {name: metric_of(name) for name in (metric, primary)}
    values |= {cost: AXES[cost] for cost in COSTS}
    return {
        name: float(quantiles([final(r, value) for r in trial.records], 0.5))
        for name, value in values.items()
    }

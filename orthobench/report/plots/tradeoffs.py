"""Trade-offs: the primary metric and the costs of all trials, against the metric with levels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.labels import COMMON_COSTS, about, axis_label
from orthobench.results.tuning import SolverResult, Trial
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.values import COSTS, final, metric_of
from orthobench.tools.formatting import assignments, clean


@dataclass(frozen=True)
class Front:
    """The trials of one solver, each a point of the trade-off: medians over the seeds.

    Attributes
    ----------
    solver : str
    metric, primary : str
        The metric that has levels, and the primary metric that is traded for it.
    points : tuple of (mapping, mapping)
        For each trial whose medians are finite, its tuned values and its ``metric``, ``primary``,
        ``flops`` and ``seconds``, ascending by the metric; and, where judges report it, its
        ``PRIMARY_bound``, which no solution so dense can be below.
    trials : int
        The number of all trials; those without a point failed at too many seeds.
    """

    solver: str
    metric: str
    primary: str
    points: tuple[tuple[Mapping[str, object], Mapping[str, float]], ...]
    trials: int

    @property
    def label(self) -> str:
        """The solver, and the number of its trials that failed."""
        failed = self.trials - len(self.points)
        note = f" (failed {failed} of {self.trials} trials)" if failed else ""
        return clean(f"{self.solver}{note}")


def tradeoffs(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return the trade-off of each problem that is compared at levels, if it has any point.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of any number of problems.
    """
    groups: dict[str, list[SolverResult]] = {}
    for entry in entries:
        if entry.level is not None:
            name = f"{entry.problem_info.label} by {entry.level.metric.replace('_', ' ')}"
            groups.setdefault(name, []).append(entry)
    with_fronts = [(name, group, fronts(group)) for name, group in groups.items()]
    return [
        tradeoff(name, group, of_problem)
        for name, group, of_problem in with_fronts
        if any(front.points for front in of_problem)
    ]


def tradeoff(name: str, entries: Sequence[SolverResult], fronts: Sequence[Front]) -> Plot:
    """Return the plot of the primary metric and of costs against the metric that has levels.

    Parameters
    ----------
    name : str
    entries : sequence of SolverResult
        The entries of one problem, at all its levels.
    fronts : sequence of Front
        Of all its solvers, at least one.
    """
    levels = tuple(dict.fromkeys(e.level.most for e in entries if e.level is not None))
    options = (fronts[0].primary, *COMMON_COSTS)
    return Plot(
        name=name,
        kind="tradeoff",
        choices={"y": options},
        draw=lambda key: tradeoff_panel(fronts, key[0], levels),
        sheet=[(option,) for option in options],
        about=about(entries, banded=False, crossed=False),
    )


def tradeoff_panel(fronts: Sequence[Front], y: str, levels: Sequence[float]) -> Panel:
    """Return a panel: the medians of all trials, with vertical rules at the levels.

    Parameters
    ----------
    fronts : sequence of Front
        At least one.
    y : str
        The primary metric's name, ``"flops"`` or ``"seconds"``.
    levels : sequence of float
        The values of the metric at which solvers are compared.
    """
    metric = fronts[0].metric
    at = [point[metric] for front in fronts for _, point in front.points]
    log = min([*at, *levels]) > 0
    return Panel(
        Axis(metric, axis_label(metric), log),
        Axis(y, axis_label(y)),
        (*(_series(front, y) for front in fronts), *_bounds(fronts, bound_of(y))),
        rules=tuple(levels),
    )


def bound_of(metric: str) -> str:
    """Return the name of the metric that bounds another from below, where judges report it."""
    return f"{metric}_bound"


def fronts(entries: Sequence[SolverResult]) -> list[Front]:
    """Return the front of each solver on one problem; it has no points if all trials failed.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of one problem at one or several levels of one metric. A solver has the same
        trials at each; one that cannot take the problem is left out.
    """
    by_solver = {entry.solver: entry for entry in entries}
    return [_front(entry) for entry in by_solver.values() if _takes_part(entry)]


def _takes_part(entry: SolverResult) -> bool:
    # a solver that is refused since no trial keeps a level has trials nevertheless
    runs = (record for trial in entry.trials for record in trial.records)
    return any(record.stop.status is not RunStatus.REFUSED for record in runs)


def _series(front: Front, y: str) -> Series:
    places = np.array([(point[front.metric], point[y]) for _, point in front.points])
    places = places.reshape(-1, 2)
    notes = tuple(assignments(tuned) for tuned, _ in front.points)
    return Series(front.label, places[:, 0], places[:, 1], solver=front.solver, notes=notes)


def _bounds(fronts: Sequence[Front], bound: str) -> list[Series]:
    """Return the line of bounds through the points of all solvers, if there are any."""
    metric = fronts[0].metric
    known = [point for front in fronts for _, point in front.points if bound in point]
    places = np.array(sorted((point[metric], point[bound]) for point in known)).reshape(-1, 2)
    return [Series("bound", places[:, 0], places[:, 1])] if known else []


def _front(entry: SolverResult) -> Front:
    if entry.level is None:
        raise ValueError(f"{entry.problem} is not compared at a level, so it has no trade-off")
    primary = entry.problem_info.primary
    metric = entry.level.metric
    points = [(trial.tuned, _point(trial, metric, primary)) for trial in entry.trials]
    finite = [(tuned, at) for tuned, at in points if all(map(math.isfinite, at.values()))]
    finite.sort(key=lambda point: point[1][metric])
    return Front(entry.solver, metric, primary, tuple(finite), len(points))


def _point(trial: Trial, metric: str, primary: str) -> dict[str, float]:
    values = {name: metric_of(name) for name in (metric, primary)}
    values |= {cost: COSTS[cost] for cost in COMMON_COSTS}
    bound = bound_of(primary)
    if all(bound in mark.metrics for r in trial.records for mark in r.trace[-1:]):
        values[bound] = metric_of(bound)
    return {
        name: float(quantiles([final(r, value) if r.ok else math.inf for r in trial.records], 0.5))
        for name, value in values.items()
    }

"""Trade-offs: the primary metric and the costs of all trials, against the metric with levels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.labels import about, axis_label, medians, with_failures
from orthobench.results.tuning import SolverResult, Trial
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.costs import COMMON_COSTS, COSTS
from orthobench.stats.values import final, metric_of
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import assignments

Point: TypeAlias = tuple[Mapping[str, object], Mapping[str, float]]
"""A trial: its tuned values, and the medians over the seeds, by metric and cost."""


def tradeoffs(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return the trade-off of each problem that is compared at levels, if it has any point."""
    levelled = [(entry, entry.level.metric) for entry in entries if entry.level is not None]
    groups = grouped(levelled, lambda pair: (pair[0].problem_info.label, pair[1]))
    return [
        _tradeoff(f"{problem} by {metric.replace('_', ' ')}", metric, [entry for entry, _ in own])
        for (problem, metric), own in groups.items()
        if any(points(entry, metric) for entry, _ in own)
    ]


def _tradeoff(name: str, metric: str, entries: Sequence[SolverResult]) -> Plot:
    options = (entries[0].problem_info.primary, *COMMON_COSTS)
    return Plot(
        name=name,
        kind="tradeoff",
        choices={"y": options},
        draw=lambda key: _panel(entries, metric, key[0]),
        sheet=[(option,) for option in options],
        about=about(entries, *medians(entries, banded=False, crossed=False)),
    )


def _panel(entries: Sequence[SolverResult], metric: str, y: str) -> Panel:
    """Return the medians of all trials, with vertical rules at the levels."""
    levels = tuple(dict.fromkeys(e.level.value for e in entries if e.level is not None))
    by_solver = {entry.solver: entry for entry in entries}
    drawn = [(e, points(e, metric)) for e in by_solver.values() if _takes_part(e)]
    all_points = [at for _, own in drawn for _, at in own]
    bounds = [(at[metric], at[f"{y}_bound"]) for at in all_points if f"{y}_bound" in at]
    series = [_series(e, own, metric, y) for e, own in drawn]
    if bounds:
        series.append(Series("bound", *np.array(sorted(bounds)).T))
    log = min([*(at[metric] for at in all_points), *levels]) > 0
    return Panel(
        Axis(metric, axis_label(metric), log), Axis(y, axis_label(y)), tuple(series), rules=levels
    )


def _takes_part(entry: SolverResult) -> bool:
    # a solver that is refused since no trial keeps a level has trials nevertheless
    runs = (record for trial in entry.trials for record in trial.records)
    return any(record.stop.status is not RunStatus.REFUSED for record in runs)


def _series(entry: SolverResult, own: Sequence[Point], metric: str, y: str) -> Series:
    trials = len(entry.trials)
    label = with_failures(entry.solver, trials - len(own), f"{trials} trials")
    x, height = np.array([(at[metric], at[y]) for _, at in own]).reshape(-1, 2).T
    notes = tuple(assignments(tuned) for tuned, _ in own)
    return Series(label, x, height, solver=entry.solver, notes=notes)


def points(entry: SolverResult, metric: str) -> list[Point]:
    """Return the trials of a solver whose medians are finite, ascending by a metric."""
    found = [(t.tuned, _medians(t, metric, entry.problem_info.primary)) for t in entry.trials]
    finite = [(tuned, at) for tuned, at in found if all(map(math.isfinite, at.values()))]
    return sorted(finite, key=lambda point: point[1][metric])


def _medians(trial: Trial, metric: str, primary: str) -> dict[str, float]:
    values = {name: metric_of(name) for name in (metric, primary)}
    values |= {cost: COSTS[cost] for cost in COMMON_COSTS}
    bound = f"{primary}_bound"
    if all(bound in mark.metrics for r in trial.records for mark in r.trace[-1:]):
        values[bound] = metric_of(bound)
    return {
        name: float(quantiles([final(r, value) if r.ok else math.inf for r in trial.records], 0.5))
        for name, value in values.items()
    }

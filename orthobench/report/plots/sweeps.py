"""Sweeps and trade-offs: solvers against a parameter of the problem, or a metric with levels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.harness.identity import canonical
from orthobench.harness.stopping import RunStatus
from orthobench.report.plots.labels import about, axis_label, band_of, medians, with_failures
from orthobench.results.tuning import SolverResult, Trial
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.costs import COMMON_COSTS, COSTS
from orthobench.stats.values import cost_or_metric, final, final_spread, metric_of
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import assignments, clean

FEWEST = 3
"""Minimum number of values of a parameter in a sweep."""

DECADE = 10.0
"""The ratio of values from which on an axis is logarithmic."""


Member: TypeAlias = tuple[float, SolverResult]
"""The value of a parameter, and a solver on the problem that has it."""

Point: TypeAlias = tuple[Mapping[str, object], Mapping[str, float]]
"""A trial: its tuned values, and its medians by metric and cost."""


def sweeps(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return the plot of each number that alone differs among problems."""
    groups: dict[tuple[str, str, str, str], list[Member]] = {}
    for entry in entries:
        settings = entry.problem_info.parameters
        for name, value in settings.items() if entry.takes_part else ():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                rest = canonical({k: v for k, v in settings.items() if k != name})
                level = "" if entry.level is None else f", {entry.level}"
                key = (entry.problem_info.name, name, rest, level)
                groups.setdefault(key, []).append((value, entry))
    return [
        _sweep(f"{_problem(members, key[1], entries)} against {key[1]}{key[3]}", key[1],
               sorted(members, key=lambda member: member[0]))
        for key, members in groups.items()
        if len({value for value, _ in members}) >= FEWEST
    ]  # fmt: skip


def _problem(
    members: Sequence[Member], parameter: str, entries: Sequence[SolverResult]
) -> str:  # fmt: skip
    """Return the name of a problem, and its parameters that vary elsewhere in the suite."""
    own = members[0][1].problem_info
    alike = [e.problem_info.parameters for e in entries if e.problem_info.name == own.name]
    differing = (
        f" {name}={value}"
        for name, value in own.parameters.items()
        if name != parameter and any(other.get(name) != value for other in alike)
    )
    return own.name + "".join(differing)


def _sweep(name: str, parameter: str, members: Sequence[Member]) -> Plot:
    entries = [entry for _, entry in members]
    records = [record for entry in entries for record in entry.records]
    primary = records[0].problem.primary
    metrics = (name for r in records for mark in r.trace[-1:] for name in mark.metrics)
    return Plot(
        name=name,
        kind="sweep",
        choices={"y": tuple(dict.fromkeys((primary, *COMMON_COSTS, *metrics)))},
        draw=lambda key: sweep_panel(parameter, members, *key),
        sheet=[(option,) for option in (primary, *COMMON_COSTS)],
        about=about(entries, *medians(entries, crossed=False)),
    )


def sweep_panel(parameter: str, members: Sequence[Member], y: str) -> Panel:
    """Return the medians of all solvers against a parameter."""
    read, series = cost_or_metric(y), []
    for solver, own in grouped(members, lambda member: member[1].solver).items():
        finished = [(at, entry.finished) for at, entry in own if entry.finished]
        runs = [run for _, some in finished for run in some]
        label = with_failures(solver, sum(not run.ok for run in runs), str(len(runs)))
        points = [(at, *final_spread(some, read)) for at, some in finished]
        x, median, low, high = np.array(points, dtype=np.float64).T
        series.append(Series(label, x, median, low, high, solver=solver))
    values = tuple(dict.fromkeys(float(at) for at, _ in members))
    log = values[0] > 0 and values[-1] >= DECADE * values[0]
    axis = Axis(parameter, clean(axis_label(parameter)), log, ticks=values)
    band = band_of([entry for _, entry in members])
    return Panel(axis, Axis(y, axis_label(y)), tuple(series), band=band)


def tradeoffs(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return the trade-off of each problem that is compared at levels."""
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
        draw=lambda key: _tradeoff_panel(entries, metric, key[0]),
        sheet=[(option,) for option in options],
        about=about(entries, *medians(entries, banded=False, crossed=False)),
    )


def _tradeoff_panel(entries: Sequence[SolverResult], metric: str, y: str) -> Panel:
    levels = tuple(dict.fromkeys(e.level.value for e in entries if e.level is not None))
    by_solver = {entry.solver: entry for entry in entries}
    drawn = [(e, points(e, metric)) for e in by_solver.values() if _takes_part(e)]
    all_points = [at for _, own in drawn for _, at in own]
    bounds = [(at[metric], at[f"{y}_bound"]) for at in all_points if f"{y}_bound" in at]
    series = [_trials(e, own, metric, y) for e, own in drawn]
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


def _trials(entry: SolverResult, own: Sequence[Point], metric: str, y: str) -> Series:
    trials = len(entry.trials)
    label = with_failures(entry.solver, trials - len(own), f"{trials} trials")
    x, height = np.array([(at[metric], at[y]) for _, at in own]).reshape(-1, 2).T
    notes = tuple(assignments(tuned) for tuned, _ in own)
    return Series(label, x, height, solver=entry.solver, notes=notes)


def points(entry: SolverResult, metric: str) -> list[Point]:
    """Return the trials with finite medians, ascending by a metric."""
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

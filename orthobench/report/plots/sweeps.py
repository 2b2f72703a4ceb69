"""Sweeps: solvers against a parameter of the problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.harness.identity import canonical
from orthobench.report.plots import labels
from orthobench.results.tuning import SolverResult
from orthobench.stats.costs import COMMON_COSTS
from orthobench.stats.values import cost_or_metric, final_spread
from orthobench.tools.collections import grouped

FEWEST = 3
"""Minimum number of values of a parameter in a sweep."""

Member: TypeAlias = tuple[float, SolverResult]
"""The value of a parameter, and a solver on the problem that has it."""


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
        about=labels.about(entries, labels.medians(entries)),
    )


def sweep_panel(parameter: str, members: Sequence[Member], y: str) -> Panel:
    """Return the medians of all solvers against a parameter."""
    read, series = cost_or_metric(y), []
    for solver, own in grouped(members, lambda member: member[1].solver).items():
        finished = [(at, entry.finished) for at, entry in own if entry.finished]
        runs = [run for _, some in finished for run in some]
        label = labels.with_failures(solver, sum(not run.ok for run in runs), str(len(runs)))
        points = [(at, *final_spread(some, read, len(some))) for at, some in finished]
        series.append(Series(label, *np.array(points, dtype=np.float64).T, solver=solver))
    values = [*dict.fromkeys(float(at) for at, _ in members)]
    x = labels.parameter_axis(parameter, values, values)
    band = labels.band_of([entry for _, entry in members])
    return Panel(x, Axis(y, labels.axis_label(y)), tuple(series), band=band)

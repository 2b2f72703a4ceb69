"""Sweeps: solvers against a parameter of the problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.harness.identity import canonical
from orthobench.report.plots.labels import about, axis_label, band_of, medians, with_failures
from orthobench.results.tuning import SolverResult
from orthobench.stats.costs import COMMON_COSTS
from orthobench.stats.values import cost_or_metric, final_spread
from orthobench.tools.formatting import clean

FEWEST = 3
"""Minimum number of values of a parameter in a sweep."""

DECADE = 10.0
"""From this ratio of the largest value to the smallest on, the parameter's axis is logarithmic."""


def sweeps(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return the plots of final metrics and costs against each parameter that problems vary.

    The problems of a plot differ in one number only, and share the level.
    """
    groups: dict[tuple[str, str, str, str], dict[float, list[SolverResult]]] = {}
    for entry in entries:
        settings = entry.problem_info.parameters
        for name, value in settings.items() if entry.takes_part else ():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            rest = canonical({k: v for k, v in settings.items() if k != name})
            level = "" if entry.level is None else f", {entry.level}"
            key = (entry.problem_info.name, name, rest, level)
            groups.setdefault(key, {}).setdefault(value, []).append(entry)
    return [
        _sweep(_name(key, members, entries), key[1], dict(sorted(members.items())))
        for key, members in groups.items()
        if len(members) >= FEWEST
    ]


def _name(
    key: tuple[str, str, str, str],
    members: Mapping[float, Sequence[SolverResult]],
    entries: Sequence[SolverResult],
) -> str:
    """Return the problem, the parameters that vary elsewhere in the suite, and the parameter."""
    recipe, parameter, _, level = key
    own = next(iter(members.values()))[0].problem_info.parameters
    alike = [e.problem_info.parameters for e in entries if e.problem_info.name == recipe]
    differing = (
        f" {name}={value}"
        for name, value in own.items()
        if name != parameter and any(other.get(name) != value for other in alike)
    )
    return f"{recipe}{''.join(differing)} against {parameter}{level}"


def _sweep(
    name: str, parameter: str, members: Mapping[float, Sequence[SolverResult]]
) -> Plot:  # fmt: skip
    entries = [entry for group in members.values() for entry in group]
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


def sweep_panel(
    parameter: str, members: Mapping[float, Sequence[SolverResult]], y: str
) -> Panel:  # fmt: skip
    """Return the medians of all solvers against a parameter, with bands over their seeds."""
    entries = [entry for group in members.values() for entry in group]
    read, series = cost_or_metric(y), []
    for solver in dict.fromkeys(entry.solver for entry in entries):
        own = [
            (at, e.finished) for at, group in members.items() for e in group
            if e.solver == solver and e.finished
        ]  # fmt: skip
        runs = [run for _, finished in own for run in finished]
        label = with_failures(solver, sum(not run.ok for run in runs), str(len(runs)))
        points = [(at, *final_spread(finished, read, len(finished))) for at, finished in own]
        x, median, low, high = np.array(points, dtype=np.float64).T
        series.append(Series(label, x, median, low, high, solver=solver))
    values = tuple(map(float, members))
    log = values[0] > 0 and values[-1] >= DECADE * values[0]
    axis = Axis(parameter, clean(axis_label(parameter)), log, ticks=values)
    return Panel(axis, Axis(y, axis_label(y)), tuple(series), band=band_of(entries))

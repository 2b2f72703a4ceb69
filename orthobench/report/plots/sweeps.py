"""Sweeps: solvers against a parameter of the problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.harness.identity import canonical
from orthobench.report.plots.labels import about, axis_label, band_of, medians, with_failures
from orthobench.results.tuning import SolverResult
from orthobench.stats.costs import COMMON_COSTS
from orthobench.stats.values import cost_or_metric, final_spread

FEWEST = 3
"""The fewest values of a parameter that make a sweep."""

DECADE = 10.0
"""From this ratio of the largest value to the smallest on, the parameter's axis is logarithmic."""


@dataclass(frozen=True)
class Sweep:
    """Problems that differ in one number only, all at the same level if there are any.

    Attributes
    ----------
    name : str
        For people: the problem, the parameter, and those of the others that vary in the suite.
    parameter : str
    entries : mapping
        The entries of each value of the parameter, ascending.
    """

    name: str
    parameter: str
    entries: Mapping[float, Sequence[SolverResult]]

    @property
    def all(self) -> list[SolverResult]:
        """The entries of all values."""
        return [entry for group in self.entries.values() for entry in group]

    @property
    def axis(self) -> Axis:
        """The axis of the parameter."""
        values = tuple(float(value) for value in self.entries)
        log = values[0] > 0 and values[-1] >= DECADE * values[0]
        return Axis(self.parameter, axis_label(self.parameter), log, ticks=values)

    def points(self, solver: str, value: str) -> list[tuple[float, float, float, float]]:
        """Return parameter, median, low and high of a final value; infinite where runs failed.

        Parameters
        ----------
        solver : str
        value : str
            A metric, or one of `orthobench.stats.costs.COSTS`.
        """
        read = cost_or_metric(value)
        return [
            (at, *final_spread(entry.finished, read, len(entry.finished)))
            for at, group in self.entries.items()
            for entry in group
            if entry.solver == solver and entry.finished
        ]


def sweeps(entries: Sequence[SolverResult]) -> list[Sweep]:
    """Return all sweeps that the problems of a suite contain.

    Parameters
    ----------
    entries : sequence of SolverResult
        Solvers that take no part are left out.
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
        Sweep(_name(key, members, entries), key[1], dict(sorted(members.items())))
        for key, members in groups.items()
        if len(members) >= FEWEST
    ]


def _name(
    key: tuple[str, str, str, str],
    members: Mapping[float, Sequence[SolverResult]],
    entries: Sequence[SolverResult],
) -> str:
    """Return the name of a sweep; see `Sweep`."""
    recipe, parameter, _, level = key
    own = next(iter(members.values()))[0].problem_info.parameters
    alike = [e.problem_info.parameters for e in entries if e.problem_info.name == recipe]
    differing = (
        f" {name}={value}"
        for name, value in own.items()
        if name != parameter and any(other.get(name) != value for other in alike)
    )
    return f"{recipe}{''.join(differing)} against {parameter}{level}"


def sweep(swept: Sweep) -> Plot:
    """Return the plot of final metrics and costs against a parameter."""
    records = [record for entry in swept.all for record in entry.records]
    primary = records[0].problem.primary
    metrics = (name for r in records for mark in r.trace[-1:] for name in mark.metrics)
    return Plot(
        name=swept.name,
        kind="sweep",
        choices={"y": tuple(dict.fromkeys((primary, *COMMON_COSTS, *metrics)))},
        draw=lambda key: sweep_panel(swept, *key),
        sheet=[(option,) for option in (primary, *COMMON_COSTS)],
        about=about(swept.all, *medians(swept.all, crossed=False)),
    )


def sweep_panel(swept: Sweep, y: str) -> Panel:
    """Return a panel: the medians of all solvers, with bands over their seeds.

    Parameters
    ----------
    swept : Sweep
    y : str
        A metric, ``"flops"``, ``"seconds"``, ``"samples"`` or ``"steps"``.
    """
    series = []
    for solver in dict.fromkeys(entry.solver for entry in swept.all):
        runs = [r for e in swept.all if e.solver == solver for r in e.finished]
        failed = sum(not record.ok for record in runs)
        label = with_failures(solver, failed, str(len(runs)))
        x, median, low, high = np.array(swept.points(solver, y), dtype=np.float64).T
        series.append(Series(label, x, median, low, high, solver=solver))
    return Panel(swept.axis, Axis(y, axis_label(y)), tuple(series), band=band_of(swept.all))

"""Sweeps: what each solver reaches, and at what cost, against a parameter of the problem."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.contract.panel import Axis, Key, Panel, Plot, Series
from orthobench.harness.identity import canonical
from orthobench.report.plots.labels import COSTS, about, axis_label
from orthobench.report.words import clean
from orthobench.results.tuning import Entry
from orthobench.stats.curves import AXES
from orthobench.stats.seeds import final, metric_of, spread, spread_name

FEWEST = 3
"""Fewest values of a parameter that make a sweep."""

DECADE = 10.0
"""From this ratio of the largest value to the smallest on, the parameter's axis is logarithmic."""


@dataclass(frozen=True)
class Sweep:
    """Problems that differ in one number only, at one level where they are compared at some.

    Attributes
    ----------
    name : str
        What people call it: the problem, the parameter, and what of the rest varies in the suite.
    parameter : str
    entries : mapping
        The entries of each value, ascending.
    """

    name: str
    parameter: str
    entries: Mapping[float, Sequence[Entry]]

    @property
    def solvers(self) -> list[str]:
        """The solvers that take part in any of the problems."""
        return list(dict.fromkeys(entry.solver for entry in self.all))

    @property
    def all(self) -> list[Entry]:
        """The entries of all values."""
        return [entry for group in self.entries.values() for entry in group]

    def points(self, solver: str, value: str) -> list[tuple[float, float, float, float]]:
        """Return parameter, median, low and high of a final value; infinite where runs failed.

        Parameters
        ----------
        solver : str
        value : str
            A metric, or one of `orthobench.stats.curves.AXES`.
        """
        return [
            (at, *_spread(entry, value))
            for at, group in self.entries.items()
            for entry in group
            if entry.solver == solver
        ]


def sweeps(entries: Sequence[Entry]) -> list[Sweep]:
    """Return all sweeps that the problems of a suite contain.

    Parameters
    ----------
    entries : sequence of Entry
        Solvers that take no part are left out.
    """
    groups: dict[tuple[str, str, str, str], dict[float, list[Entry]]] = {}
    for entry in entries:
        settings = entry.facts.parameters
        for name, value in settings.items() if not entry.refused else ():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            rest = canonical({k: v for k, v in settings.items() if k != name})
            level = "" if entry.level is None else f", {entry.level}"
            key = (entry.facts.name, name, rest, level)
            groups.setdefault(key, {}).setdefault(value, []).append(entry)
    return [
        Sweep(_name(key, members, entries), key[1], dict(sorted(members.items())))
        for key, members in groups.items()
        if len(members) >= FEWEST
    ]


def sweep(found: Sweep) -> Plot:
    """Return the plot of final values against a parameter: the metrics, and what they cost.

    Parameters
    ----------
    found : Sweep
    """
    records = [record for entry in found.all for record in entry.records]
    primary = records[0].problem.primary
    metrics = (name for r in records for mark in r.trace[-1:] for name in mark.metrics)

    def draw(key: Key) -> Panel:
        return sweep_panel(found, key[0])

    return Plot(
        name=found.name,
        kind="sweep",
        choices={"y": tuple(dict.fromkeys((primary, *COSTS, *metrics)))},
        draw=draw,
        sheet=[(option,) for option in (primary, *COSTS)],
        about=about(found.all, crossed=False),
    )


def sweep_panel(found: Sweep, y: str) -> Panel:
    """Return a panel: the medians of all solvers, with bands over their seeds.

    Parameters
    ----------
    found : Sweep
    y : str
        A metric, ``"flops"``, ``"seconds"``, ``"samples"`` or ``"steps"``.
    """
    values = tuple(float(value) for value in found.entries)
    log = values[0] > 0 and values[-1] >= DECADE * values[0]
    seeds = max(len(entry.seeds) for entry in found.all)
    return Panel(
        Axis(found.parameter, axis_label(found.parameter), log, ticks=values),
        Axis(y, axis_label(y)),
        tuple(_series(found, solver, y) for solver in found.solvers),
        band=spread_name(seeds) if seeds > 1 else "",
    )


def _series(found: Sweep, solver: str, y: str) -> Series:
    x, median, low, high = np.array(found.points(solver, y), dtype=np.float64).T
    return Series(_label(found, solver), x, median, low, high, solver=solver)


def _label(found: Sweep, solver: str) -> str:
    """Return a solver with the runs that failed, over all values."""
    own = [entry for entry in found.all if entry.solver == solver]
    planned = sum(len(entry.seeds) for entry in own)
    done = sum(not record.failed for entry in own for record in entry.records)
    return clean(f"{solver} (failed {planned - done} of {planned})" if done < planned else solver)


def _spread(entry: Entry, value: str) -> tuple[float, float, float]:
    read = AXES.get(value) or metric_of(value)
    missing = len(entry.seeds) - len(entry.records)
    finals = [final(record, read) for record in entry.records] + [math.inf] * missing
    median, low, high = spread(finals)
    return float(median), float(low), float(high)


def _name(
    key: tuple[str, str, str, str],
    members: Mapping[float, Sequence[Entry]],
    entries: Sequence[Entry],
) -> str:
    recipe, parameter, _, level = key
    own = next(iter(members.values()))[0].facts.parameters
    alike = [e.facts.parameters for e in entries if e.facts.name == recipe]
    differing = (
        f" {name}={value}"
        for name, value in own.items()
        if name != parameter and any(other.get(name) != value for other in alike)
    )
    return f"{recipe}{''.join(differing)} against {parameter}{level}"

"""Sweeps: what each solver reaches, and at what cost, against a parameter of the problem."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from orthobench.identity import canonical
from orthobench.report.figures.axes import scale
from orthobench.report.figures.drawing import COSTS, LABELS, frame, line
from orthobench.report.figures.sheet import handle, legend, sheet, title
from orthobench.report.style import Style
from orthobench.stats.curves import AXES
from orthobench.stats.seeds import final, metric_of, spread
from orthobench.tuning import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEWEST = 3
"""Fewest values of a parameter that make a sweep."""


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
        return list(dict.fromkeys(e.solver for group in self.entries.values() for e in group))

    def points(self, solver: str, value: str) -> list[tuple[float, float, float, float]]:
        """Return parameter, median, low and high of a final value, where the median is finite.

        Parameters
        ----------
        solver : str
        value : str
            A metric, ``"flops"`` or ``"seconds"``.
        """
        found: list[tuple[float, float, float, float]] = []
        for at, group in self.entries.items():
            for entry in group:
                if entry.solver == solver:
                    median, low, high = _spread(entry, value)
                    if math.isfinite(median):
                        found.append((at, median, low, high))
        return found


def sweeps(entries: Sequence[Entry]) -> list[Sweep]:
    """Return all sweeps that the problems of a suite contain.

    Parameters
    ----------
    entries : sequence of Entry
        Solvers that take no part are left out.
    """
    groups: dict[tuple[str, str, str, str], dict[float, list[Entry]]] = {}
    for entry in entries:
        settings = entry.records[0].settings
        for name, value in settings.items() if not entry.refused else ():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            rest = canonical({k: v for k, v in settings.items() if k != name})
            level = "" if entry.level is None else f", {entry.level}"
            key = (entry.records[0].recipe, name, rest, level)
            groups.setdefault(key, {}).setdefault(value, []).append(entry)
    return [
        Sweep(_name(key, members, entries), key[1], dict(sorted(members.items())))
        for key, members in groups.items()
        if len(members) >= FEWEST
    ]


def plot_sweep(ax: Axes, sweep: Sweep, y: str, looks: Mapping[str, Style]) -> None:
    """Draw one panel: medians over the seeds, with a band, against the parameter.

    Parameters
    ----------
    ax : matplotlib Axes
    sweep : Sweep
    y : str
        A metric, ``"flops"`` or ``"seconds"``.
    looks : mapping
        The style of each solver.
    """
    from matplotlib.ticker import NullLocator

    frame(ax, sweep.parameter.replace("_", " "), LABELS.get(y, y.replace("_", " ")))
    lines = {solver: np.array(sweep.points(solver, y)).reshape(-1, 4) for solver in sweep.solvers}
    scale(ax, "x", [points[:, 0] for points in lines.values()], 0.04)
    scale(ax, "y", [points[:, 1:].ravel() for points in lines.values()])
    ax.set_xticks(list(sweep.entries), [f"{value:,g}" for value in sweep.entries])
    ax.xaxis.set_minor_locator(NullLocator())
    for solver, points in lines.items():
        x, median, low, high = points.T
        ax.plot(x, median, **line(looks[solver]), label=solver)
        ax.fill_between(x, low, high, color=looks[solver].colour, alpha=0.13, linewidth=0)


def sweep_figure(
    sweep: Sweep, looks: Mapping[str, Style], note: str
) -> tuple[Figure, list[list[Any]]]:
    """Draw what each solver reaches, and its costs, against a parameter of the problem.

    Parameters
    ----------
    sweep : Sweep
    looks : mapping
        The style of each solver.
    note : str
        What else the reader should know; stands under the title.

    Returns
    -------
    Figure
    list of list
        What it shows, as the rows of a CSV file.
    """
    entries = [entry for group in sweep.entries.values() for entry in group]
    panels = (entries[0].records[0].primary, *COSTS)
    handles = [handle(solver, looks[solver]) for solver in sweep.solvers]
    fig, axes, columns = sheet(handles, len(panels))
    for ax, y in zip(axes, panels, strict=True):
        plot_sweep(ax, sweep, y, looks)
    title(fig, entries, note, sweep.name)
    legend(fig, handles, columns)
    rows: list[list[Any]] = [["sweep", "solver", sweep.parameter, "value", "median", "low", "high"]]
    for solver in sweep.solvers:
        for y in panels:
            for at, *values in sweep.points(solver, y):
                rows.append([sweep.name, solver, repr(at), y, *map(repr, values)])
    return fig, rows


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
    own = next(iter(members.values()))[0].records[0].settings
    alike = [e.records[0].settings for e in entries if e.records[0].recipe == recipe]
    differing = (
        f" {name}={value}"
        for name, value in own.items()
        if name != parameter and any(other.get(name) != value for other in alike)
    )
    return f"{recipe}{''.join(differing)} against {parameter}{level}"

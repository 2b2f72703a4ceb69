"""Trade-offs: what each solver reaches, and at what cost, at each level of another metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from orthobench.identity import canonical
from orthobench.report.figures.axes import scale
from orthobench.report.figures.drawing import COSTS, LABELS, MUTED, frame, line
from orthobench.report.figures.sheet import handle, legend, sheet, title
from orthobench.report.style import Style
from orthobench.stats.curves import AXES
from orthobench.stats.seeds import final, metric_of, quantiles
from orthobench.tuning import Entry, Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Front:
    """One solver's trials: each a point of the trade-off, as medians over the seeds.

    Attributes
    ----------
    solver : str
    metric, primary : str
        What is traded for what.
    points : tuple of (dict, dict)
        The tuned values of each trial that did not fail, and its ``metric``, ``primary``,
        ``flops`` and ``seconds``, by the metric ascending.
    """

    solver: str
    metric: str
    primary: str
    points: tuple[tuple[Mapping[str, object], Mapping[str, float]], ...]


def fronts(entries: Sequence[Entry]) -> list[Front]:
    """Return the front of each solver on one problem, by the metric of its levels.

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem at one or several levels of one metric: all have the same trials.
    """
    by_solver = {entry.solver: entry for entry in entries}
    return [_front(entry) for entry in by_solver.values()]


def plot_front(
    ax: Axes, found: Sequence[Front], y: str, looks: Mapping[str, Style], levels: Sequence[float]
) -> None:
    """Draw one panel: ``primary``, ``flops`` or ``seconds`` against the metric traded for.

    Vertical lines mark the levels that solvers are compared at.

    Parameters
    ----------
    ax : matplotlib Axes
    found : sequence of Front
        At least one.
    y : str
        The primary metric's name, ``"flops"`` or ``"seconds"``.
    looks : mapping
        The style of each solver.
    levels : sequence of float
    """
    metric = found[0].metric
    frame(ax, metric.replace("_", " "), LABELS.get(y, y.replace("_", " ")))
    lines = [np.array([(at[metric], at[y]) for _, at in f.points]).reshape(-1, 2) for f in found]
    scale(ax, "x", [np.array(levels), *(points[:, 0] for points in lines)], 0.04)
    scale(ax, "y", [points[:, 1] for points in lines])
    for level in levels:
        ax.axvline(level, color=MUTED, linewidth=0.8, linestyle=(0, (1, 3)), zorder=1)
    for front, points in zip(found, lines, strict=True):
        ax.plot(points[:, 0], points[:, 1], **line(looks[front.solver]), label=front.solver)


def tradeoff(
    entries: Sequence[Entry], looks: Mapping[str, Style], note: str, text: str
) -> tuple[Figure, list[list[Any]]]:
    """Draw what each solver reaches, and its costs, against what that is traded for.

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem at one or several levels of one metric.
    looks : mapping
        The style of each solver.
    note : str
        What else the reader should know; stands under the title.
    text : str
        The title.

    Returns
    -------
    Figure
    list of list
        What it shows, as the rows of a CSV file.
    """
    found = [front for front in fronts(entries) if front.points]
    levels = list(dict.fromkeys(e.level.most for e in entries if e.level is not None))
    handles = [handle(f.solver, looks[f.solver]) for f in found]
    fig, axes, columns = sheet(handles, 3)
    panels = (entries[0].records[0].primary, *COSTS)
    for ax, y in zip(axes, panels, strict=True):
        plot_front(ax, found, y, looks, levels)
    title(fig, entries, note, text, banded=False)
    legend(fig, handles, columns)
    return fig, _table(found, text)


def _front(entry: Entry) -> Front:
    if entry.level is None:
        raise ValueError(f"{entry.problem} is compared at no level")
    primary = entry.records[0].primary
    metric = entry.level.metric
    points = [(t.tuned, _point(t, metric, primary)) for t in entry.trials]
    finite = [(tuned, at) for tuned, at in points if all(map(math.isfinite, at.values()))]
    finite.sort(key=lambda point: point[1][metric])
    return Front(entry.solver, metric, primary, tuple(finite))


def _point(trial: Trial, metric: str, primary: str) -> dict[str, float]:
    values = {name: metric_of(name) for name in (metric, primary)}
    values |= {cost: AXES[cost] for cost in COSTS}
    return {
        name: float(quantiles([final(r, value) for r in trial.records], 0.5))
        for name, value in values.items()
    }


def _table(found: Sequence[Front], problem: str) -> list[list[Any]]:
    names = [found[0].metric, found[0].primary, *COSTS] if found else []
    rows: list[list[Any]] = [["problem", "solver", "tuned", *names]]
    for front in found:
        for tuned, at in front.points:
            values = [repr(at[name]) for name in names]
            rows.append([problem, front.solver, canonical(dict(tuned)), *values])
    return rows

"""Overlays: the curves that solutions exhibit, those of all solvers in one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from orthobench.arrays import Array
from orthobench.exhibits import Curve, Values
from orthobench.report.figures.drawing import MUTED, frame, legend_label, line, visible
from orthobench.report.figures.sheet import (
    LINE,
    WIDTHS,
    across,
    footnotes,
    handle,
    heading,
    legend,
    sheet,
    wrapped,
)
from orthobench.report.plots.exhibits import Exhibition
from orthobench.report.style import Style
from orthobench.report.words import clean
from orthobench.tuning import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

POINTS = 2000
"""Points of a curve that are drawn, where it has more."""

MARKS = 6
"""Markers along a curve."""

DASHES: tuple[tuple[int, tuple[float, ...]], ...] = ((0, (5, 3)), (0, (2, 2)), (0, (8, 2, 2, 2)))


@dataclass(frozen=True)
class Overlay:
    """One axis: the curves of one name, with the references that have the same labels.

    Attributes
    ----------
    name : str
        Empty where there are references only.
    labels : (str, str)
    curves : tuple of (Entry, Curve)
    references : mapping
    """

    name: str
    labels: tuple[str, str]
    curves: tuple[tuple[Entry, Curve], ...]
    references: Mapping[str, Curve]


def overlays(shown: Exhibition) -> list[Overlay]:
    """Return the axes that the curves of a problem make: one for each name and pair of labels.

    Parameters
    ----------
    shown : Exhibition
    """
    references: dict[tuple[str, str], dict[str, Curve]] = {}
    for name, curve in shown.references(Curve).items():
        references.setdefault(_labels(curve), {})[name] = curve
    groups: dict[tuple[str, tuple[str, str]], list[tuple[Entry, Curve]]] = {}
    for entry, own in shown.own(Curve):
        for name, curve in own.items():
            groups.setdefault((name, _labels(curve)), []).append((entry, curve))
    drawn = {labels for _, labels in groups}
    groups |= {("", labels): [] for labels in references if labels not in drawn}
    return [
        Overlay(name, labels, tuple(curves), references.get(labels, {}))
        for (name, labels), curves in groups.items()
    ]


def name_of(shown: Exhibition) -> str:
    """Return what the picture of a problem's curves is called."""
    return f"{shown.problem}: curves"


def plot_overlay(
    ax: Axes, overlay: Overlay, looks: Mapping[str, Style], grey: Mapping[str, Any]
) -> None:
    """Draw the curves of all solvers in their styles, and references dashed and grey.

    Parameters
    ----------
    ax : matplotlib Axes
    overlay : Overlay
    looks : mapping
        The style of each solver.
    grey : mapping
        The dashes of each reference.
    """
    frame(ax, *overlay.labels)
    ax.set_title(overlay.name, fontsize=11, color=MUTED, parse_math=False)
    for name, curve in overlay.references.items():
        x, y = thinned(curve)
        ax.plot(
            x, y, color=MUTED, linestyle=grey[name], linewidth=1.3, zorder=1.5, label=visible(name)
        )
    for i, (entry, curve) in enumerate(overlay.curves):
        x, y = thinned(curve)
        marks = _marked(x, y, i / len(overlay.curves))
        look = line(looks[entry.solver])
        ax.plot(x, y, **look, markevery=marks, label=legend_label(entry))


def overlay_figure(
    shown: Exhibition, looks: Mapping[str, Style], note: str
) -> tuple[Figure, list[list[Any]]]:
    """Draw all curves that the solutions of a problem exhibit.

    Parameters
    ----------
    shown : Exhibition
        With at least one curve.
    looks : mapping
        The style of each solver.
    note : str
        What else the reader should know; stands under the title.

    Returns
    -------
    Figure
    list of list
        What it shows, as the rows of a CSV file: one for each point.
    """
    panels = overlays(shown)
    references = list(shown.references(Curve))
    grey = {name: DASHES[i % len(DASHES)] for i, name in enumerate(references)}
    own = shown.own(Curve)
    width = WIDTHS[across(len(panels))] - 1
    about = wrapped(shown.about(note), width)
    lacking = [f"{clean(entry.solver)} has no curve" for entry, mine in own if not mine]
    notes = [part for text in (*shown.absent, *lacking) for part in wrapped(text, width)]
    handles = [handle(legend_label(entry), looks[entry.solver]) for entry, mine in own if mine]
    handles += [_reference(name, grey[name]) for name in references]
    below = LINE * len(notes)
    fig, axes, columns = sheet(handles, len(panels), 0.88 + LINE * len(about), below)
    for ax, overlay in zip(axes, panels, strict=True):
        plot_overlay(ax, overlay, looks, grey)
    heading(fig, name_of(shown), about, fig.subplotpars.left)
    legend(fig, handles, columns, below)
    footnotes(fig, notes, fig.subplotpars.left)
    return fig, _table(shown, panels)


def thinned(curve: Curve) -> tuple[Values, Values]:
    """Return a curve's points, or about `POINTS` of them, evenly spaced along the curve as drawn.

    The first and the last are among them, and where a gap begins.

    Parameters
    ----------
    curve : Curve
    """
    x, y = curve.x, curve.y
    if len(x) <= POINTS:
        return x, y
    kept = _at(x, y, np.linspace(0, 1, POINTS))
    missing = np.isnan(y)
    gaps = np.flatnonzero(missing & ~np.roll(missing, 1))
    chosen = np.unique([0, *kept, *gaps, len(x) - 1])
    return x[chosen], y[chosen]


def _labels(curve: Curve) -> tuple[str, str]:
    return clean(curve.x_label), clean(curve.y_label)


def _at(x: Values, y: Values, fractions: Array) -> list[int]:
    """Return which points are these fractions of its length along the curve, drawn in a square."""
    steps = [np.diff(part.astype(np.float64)) / _span(part) for part in (x, y)]
    along = np.concatenate([[0.0], np.cumsum(np.nan_to_num(np.hypot(*steps)))])
    found: list[int] = np.searchsorted(along, fractions * along[-1]).tolist()
    return [min(at, len(x) - 1) for at in found]


def _span(part: Values) -> float:
    there = part[np.isfinite(part)].astype(np.float64)
    return float(np.ptp(there)) or 1.0 if there.size else 1.0


def _marked(x: Values, y: Values, phase: float) -> list[int]:
    """Return where to put markers: evenly along the curve, shifted by `phase`, and at the end."""
    return sorted({*_at(x, y, (np.arange(MARKS) + phase) / MARKS), len(x) - 1})


def _reference(name: str, dashes: tuple[int, tuple[float, ...]]) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], label=visible(name), color=MUTED, linestyle=dashes, linewidth=1.3)


def _table(shown: Exhibition, panels: Sequence[Overlay]) -> list[list[Any]]:
    rows: list[list[Any]] = [["problem", "seed", "solver", "curve", "x label", "y label", "x", "y"]]
    for overlay in panels:
        lines = [("", name, curve) for name, curve in overlay.references.items()]
        lines += [(entry.solver, overlay.name, curve) for entry, curve in overlay.curves]
        for solver, name, curve in lines:
            head = [shown.problem, shown.seed, solver, name, *overlay.labels]
            rows += [[*head, f"{x:.9g}", f"{y:.9g}"] for x, y in zip(*thinned(curve), strict=True)]
    return rows

"""How curves are drawn into one axis: line, marker, band, crosses, and the axis itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from orthobench.arrays import Array
from orthobench.report.figures.axes import Floor, floor_of, scale
from orthobench.report.style import Style
from orthobench.report.words import short
from orthobench.stats.curves import Curve, curve
from orthobench.tuning import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = {
    "samples": "samples",
    "seconds": "time (s), clock + reading",
    "flops": "floating-point operations",
    "steps": "steps",
}

COSTS = ("flops", "seconds")
"""The axes that say what a result costs, whatever the method."""

INK = "#1a1a1a"
MUTED = "#5c5c5c"
GRID = "#e4e4e4"


@dataclass(frozen=True)
class Drawn:
    """One curve as drawn.

    Attributes
    ----------
    entry : Entry
    style : Style
    curve : Curve
        As measured; on the axis, zeros stand at its floor.
    """

    entry: Entry
    style: Style
    curve: Curve


def legend_label(entry: Entry) -> str:
    """Return how the legend calls a solver: its chosen parameters, and its failures."""
    chosen = ", ".join(f"{name}={short(value)}" for name, value in entry.chosen.items())
    failed = len(entry.seeds) - sum(not record.status.failed for record in entry.records)
    parts = [entry.solver, f"({chosen})" if chosen else ""]
    parts += [f"(failed {failed} of {len(entry.seeds)})" if failed else ""]
    return visible(" ".join(part for part in parts if part))


def visible(label: str) -> str:
    """Return a label that legends show: matplotlib hides those with a leading underscore."""
    return f" {label}" if label.startswith("_") else label


def curves(
    entries: Sequence[Entry], x: str, metric: str, looks: Mapping[str, Style]
) -> list[Drawn]:
    """Return the curve of each entry against `x`, with its style."""
    return [
        Drawn(entry, looks[entry.solver], curve(entry.records, x, metric, entry.seeds))
        for entry in entries
    ]


def panel(
    ax: Axes, drawn: Sequence[Drawn], x: str, metric: str, everything: Sequence[Drawn]
) -> None:
    """Draw curves into an axis whose floor and height leave room for `everything`."""
    floor = floor_of([part for d in everything for part in (d.curve.median, d.curve.low)])
    frame(ax, LABELS[x], metric.replace("_", " "))
    scale(ax, "x", [item.curve.x for item in drawn], 0.03)
    scale(ax, "y", [floor.raised(part) for part in _heights(everything)])
    for i, item in enumerate(drawn):
        _draw(ax, item, floor, i / len(drawn))
    if floor.zeros:
        _note_floor(ax, floor)


def _heights(drawn: Sequence[Drawn]) -> list[Array]:
    """Return what the y axis must show: the medians, and the bands unless they are far above."""
    medians = [item.curve.median for item in drawn]
    finite = [m[np.isfinite(m)] for m in medians]
    most = 10 * max((float(m.max()) for m in finite if len(m)), default=math.inf)
    bands = [c for item in drawn for c in (item.curve.low, item.curve.high)]
    ends = [np.array([y for _, y in item.curve.ends]) for item in drawn]
    return [*medians, *(part[part <= most] for part in (*bands, *ends))]


def frame(ax: Axes, xlabel: str, ylabel: str) -> None:
    """Label an axis and give it the look of all figures."""
    ax.set_xlabel(xlabel, color=INK, fontsize=10.5, parse_math=False)
    ax.set_ylabel(ylabel, color=INK, fontsize=10.5, parse_math=False)
    ax.grid(visible=True, which="major", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(which="both", colors=MUTED, labelsize=9.5, width=0.7)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#9a9a9a")


def _draw(ax: Axes, item: Drawn, floor: Floor, phase: float) -> None:
    """Draw line, band and crosses; the band has no place where its upper end is infinite."""
    c, style = item.curve, item.style
    low, high = floor.raised(c.low), floor.raised(c.high)
    banded = np.isfinite(high).tolist()
    ax.fill_between(c.x, low, high, where=banded, color=style.colour, alpha=0.13, linewidth=0)
    finite = np.isfinite(c.median)
    ax.plot(
        c.x,
        np.where(finite, floor.raised(c.median), math.nan),
        **line(style),
        markevery=_marked(c.x[finite], np.flatnonzero(finite), phase),
        label=legend_label(item.entry),
    )
    for x, y in c.ends:
        at = float(floor.raised(np.array(y)))
        ax.plot(x, at, "x", markersize=7, markeredgewidth=1.8, color=style.colour, zorder=4)


def line(style: Style) -> dict[str, Any]:
    """Return a style as the keywords of a matplotlib line."""
    return {
        "color": style.colour, "linestyle": style.line, "linewidth": 1.8, "marker": style.marker,
        "markersize": {"P": 7.5, "*": 10.0}.get(style.marker, 6.0),
        "markeredgecolor": "white", "markeredgewidth": 0.7,
    }  # fmt: skip


def _marked(x: Array, index: Any, phase: float, count: int = 6) -> list[int]:
    """Return where to put markers: evenly on a log axis, shifted by `phase`, and at the end."""
    if not len(x):
        return []
    span = np.log(x[-1] / x[0])
    at = x[0] * np.exp(span * (np.arange(count) + phase) / count)
    nearest = np.minimum(np.searchsorted(x, at), len(x) - 1)
    return sorted({int(index[i]) for i in [*nearest, -1]})


def _note_floor(ax: Axes, floor: Floor) -> None:
    ax.axhline(floor.at, color="#9a9a9a", linewidth=0.8, linestyle=(0, (1, 3)), zorder=1)
    ax.annotate(
        f"0, or below {floor.zero:.0e}".replace("e-0", "e-"),
        (0, floor.at),
        xycoords=("axes fraction", "data"),
        xytext=(5, 4),
        textcoords="offset points",
        ha="left",
        va="bottom",
        fontsize=8.5,
        color=MUTED,
        style="italic",
    )

"""How a panel is drawn into one matplotlib axis: lines, bands, crosses, and the axis itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from orthobench.contract.panel import Panel, Series
from orthobench.report.figures.axes import extent, font_size, label_ticks, scale
from orthobench.report.figures.text import balanced, fitted, power, shown, width
from orthobench.report.plots.floor import Floor, floor_of
from orthobench.report.plots.spacing import along
from orthobench.report.style import Style
from orthobench.tools.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1a1a1a"
MUTED = "#5c5c5c"
FAINT = "#9a9a9a"
GRID = "#e4e4e4"

DASHES: tuple[tuple[int, tuple[float, ...]], ...] = ((0, (5, 3)), (0, (2, 2)), (0, (8, 2, 2, 2)))
"""Of references, one after the other."""

MARKS = 6
"""Markers along a line with more than twice as many points."""

SIZES = {"P": 1.25, "*": 1.65}
"""What makes a marker as large as the others look."""

TILT = 30
"""Of names below an axis that do not fit side by side, in degrees."""


def draw(ax: Axes, panel: Panel, looks: Mapping[str, Style], among: Sequence[Panel] = ()) -> None:
    """Draw a panel into an axis: any axis, empty or not.

    A line with the markers of its solver for each series, a band or bars around it, crosses where
    failed runs ended, on the left where a log axis has no place for one, a ring around the chosen
    point, vertical rules. On a log axis, what is numerically zero stands on the lower edge, and a
    note says so (`orthobench.report.plots.floor.Floor`). Sizes are those that matplotlib is set
    to.

    Parameters
    ----------
    ax : matplotlib Axes
    panel : Panel
    looks : mapping
        The style of each solver.
    among : sequence of Panel
        What stands beside it: panels of the same y get one scale, and references that occur in
        several the same dashes.
    """
    panels = among if any(other is panel for other in among) else [panel, *among]
    alike = [other for other in panels if other.y.key == panel.y.key]
    floor = _floor(alike)
    _frame(ax, panel)
    _across(ax, panel)
    heights = [_raised(part, floor) for other in alike for part in _heights(other)]
    scale(ax, "y", heights, log=floor is not None)
    for at in panel.rules:
        ax.axvline(at, color=MUTED, linewidth=0.8, linestyle=(0, (1, 3)), zorder=1)
    dashes = references(panels)
    for number, one in enumerate(panel.series):
        look = line(looks[one.solver]) if one.solver else reference(dashes[one.label])
        _draw(ax, panel, number, look, floor)
    if floor is not None and floor.zeros:
        _note_floor(ax, floor)


def label(ax: Axes, which: str, text: str) -> None:
    """Label the ``"x"`` or ``"y"`` axis, on as many lines as its length demands."""
    lines = balanced(text, max(extent(ax, which), 1.0), font_size("axes.labelsize"))
    ax.set(**{f"{which}label": "\n".join(lines)})
    own = ax.xaxis if which == "x" else ax.yaxis
    own.label.set(color=INK, parse_math=False)


def line(style: Style) -> dict[str, Any]:
    """Return a style as the keywords of a matplotlib line."""
    import matplotlib as mpl

    size, thickness = mpl.rcParams["lines.markersize"], mpl.rcParams["lines.linewidth"]
    return {
        "color": style.colour, "linestyle": style.line, "linewidth": thickness,
        "marker": style.marker, "markersize": size * SIZES.get(style.marker, 1.0),
        "markeredgecolor": "white", "markeredgewidth": 0.4 * thickness,
    }  # fmt: skip


def reference(dashes: tuple[int, tuple[float, ...]]) -> dict[str, Any]:
    """Return the keywords of a reference's line: grey, dashed, below all others."""
    import matplotlib as mpl

    thickness = 0.72 * mpl.rcParams["lines.linewidth"]
    return {"color": MUTED, "linestyle": dashes, "linewidth": thickness, "zorder": 1.5}


def references(panels: Sequence[Panel]) -> dict[str, tuple[int, tuple[float, ...]]]:
    """Return the dashes of each reference by its label, the same in all panels."""
    names = dict.fromkeys(one.label for p in panels for one in p.series if not one.solver)
    return {name: DASHES[i % len(DASHES)] for i, name in enumerate(names)}


def _draw(
    ax: Axes, panel: Panel, number: int, look: Mapping[str, Any], floor: Floor | None
) -> None:
    """Draw one series: band or bars, line, crosses, and a ring around the chosen point."""
    one = panel.series[number]
    x, y = _placed(panel, number), _raised(one.y, floor)
    y[~np.isfinite(one.y) | (panel.x.log & (x <= 0))] = math.nan
    there = np.isfinite(y)
    _spread(ax, panel, one, x, there, look["color"], floor)
    if panel.x.categories:
        look = {**look, "linestyle": "none"}
    steps = "steps-post" if panel.stepped else "default"
    marks = _marked(ax, x, y, there, number / len(panel.series))
    ax.plot(x, y, **look, label=shown(one.label), drawstyle=steps, markevery=marks)
    edge = _edge(ax, panel)
    for at, end in one.crosses:
        height = float(_raised(np.array([end]), floor)[0])
        place = edge if panel.x.log and at <= 0 else at
        _sign(ax, place, height, "x", 1.15, color=look["color"], zorder=4)
    if one.chosen is not None and there[one.chosen]:
        at, height = float(x[one.chosen]), float(y[one.chosen])
        _sign(ax, at, height, "o", 2.2, markeredgecolor=look["color"], markerfacecolor="none")


def _edge(ax: Axes, panel: Panel) -> float:
    """Return the left end of what a log axis shows: where crosses stand that have no place."""
    parts = [one.x for one in panel.series]
    parts += [np.array([x for x, _ in one.crosses]) for one in panel.series]
    every = np.concatenate(parts)
    return float(min(every[every > 0], default=ax.get_xlim()[0]))


def _sign(ax: Axes, x: float, y: float, marker: str, size: float, **more: Any) -> None:
    import matplotlib as mpl

    points, thickness = mpl.rcParams["lines.markersize"], mpl.rcParams["lines.linewidth"]
    ax.plot([x], [y], marker, markersize=size * points, markeredgewidth=thickness, **more)


def _spread(
    ax: Axes, panel: Panel, one: Series, x: Array, there: Any, colour: str, floor: Floor | None
) -> None:
    """Draw the band, which has no place where an end is infinite; bars where points are alone."""
    import matplotlib as mpl

    if one.low is None or one.high is None:
        return
    low, high = _raised(one.low, floor), _raised(one.high, floor)
    banded = there & np.isfinite(low) & np.isfinite(high)
    if panel.x.categories or there.sum() == 1:
        thickness = mpl.rcParams["lines.linewidth"]
        ax.vlines(x[banded], low[banded], high[banded], color=colour, linewidth=thickness)
        return
    step: Literal["post"] | None = "post" if panel.stepped else None
    ax.fill_between(
        x, low, high, where=banded.tolist(), step=step, color=colour, alpha=0.13, linewidth=0
    )


def _placed(panel: Panel, number: int) -> Array:
    """Return where the points stand: side by side where several series have the same category."""
    x = panel.series[number].x.astype(np.float64)
    if not panel.x.categories:
        return x
    every = np.concatenate([np.unique(one.x) for one in panel.series])
    if len(np.unique(every)) == len(every):
        return x
    count = len(panel.series)
    return np.asarray(x + 0.6 * (number - (count - 1) / 2) / count)


def _marked(ax: Axes, x: Array, y: Array, there: Any, phase: float) -> list[int]:
    """Return where to put markers: everywhere, or evenly along a long line and at its end.

    Shifted by `phase`, so that the markers of two lines do not hide each other.
    """
    index = np.flatnonzero(there)
    if len(index) <= 2 * MARKS:
        return [int(i) for i in index]
    seen = [np.log(x[index]) if ax.get_xscale() == "log" else x[index]]
    seen += [np.log(y[index]) if ax.get_yscale() == "log" else y[index]]
    marks = along(seen[0], seen[1], (np.arange(MARKS) + phase) / MARKS)
    return sorted({int(index[i]) for i in [*marks, -1]})


def _floor(alike: Sequence[Panel]) -> Floor | None:
    """Return the floor of a log axis; None where y is linear."""
    parts = [part for panel in alike for one in panel.series for part in (one.y, one.low)]
    return floor_of([p for p in parts if p is not None]) if alike[0].y.log else None


def _raised(values: Array, floor: Floor | None) -> Array:
    return np.array(values if floor is None else floor.raised(values), dtype=np.float64)


def _heights(panel: Panel) -> list[Array]:
    """Return what the y axis must show: the lines, and the bands unless they are far above."""
    lines = [one.y for one in panel.series]
    finite = [y[np.isfinite(y)] for y in lines]
    most = max((float(y.max()) for y in finite if len(y)), default=math.inf)
    most = 10 * most if most > 0 and panel.y.log else math.inf
    around = [part for one in panel.series for part in (one.low, one.high) if part is not None]
    around += [np.array([y for _, y in one.crosses]) for one in panel.series]
    return [*lines, *(part[part <= most] for part in around)]


def _across(ax: Axes, panel: Panel) -> None:
    """Set the x axis: limits around all points, and its ticks."""
    if panel.x.categories:
        _name_categories(ax, panel.x.categories)
        return
    parts = [one.x for one in panel.series]
    parts += [np.array([x for x, _ in one.crosses]) for one in panel.series]
    scale(ax, "x", [*parts, np.array(panel.rules)], 0.03, log=panel.x.log)
    if panel.x.ticks:
        label_ticks(ax, panel.x.ticks)


def _name_categories(ax: Axes, names: Sequence[str]) -> None:
    """Write names below an axis: side by side where they fit, or else tilted."""
    size, room = font_size("xtick.labelsize"), 0.92 * extent(ax, "x") / len(names)
    ax.set_xlim(-0.5, len(names) - 0.5)
    words = (word for name in names for word in name.split())
    tilted = max((width(word, size) for word in words), default=0.0) > room
    tilted = tilted or max(len(fitted(name, room, size)) for name in names) > 2
    lines = [fitted(name, 1.4 if tilted else room, size, 2) for name in names]
    turned: dict[str, Any] = {"rotation": TILT, "ha": "right", "rotation_mode": "anchor"}
    labels = ["\n".join(parts) for parts in lines]
    ax.set_xticks(range(len(names)), labels, **(turned if tilted else {}), parse_math=False)


def _frame(ax: Axes, panel: Panel) -> None:
    """Label the axes and give them the look of all figures."""
    label(ax, "x", panel.x.label)
    label(ax, "y", panel.y.label)
    ax.grid(visible=True, which="major", color=GRID)
    ax.set_axisbelow(True)
    ax.tick_params(which="both", colors=MUTED, width=0.7)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(FAINT)


def _note_floor(ax: Axes, floor: Floor) -> None:
    ax.axhline(floor.at, color=FAINT, linewidth=0.8, linestyle=(0, (1, 3)), zorder=1)
    ax.annotate(
        f"0, or below {power(floor.zero)}", (0, floor.at),
        xycoords=("axes fraction", "data"), xytext=(5, 3), textcoords="offset points",
        ha="left", va="bottom", fontsize=font_size("ytick.labelsize"), color=MUTED, style="italic",
    )  # fmt: skip

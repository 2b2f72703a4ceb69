"""Drawing of one panel into a matplotlib axis: lines, bands, crosses, and the axis itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from orthobench.contract.panel import Panel, Series
from orthobench.report.figures.axes import extent, font_size, label_ticks, scale
from orthobench.report.figures.text import balanced, fitted, legend_text, power, width
from orthobench.report.plots.geometry import Floor, floor_of
from orthobench.report.style import Style
from orthobench.tools.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

INK = "#1a1a1a"
MUTED = "#5c5c5c"
FAINT = "#9a9a9a"
GRID = "#e4e4e4"

DASHES: tuple[tuple[int, tuple[float, ...]], ...] = ((0, (5, 3)), (0, (2, 2)), (0, (8, 2, 2, 2)))
"""The dashes of the first, second and third reference, then again from the first."""

MARKED = 12
"""A line of more points, and one of steps, has a marker at its end alone."""

SIZES = {"P": 1.25, "*": 1.65}
"""Factors that make these markers look as large as the others."""

TILT = 30
"""The least angle, in degrees, of names below an axis that do not fit side by side."""

LINE = 1.3
"""The distance of two lines of text, in font sizes."""

LONGEST = 2.2
"""The most inches of a tilted name on one line."""


def draw_panel(
    ax: Axes,
    panel: Panel,
    styles: Mapping[str, Style],
    figure_panels: Sequence[Panel] = (),
    banded: Sequence[str] | None = None,
) -> None:
    """Draw a panel into an axis: any axis, empty or not.

    Each series is a line with the marker of its solver at its end, with a band or bars around it,
    crosses where failed runs ended, and a ring around the chosen point. A cross at a place that a
    log axis does not have is drawn at its left end. On a log axis, values that are numerically zero
    are drawn on the lower edge, with a note (`orthobench.report.plots.geometry.Floor`), and no line
    leads there: nobody is seen to converge to zero. Sizes are those of matplotlib's settings.

    Parameters
    ----------
    ax : matplotlib Axes
    panel : Panel
    styles : mapping
        The style of each solver.
    figure_panels : sequence of Panel
        All panels of the figure. Those of the same y get one scale, and a reference has the same
        dashes in all of them.
    banded : sequence of str, optional
        The solvers that have bands; all by default.
    """
    if banded is not None and not panel.x.categories:
        panel, figure_panels = _banded(panel, banded), [_banded(p, banded) for p in figure_panels]
    panels = [panel, *figure_panels]
    same_y = [other for other in panels if other.y.key == panel.y.key]
    floor = _floor(same_y)
    _draw_frame(ax, panel)
    _set_x_axis(ax, panel)
    heights = [_raised(part, floor) for other in same_y for part in _heights(other)]
    scale(ax, "y", heights, log=floor is not None)
    for at in panel.rules:
        ax.axvline(at, color=MUTED, linewidth=0.8, linestyle=(0, (1, 3)), zorder=1)
    dashes = reference_dashes(figure_panels or panels)
    for number, series in enumerate(panel.series):
        solver, label = series.solver, series.label
        line = solver_line(styles[solver]) if solver else reference_line(dashes[label])
        _draw_series(ax, panel, number, line, floor)
    if floor is not None and floor.zeros:
        _note_floor(ax, floor)


def _banded(panel: Panel, names: Sequence[str]) -> Panel:
    """Return a panel without the bands of other solvers than these."""
    series = (s if s.solver in names else replace(s, low=None, high=None) for s in panel.series)
    return replace(panel, series=tuple(series))


def name_ends(ax: Axes, panel: Panel, styles: Mapping[str, Style], room: float) -> None:
    """Write the names of series to the right of an axis, each led to from the end of its line.

    Parameters
    ----------
    ax : matplotlib Axes
        With the panel drawn, of its final height.
    panel : Panel
    styles : mapping
        The style of each solver.
    room : float
        The most inches of a line of a name.
    """
    size, drawn = font_size("legend.fontsize"), {line.get_label(): line for line in ax.lines}
    ends = []
    for series in panel.series:
        label = legend_text(series.label)
        own = [drawn[name] for name in (f"_{label}", label) if name in drawn]
        found = [point for line in own for point in _last_point(ax, line)]
        ends.append((found[0] if found else None, fitted(series.label, room, size, 3), series))
    ends.sort(key=lambda end: (end[0][1], -end[0][0]) if end[0] else (-math.inf, 0.0))
    heights = [len(lines) * LINE * size / 72 / extent(ax, "y") for _, lines, _ in ends]
    rows = _apart([end[1] if end else 0.0 for end, _, _ in ends], heights)
    for (end, lines, series), row in zip(ends, rows, strict=True):
        colour = styles[series.solver].colour if series.solver else MUTED
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.5,
                  "shrinkA": 1, "shrinkB": 3, "relpos": (0, 0.5)}  # fmt: skip
        ax.annotate(
            "\n".join(lines), end or (1.0, 0.0), (1.04, row), "axes fraction", "axes fraction",
            color=colour, fontsize=size, va="center", parse_math=False, annotation_clip=False,
            arrowprops=leader if end else None,
        )  # fmt: skip


def _last_point(ax: Axes, line: Line2D) -> list[tuple[float, float]]:
    """Return the last point of a line in fractions of its axis, if there is any."""
    points = np.column_stack([line.get_xdata(), line.get_ydata()]).astype(np.float64)
    points = points[np.isfinite(points).all(axis=1)][-1:]
    seen = ax.transAxes.inverted().transform(ax.transData.transform(points))
    return [(min(float(x), 1.0), float(y)) for x, y in seen]


def _apart(places: Sequence[float], heights: Sequence[float]) -> Array:
    """Return ascending places moved as little as keeps things of these heights from overlapping.

    Isotonic regression: what overlaps is centred around its mean place, within 0 and 1 if it fits.
    """
    least = np.cumsum([0.0, *((a + b) / 2 for a, b in itertools.pairwise(heights))])
    pools: list[list[float]] = []
    for place, offset in zip(places, least, strict=False):
        pools.append([place - offset])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    starts = np.array([np.mean(pool) for pool in pools for _ in pool])
    rows: Array = np.clip(starts, 0.0, max(0.0, 1.0 - least[-1])) + least[: len(starts)]
    return rows


def label_axis(ax: Axes, which: str, text: str) -> None:
    """Label the ``"x"`` or ``"y"`` axis, on as many lines as its length demands."""
    lines = balanced(text, max(extent(ax, which), 1.0), font_size("axes.labelsize"))
    ax.set(**{f"{which}label": "\n".join(lines)})
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.label.set(color=INK, parse_math=False)


def solver_line(style: Style) -> dict[str, Any]:
    """Return a style as the keywords of a matplotlib line."""
    import matplotlib as mpl

    size, thickness = mpl.rcParams["lines.markersize"], mpl.rcParams["lines.linewidth"]
    return {
        "color": style.colour, "linestyle": style.line, "linewidth": thickness,
        "marker": style.marker, "markersize": size * SIZES.get(style.marker, 1.0),
        "markeredgecolor": "white", "markeredgewidth": 0.4 * thickness,
    }  # fmt: skip


def reference_line(dashes: tuple[int, tuple[float, ...]]) -> dict[str, Any]:
    """Return the keywords of a reference's line: grey, dashed, below all others."""
    import matplotlib as mpl

    thickness = 0.72 * mpl.rcParams["lines.linewidth"]
    return {"color": MUTED, "linestyle": dashes, "linewidth": thickness, "zorder": 1.5}


def reference_dashes(panels: Sequence[Panel]) -> dict[str, tuple[int, tuple[float, ...]]]:
    """Return the dashes of each reference by its label, the same in all panels."""
    labels = dict.fromkeys(s.label for panel in panels for s in panel.series if not s.solver)
    return {label: DASHES[i % len(DASHES)] for i, label in enumerate(labels)}


def _draw_series(
    ax: Axes, panel: Panel, number: int, line: Mapping[str, Any], floor: Floor | None
) -> None:
    """Draw one series: band or bars, line, crosses, and a ring around the chosen point."""
    series = panel.series[number]
    x, y = _positions(panel, number), _raised(series.y, floor)
    y[~np.isfinite(series.y) | (panel.x.log & (x <= 0))] = math.nan
    finite = np.isfinite(y)
    _draw_spread(ax, panel, series, x, finite, line["color"], floor)
    if panel.x.categories:
        line = {**line, "linestyle": "none"}
    steps = "steps-post" if panel.stepped else "default"
    zero = finite & (series.y <= (floor.zero if floor else -math.inf))
    label, few = legend_text(series.label), finite.sum() <= MARKED and not panel.stepped
    for i, part in enumerate([p for p in (~zero, zero) if p.any()] or [~zero]):
        points = np.flatnonzero(finite & part).tolist()
        more = {"label": f"_{label}" if i else label, "drawstyle": steps}
        markers = points if few else points[-1:]
        ax.plot(x, np.where(part, y, math.nan), **{**line, **more}, markevery=markers)
    left = _left_end(ax, panel)
    for at, end in series.crosses:
        height = float(_raised(np.array([end]), floor)[0])
        place = left if panel.x.log and at <= 0 else at
        _draw_marker(ax, place, height, "x", 1.15, color=line["color"], zorder=4)
    if series.chosen is not None and finite[series.chosen]:
        at, height = float(x[series.chosen]), float(y[series.chosen])
        ring = {"markeredgecolor": line["color"], "markerfacecolor": "none"}
        _draw_marker(ax, at, height, "o", 2.2, **ring)


def _left_end(ax: Axes, panel: Panel) -> float:
    """Return the left end of a log axis, for crosses at a place that it does not have."""
    values = np.concatenate(_xs(panel))
    return float(min(values[values > 0], default=ax.get_xlim()[0]))


def _xs(panel: Panel) -> list[Array]:
    """Return the x of all points and crosses."""
    points = [series.x for series in panel.series]
    return points + [np.array([x for x, _ in series.crosses]) for series in panel.series]


def _draw_marker(ax: Axes, x: float, y: float, marker: str, size: float, **more: Any) -> None:
    import matplotlib as mpl

    points, thickness = mpl.rcParams["lines.markersize"], mpl.rcParams["lines.linewidth"]
    ax.plot([x], [y], marker, markersize=size * points, markeredgewidth=thickness, **more)


def _draw_spread(
    ax: Axes,
    panel: Panel,
    series: Series,
    x: Array,
    finite: Any,
    colour: str,
    floor: Floor | None,
) -> None:
    """Draw the band, except where an end is infinite; bars where points are not connected."""
    import matplotlib as mpl

    if series.low is None or series.high is None:
        return
    low, high = _raised(series.low, floor), _raised(series.high, floor)
    banded = finite & np.isfinite(low) & np.isfinite(high)
    if panel.x.categories or finite.sum() == 1:
        thickness = mpl.rcParams["lines.linewidth"]
        ax.vlines(x[banded], low[banded], high[banded], color=colour, linewidth=thickness)
        return
    step: Literal["post"] | None = "post" if panel.stepped else None
    zero = series.low <= (floor.zero if floor else -math.inf)
    for where in (banded & ~zero, banded & zero):
        if where.any():
            ax.fill_between(
                x, low, high, where=where.tolist(), step=step, color=colour, alpha=0.13, linewidth=0
            )


def _positions(panel: Panel, number: int) -> Array:
    """Return the x of a series' points; side by side where several series share a category."""
    x = panel.series[number].x.astype(np.float64)
    if not panel.x.categories:
        return x
    used = np.concatenate([np.unique(series.x) for series in panel.series])
    if len(np.unique(used)) == len(used):
        return x
    count = len(panel.series)
    return np.asarray(x + 0.6 * (number - (count - 1) / 2) / count)


def _floor(panels: Sequence[Panel]) -> Floor | None:
    """Return the floor of the common y axis of some panels; None where it is linear."""
    parts = [part for panel in panels for series in panel.series for part in (series.y, series.low)]
    return floor_of([p for p in parts if p is not None]) if panels[0].y.log else None


def _raised(values: Array, floor: Floor | None) -> Array:
    """Return a copy of values with the zeros at the floor."""
    return np.array(values if floor is None else floor.raised(values), dtype=np.float64)


def _heights(panel: Panel) -> list[Array]:
    """Return the values that the y axis must show: lines, and bands unless they are far above."""
    lines = [series.y for series in panel.series]
    finite = [y[np.isfinite(y)] for y in lines]
    most = max((float(y.max()) for y in finite if len(y)), default=math.inf)
    most = 10 * most if most > 0 and panel.y.log else math.inf
    around = [part for s in panel.series for part in (s.low, s.high) if part is not None]
    around += [np.array([y for _, y in series.crosses]) for series in panel.series]
    return [*lines, *(part[part <= most] for part in around)]


def _set_x_axis(ax: Axes, panel: Panel) -> None:
    """Set the limits of the x axis, around all points, and its ticks."""
    if panel.x.categories:
        _name_categories(ax, panel.x.categories)
        return
    scale(ax, "x", [*_xs(panel), np.array(panel.rules)], 0.03, log=panel.x.log)
    if panel.x.ticks:
        label_ticks(ax, panel.x.ticks)


def _name_categories(ax: Axes, names: Sequence[str]) -> None:
    """Write names below an axis: side by side if they fit, tilted otherwise.

    Tilted ones are two lines, or one where neighbours leave no room for two, and as steep as that
    needs.
    """
    size, room = font_size("xtick.labelsize"), 0.92 * extent(ax, "x") / len(names)
    ax.set_xlim(-0.5, len(names) - 0.5)
    words = (word for name in names for word in name.split())
    tilted = max((width(word, size) for word in words), default=0.0) > room
    tilted = tilted or max(len(fitted(name, room, size)) for name in names) > 2
    share = LINE * size / 72 / room
    tilt = max(TILT, math.degrees(math.asin(min(share, 1.0))))
    two = 2 * share <= math.sin(math.radians(tilt))
    length, most = (room, 2) if not tilted else (1.4, 2) if two else (LONGEST, 1)
    lines = [fitted(name, length, size, most) for name in names]
    rotation: dict[str, Any] = {"rotation": tilt, "ha": "right", "rotation_mode": "anchor"}
    labels = ["\n".join(parts) for parts in lines]
    ax.set_xticks(range(len(names)), labels, **(rotation if tilted else {}), parse_math=False)


def _draw_frame(ax: Axes, panel: Panel) -> None:
    """Label the axes, and draw grid, ticks and spines."""
    label_axis(ax, "x", panel.x.label)
    label_axis(ax, "y", panel.y.label)
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

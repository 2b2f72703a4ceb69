"""Drawing of one panel into a matplotlib axis: lines, bands, crosses, and the axis itself."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from orthobench.contract.panel import Panel, Series
from orthobench.report.plots.geometry import LINEAR, Floor, floor_of
from orthobench.report.style import Style
from orthobench.tools.arrays import Array
from orthobench.tools.formatting import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1a1a1a"
MUTED = "#5c5c5c"
FAINT = "#9a9a9a"
GRID = "#e4e4e4"

DASHES: tuple[tuple[int, tuple[float, ...]], ...] = ((0, (5, 3)), (0, (2, 2)), (0, (8, 2, 2, 2)))
"""The dashes of the first, second and third reference, then again from the first."""

MARKED = 12
"""A line of more points, and one of steps, has a marker at its end alone."""

BANDS = 3
"""The most bands of a panel: those of the lines that end lowest."""

SIZES = {"P": 1.25, "*": 1.65}
"""Factors that make these markers look as large as the others."""

TILT = 30
"""The least angle, in degrees, of names below an axis that do not fit side by side."""

LETTER = 0.6
"""The width of a letter, in font sizes."""

MARGINS = {"x": 0.03, "y": 0.06}
"""The room beyond the values at both ends of an axis, as a fraction of their span."""


def draw_panel(
    ax: Axes,
    panel: Panel,
    styles: Mapping[str, Style],
    figure_panels: Sequence[Panel] = (),
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
    """
    panels = [panel, *figure_panels]
    same_y = [other for other in panels if other.y.key == panel.y.key]
    floor = _floor(same_y)
    _draw_frame(ax, panel)
    _set_x_axis(ax, panel)
    heights = [floor.raised(part) for other in same_y for part in _heights(other)]
    _scale(ax, "y", heights, log=floor.log)
    for at in panel.rules:
        ax.axvline(at, color=MUTED, linewidth=0.8, linestyle=(0, (1, 3)), zorder=1)
    dashes = reference_dashes(figure_panels or panels)
    for number, series in enumerate(panel.series):
        solver, label = series.solver, series.label
        line = solver_line(styles[solver]) if solver else reference_line(dashes[label])
        _draw_series(ax, panel, number, line, floor)
    if floor.zeros:
        _note_floor(ax, floor)


def folded(text: str, inches: float, size: float) -> str:
    """Return a text on lines of about so many inches, in letters of a size in points."""
    return textwrap.fill(clean(text), max(8, int(72 * inches / (LETTER * size))))


def legend_text(label: str) -> str:
    """Return a label such that matplotlib's legend shows it literally.

    Otherwise matplotlib hides an empty label and one with a leading underscore, and reads text
    between dollar signs as a formula.
    """
    label = label.replace("$", r"\$")
    return label if label[:1].strip("_") else f" {label}"


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
    ax: Axes, panel: Panel, number: int, line: Mapping[str, Any], floor: Floor
) -> None:
    """Draw one series: band or bars, line, crosses, and a ring around the chosen point."""
    series = panel.series[number]
    x, y = _positions(panel, number), floor.raised(series.y)
    y[~np.isfinite(series.y) | (panel.x.log & (x <= 0))] = math.nan
    finite = np.isfinite(y)
    _draw_spread(ax, panel, series, x, finite, line["color"], floor)
    if panel.x.categories:
        line = {**line, "linestyle": "none"}
    steps = "steps-post" if panel.stepped else "default"
    zero = finite & (series.y <= floor.zero)
    label, few = legend_text(series.label), finite.sum() <= MARKED and not panel.stepped
    for i, part in enumerate([p for p in (~zero, zero) if p.any()] or [~zero]):
        points = np.flatnonzero(finite & part).tolist()
        more = {"label": f"_{label}" if i else label, "drawstyle": steps}
        markers = points if few else points[-1:]
        ax.plot(x, np.where(part, y, math.nan), **{**line, **more}, markevery=markers)
    for at, end in series.crosses:
        height = float(floor.raised(np.array([end]))[0])
        place = ax.get_xlim()[0] if panel.x.log and at <= 0 else at
        _draw_marker(ax, place, height, "x", 1.15, color=line["color"], zorder=4, clip_on=False)
    if series.chosen is not None and finite[series.chosen]:
        at, height = float(x[series.chosen]), float(y[series.chosen])
        ring = {"markeredgecolor": line["color"], "markerfacecolor": "none"}
        _draw_marker(ax, at, height, "o", 2.2, **ring)


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
    floor: Floor,
) -> None:
    """Draw the band, except where an end is infinite; bars where points are not connected."""
    import matplotlib as mpl

    if series.low is None or series.high is None:
        return
    low, high = floor.raised(series.low), floor.raised(series.high)
    banded = finite & np.isfinite(low) & np.isfinite(high)
    if panel.x.categories or finite.sum() == 1:
        thickness = mpl.rcParams["lines.linewidth"]
        ax.vlines(x[banded], low[banded], high[banded], color=colour, linewidth=thickness)
        return
    ends = sorted(_last(one) for one in panel.series if one.low is not None)
    if _last(series) > ends[:BANDS][-1]:
        return
    step: Literal["post"] | None = "post" if panel.stepped else None
    zero = series.low <= floor.zero
    drawn: dict[str, Any] = {"color": colour, "alpha": 0.13}
    for where in (banded & ~zero, banded & zero):
        if where.any():
            ax.fill_between(x, low, high, where=where.tolist(), step=step, linewidth=0, **drawn)


def _last(series: Series) -> float:
    """Return the last finite value of a series; infinite without any."""
    finite = series.y[np.isfinite(series.y)]
    return float(finite[-1]) if len(finite) else math.inf


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


def _floor(panels: Sequence[Panel]) -> Floor:
    """Return the floor of the common y axis of some panels."""
    parts = [part for panel in panels for series in panel.series for part in (series.y, series.low)]
    return floor_of([p for p in parts if p is not None]) if panels[0].y.log else LINEAR


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
    from matplotlib.ticker import NullLocator

    if panel.x.categories:
        _name_categories(ax, panel.x.categories)
        return
    _scale(ax, "x", [*_xs(panel), np.array(panel.rules)], log=panel.x.log)
    if panel.x.ticks:
        ax.set_xticks(panel.x.ticks, [f"{tick:,.6g}" for tick in panel.x.ticks], rotation=TILT)
        ax.xaxis.set_minor_locator(NullLocator())


def _scale(ax: Axes, which: str, parts: Sequence[Array], *, log: bool) -> None:
    """Set scale and limits of an axis, around all values that it can show."""
    values = np.concatenate([np.empty(0), *parts])
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    ends = [values.min(), values.max()] if len(values) else [0.1, 1.0]
    low, high = np.log10(ends) if log else ends
    pad = MARGINS[which] * (high - low) or (0.5 if log else 0.1 * abs(high) or 1.0)
    limits = (10 ** (low - pad), 10 ** (high + pad)) if log else (low - pad, high + pad)
    ax.set(**{f"{which}scale": "log" if log else "linear", f"{which}lim": limits})


def _name_categories(ax: Axes, names: Sequence[str]) -> None:
    """Write names below an axis: side by side if they fit, otherwise as steep as they need."""
    size, room = _font_size("xtick.labelsize"), _inches(ax, "x") / len(names)
    ax.set_xlim(-0.5, len(names) - 0.5)
    labels = [textwrap.shorten(name, 40, placeholder=" …") for name in names]
    tilt = math.degrees(math.asin(min(1.3 * size / 72 / room, 1.0)))
    rotation: dict[str, Any] = {
        "rotation": max(TILT, tilt),
        "ha": "right",
        "rotation_mode": "anchor",
    }
    fits = max(map(len, labels)) * LETTER * size / 72 <= room
    ax.set_xticks(range(len(names)), labels, **({} if fits else rotation), parse_math=False)


def _inches(ax: Axes, which: str) -> float:
    """Return the length of an axis."""
    return float((ax.bbox.width if which == "x" else ax.bbox.height) / ax.figure.dpi)


def _font_size(setting: str) -> float:
    """Return a font size from matplotlib's settings, in points."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties

    value: Any = cast("Mapping[str, Any]", mpl.rcParams)[setting]
    return float(FontProperties(size=value).get_size_in_points())


def _draw_frame(ax: Axes, panel: Panel) -> None:
    """Label the axes, and draw grid, ticks and spines."""
    for which, axis in (("x", panel.x), ("y", panel.y)):
        text = folded(axis.label, max(_inches(ax, which), 1.0), _font_size("axes.labelsize"))
        ax.set(**{f"{which}label": text})
        getattr(ax, f"{which}axis").label.set(color=INK, parse_math=False)
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
        f"0, or below {floor.zero:.0e}", (0, floor.at),
        xycoords=("axes fraction", "data"), xytext=(5, 3), textcoords="offset points",
        ha="left", va="bottom", fontsize=_font_size("ytick.labelsize"), color=MUTED, style="italic",
    )  # fmt: skip

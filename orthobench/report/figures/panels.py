"""Drawing of one panel into a matplotlib axis: lines, bands, crosses, and the axis itself."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from orthobench.contract.panel import Panel, Series
from orthobench.report.plots.geometry import Floor, panel_floor, positions, x_range, y_range
from orthobench.report.style import REFERENCES, Style
from orthobench.tools.arrays import Array
from orthobench.tools.formatting import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis

INK = "#1a1a1a"
MUTED = "#5c5c5c"
FAINT = "#9a9a9a"
GRID = "#e4e4e4"

MARKED = 12
"""A line of more points has a marker only at its end."""

BANDS = 3
"""Maximum number of bands: those of the lowest ends."""

TILT = 45
"""The angle of names below an axis, in degrees."""

STAR = 1.6
"""The size of a star, in sizes of other markers: its white edge would hide it."""

SHORT = 50
"""Ratio of the ends of a log axis below which powers of ten alone are too few labels."""

LETTER = 0.6
"""The width of a letter, in font sizes."""


def draw_panel(
    ax: Axes, panel: Panel, styles: Mapping[str, Style], figure_panels: Sequence[Panel] = ()
) -> None:
    """Draw a panel into an axis: lines with a marker at the end, bands, crosses and rings.

    In a figure, equal y have one scale, and equal references one style.
    """
    panels = figure_panels or [panel]
    same_y = [other for other in panels if other.y.key == panel.y.key]
    floor = panel_floor(same_y)
    _draw_frame(ax, panel)
    _set_x_axis(ax, panel)
    ax.set_yscale("log" if floor.log else "linear")
    ax.set_ylim(y_range(same_y, floor))
    _set_ticks(ax.xaxis, log=panel.x.log and not panel.x.categories)
    _set_ticks(ax.yaxis, log=floor.log)
    for at in panel.rules:
        ax.axvline(at, color=MUTED, linewidth=0.8, linestyle=(0, (1, 3)), zorder=1)
    labels = (one.label for each in panels for one in each.series if not one.solver)
    references = list(dict.fromkeys(labels))
    for number, series in enumerate(panel.series):
        dashes = 0 if series.solver else references.index(series.label) % len(REFERENCES)
        line = _line(styles.get(series.solver), REFERENCES[dashes])
        _draw_series(ax, panel, number, line, floor)
    if floor.zeros:
        _note_floor(ax, floor)


def folded(text: str, inches: float, size: float) -> str:
    """Return a text on lines of about this length, for a font size in points."""
    return textwrap.fill(clean(text), max(8, int(72 * inches / (LETTER * size))))


def legend_text(label: str) -> str:
    """Return a label that matplotlib shows literally, also with ``_`` and ``$``."""
    label = label.replace("$", r"\$")
    return label if label[:1].strip("_") else f" {label}"


def last_of(series: Series, missing: float = math.inf) -> float:
    """Return the last finite value of a series."""
    finite = series.y[np.isfinite(series.y)]
    return float(finite[-1]) if len(finite) else missing


def _line(style: Style | None, dashes: tuple[float, ...]) -> dict[str, Any]:
    """Return the keywords of a solver's line, or those of a reference: grey, below all others."""
    thickness = _setting("lines.linewidth")
    if style is None:
        return {"color": MUTED, "linestyle": (0, dashes), "linewidth": 0.72 * thickness,
                "zorder": 1.5}  # fmt: skip
    size = (STAR if style.marker == "*" else 1.0) * _setting("lines.markersize")
    return {"color": style.colour, "linestyle": (0, style.dashes), "marker": style.marker,
            "markersize": size, "markeredgecolor": "white",
            "markeredgewidth": 0.4 * thickness}  # fmt: skip


def _draw_series(
    ax: Axes, panel: Panel, number: int, line: Mapping[str, Any], floor: Floor
) -> None:
    series = panel.series[number]
    x, y = positions(panel, number), floor.raised(series.y)
    y[~np.isfinite(series.y) | np.isnan(x)] = math.nan
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
    mark: dict[str, Any] = {
        "markeredgecolor": line["color"], "markeredgewidth": _setting("lines.linewidth"),
    }  # fmt: skip
    size, left = _setting("lines.markersize"), ax.get_xlim()[0]
    for at, end in series.crosses:
        ax.plot(max(at, left), floor.raised(np.array(end)), "x", markersize=1.15 * size, zorder=4,
                clip_on=False, **mark)  # fmt: skip
    if series.chosen is not None and finite[series.chosen]:
        at = series.chosen
        ax.plot(x[at], y[at], "o", markersize=2.2 * size, markerfacecolor="none", **mark)


def _draw_spread(
    ax: Axes, panel: Panel, series: Series, x: Array, finite: Any, colour: str, floor: Floor
) -> None:
    """Draw the band, except if an end is infinite; bars if points are not connected."""
    if series.low is None or series.high is None:
        return
    low, high = floor.raised(series.low), floor.raised(series.high)
    banded = finite & np.isfinite(low) & np.isfinite(high)
    if panel.x.categories or finite.sum() == 1:
        ax.vlines(x[banded], low[banded], high[banded], color=colour)
        return
    ends = sorted(last_of(one) for one in panel.series if one.low is not None)
    if last_of(series) > ends[:BANDS][-1]:
        return
    zero = series.low <= floor.zero
    for part in filter(np.any, (banded & ~zero, banded & zero)):
        ax.fill_between(x, low, high, where=part.tolist(), color=colour, alpha=0.13, linewidth=0)


def _set_x_axis(ax: Axes, panel: Panel) -> None:
    if names := panel.x.categories:
        labels = [textwrap.shorten(name, 40, placeholder=" …") for name in names]
        ax.set_xticks(range(len(names)), labels, rotation=TILT, ha="right",
                      rotation_mode="anchor", parse_math=False)  # fmt: skip
    else:
        ax.set_xscale("log" if panel.x.log else "linear")
    ax.set_xlim(x_range(panel))


def _set_ticks(axis: XAxis | YAxis, *, log: bool) -> None:
    """Label 1, 2 and 5 times powers of ten on a short log axis: more would touch."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = axis.get_view_interval()
    if log and high < SHORT * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_formatter(NullFormatter())


def _setting(name: str) -> Any:
    import matplotlib as mpl

    return cast("Mapping[str, Any]", mpl.rcParams)[name]


def _draw_frame(ax: Axes, panel: Panel) -> None:
    sides = ((ax.xaxis, panel.x, ax.bbox.width), (ax.yaxis, panel.y, ax.bbox.height))
    for drawn, axis, pixels in sides:
        room, size = max(pixels / ax.figure.dpi, 1.0), float(drawn.label.get_fontsize())
        drawn.label.set(text=folded(axis.label, room, size), color=INK, parse_math=False)
    ax.grid(visible=True, which="major", color=GRID)
    ax.set_axisbelow(True)
    ax.tick_params(which="both", colors=MUTED, width=0.7)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)


def _note_floor(ax: Axes, floor: Floor) -> None:
    ax.axhline(floor.at, color=FAINT, linewidth=0.8, linestyle=(0, (1, 3)), zorder=1)
    ax.annotate(
        f"0, or below {floor.zero:.0e}", (0, floor.at),
        xycoords=("axes fraction", "data"), xytext=(5, 3), textcoords="offset points",
        ha="left", va="bottom", fontsize=_setting("ytick.labelsize"), color=MUTED, style="italic",
    )  # fmt: skip

"""The figure of a plot: its panels side by side or stacked, a heading above, a legend below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from orthobench.contract.panel import Key, Panel, Plot
from orthobench.report.figures.axes import TITLE_PAD, extent, font_size, room
from orthobench.report.figures.layouts import SCREEN, Layout
from orthobench.report.figures.panels import (
    INK,
    MUTED,
    draw_panel,
    label_axis,
    reference_dashes,
    reference_line,
    solver_line,
)
from orthobench.report.figures.text import LINE, fitted, legend_text, width
from orthobench.report.style import Style
from orthobench.tools.formatting import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

HANDLE, PAD, BETWEEN = 2.8, 0.6, 1.2
"""Length of a legend's lines, distance to their labels and between columns, in font sizes."""

MOST_COLUMNS = 4
"""The most columns of a legend."""


def sheet_panels(plot: Plot) -> dict[Key, Panel]:
    """Return the panels of a plot that are drawn in files, by their options.

    Parameters
    ----------
    plot : Plot
    """
    keys = list(plot.sheet) or [next(plot.keys())]
    return {key: plot.draw(key) for key in keys}


def draw_figure(
    plot: Plot,
    styles: Mapping[str, Style],
    layout: Layout = SCREEN,
    panels: Mapping[Key, Panel] | None = None,
) -> Figure:
    """Draw the figure of a plot.

    Parameters
    ----------
    plot : Plot
    styles : mapping
        The style of each solver.
    layout : Layout
    panels : mapping, optional
        The `sheet_panels` of the plot, if they are there already.

    Returns
    -------
    Figure
        With an Agg canvas; within `Layout.applied`, its ``savefig`` writes every format.
    """
    all_panels = list((panels or sheet_panels(plot)).values())
    columns = layout.columns_for(len(all_panels))
    with layout.applied():
        width = layout.widths[columns - 1]
        fig = blank(width, 4.0)
        axes = _axes(fig, len(all_panels), columns, layout)
        for i, (ax, panel) in enumerate(zip(axes, all_panels, strict=True)):
            draw_panel(ax, panel, styles, all_panels)
            if i % columns and all_panels[i - 1].y == panel.y:
                ax.set_ylabel("")
            _set_title(ax, panel.title, layout)
        lines = heading(plot.name, plot.about, width, layout)
        legend = _legend(fig, all_panels, styles, layout)
        _arrange(fig, axes, columns, heading_height(lines), legend, layout)
        for ax, panel in zip(axes, all_panels, strict=True):
            label_axis(ax, "x", panel.x.label)  # now that its length is known
        _arrange(fig, axes, columns, heading_height(lines), legend, layout)
        write_heading(fig, lines, layout)
    return fig


def blank(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, with an Agg canvas."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fig = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(fig)
    return fig


def heading(
    title: str, about: Sequence[str], width: float, layout: Layout
) -> list[tuple[str, dict[str, Any]]]:
    """Return the lines of text above a figure, with the keywords of each; none in papers.

    Parameters
    ----------
    title : str
    about : sequence of str
        The parts of the caption.
    width : float
        Of the figure.
    layout : Layout
    """
    if not layout.titled:
        return []
    room = width - 2 * layout.margin
    bold = {"fontsize": layout.title, "fontweight": "bold", "color": INK}
    small = {"fontsize": layout.small, "color": MUTED}
    lines = [(text, bold) for text in fitted(title, room, layout.title, 3, bold=True)]
    return lines + [(text, small) for text in fitted(" · ".join(about), room, layout.small)]


def heading_height(lines: Sequence[tuple[str, Mapping[str, Any]]]) -> float:
    """Return the height of the lines of a heading, in inches."""
    return sum(LINE * float(keywords["fontsize"]) / 72 for _, keywords in lines)


def write_heading(
    fig: Figure, lines: Sequence[tuple[str, Mapping[str, Any]]], layout: Layout
) -> None:
    """Write the lines of a heading at the upper left of a figure."""
    height = fig.get_figheight()
    at = height - layout.margin
    left = layout.margin / fig.get_figwidth()
    for text, keywords in lines:
        fig.text(left, at / height, text, va="top", parse_math=False, **keywords)
        at -= LINE * keywords["fontsize"] / 72


def _axes(fig: Figure, panels: int, columns: int, layout: Layout) -> list[Axes]:
    """Return axes of about their final size."""
    width, height = fig.get_size_inches()
    about = width / columns - 6 * layout.text / 72
    return [
        fig.add_axes((0.1, 0.1, about / width, layout.height / height), label=str(i))
        for i in range(panels)
    ]


def _set_title(ax: Axes, text: str, layout: Layout) -> None:
    """Write the title of a panel above it; a single panel in a paper has it in the caption."""
    if not text or not (layout.titled or len(ax.figure.axes) > 1):
        return
    size = font_size("axes.titlesize")
    lines = fitted(text, extent(ax, "x"), size)
    ax.set_title("\n".join(lines), color=MUTED, parse_math=False, pad=TITLE_PAD * size)


def _legend(
    fig: Figure, panels: Sequence[Panel], styles: Mapping[str, Style], layout: Layout
) -> Legend | None:
    """Draw the legend of what no axis names, with as many columns as fit."""
    axes = [axis for panel in panels for axis in (panel.x, panel.y)]
    named = {legend_text(name) for axis in axes for name in axis.categories}
    handles = _handles(panels, styles, fig.get_figwidth() - 2 * layout.margin, layout)
    handles = [handle for handle in handles if handle.get_label() not in named]
    if not handles:
        return None
    legend = fig.legend(
        handles=handles, loc="lower center", ncols=_columns(handles, fig.get_figwidth(), layout),
        frameon=False, borderpad=0, borderaxespad=0, handlelength=HANDLE, handletextpad=PAD,
        columnspacing=BETWEEN, labelcolor=INK,
    )  # fmt: skip
    legend.set_in_layout(False)
    return legend


def _handles(
    panels: Sequence[Panel], styles: Mapping[str, Style], room: float, layout: Layout
) -> list[Line2D]:
    """Return the entries of the legend: solvers by name, then references."""
    from matplotlib.lines import Line2D

    dashes = reference_dashes(panels)
    entries = {(series.solver, series.label) for panel in panels for series in panel.series}
    room -= (HANDLE + PAD + 1) * layout.small / 72
    handles = []
    for solver, label in sorted(entries, key=lambda entry: (not entry[0], *entry)):
        line = solver_line(styles[solver]) if solver else reference_line(dashes[label])
        text = "\n".join(fitted(label, room, layout.small, 3))
        handles.append(Line2D([], [], **line, label=legend_text(text)))
    return handles


def _columns(handles: Sequence[Line2D], room: float, layout: Layout) -> int:
    """Return how many columns of a legend fit into a figure of this width, filled evenly."""
    size = layout.small / 72
    labels = [str(handle.get_label()).split("\n") for handle in handles]
    widths = [max(width(part, layout.small) for part in parts) for parts in labels]
    for columns in range(min(MOST_COLUMNS, len(handles)), 1, -1):
        groups = np.array_split(widths, columns)
        needed = sum(float(group.max()) + (HANDLE + PAD + BETWEEN) * size for group in groups)
        if needed - BETWEEN * size <= room - 2 * layout.margin:
            rows = -(-len(handles) // columns)
            return -(-len(handles) // rows)
    return 1


def _arrange(
    fig: Figure,
    axes: Sequence[Axes],
    columns: int,
    heading: float,
    legend: Legend | None,
    layout: Layout,
) -> None:
    """Make the figure as high as needed, and put the axes where nothing overlaps."""
    rooms = [room(ax) for ax in axes]
    by_column = [rooms[i::columns] for i in range(columns)]
    by_row = [rooms[i : i + columns] for i in range(0, len(axes), columns)]
    left, right = ([max(one[side] for one in group) for group in by_column] for side in (0, 2))
    below, above = ([max(one[side] for one in group) for group in by_row] for side in (1, 3))
    width, gaps = fig.get_figwidth(), layout.gap * (columns - 1)
    panel = (width - 2 * layout.margin - gaps - sum(left) - sum(right)) / columns
    head = layout.margin + (heading + layout.away if heading else 0.0)
    foot = layout.margin + (_legend_height(legend) + layout.away if legend else 0.0)
    rows = sum(below) + sum(above) + len(by_row) * (layout.height + layout.gap) - layout.gap
    height = head + rows + foot
    fig.set_size_inches(width, height)
    for i, ax in enumerate(axes):
        row, column = divmod(i, columns)
        x = layout.margin + sum(left[: column + 1]) + sum(right[:column])
        y = head + sum(above[: row + 1]) + sum(below[:row]) + layout.height
        x, y = x + column * (panel + layout.gap), y + row * (layout.height + layout.gap)
        ax.set_position((x / width, 1 - y / height, panel / width, layout.height / height))
    if legend:
        legend.set_bbox_to_anchor((0.5, layout.margin / height))


def _legend_height(legend: Legend) -> float:
    return float(legend.get_window_extent().height) / legend.figure.dpi


def metadata(plot_name: str, about: Sequence[str], kind: str) -> dict[str, Any]:
    """Return the metadata of a file: its title and caption, but no date.

    Parameters
    ----------
    plot_name : str
    about : sequence of str
    kind : str
        ``"png"``, ``"svg"`` or ``"pdf"``.
    """
    title, text = clean(plot_name), clean(" · ".join(about))
    if kind == "pdf":
        return {"Title": title, "Subject": text, "CreationDate": None}
    undated = {"Date": None} if kind == "svg" else {}
    return {"Title": title, "Description": text, **undated}

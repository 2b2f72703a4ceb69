"""One figure of a plot: its panels side by side or stacked, a title above, a legend below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from orthobench.contract.panel import Key, Panel, Plot
from orthobench.report.figures.axes import TITLE_PAD, extent, font_size, room
from orthobench.report.figures.drawing import INK, MUTED, draw, label, line, reference, references
from orthobench.report.figures.layouts import SCREEN, Layout
from orthobench.report.figures.text import LINE, fitted, shown, width
from orthobench.report.style import Style
from orthobench.report.words import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

HANDLE, PAD, BETWEEN = 2.8, 0.6, 1.2
"""Of a legend: length of its lines, room to their labels and between columns, in font sizes."""

MOST_COLUMNS = 4
"""Of a legend."""


def on_paper(plot: Plot) -> dict[Key, Panel]:
    """Return the panels that a plot has on paper, by their options.

    Parameters
    ----------
    plot : Plot
    """
    keys = list(plot.sheet) or [next(plot.keys())]
    return {key: plot.draw(key) for key in keys}


def figure(
    plot: Plot,
    looks: Mapping[str, Style],
    layout: Layout = SCREEN,
    panels: Mapping[Key, Panel] | None = None,
) -> Figure:
    """Draw a plot as it stands on paper.

    Parameters
    ----------
    plot : Plot
    looks : mapping
        The style of each solver.
    layout : Layout
    panels : mapping, optional
        Where they are at hand: `on_paper`.

    Returns
    -------
    Figure
        With an Agg canvas; within `Layout.applied`, its ``savefig`` writes every format.
    """
    panels = panels or on_paper(plot)
    beside = layout.across(len(panels))
    with layout.applied():
        wide = layout.widths[beside - 1]
        fig = blank(wide, 4.0)
        axes = _axes(fig, len(panels), beside, layout)
        every = list(panels.values())
        for i, (ax, panel) in enumerate(zip(axes, every, strict=True)):
            draw(ax, panel, looks, every)
            if i % beside and every[i - 1].y == panel.y:
                ax.set_ylabel("")
            _entitle(ax, panel.title, layout)
        above = heading(plot.name, plot.about, wide, layout)
        legend = _legend(fig, every, looks, layout)
        _arrange(fig, axes, beside, height_of(above), legend, layout)
        for ax, panel in zip(axes, every, strict=True):
            label(ax, "x", panel.x.label)  # now that its length is known
        _arrange(fig, axes, beside, height_of(above), legend, layout)
        write_heading(fig, above, layout)
    return fig


def blank(wide: float, high: float) -> Figure:
    """Return an empty figure of a size in inches, with an Agg canvas."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fig = Figure(figsize=(wide, high), facecolor="white")
    FigureCanvasAgg(fig)
    return fig


def heading(
    title: str, about: Sequence[str], wide: float, layout: Layout
) -> list[tuple[str, dict[str, Any]]]:
    """Return the lines of text that stand above a figure, with how they look.

    Parameters
    ----------
    title : str
    about : sequence of str
        What a reader must know.
    wide : float
        The figure's width.
    layout : Layout
    """
    if not layout.titled:
        return []
    room = wide - 2 * layout.margin
    bold = {"fontsize": layout.title, "fontweight": "bold", "color": INK}
    small = {"fontsize": layout.small, "color": MUTED}
    lines = [(text, bold) for text in fitted(title, room, layout.title, 3, bold=True)]
    return lines + [(text, small) for text in fitted(" · ".join(about), room, layout.small)]


def height_of(above: Sequence[tuple[str, Mapping[str, Any]]]) -> float:
    """Return how high the lines of a heading are, in inches."""
    return sum(LINE * float(look["fontsize"]) / 72 for _, look in above)


def write_heading(
    fig: Figure, above: Sequence[tuple[str, Mapping[str, Any]]], layout: Layout
) -> None:
    """Write lines of text at the upper left of a figure."""
    high = fig.get_figheight()
    at = high - layout.margin
    for text, look in above:
        fig.text(
            layout.margin / fig.get_figwidth(), at / high, text, va="top", parse_math=False, **look
        )
        at -= LINE * look["fontsize"] / 72


def _axes(fig: Figure, panels: int, beside: int, layout: Layout) -> list[Axes]:
    """Return axes of about their final size."""
    wide, high = fig.get_size_inches()
    about = wide / beside - 6 * layout.text / 72
    return [
        fig.add_axes((0.1, 0.1, about / wide, layout.height / high), label=str(i))
        for i in range(panels)
    ]


def _entitle(ax: Axes, text: str, layout: Layout) -> None:
    """Write what a panel is of above it; a single one on paper has it in its caption."""
    if not text or not (layout.titled or len(ax.figure.axes) > 1):
        return
    size = font_size("axes.titlesize")
    lines = fitted(text, extent(ax, "x"), size)
    ax.set_title("\n".join(lines), color=MUTED, parse_math=False, pad=TITLE_PAD * size)


def _legend(
    fig: Figure, panels: Sequence[Panel], looks: Mapping[str, Style], layout: Layout
) -> Legend | None:
    """Draw the legend with as many columns as fit; none where the x axis names all of it."""
    handles = _handles(panels, looks, fig.get_figwidth() - 2 * layout.margin, layout)
    named = {shown(name) for panel in panels for name in panel.x.categories}
    if not handles or named >= {str(handle.get_label()) for handle in handles}:
        return None
    legend = fig.legend(
        handles=handles, loc="lower center", ncols=_columns(handles, fig.get_figwidth(), layout),
        frameon=False, borderpad=0, borderaxespad=0, handlelength=HANDLE, handletextpad=PAD,
        columnspacing=BETWEEN, labelcolor=INK,
    )  # fmt: skip
    legend.set_in_layout(False)
    return legend


def _handles(
    panels: Sequence[Panel], looks: Mapping[str, Style], room: float, layout: Layout
) -> list[Line2D]:
    """Return what the legend shows: solvers by name, then references."""
    from matplotlib.lines import Line2D

    dashes = references(panels)
    every = {(one.solver, one.label): None for panel in panels for one in panel.series}
    room -= (HANDLE + PAD + 1) * layout.small / 72
    found = []
    for solver, name in sorted(every, key=lambda who: (not who[0], *who)):
        look = line(looks[solver]) if solver else reference(dashes[name])
        text = "\n".join(fitted(name, room, layout.small, 3))
        found.append(Line2D([], [], **look, label=shown(text)))
    return found


def _columns(handles: Sequence[Line2D], wide: float, layout: Layout) -> int:
    """Return how many columns of a legend fit, filled evenly."""
    size = layout.small / 72
    labels = [str(handle.get_label()).split("\n") for handle in handles]
    widths = [max(width(part, layout.small) for part in parts) for parts in labels]
    for columns in range(min(MOST_COLUMNS, len(handles)), 1, -1):
        groups = np.array_split(widths, columns)
        needed = sum(float(group.max()) + (HANDLE + PAD + BETWEEN) * size for group in groups)
        if needed - BETWEEN * size <= wide - 2 * layout.margin:
            rows = -(-len(handles) // columns)
            return -(-len(handles) // rows)
    return 1


def _arrange(
    fig: Figure,
    axes: Sequence[Axes],
    beside: int,
    above: float,
    legend: Legend | None,
    layout: Layout,
) -> None:
    """Make the figure as high as needed, and put the axes where nothing overlaps."""
    around = [room(ax) for ax in axes]
    columns = [around[i::beside] for i in range(beside)]
    rows = [around[i : i + beside] for i in range(0, len(axes), beside)]
    left, right = ([max(part[side] for part in c) for c in columns] for side in (0, 2))
    below, over = ([max(part[side] for part in r) for r in rows] for side in (1, 3))
    wide, gaps = fig.get_figwidth(), layout.gap * (beside - 1)
    panel = (wide - 2 * layout.margin - gaps - sum(left) - sum(right)) / beside
    head = layout.margin + (above + layout.away if above else 0.0)
    foot = layout.margin + (_height(legend) + layout.away if legend else 0.0)
    rowed = sum(below) + sum(over) + len(rows) * (layout.height + layout.gap) - layout.gap
    high = head + rowed + foot
    fig.set_size_inches(wide, high)
    for i, ax in enumerate(axes):
        row, column = divmod(i, beside)
        x = layout.margin + sum(left[: column + 1]) + sum(right[:column])
        y = head + sum(over[: row + 1]) + sum(below[:row]) + layout.height
        x, y = x + column * (panel + layout.gap), y + row * (layout.height + layout.gap)
        ax.set_position((x / wide, 1 - y / high, panel / wide, layout.height / high))
    if legend:
        legend.set_bbox_to_anchor((0.5, layout.margin / high))


def _height(legend: Legend | None) -> float:
    if legend is None:
        return 0.0
    return float(legend.get_window_extent().height) / legend.figure.dpi


def metadata(plot_name: str, about: Sequence[str], kind: str) -> dict[str, Any]:
    """Return what a file says of itself: its title and what a reader must know, but no date.

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

"""The figure of a plot: layouts for screens and journals, panels side by side, a heading above."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from orthobench.contract.panel import Key, Panel, Plot
from orthobench.errors import unknown
from orthobench.report.figures.axes import TITLE_PAD, extent, font_size, room
from orthobench.report.figures.panels import (
    INK,
    MUTED,
    draw_panel,
    label_axis,
    name_ends,
)
from orthobench.report.figures.panels import LINE as NAME_LINE
from orthobench.report.figures.text import LINE, fitted, width
from orthobench.report.style import Style
from orthobench.tools.formatting import clean, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Layout:
    """The sizes of everything in a figure. Lengths are in inches, font sizes in points.

    Attributes
    ----------
    widths : tuple of float
        The width of a figure with one panel, with two side by side, and so on; there are never more
        panels side by side than widths.
    height : float
        The height of a panel.
    titled : bool
        Whether title and caption are written above the panels; papers write their own.
    title, text, small : float
        Font sizes: of the title, of the labels of axes, of all other text.
    line, marker : float
        Width of lines and size of markers, in points.
    margin, away, gap : float
        The room around everything, between the panels and the text above and below them, and
        between two panels.
    names, cell : float
        The width of the solvers' names in a gallery, and that of its widest image.
    columns : int
        The most images side by side in a gallery.
    dpi : int
        Pixels per inch, in formats that have pixels.
    """

    widths: tuple[float, ...]
    height: float
    titled: bool
    title: float
    text: float
    small: float
    line: float
    marker: float
    margin: float
    away: float
    gap: float
    names: float
    cell: float
    columns: int
    dpi: int

    def columns_for(self, panels: int) -> int:
        """Return how many of so many panels are side by side, so that rows are filled evenly."""
        rows = -(-panels // len(self.widths))
        return -(-panels // rows)

    def settings(self) -> dict[str, Any]:
        """Return the settings of matplotlib, with all fonts embedded in the files."""
        return {
            "font.size": self.small, "font.family": ["DejaVu Sans"],
            "axes.labelsize": self.text, "axes.titlesize": self.small + 1,
            "xtick.labelsize": self.small, "ytick.labelsize": self.small,
            "xtick.major.size": 0.4 * self.small, "ytick.major.size": 0.4 * self.small,
            "xtick.minor.size": 0.2 * self.small, "ytick.minor.size": 0.2 * self.small,
            "axes.linewidth": 0.4 * self.line, "grid.linewidth": 0.45 * self.line,
            "lines.linewidth": self.line, "lines.markersize": self.marker,
            "legend.fontsize": self.small, "savefig.dpi": self.dpi, "figure.dpi": 100,
            "pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "orthobench",
        }  # fmt: skip

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Use this layout for all drawing and saving inside the block, not the user's settings."""
        import matplotlib as mpl

        with mpl.rc_context(), warnings.catch_warnings():
            # characters without a glyph are drawn as boxes
            warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
            mpl.rcdefaults()
            cast("dict[str, Any]", mpl.rcParams).update(self.settings())
            yield


SCREEN = Layout(
    widths=(8.0, 12.0, 15.0), height=3.08, titled=True, title=14, text=10.5, small=9.5, line=1.8,
    marker=6.0, margin=0.15, away=0.15, gap=0.3, names=2.0, cell=2.6, columns=6, dpi=160,
)  # fmt: skip
"""The figures of ``orthobench run``."""

ONE_COLUMN = Layout(
    widths=(3.5,), height=1.8, titled=False, title=8, text=8, small=7, line=1.1,
    marker=3.6, margin=0.03, away=0.06, gap=0.1, names=0.95, cell=0.9, columns=3, dpi=300,
)  # fmt: skip
"""One column of a two-column journal: 3.5 in (88.9 mm), as in those of the IEEE."""

TWO_COLUMN = Layout(
    widths=(7.16, 7.16, 7.16), height=1.9, titled=False, title=8, text=8, small=7, line=1.1,
    marker=3.6, margin=0.03, away=0.06, gap=0.15, names=1.2, cell=1.5, columns=6, dpi=300,
)  # fmt: skip
"""Both columns: 7.16 in (181.9 mm), as in the journals of the IEEE."""

LAYOUTS: Mapping[str, Layout] = MappingProxyType(
    {"screen": SCREEN, "one-column": ONE_COLUMN, "two-column": TWO_COLUMN}
)


def layout_of(style: str) -> Layout:
    """Return the layout of a style.

    Parameters
    ----------
    style : str
        One of `LAYOUTS`.

    Raises
    ------
    UsageError
        On an unknown style.
    """
    if style not in LAYOUTS:
        raise unknown("style", style, LAYOUTS)
    return LAYOUTS[style]


NAMES = 0.4
"""The most of the width of a panel that the names at its lines take."""


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
    banded: Sequence[str] | None = None,
) -> Figure:
    """Draw the figure of a plot.

    Names stand at the ends of lines: beside each panel where that leaves it as wide as high, and
    else beside the last one of each row.

    Parameters
    ----------
    plot : Plot
    styles : mapping
        The style of each solver.
    layout : Layout
    panels : mapping, optional
        The `sheet_panels` of the plot, if they are there already.
    banded : sequence of str, optional
        The solvers that have bands; all by default.

    Returns
    -------
    Figure
        With an Agg canvas; within `Layout.applied`, its ``savefig`` writes every format.
    """
    all_panels = list((panels or sheet_panels(plot)).values())
    columns = layout.columns_for(len(all_panels))
    with layout.applied():
        width = layout.widths[columns - 1]
        fig, names = blank(width, 4.0), NAMES * width / columns
        height, named = _sizes(all_panels, names, layout)
        about = width / columns - 6 * layout.text / 72
        every = about - named >= height
        axes = _axes(fig, len(all_panels), about - named * every, height)
        for i, (ax, panel) in enumerate(zip(axes, all_panels, strict=True)):
            draw_panel(ax, panel, styles, all_panels, banded)
            if every or i % columns == columns - 1 or i == len(axes) - 1:
                name_ends(ax, panel, styles, names)
            if i % columns and all_panels[i - 1].y == panel.y:
                ax.set_ylabel("")
            _set_title(ax, panel.title, layout)
        lines = heading(plot.name, (*plot.about, *_about_bands(all_panels, banded)), width, layout)
        _arrange(fig, axes, columns, heading_height(lines), height, layout)
        for ax, panel in zip(axes, all_panels, strict=True):
            label_axis(ax, "x", panel.x.label)  # now that its length is known
        _arrange(fig, axes, columns, heading_height(lines), height, layout)
        write_heading(fig, lines, layout)
    return fig


def _sizes(panels: Sequence[Panel], room: float, layout: Layout) -> tuple[float, float]:
    """Return the height of panels, in which all names have room, and the width of the names."""
    names = [
        [fitted(series.label, room, layout.small, 3) for series in panel.series] for panel in panels
    ]
    most = max((sum(map(len, own)) for own in names), default=0)
    widths = (width(line, layout.small) for own in names for lines in own for line in lines)
    return max(layout.height, most * NAME_LINE * layout.small / 72), max(widths, default=0.0)


def _about_bands(panels: Sequence[Panel], banded: Sequence[str] | None) -> Sequence[str]:
    """Return whose bands are drawn, where others have some too."""
    lines = [s for panel in panels if not panel.x.categories for s in panel.series]
    known = {s.solver for s in lines if s.low is not None}
    names = [name for name in banded or () if name in known]
    return [f"bands of {listed(list(map(clean, names)))} alone"] if set() < {*names} < known else []


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


def _axes(fig: Figure, panels: int, wide: float, high: float) -> list[Axes]:
    """Return axes of about their final size."""
    width, height = fig.get_size_inches()
    return [
        fig.add_axes((0.1, 0.1, max(wide, 1.0) / width, high / height), label=str(i))
        for i in range(panels)
    ]


def _set_title(ax: Axes, text: str, layout: Layout) -> None:
    """Write the title of a panel above it; a single panel in a paper has it in the caption."""
    if not text or not (layout.titled or len(ax.figure.axes) > 1):
        return
    size = font_size("axes.titlesize")
    lines = fitted(text, extent(ax, "x"), size)
    ax.set_title("\n".join(lines), color=MUTED, parse_math=False, pad=TITLE_PAD * size)


def _arrange(
    fig: Figure,
    axes: Sequence[Axes],
    columns: int,
    heading: float,
    tall: float,
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
    rows = sum(below) + sum(above) + len(by_row) * (tall + layout.gap) - layout.gap
    height = head + rows + layout.margin
    fig.set_size_inches(width, height)
    for i, ax in enumerate(axes):
        row, column = divmod(i, columns)
        x = layout.margin + sum(left[: column + 1]) + sum(right[:column])
        y = head + sum(above[: row + 1]) + sum(below[:row]) + tall
        x, y = x + column * (panel + layout.gap), y + row * (tall + layout.gap)
        ax.set_position((x / width, 1 - y / height, panel / width, tall / height))


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

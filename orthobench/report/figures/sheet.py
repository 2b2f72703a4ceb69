"""One sheet of paper: panels side by side, a title above, a legend and notes below."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from orthobench.report.figures.drawing import INK, MUTED, line
from orthobench.report.style import Style
from orthobench.report.words import clean, limits
from orthobench.stats.seeds import spread_name
from orthobench.tuning import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


WIDTHS = {1: 8.0, 2: 11.0, 3: 14.0}
"""Of a sheet in inches, by the panels side by side."""

PANEL, BETWEEN = 3.08, 0.95
"""Height of a panel, and the room between two, in inches."""

LETTERS = 14
"""Of small text on an inch."""

LINE = 0.17
"""From one line of small text to the next, in inches."""


def across(panels: int) -> int:
    """Return how many panels stand side by side."""
    return 2 if panels == 4 else min(panels, 3)


def sheet(
    handles: Sequence[Line2D], panels: int, above: float = 0.80, below: float = 0.0
) -> tuple[Figure, Sequence[Axes], int]:
    """Return a figure with panels, room for the legend, and the legend's columns.

    Parameters
    ----------
    handles : sequence of Line2D
        What the legend will show.
    panels : int
    above, below : float
        Room for the title, and for notes below the legend, in inches.
    """
    beside = across(panels)
    width, high = WIDTHS[beside], -(-panels // beside)
    columns = _columns([str(handle.get_label()) for handle in handles], width)
    rows = -(-len(handles) // columns)
    foot = 0.77 + 0.22 * rows + below
    height = above + high * (PANEL + BETWEEN) - BETWEEN + foot
    fig = blank(width, height)
    axes: list[Axes] = list(fig.subplots(high, beside, squeeze=False).flat)
    fig.subplots_adjust(
        left={1: 0.1, 2: 0.08, 3: 0.065}[beside], right=0.985, top=1 - above / height,
        bottom=foot / height, wspace=0.26 if beside > 2 else 0.17, hspace=BETWEEN / PANEL,
    )  # fmt: skip
    for ax in axes[panels:]:
        ax.remove()
    return fig, axes[:panels], columns


def blank(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, with an Agg canvas."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fig = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(fig)
    return fig


def title(
    fig: Figure, entries: Sequence[Entry], note: str, text: str, *, banded: bool = True
) -> None:
    """Write a title, and below it families, budgets, seeds, what the band is, and a note."""
    runs = len(entries[0].seeds)
    families = {record.family for entry in entries for record in entry.records}
    band = f", band: {spread_name(runs)}" if banded else ""
    over = f"median over {runs} seeds{band}" if runs > 1 else "one seed"
    failed = any(record.status.failed for entry in entries for record in entry.records)
    crosses = "× where a run failed" if failed else ""
    budgets = {limits(record.budget) for entry in entries for record in entry.records}
    parts = (*sorted(families), *sorted(budgets), over, crosses, note)
    heading(fig, text, [" · ".join(part for part in parts if part)], fig.subplotpars.left)


def heading(fig: Figure, text: str, about: Sequence[str], left: float) -> None:
    """Write a title, and lines of small text below it, at this fraction of the width."""
    height = fig.get_figheight()
    fig.text(
        left, 1 - 0.20 / height, clean(text), parse_math=False,
        fontsize=14, fontweight="bold", color=INK, va="top",
    )  # fmt: skip
    for i, words in enumerate(about):
        at = 1 - (0.48 + LINE * i) / height
        fig.text(left, at, words, parse_math=False, fontsize=9.5, color=MUTED, va="top")


def footnotes(fig: Figure, lines: Sequence[str], left: float) -> None:
    """Write lines of small text at the lower edge, `LINE` inches each."""
    for i, words in enumerate(reversed(lines)):
        at = (0.08 + LINE * i) / fig.get_figheight()
        fig.text(left, at, words, parse_math=False, fontsize=9, color=MUTED, va="bottom")


def wrapped(text: str, inches: float, most: int | None = None) -> list[str]:
    """Return `text` in lines that are no wider than this in small letters, at most so many."""
    return textwrap.wrap(text, max(5, int(inches * LETTERS)), max_lines=most, placeholder=" ...")


def legend(fig: Figure, handles: Sequence[Line2D], columns: int, below: float = 0.0) -> None:
    """Draw the legend below the panels, `below` inches above the lower edge."""
    drawn = fig.legend(
        handles=list(handles),
        loc="lower center",
        bbox_to_anchor=(0.53, 0.012 + below / fig.get_figheight()),
        ncols=columns,
        frameon=False,
        fontsize=9.5,
        handlelength=3.4,
        columnspacing=2.0,
        labelcolor=INK,
    )
    for text in drawn.get_texts():
        text.set_parse_math(False)


def handle(label: str, style: Style) -> Line2D:
    """Return what a legend shows of a solver."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **line(style))


def _columns(labels: Sequence[str], width: float) -> int:
    """Return how many legend columns fit the figure's width, filled evenly."""
    fit = max(1, min(4, int(12 * min(width, 11)) // (max(map(len, labels)) + 11)))
    rows = -(-len(labels) // fit)
    return -(-len(labels) // rows)

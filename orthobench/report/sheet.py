"""One sheet of paper: panels side by side, a title above, a legend below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orthobench.report.drawing import INK, MUTED, line
from orthobench.report.style import Style
from orthobench.report.words import limits
from orthobench.stats import spread_name
from orthobench.tuning import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


def sheet(handles: Sequence[Line2D], panels: int) -> tuple[Figure, Sequence[Axes], int]:
    """Return a figure with panels side by side, room for the legend, and the legend's columns."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = _columns([str(handle.get_label()) for handle in handles])
    rows = -(-len(handles) // columns)
    height, wide = 4.65 + 0.22 * rows, panels > 2
    fig = Figure(figsize=(14 if wide else 11, height), facecolor="white")
    FigureCanvasAgg(fig)
    axes = fig.subplots(1, panels)
    fig.subplots_adjust(
        left=0.065 if wide else 0.08, right=0.985, top=1 - 0.80 / height,
        bottom=(0.77 + 0.22 * rows) / height, wspace=0.26 if wide else 0.17,
    )  # fmt: skip
    return fig, axes, columns


def title(
    fig: Figure, entries: Sequence[Entry], note: str, text: str, *, banded: bool = True
) -> None:
    """Write a title, and below it families, budgets, seeds, what the band is, and a note."""
    height = fig.get_figheight()
    left = fig.subplotpars.left
    runs = len(entries[0].seeds)
    families = {record.family for entry in entries for record in entry.records}
    band = f", band: {spread_name(runs)}" if banded else ""
    over = f"median over {runs} seeds{band}" if runs > 1 else "one seed"
    failed = any(record.status.failed for entry in entries for record in entry.records)
    crosses = "× where a run failed" if failed else ""
    budgets = {limits(record.budget) for entry in entries for record in entry.records}
    parts = (*sorted(families), *sorted(budgets), over, crosses, note)
    about = " · ".join(part for part in parts if part)
    fig.text(
        left, 1 - 0.20 / height, text, parse_math=False,
        fontsize=14, fontweight="bold", color=INK, va="top",
    )  # fmt: skip
    fig.text(left, 1 - 0.48 / height, about, parse_math=False, fontsize=9.5, color=MUTED, va="top")


def legend(fig: Figure, handles: Sequence[Line2D], columns: int) -> None:
    """Draw the legend below the panels."""
    drawn = fig.legend(
        handles=list(handles),
        loc="lower center",
        bbox_to_anchor=(0.53, 0.012),
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


def _columns(labels: Sequence[str]) -> int:
    """Return how many legend columns fit the figure's width, filled evenly."""
    fit = max(1, min(4, 132 // (max(map(len, labels)) + 11)))
    rows = -(-len(labels) // fit)
    return -(-len(labels) // rows)

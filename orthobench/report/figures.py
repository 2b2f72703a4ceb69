"""Convergence figures: a metric against the work done, all solvers of a problem in one axis.

Medians over seeds with a band, on log-log axes. Nothing here touches pyplot, so figures can
be drawn in any thread and any number of them leave no state behind.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orthobench.arrays import Array
from orthobench.report import axes as scaling
from orthobench.report.style import Style, styles
from orthobench.stats import Curve, curve, spread_name
from orthobench.tuning import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

FORMATS = ("png", "svg", "csv")

LABELS = {
    "samples": "samples",
    "seconds": "time (s), clock + reading",
    "flops": "floating-point operations",
    "steps": "steps",
}

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
        Its values raised to the floor of the axis.
    """

    entry: Entry
    style: Style
    curve: Curve


def plot_convergence(
    ax: Axes,
    entries: Sequence[Entry],
    x: str = "samples",
    metric: str | None = None,
    looks: Mapping[str, Style] | None = None,
) -> list[Drawn]:
    """Draw the median curve of every solver, with a band over its seeds, into an axis.

    A cross marks where a failed run ended. What is numerically zero is drawn on the lower
    edge, and a note says so (`orthobench.report.axes.Floor`).

    Parameters
    ----------
    ax : matplotlib Axes
    entries : sequence of Entry
        Of one problem.
    x : str
        ``"samples"``, ``"seconds"`` (clock + reading), ``"flops"`` or ``"steps"``.
    metric : str, optional
        The problem's primary metric by default.
    looks : mapping, optional
        The style of each solver; by default those of `orthobench.report.style.styles` for
        these entries.

    Returns
    -------
    list of Drawn
        What was drawn.

    Raises
    ------
    UsageError
        On an unknown `x`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> plot_convergence(ax, [], x="flops")
    []
    """
    metric = metric or _primary(entries)
    looks = looks or styles(entry.solver for entry in entries)
    curves = [curve(entry.records, x, metric, entry.seeds) for entry in entries]
    floor = scaling.floor_of([part for c in curves for part in (c.median, c.low, c.high)])
    drawn = [
        Drawn(entry, looks[entry.solver], _raised(found, floor))
        for entry, found in zip(entries, curves, strict=True)
    ]
    _frame(ax, LABELS[x], metric.replace("_", " "))
    scaling.scale(ax, "x", [item.curve.x for item in drawn], 0.03)
    top = scaling.scale(ax, "y", _heights(drawn))
    for i, item in enumerate(drawn):
        _draw(ax, item, i / len(drawn), 10 * top)
    if floor.zeros:
        _note_floor(ax, floor)
    return drawn


def figure(
    entries: Sequence[Entry],
    looks: Mapping[str, Style] | None = None,
    metric: str | None = None,
    note: str = "",
) -> tuple[Figure, dict[str, list[Drawn]]]:
    """Draw one problem: the metric against work in one panel, against time in the other.

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem, at least one.
    looks : mapping, optional
        The style of each solver.
    metric : str, optional
        The problem's primary metric by default.
    note : str
        What the reader should know, such as the budget; stands under the title.

    Returns
    -------
    Figure
        With an Agg canvas; its ``savefig`` writes every format of matplotlib.
    dict of list of Drawn
        What each axis shows, by its x.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    looks = looks or styles(entry.solver for entry in entries)
    handles = [_handle(entry, looks[entry.solver]) for entry in _by_name(entries)]
    columns = _columns([str(handle.get_label()) for handle in handles])
    rows = -(-len(handles) // columns)
    height = 4.75 + 0.22 * rows
    fig = Figure(figsize=(11, height), facecolor="white")
    FigureCanvasAgg(fig)
    left, right = fig.subplots(1, 2, sharey=False)
    fig.subplots_adjust(
        left=0.075, right=0.985, top=1 - 0.80 / height, bottom=(0.87 + 0.22 * rows) / height,
        wspace=0.17,
    )  # fmt: skip
    drawn = {
        x: plot_convergence(ax, entries, x, metric, looks)
        for x, ax in zip(_axes(entries), (left, right), strict=True)
    }
    right.set_ylabel("")
    _title(fig, entries, note, height)
    _legend(fig, handles, columns)
    return fig, drawn


def save_figures(
    entries: Sequence[Entry],
    directory: Path | str,
    *,
    metric: str | None = None,
    note: str = "",
    formats: Sequence[str] = FORMATS,
) -> list[Path]:
    """Write one figure for each problem, and the data that it draws.

    Parameters
    ----------
    entries : sequence of Entry
        Of any number of problems; a solver looks the same in all figures.
    directory : path
        Made where it does not exist; files of the same name are overwritten.
    metric : str, optional
        Each problem's primary metric by default.
    note : str
        What the reader should know, such as the budget.
    formats : sequence of str
        ``"csv"`` for the data, and any format of matplotlib.

    Returns
    -------
    list of Path
        The files, problem by problem; equal entries give equal files, byte for byte.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    looks = styles(entry.solver for entry in entries)
    by_problem: dict[str, list[Entry]] = {}
    for entry in entries:
        by_problem.setdefault(entry.problem, []).append(entry)
    paths: list[Path] = []
    for name, group in zip(slugs(by_problem), by_problem.values(), strict=True):
        fig, drawn = figure(group, looks, metric, note)
        paths += [_saved(directory / f"{name}.{kind}", fig, drawn) for kind in formats]
    return paths


def slugs(labels: Iterable[str]) -> list[str]:
    """Return a different file name for each label: ASCII letters, digits, dots and hyphens."""
    names: list[str] = []
    for label in labels:
        stem = re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.")[:80] or "problem"
        name, count = stem, 1
        while name in names:
            count += 1
            name = f"{stem}-{count}"
        names.append(name)
    return names


def legend_label(entry: Entry) -> str:
    """Return how the legend calls a solver: its chosen parameters, and its failures."""
    chosen = ", ".join(f"{name}={_short(value)}" for name, value in entry.chosen.items())
    failed = len(entry.seeds) - sum(not record.status.failed for record in entry.records)
    parts = [entry.solver, f"({chosen})" if chosen else ""]
    parts += [f"(failed {failed} of {len(entry.seeds)})" if failed else ""]
    return " ".join(part for part in parts if part)


def _saved(path: Path, fig: Figure, drawn: Mapping[str, Sequence[Drawn]]) -> Path:
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(_table(drawn))
        return path
    from matplotlib import rc_context

    undated = {"Date": None} if path.suffix == ".svg" else None
    with rc_context({"svg.hashsalt": "orthobench"}):
        fig.savefig(path, dpi=160, metadata=undated)
    return path


def _table(drawn: Mapping[str, Sequence[Drawn]]) -> list[list[Any]]:
    rows: list[list[Any]] = [["problem", "solver", "axis", "x", "median", "low", "high"]]
    for x, items in drawn.items():
        for item in items:
            c = item.curve
            who = [item.entry.problem, legend_label(item.entry), x]
            points = zip(c.x, c.median, c.low, c.high, strict=True)
            rows += [[*who, *(repr(float(v)) for v in point)] for point in points]
    return rows


def _primary(entries: Sequence[Entry]) -> str:
    names = [record.primary for entry in entries for record in entry.records]
    return names[0] if names else "suboptimality"


def _axes(entries: Sequence[Entry]) -> tuple[str, str]:
    """Return the two x axes: samples, or flops where no method draws any, and seconds."""
    marks = (mark for entry in entries for r in entry.records for mark in r.trace[-1:])
    drawing = any(mark.work.samples > 0 for mark in marks)
    return ("samples" if drawing else "flops"), "seconds"


def _raised(c: Curve, floor: scaling.Floor) -> Curve:
    ends = tuple((x, float(floor.raised(np.array(y)))) for x, y in c.ends)
    return Curve(c.x, floor.raised(c.median), floor.raised(c.low), floor.raised(c.high), ends)


def _heights(drawn: Sequence[Drawn]) -> list[Array]:
    """Return what the y axis must show: the medians, and the bands unless they are far above."""
    medians = [item.curve.median for item in drawn]
    finite = [m[np.isfinite(m)] for m in medians]
    most = 10 * max((float(m.max()) for m in finite if len(m)), default=math.inf)
    bands = [c for item in drawn for c in (item.curve.low, item.curve.high)]
    return [*medians, *(band[band <= most] for band in bands)]


def _frame(ax: Axes, xlabel: str, ylabel: str) -> None:
    ax.set_xlabel(xlabel, color=INK, fontsize=10.5)
    ax.set_ylabel(ylabel, color=INK, fontsize=10.5, parse_math=False)
    ax.grid(visible=True, which="major", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(which="both", colors=MUTED, labelsize=9.5, width=0.7)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#9a9a9a")


def _draw(ax: Axes, item: Drawn, phase: float, beyond: float) -> None:
    c, style = item.curve, item.style
    if len(c.x):
        high = np.minimum(c.high, beyond)
        shown = np.isfinite(c.low)
        ax.fill_between(
            c.x, c.low, high, where=shown.tolist(), color=style.colour, alpha=0.13, linewidth=0
        )
        finite = np.isfinite(c.median)
        ax.plot(
            c.x,
            np.where(finite, c.median, math.nan),
            **_line(style),
            markevery=_marked(c.x[finite], np.flatnonzero(finite), phase),
            label=item.entry.solver,
            solid_capstyle="round",
        )
    if item.curve.ends:
        xs, ys = zip(*item.curve.ends, strict=True)
        ax.scatter(xs, ys, marker="x", s=42, linewidths=1.6, color=style.colour, zorder=4)


def _line(style: Style) -> dict[str, Any]:
    return {
        "color": style.colour, "linestyle": style.line, "linewidth": 1.8,
        "marker": style.marker, "markersize": 5.8, "markeredgecolor": "white",
        "markeredgewidth": 0.8,
    }  # fmt: skip


def _marked(x: Array, index: Any, phase: float, count: int = 6) -> list[int]:
    """Return where to put markers: evenly on a log axis, shifted by `phase`, and at the end."""
    if not len(x):
        return []
    span = np.log(x[-1] / x[0])
    at = x[0] * np.exp(span * (np.arange(count) + phase) / count)
    nearest = np.minimum(np.searchsorted(x, at), len(x) - 1)
    return sorted({int(index[i]) for i in [*nearest, -1]})


def _note_floor(ax: Axes, floor: scaling.Floor) -> None:
    ax.axhline(floor.at, color="#9a9a9a", linewidth=0.8, linestyle=(0, (1, 3)), zorder=1)
    ax.annotate(
        f"0, or below {floor.zero:.0e}".replace("e-0", "e-"),
        (1, floor.at),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 4),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=8.5,
        color=MUTED,
        style="italic",
    )


def _title(fig: Figure, entries: Sequence[Entry], note: str, height: float) -> None:
    runs = len(entries[0].seeds)
    families = {record.family for entry in entries for record in entry.records}
    over = f"median over {runs} seeds, band: {spread_name(runs)}" if runs > 1 else "one seed"
    about = " · ".join(part for part in (*sorted(families), over, note) if part)
    fig.text(
        0.075, 1 - 0.20 / height, entries[0].problem, parse_math=False,
        fontsize=14, fontweight="bold", color=INK, va="top",
    )  # fmt: skip
    fig.text(0.075, 1 - 0.48 / height, about, parse_math=False, fontsize=9.5, color=MUTED, va="top")


def _legend(fig: Figure, handles: Sequence[Line2D], columns: int) -> None:
    legend = fig.legend(
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
    for text in legend.get_texts():
        text.set_parse_math(False)


def _handle(entry: Entry, style: Style) -> Line2D:
    from matplotlib.lines import Line2D

    label = legend_label(entry)
    return Line2D([], [], label=f" {label}" if label.startswith("_") else label, **_line(style))


def _columns(labels: Sequence[str]) -> int:
    """Return how many legend columns fit the figure's width, filled evenly."""
    fit = max(1, min(4, 132 // (max(map(len, labels)) + 11)))
    rows = -(-len(labels) // fit)
    return -(-len(labels) // rows)


def _by_name(entries: Sequence[Entry]) -> list[Entry]:
    by_name: Callable[[Entry], str] = lambda entry: entry.solver  # noqa: E731
    return sorted(entries, key=by_name)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

"""Convergence figures: a metric against the work done, all solvers of a problem in one axis.

Medians over seeds with a band, on log-log axes. Nothing here touches pyplot, so figures can
be drawn in any thread and any number of them leave no state behind.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from orthobench.identity import canonical
from orthobench.report.figures.drawing import Drawn, curves, legend_label, panel
from orthobench.report.figures.gallery import gallery, pages
from orthobench.report.figures.sheet import handle, legend, sheet, title
from orthobench.report.plots import fronts
from orthobench.report.plots.exhibits import Load, exhibitions
from orthobench.report.plots.overlays import name_of, overlay_figure, overlays
from orthobench.report.plots.sweeps import sweep_figure, sweeps
from orthobench.report.style import Style, styles
from orthobench.tuning import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

FORMATS = ("png", "svg", "csv")

Draw: TypeAlias = Callable[[], "tuple[Figure, list[list[Any]]]"]
"""Draws a figure, and returns it with the data it was drawn from."""


def plot_convergence(
    ax: Axes,
    entries: Sequence[Entry],
    x: str = "samples",
    metric: str | None = None,
    looks: Mapping[str, Style] | None = None,
) -> list[Drawn]:
    """Draw the median curve of every solver, with a band over its seeds, into an axis.

    A cross marks where a failed run ended. What is numerically zero is drawn on the lower
    edge, and a note says so (`orthobench.report.figures.axes.Floor`).

    Parameters
    ----------
    ax : matplotlib Axes
    entries : sequence of Entry
        Of one problem.
    x : str
        ``"samples"``, ``"seconds"`` (clock + reading), ``"flops"`` or ``"steps"``.
    metric : str, optional
        By default that of the runs' target, or the problem's primary one.
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
    metric = metric or _shown(entries)
    drawn = curves(entries, x, metric, looks or styles(entry.solver for entry in entries))
    panel(ax, drawn, x, metric, drawn)
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
        By default that of the runs' target, or the problem's primary one.
    note : str
        What else the reader should know; stands under the title.

    Returns
    -------
    Figure
        With an Agg canvas; its ``savefig`` writes every format of matplotlib.
    dict of list of Drawn
        What each axis shows, by its x.
    """
    looks = looks or styles(entry.solver for entry in entries)
    metric = metric or _shown(entries)
    panels = {x: curves(entries, x, metric, looks) for x in _axes(entries)}
    everything = [item for drawn in panels.values() for item in drawn]
    handles = [
        _handle(entry, looks[entry.solver])
        for entry in sorted(entries, key=lambda entry: entry.solver)
    ]
    fig, axes, columns = sheet(handles, 2)
    for ax, (x, drawn) in zip(axes, panels.items(), strict=True):
        panel(ax, drawn, x, metric, everything)
    axes[1].set_ylabel("")
    title(fig, entries, note, entries[0].problem)
    legend(fig, handles, columns)
    return fig, panels


def save_figures(
    entries: Sequence[Entry],
    directory: Path | str,
    *,
    metric: str | None = None,
    note: str = "",
    formats: Sequence[str] = FORMATS,
    exhibits: Load | None = None,
) -> list[Path]:
    """Write the figures of a comparison, and the data that each draws.

    One for each problem, of convergence; one for each that is compared at levels, of the trade-off;
    one for each parameter of which the problems have three or more values; of what its solutions
    exhibit, one of the curves and one or more of the images.

    Parameters
    ----------
    entries : sequence of Entry
        Of any number of problems; a solver looks the same in all figures.
    directory : path
        Made where it does not exist; files of the same name are overwritten.
    metric : str, optional
        By default that of the runs' target, or each problem's primary one.
    note : str
        What else the reader should know.
    formats : sequence of str
        ``"csv"`` for the data, and any format of matplotlib.
    exhibits : callable, optional
        Returns what runs exhibit: `orthobench.results.Results.exhibits`. Without it there are no
        pictures of exhibits.

    Returns
    -------
    list of Path
        The files, problem by problem; equal entries give equal files, byte for byte.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    looks = styles(entry.solver for entry in entries)
    drawings: list[tuple[str, Draw]] = []
    for problem, group in _groups(entries, _compared).items():
        drawings.append((problem, partial(_convergence, group, looks, metric, note)))
    for problem, group in _groups(entries, _traded).items():
        if not any(front.points for front in fronts.fronts(group)):
            continue
        drawings.append((problem, partial(fronts.tradeoff, group, looks, note, problem)))
    drawings += [(one.name, partial(sweep_figure, one, looks, note)) for one in sweeps(entries)]
    drawings += _pictures(entries, looks, note, exhibits) if exhibits else []
    paths: list[Path] = []
    names = slugs(name for name, _ in drawings)
    for name, (_, draw) in zip(names, drawings, strict=True):
        fig, table = draw()
        paths += [_saved(directory / f"{name}.{kind}", fig, table) for kind in formats]
    return paths


def _groups(
    entries: Sequence[Entry], name: Callable[[Entry], str | None]
) -> dict[str, list[Entry]]:
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        if (title := name(entry)) is not None:
            groups.setdefault(title, []).append(entry)
    return groups


def _compared(entry: Entry) -> str | None:
    return None if entry.refused else entry.problem


def _traded(entry: Entry) -> str | None:
    if entry.level is None:
        return None
    return f"{entry.records[0].problem} by {entry.level.metric.replace('_', ' ')}"


def _convergence(
    entries: Sequence[Entry], looks: Mapping[str, Style], metric: str | None, note: str
) -> tuple[Figure, list[list[Any]]]:
    fig, drawn = figure(entries, looks, metric, note)
    return fig, _table(drawn)


def _pictures(
    entries: Sequence[Entry], looks: Mapping[str, Style], note: str, exhibits: Load
) -> list[tuple[str, Draw]]:
    """Return what draws the exhibits of each problem."""
    found: list[tuple[str, Draw]] = []
    for shown in exhibitions(entries, exhibits):
        if overlays(shown):
            found.append((name_of(shown), partial(overlay_figure, shown, looks, note)))
        found += [(page.name, partial(gallery, page, note)) for page in pages(shown)]
    return found


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


def _saved(path: Path, fig: Figure, table: Sequence[Sequence[Any]]) -> Path:
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(table)
        return path
    from matplotlib import rc_context

    undated = {"Date": None} if path.suffix == ".svg" else None
    with rc_context({"svg.hashsalt": "orthobench"}):
        fig.savefig(path, dpi=160, metadata=undated)
    return path


def _table(drawn: Mapping[str, Sequence[Drawn]]) -> list[list[Any]]:
    rows: list[list[Any]] = [["problem", "solver", "chosen", "axis", "x", "median", "low", "high"]]
    for x, items in drawn.items():
        for item in items:
            c, entry = item.curve, item.entry
            who = [entry.problem, entry.solver, canonical(entry.chosen), x]
            points = zip(c.x, c.median, c.low, c.high, strict=True)
            rows += [[*who, *(repr(float(v)) for v in point)] for point in points]
    return rows


def _shown(entries: Sequence[Entry]) -> str:
    """Return the metric of the target, where runs have one, or else the primary one."""
    names = [record.target or record.primary for entry in entries for record in entry.records]
    return names[0] if names else "suboptimality"


def _axes(entries: Sequence[Entry]) -> tuple[str, str]:
    """Return the two x axes: samples, or flops where not all methods draw them, and seconds."""
    marks = [mark for entry in entries for r in entry.records for mark in r.trace[-1:]]
    streaming = bool(marks) and all(mark.work.samples > 0 for mark in marks)
    return ("samples" if streaming else "flops"), "seconds"


def _handle(entry: Entry, style: Style) -> Line2D:
    return handle(legend_label(entry), style)

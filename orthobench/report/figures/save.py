"""Saving of figures: every plot of a comparison, in every format, with the data that it shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from orthobench.contract.panel import Key, Panel, Plot
from orthobench.errors import unknown
from orthobench.report.figures.figure import (
    Layout,
    draw_figure,
    layout_of,
    metadata,
    sheet_panels,
)
from orthobench.report.plots.collection import all_plots
from orthobench.report.plots.exhibits import Load
from orthobench.report.style import Style, solver_styles
from orthobench.results.tuning import SolverResult
from orthobench.tools.files import atomic_write, make_folder, write_csv

FORMATS = ("png", "svg", "pdf", "csv")
"""The formats: pictures, and the data that they show."""

RUN_KINDS = ("convergence", "tradeoff", "sweep", "curves")
"""The kinds of plots that ``orthobench run`` writes: they need no comparison over problems."""


def save_figures(
    entries: Sequence[SolverResult],
    directory: Path | str,
    *,
    style: str = "screen",
    formats: Sequence[str] = FORMATS,
    kinds: Sequence[str] | None = None,
    exhibits: Load | None = None,
) -> list[Path]:
    """Write the figures of a comparison, and the data that each shows.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of any number of problems.
    directory : path
        Created if it does not exist; files of the same name are overwritten.
    style : str
        ``"screen"``, or for papers ``"one-column"`` (3.5 in wide) or ``"two-column"`` (7.16 in),
        which have title and caption only in the metadata of the files.
    formats : sequence of str
        Any of `FORMATS`. Fonts are embedded: in PDF as TrueType, in SVG as shapes.
    kinds : sequence of str, optional
        The kinds of plots to write; all by default.
    exhibits : callable, optional
        Returns the exhibits of runs: `Results.exhibits`. Without it, their curves are not drawn.

    Returns
    -------
    list of Path
        The files, figure by figure; equal entries give equal bytes.

    Raises
    ------
    UsageError
        On an unknown style or format, and if a file cannot be written.
    """
    layout = layout_of(style)
    for kind in formats:
        if kind not in FORMATS:
            raise unknown("format", kind, FORMATS)
    directory = make_folder(Path(directory), "the figures")
    styles = solver_styles(entry.solver for entry in entries)
    paths: list[Path] = []
    names: set[str] = set()
    for plot in all_plots(entries, exhibits):
        name = file_name(plot, names)
        if kinds is None or plot.kind in kinds:
            paths += _save(directory / name, plot, styles, formats, layout)
    return paths


def save_plot(
    plot: Plot,
    stem: Path,
    *,
    style: str = "screen",
    formats: Sequence[str] = FORMATS,
    dpi: int | None = None,
) -> list[Path]:
    """Write the figure of one plot to files of this stem; see `save_figures`.

    `dpi`, in pixels per inch, replaces that of the style.
    """
    panels = sheet_panels(plot).values()
    styles = solver_styles(s.solver for panel in panels for s in panel.series if s.solver)
    layout = layout_of(style)
    layout = layout if dpi is None else replace(layout, dpi=dpi)
    return _save(stem, plot, styles, formats, layout)


def file_name(plot: Plot, names: set[str]) -> str:
    """Return a safe file name for a plot, and add it to the names that are taken."""
    short = re.sub(r"[^a-z0-9.]+", "-", plot.name.lower()).strip("-.")[:80] or "problem"
    name, count = short, 1
    while name in names:
        name = f"{short}-{plot.kind}" if count == 1 else f"{short}-{count}"
        count += 1
    names.add(name)
    return name


def table(plot: Plot, panels: Mapping[Key, Panel]) -> list[list[Any]]:
    """Return the data of a plot as the rows of a CSV file, numbers in full precision.

    Columns: the plot, the options of the panel, and those of its `Panel.rows`.
    """
    rows = [(key, row) for key, panel in panels.items() for row in panel.rows()]
    columns = list(dict.fromkeys(name for _, row in rows for name in row))
    head: list[list[Any]] = [["plot", *plot.choices, *columns]]
    return head + [[plot.name, *key, *(row.get(c, "") for c in columns)] for key, row in rows]


def _save(
    stem: Path, plot: Plot, styles: Mapping[str, Style], formats: Sequence[str], layout: Layout
) -> list[Path]:
    panels = sheet_panels(plot)
    pictures = set(formats) - {"csv"}
    fig = draw_figure(plot, [*panels.values()], styles, layout) if pictures else None
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in formats]
    with layout.applied():
        for path, kind in zip(paths, formats, strict=True):
            with atomic_write(path) as file:
                if fig is None or kind == "csv":
                    write_csv(table(plot, panels), file)
                else:
                    fig.savefig(file, format=kind, metadata=metadata(plot, kind))
    return paths

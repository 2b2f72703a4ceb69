"""Saving of figures: every plot of a comparison, in every format, with the data that it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from orthobench._version import __version__
from orthobench.contract.panel import Key, Panel, Plot
from orthobench.errors import unknown
from orthobench.report.figures.figure import (
    Layout,
    draw_figure,
    layout_of,
    metadata,
    sheet_panels,
)
from orthobench.report.plots.collection import comparison_plots, exhibit_plots, problem_plots
from orthobench.report.plots.exhibits import Load, exhibitions
from orthobench.report.style import Style, solver_styles
from orthobench.results.results import Results
from orthobench.results.tuning import SolverResult
from orthobench.tools.collections import grouped
from orthobench.tools.files import atomic_write, make_folder, write_csv

FORMATS = ("png", "svg", "pdf", "csv")
"""The formats: pictures, and the data that they show."""

RUN_KINDS = ("convergence", "tradeoff", "sweep", "curves")
"""The kinds of plots that ``orthobench run`` writes: they need no comparison over problems."""


REMEMBERED = "drawn.json"
"""Beside the figures of a run: which they are, and of which data and version."""


def run_figures(results: Results, folder: Path) -> list[Path]:
    """Return the figures of ``orthobench run``, drawn again if data or version changed since.

    Parameters
    ----------
    results : Results
    folder : Path
    """
    data, remembered = f"{results.fingerprint()} {__version__}", folder / REMEMBERED
    with suppress(OSError, ValueError, LookupError, TypeError):
        known = json.loads(remembered.read_text())
        paths = [folder / Path(name).name for name in known["files"]]
        if paths and known["data"] == data and all(path.is_file() for path in paths):
            return paths
    paths = save_figures(
        results.entries, folder, formats=("png", "svg", "csv"), kinds=RUN_KINDS,
        exhibits=results.exhibits,
    )  # fmt: skip
    facts = {"data": data, "files": [path.name for path in paths]}
    with atomic_write(remembered) as file:
        file.write(json.dumps(facts, indent=2).encode())
    return paths


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
        The entries of any number of problems; a solver has the same style in all figures.
    directory : path
        Created if it does not exist; files of the same name are overwritten.
    style : str
        ``"screen"``, or for papers ``"one-column"`` (3.5 in wide) or ``"two-column"`` (7.16 in).
        The latter have no headings: title and caption are in the metadata of the files.
    formats : sequence of str
        Any of `FORMATS`. Fonts are embedded: in PDF as TrueType, in SVG as shapes.
    kinds : sequence of str, optional
        The kinds of plots to write; all by default.
    exhibits : callable, optional
        Returns the exhibits of runs: `Results.exhibits`. Without it, their curves are not drawn.

    Returns
    -------
    list of Path
        The files, figure by figure; equal entries give equal files, byte for byte.

    Raises
    ------
    UsageError
        On an unknown style or format, and where a file cannot be written.
    """
    layout = layout_of(style)
    for kind in formats:
        if kind not in FORMATS:
            raise unknown("format", kind, FORMATS)
    directory = make_folder(Path(directory), "the figures")
    styles = solver_styles(entry.solver for entry in entries)
    taking_part = [entry for entry in entries if not entry.refused]
    plots = [
        plot
        for group in grouped(taking_part, lambda entry: entry.problem).values()
        for plot in problem_plots(group)
    ]
    plots += comparison_plots(entries)
    plots += exhibit_plots(exhibitions(entries, exhibits)) if exhibits else []
    return [
        path
        for stem, plot in zip(stems(plots), plots, strict=True)
        if kinds is None or plot.kind in kinds
        for path in _save(directory / stem, plot, styles, formats, layout)
    ]


def save_plot(
    plot: Plot,
    stem: Path,
    *,
    style: str = "screen",
    formats: Sequence[str] = FORMATS,
    dpi: int | None = None,
) -> list[Path]:
    """Write the figure of one plot, with `solver_styles` of the solvers in it.

    Parameters
    ----------
    plot : Plot
    stem : Path
        The files without their suffix.
    style, formats
        As for `save_figures`.
    dpi : int, optional
        Pixels per inch, instead of the style's.

    Returns
    -------
    list of Path
    """
    panels = sheet_panels(plot).values()
    styles = solver_styles(s.solver for panel in panels for s in panel.series if s.solver)
    layout = layout_of(style)
    layout = layout if dpi is None else replace(layout, dpi=dpi)
    return _save(stem, plot, styles, formats, layout)


def stems(plots: Sequence[Plot]) -> list[str]:
    """Return the names of files, without their suffix; with the kind if a name occurs again.

    Parameters
    ----------
    plots : sequence of Plot
        All of a comparison, so that names do not depend on which of them are written.
    """
    names = [plot.name for plot in plots]
    return slugs(
        f"{name} {plot.kind}" if name in names[:i] else name
        for i, (name, plot) in enumerate(zip(names, plots, strict=True))
    )


def slugs(labels: Iterable[str]) -> list[str]:
    """Return a unique file name for each label: ASCII letters, digits, dots and hyphens."""
    names: dict[str, None] = {}
    for label in labels:
        stem = re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.")[:80] or "problem"
        name, count = stem, 1
        while name in names:
            count += 1
            name = f"{stem}-{count}"
        names[name] = None
    return list(names)


def table(plot: Plot, panels: Mapping[Key, Panel]) -> list[list[Any]]:
    """Return the data of a plot as the rows of a CSV file, numbers in full precision.

    Columns: the plot, the options of the panel, then those of
    `orthobench.contract.panel.Panel.rows`, empty where a panel has no such column.

    Parameters
    ----------
    plot : Plot
    panels : mapping
        The panels drawn, by their options.
    """
    rows = [(key, row) for key, panel in panels.items() for row in panel.rows()]
    columns = list(dict.fromkeys(name for _, row in rows for name in row))
    head: list[list[Any]] = [["plot", *plot.choices, *columns]]
    return head + [[plot.name, *key, *(row.get(c, "") for c in columns)] for key, row in rows]


def _save(
    stem: Path, plot: Plot, styles: Mapping[str, Style], formats: Sequence[str], layout: Layout
) -> list[Path]:
    """Write the files of a plot; data alone need no drawing."""
    panels = sheet_panels(plot)
    pictures = any(kind != "csv" for kind in formats)
    fig = draw_figure(plot, styles, layout, panels) if pictures else None
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in formats]
    with layout.applied():
        for path, kind in zip(paths, formats, strict=True):
            with atomic_write(path) as file:
                if fig is None or kind == "csv":
                    write_csv(table(plot, panels), file)
                else:
                    fig.savefig(file, format=kind, metadata=metadata(plot, kind))
    return paths

"""Saving of figures: every plot of a comparison, in every format, with the data that it shows."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthobench.contract.panel import Key, Panel, Plot
from orthobench.errors import unknown
from orthobench.report.figures.figure import (
    Layout,
    draw_figure,
    layout_of,
    metadata,
    sheet_panels,
)
from orthobench.report.figures.gallery import Page, draw_gallery, pages
from orthobench.report.plots.collection import (
    banded,
    comparison_plots,
    exhibit_plots,
    problem_plots,
)
from orthobench.report.plots.exhibits import Exhibition, Load, exhibitions
from orthobench.report.style import Style, solver_styles
from orthobench.results.results import Results
from orthobench.results.tuning import SolverResult
from orthobench.tools.collections import grouped
from orthobench.tools.files import atomic_write, make_folder, write_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf", "csv")
"""The formats: pictures, and the data that they show."""

RUN_KINDS = ("convergence", "tradeoff", "sweep", "break-even", "scaling", "curves", "images")
"""The kinds of plots that ``orthobench run`` writes: they need no comparison over problems."""


REMEMBERED = "drawn.json"
"""Beside the figures of a run: which they are, and of which data and code."""


@dataclass(frozen=True)
class FigureFile:
    """A figure that can be drawn and saved.

    Attributes
    ----------
    name : str
    kind : str
        Of the plot; ``"images"`` for a gallery.
    about : tuple of str
        The caption.
    draw : callable
        Takes whether a picture is needed; returns the figure, if it is, and the rows of a CSV
        file with the data.
    """

    name: str
    kind: str
    about: tuple[str, ...]
    draw: Callable[[bool], tuple[Figure | None, list[list[Any]]]]


def run_figures(results: Results, folder: Path) -> list[Path]:
    """Return the figures of ``orthobench run``, drawn again where data or code changed since.

    Parameters
    ----------
    results : Results
    folder : Path
    """
    data, remembered = f"{results.fingerprint()} {_code()}", folder / REMEMBERED
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


def _code() -> str:
    """Return a digest of the code that draws."""
    found, core = hashlib.sha256(), Path(__file__).parents[2]
    for room in ("decide", "report", "stats"):
        for path in sorted((core / room).rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


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
        The kinds of plots to write: those of `orthobench.contract.panel.Plot`, and ``"images"``.
        All by default.
    exhibits : callable, optional
        Returns the exhibits of runs: `Results.exhibits`. Without it, there are no figures of
        exhibits.

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
    figures = [
        _plot_file(plot, styles, layout, group)
        for group in grouped(taking_part, lambda entry: entry.problem).values()
        for plot in problem_plots(group)
    ]
    figures += [_plot_file(plot, styles, layout, entries) for plot in comparison_plots(entries)]
    for exhibition in exhibitions(entries, exhibits) if exhibits else ():
        figures += _exhibit_files(exhibition, styles, layout)
    paths: list[Path] = []
    for stem, figure in zip(stems(figures), figures, strict=True):
        if kinds is None or figure.kind in kinds:
            paths += _save(directory / stem, figure, formats, layout)
    return paths


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
    return _save(stem, _plot_file(plot, styles, layout), formats, layout)


def stems(figures: Sequence[FigureFile]) -> list[str]:
    """Return the names of files, without their suffix; with the kind if a name occurs again.

    Parameters
    ----------
    figures : sequence of FigureFile
        All of a comparison, so that names do not depend on which of them are written.
    """
    names = [figure.name for figure in figures]
    return slugs(
        f"{name} {figure.kind}" if name in names[:i] else name
        for i, (name, figure) in enumerate(zip(names, figures, strict=True))
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


def _exhibit_files(
    exhibition: Exhibition, styles: Mapping[str, Style], layout: Layout
) -> list[FigureFile]:
    """Return the figures of what the solutions of a problem exhibit: curves, then galleries."""
    curves = [_plot_file(plot, styles, layout) for plot in exhibit_plots([exhibition])]
    return curves + [_gallery_file(page, layout) for page in pages(exhibition, layout.columns)]


def _gallery_file(page: Page, layout: Layout) -> FigureFile:
    def draw(picture: bool) -> tuple[Figure | None, list[list[Any]]]:
        return draw_gallery(page, layout) if picture else None, page.table()

    return FigureFile(page.name, "images", page.about, draw)


def _plot_file(
    plot: Plot,
    styles: Mapping[str, Style],
    layout: Layout,
    entries: Sequence[SolverResult] | None = None,
) -> FigureFile:
    """Return the figure of a plot; those of entries have the bands of the first solvers alone."""

    def draw(picture: bool) -> tuple[Figure | None, list[list[Any]]]:
        panels = sheet_panels(plot)
        if not picture:
            return None, table(plot, panels)
        names = None if entries is None else banded(entries)
        return draw_figure(plot, styles, layout, panels, names), table(plot, panels)

    return FigureFile(plot.name, plot.kind, plot.about, draw)


def _save(stem: Path, figure: FigureFile, formats: Sequence[str], layout: Layout) -> list[Path]:
    fig, rows = figure.draw(any(kind != "csv" for kind in formats))
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in formats]
    with layout.applied():
        for path, kind in zip(paths, formats, strict=True):
            if kind == "csv":
                with atomic_write(path) as file:
                    write_csv(rows, file)
            elif fig is not None:
                facts = metadata(figure.name, figure.about, kind)
                with atomic_write(path) as file:
                    fig.savefig(file, format=kind, metadata=facts)
    return paths

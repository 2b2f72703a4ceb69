"""Files of figures: every plot of a comparison, in every format, with the data that it shows."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthobench.contract.panel import Key, Panel, Plot
from orthobench.errors import unknown
from orthobench.report.figures.gallery import Page, gallery, pages
from orthobench.report.figures.layouts import Layout, layout_of
from orthobench.report.figures.sheet import figure, metadata, on_paper
from orthobench.report.findings import Family
from orthobench.report.plots.collection import across, exhibited, of_problem
from orthobench.report.plots.exhibits import Exhibition, Load, exhibitions
from orthobench.report.style import Style, styles
from orthobench.results.tuning import Entry
from orthobench.tools.files import make_folder, replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf", "csv")
"""What can be written: pictures, and the data that they show."""

OF_A_RUN = ("convergence", "tradeoff", "sweep", "curves", "images")
"""The kinds of plots that show what single runs did, and need no comparison over problems."""


@dataclass(frozen=True)
class Sheet:
    """A figure to be.

    Attributes
    ----------
    name : str
    kind : str
        Of the plot; ``"images"`` for a gallery.
    about : tuple of str
        What a reader must know.
    draw : callable
        Returns the figure, where it is wanted, and what it shows as the rows of a CSV file.
    """

    name: str
    kind: str
    about: tuple[str, ...]
    draw: Callable[[bool], tuple[Figure | None, list[list[Any]]]]


def save_figures(
    entries: Sequence[Entry],
    directory: Path | str,
    *,
    style: str = "screen",
    formats: Sequence[str] = FORMATS,
    kinds: Sequence[str] | None = None,
    exhibits: Load | None = None,
    found: Sequence[Family] | None = None,
) -> list[Path]:
    """Write the figures of a comparison, and the data that each shows.

    Parameters
    ----------
    entries : sequence of Entry
        Of any number of problems; a solver looks the same in all figures.
    directory : path
        Made where it does not exist; files of the same name are overwritten.
    style : str
        ``"screen"``, or for papers ``"one-column"`` (3.5 in wide) or ``"two-column"`` (7.16 in),
        which have no titles: what these say is in the files' metadata.
    formats : sequence of str
        Any of `FORMATS`. Fonts are embedded: in PDF as TrueType, in SVG as shapes.
    kinds : sequence of str, optional
        The kinds of plots to write, as `orthobench.contract.panel.Plot` has them, and
        ``"images"``; all of them where it is not given.
    exhibits : callable, optional
        Returns what runs exhibit: `Results.exhibits`. Without it there are no
        pictures of exhibits.
    found : sequence of Family, optional
        What was found in each family, where that is known already.

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
    looks = styles(entry.solver for entry in entries)
    ranked = kinds is None or "ranks" in kinds
    plots = [*_each(entries), *across(entries, found if ranked else ())]
    sheets = [_sheet(plot, looks, layout) for plot in plots]
    for shown in exhibitions(entries, exhibits) if exhibits else ():
        sheets += _pictures(shown, looks, layout)
    paths: list[Path] = []
    for stem, sheet in zip(stems(sheets), sheets, strict=True):
        if kinds is None or sheet.kind in kinds:
            paths += _saved(directory / stem, sheet, formats, layout)
    return paths


def save_plot(
    plot: Plot,
    stem: Path,
    *,
    style: str = "screen",
    formats: Sequence[str] = FORMATS,
    dpi: int | None = None,
) -> list[Path]:
    """Write one plot; its solvers look as `styles` makes them look among themselves.

    Parameters
    ----------
    plot : Plot
    stem : Path
        The files without their suffix.
    style, formats
        As of `save_figures`.
    dpi : int, optional
        Pixels on an inch, instead of the style's.

    Returns
    -------
    list of Path
    """
    panels = on_paper(plot).values()
    looks = styles(series.solver for panel in panels for series in panel.series if series.solver)
    layout = layout_of(style)
    layout = layout if dpi is None else replace(layout, dpi=dpi)
    return _saved(stem, _sheet(plot, looks, layout), formats, layout)


def stems(sheets: Sequence[Sheet]) -> list[str]:
    """Return the names of files, without their suffix: with the kind where two have one name.

    Parameters
    ----------
    sheets : sequence of Sheet
        All of a comparison, so that names do not depend on which of them are written.
    """
    names = [sheet.name for sheet in sheets]
    return slugs(
        f"{name} {sheet.kind}" if name in names[:i] else name
        for i, (name, sheet) in enumerate(zip(names, sheets, strict=True))
    )


def slugs(labels: Iterable[str]) -> list[str]:
    """Return a different file name for each label: ASCII letters, digits, dots and hyphens."""
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
    """Return what a plot shows as the rows of a CSV file, numbers in full precision.

    Columns: the plot, the options of the panel, then those of
    `orthobench.contract.panel.Panel.rows`, empty where a panel has no such column.

    Parameters
    ----------
    plot : Plot
    panels : mapping
        The panels drawn, by their options.
    """
    found = [(key, row) for key, panel in panels.items() for row in panel.rows()]
    columns = list(dict.fromkeys(name for _, row in found for name in row))
    head: list[list[Any]] = [["plot", *plot.choices, *columns]]
    return head + [[plot.name, *key, *(row.get(c, "") for c in columns)] for key, row in found]


def _each(entries: Sequence[Entry]) -> list[Plot]:
    """Return the plots of all problems that some solver takes part in."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        if not entry.refused:
            groups.setdefault(entry.problem, []).append(entry)
    return [plot for group in groups.values() for plot in of_problem(group)]


def _pictures(shown: Exhibition, looks: Mapping[str, Style], layout: Layout) -> list[Sheet]:
    """Return the figures of what the solutions of a problem exhibit."""
    sheets = [_sheet(plot, looks, layout) for plot in exhibited([shown])]
    return sheets + [_album(page, layout) for page in pages(shown, layout.columns)]


def _album(page: Page, layout: Layout) -> Sheet:
    def draw(wanted: bool) -> tuple[Figure | None, list[list[Any]]]:
        return gallery(page, layout) if wanted else None, page.table()

    return Sheet(page.name, "images", page.about, draw)


def _sheet(plot: Plot, looks: Mapping[str, Style], layout: Layout) -> Sheet:
    def draw(wanted: bool) -> tuple[Figure | None, list[list[Any]]]:
        panels = on_paper(plot)
        return figure(plot, looks, layout, panels) if wanted else None, table(plot, panels)

    return Sheet(plot.name, plot.kind, plot.about, draw)


def _saved(stem: Path, sheet: Sheet, formats: Sequence[str], layout: Layout) -> list[Path]:
    fig, rows = sheet.draw(any(kind != "csv" for kind in formats))
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in formats]
    with layout.applied():
        for path, kind in zip(paths, formats, strict=True):
            if kind == "csv":
                _write(path, rows)
            elif fig is not None:
                with replacing(path) as part:
                    fig.savefig(part, format=kind, metadata=metadata(sheet.name, sheet.about, kind))
    return paths


def _write(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)

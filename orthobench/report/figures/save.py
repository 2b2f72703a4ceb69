"""Figures of a comparison for screens and journals."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthobench.contract.panel import Panel, Plot
from orthobench.report.figures.panels import INK, MUTED, draw_panel, folded, last_of
from orthobench.report.plots.collection import all_plots
from orthobench.report.plots.exhibits import Load
from orthobench.report.style import Style, solver_styles
from orthobench.results.tuning import SolverResult
from orthobench.tools.files import atomic_write, make_folder
from orthobench.tools.formatting import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

FORMATS = ("png", "svg", "pdf")

RUN_KINDS = ("convergence", "curves")
"""The kinds that ``orthobench run`` writes."""


@dataclass(frozen=True)
class Layout:
    """The sizes of a figure: lengths in inches, small letters and lines in points.

    `widths` has the width of a figure with one panel, with two side by side, and so on. If it is
    not `titled`, title and caption are left to the paper.
    """

    widths: tuple[float, ...]
    height: float
    titled: bool
    small: float
    line: float
    dpi: int

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Draw and save with this layout inside the block, not with the user's settings."""
        from matplotlib import style

        settings: dict[str, Any] = {
            "font.size": self.small, "font.family": ["DejaVu Sans"],
            "axes.labelsize": self.small + 1, "axes.titlesize": self.small + 1,
            "axes.linewidth": 0.4 * self.line, "grid.linewidth": 0.45 * self.line,
            "lines.linewidth": self.line, "lines.markersize": 3.3 * self.line,
            "savefig.dpi": self.dpi, "figure.dpi": 100,
            "pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "orthobench",
        }  # fmt: skip
        with style.context(settings, after_reset=True), warnings.catch_warnings():
            # characters without a glyph are drawn as boxes
            warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
            yield


SCREEN = Layout(widths=(8.0, 12.0, 15.0), height=3.6, titled=True, small=9.5, line=1.8, dpi=160)
"""The figures of ``orthobench run``."""

ONE_COLUMN = Layout(widths=(3.5,), height=2.1, titled=False, small=7, line=1.1, dpi=300)
"""One column of an IEEE journal."""

TWO_COLUMN = replace(ONE_COLUMN, widths=(7.16, 7.16, 7.16), height=2.2)
"""Both columns."""

LAYOUTS = {"screen": SCREEN, "one-column": ONE_COLUMN, "two-column": TWO_COLUMN}

TITLE = 1.5
"""The size of titles, as a multiple of that of other text."""

NAMES = 0.3
"""The maximum fraction of a figure's width for a legend."""


def sheet_panels(plot: Plot) -> list[Panel]:
    """Return the panels of a plot that files show."""
    return [plot.draw(key) for key in plot.sheet] or [plot.panel()]


def draw_figure(
    plot: Plot, panels: Sequence[Panel], styles: Mapping[str, Style], layout: Layout = SCREEN
) -> Figure:
    """Draw panels of a plot, with a legend for each set of names."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = -(-len(panels) // len(layout.widths))
    columns = -(-len(panels) // rows)
    width = layout.widths[columns - 1]
    names = [
        [folded(series.label, NAMES * width, layout.small) for series in panel.series]
        for panel in panels
    ]
    lines = 2 + max(sum(name.count("\n") + 1.4 for name in own) for own in names)
    height = rows * max(layout.height, lines * 1.25 * layout.small / 72)
    title = folded(plot.name, width, 1.1 * TITLE * layout.small)
    about = folded(" · ".join(plot.about), width, layout.small)
    if layout.titled:
        height += (title.count("\n") + 2) * 1.25 * TITLE * layout.small / 72
        height += (about.count("\n") + 2) * 1.25 * layout.small / 72
    with layout.applied():
        fig = Figure(figsize=(width, height), facecolor="white", layout="constrained")
        FigureCanvasAgg(fig)
        axes = fig.subplots(rows, columns, squeeze=False).flatten()
        for ax in axes[len(panels) :]:
            ax.remove()
        for i, (ax, panel) in enumerate(zip(axes, panels, strict=False)):
            draw_panel(ax, panel, styles, panels)
            if i % columns and panels[i - 1].y == panel.y:
                ax.set_ylabel("")
            if panel.title and (layout.titled or len(panels) > 1):
                ax.set_title(folded(panel.title, width / columns, layout.small), color=MUTED,
                             parse_math=False)  # fmt: skip
            if names[i] and (i + 1 == len(panels) or names[i] != names[i + 1]):
                legend = add_legend(ax, panel, names[i])
                # in the last row the place beside the last panel may be free
                legend.set_in_layout(i + 1 < len(panels) or len(panels) % columns == 0)
        if layout.titled:
            left: dict[str, Any] = {"x": 0.01, "ha": "left", "parse_math": False}
            fig.suptitle(title, fontsize=TITLE * layout.small, fontweight="bold", color=INK, **left)
            fig.supxlabel(about, fontsize=layout.small, color=MUTED, **left)
        fig.draw_without_rendering()
        fig.set_layout_engine("none")  # each format would move things a little
    return fig


def add_legend(ax: Axes, panel: Panel, names: Sequence[str]) -> Legend:
    """Add names beside an axis in the order of the ends of lines, those without an end last."""
    handles = ax.get_legend_handles_labels()[0][-len(names) :]  # others may be in the axis
    ends = [last_of(series, -math.inf) for series in panel.series]
    order = sorted(range(len(names)), key=ends.__getitem__, reverse=True)
    legend = ax.legend(
        [handles[i] for i in order], [names[i] for i in order], loc="upper left",
        bbox_to_anchor=(1.06, 1), borderaxespad=0, frameon=False,
    )  # fmt: skip
    for text, i in zip(legend.get_texts(), order, strict=True):
        text.set(text=names[i], parse_math=False)
    return legend


def save_figures(
    entries: Sequence[SolverResult],
    directory: Path | str,
    *,
    style: str = "screen",
    formats: Sequence[str] = FORMATS,
    kinds: Sequence[str] | None = None,
    exhibits: Load | None = None,
) -> list[Path]:
    """Write the figures of a comparison.

    Parameters
    ----------
    entries : sequence of SolverResult
    directory : path
        Created if it does not exist; files of the same name are overwritten.
    style : str
        ``"screen"``, or for papers ``"one-column"`` (3.5 in wide) or ``"two-column"`` (7.16 in),
        which have title and caption only in the metadata of the files.
    formats : sequence of str
        Any of `FORMATS`; fonts are embedded.
    kinds : sequence of str, optional
        The kinds of plots to write; all by default.
    exhibits : callable, optional
        `Results.exhibits`; curves of solutions are only drawn with it.

    Returns
    -------
    list of Path
        The files, figure by figure; equal entries give equal bytes.

    Raises
    ------
    UsageError
        If a file cannot be written.
    """
    directory = make_folder(Path(directory), "the figures")
    styles = solver_styles(entry.solver for entry in entries)
    paths: list[Path] = []
    names: set[str] = set()
    for plot in all_plots(entries, exhibits):
        name = file_name(plot, names)
        if kinds is None or plot.kind in kinds:
            paths += _save(directory / name, plot, styles, formats, LAYOUTS[style])
    return paths


def save_plot(
    plot: Plot, stem: Path, *, formats: Sequence[str] = FORMATS, dpi: int = SCREEN.dpi
) -> list[Path]:
    """Write the figure of one plot for screens, of `dpi` pixels per inch, to files of this stem."""
    lines = (series for panel in sheet_panels(plot) for series in panel.series)
    styles = solver_styles(series.solver for series in lines if series.solver)
    return _save(stem, plot, styles, formats, replace(SCREEN, dpi=dpi))


def file_name(plot: Plot, names: set[str]) -> str:
    """Return a safe file name, and add it to the names that are taken."""
    short = re.sub(r"[^a-z0-9.]+", "-", plot.name.lower()).strip("-.")[:80] or "problem"
    others = (f"{short}-{part}" for part in chain([plot.kind], count(2)))
    name = next(name for name in chain([short], others) if name not in names)
    names.add(name)
    return name


def _save(
    stem: Path, plot: Plot, styles: Mapping[str, Style], formats: Sequence[str], layout: Layout
) -> list[Path]:
    figure = draw_figure(plot, sheet_panels(plot), styles, layout)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in formats]
    with layout.applied():
        for path, kind in zip(paths, formats, strict=True):
            with atomic_write(path) as file:
                figure.savefig(file, format=kind, metadata=metadata(plot, kind))
    return paths


def metadata(plot: Plot, kind: str) -> dict[str, Any]:
    """Return title and caption for PNG, SVG or PDF, without a date."""
    text = "Subject" if kind == "pdf" else "Description"
    dates = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    return {"Title": clean(plot.name), text: clean(" · ".join(plot.about)), **dates.get(kind, {})}

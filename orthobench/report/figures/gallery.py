"""Galleries of the images that solutions exhibit: references, then a row for each solver."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from orthobench.contract.exhibits import Image
from orthobench.report.figures.figure import (
    SCREEN,
    Layout,
    blank,
    heading,
    heading_height,
    write_heading,
)
from orthobench.report.figures.panels import INK, MUTED
from orthobench.report.figures.text import LINE, fitted
from orthobench.report.plots.exhibits import (
    COLOURS,
    NOTHING,
    Exhibition,
    colour_limits,
    fills_cell,
    reduced,
    scale_notes,
)
from orthobench.report.plots.labels import legend_label
from orthobench.results.tuning import SolverResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

T = TypeVar("T")

ROWS = 8
"""The most solvers on a page."""

CellRow: TypeAlias = tuple[SolverResult | None, list[tuple[str, Image | None]]]
"""A row of cells: its solver, or None for references; each image, or None, with its name."""


@dataclass(frozen=True)
class Page:
    """A page of a gallery.

    Attributes
    ----------
    name : str
        Its title, and the stem of its file.
    exhibition : Exhibition
    references : mapping
        Images that are the same for all solvers.
    columns : sequence of str
        Names of the solvers' images.
    rows : sequence of (SolverResult, mapping)
        The solvers, and the images of each by name.
    most : int
        The most images side by side.
    """

    name: str
    exhibition: Exhibition
    references: Mapping[str, Image]
    columns: Sequence[str]
    rows: Sequence[tuple[SolverResult, Mapping[str, Image]]]
    most: int

    @property
    def images(self) -> list[tuple[str, str, Image]]:
        """Solver, name and image of all cells; the solver of a reference is empty."""
        return [
            (entry.solver if entry else "", name, image)
            for entry, row in self.cell_rows
            for name, image in row
            if image is not None
        ]

    @property
    def cell_rows(self) -> list[CellRow]:
        """The rows of cells, references first."""
        references: list[CellRow] = [
            (None, [(name, self.references[name]) for name in names])
            for names in _parts(list(self.references), self.most)
        ]
        return references + [
            (entry, [(name, own.get(name)) for name in self.columns]) for entry, own in self.rows
        ]

    @property
    def titles(self) -> list[Sequence[str]]:
        """The names above the first rows: those of references, and above the first solver."""
        found = _parts(list(self.references), self.most)
        return [*found, self.columns] if self.rows else found

    @property
    def width(self) -> int:
        """Cells side by side."""
        return max(map(len, self.titles))

    @property
    def about(self) -> tuple[str, ...]:
        """The caption: what the colours mean, and which solvers are not shown."""
        images = [image for _, _, image in self.images]
        return (*self.exhibition.about(*scale_notes(images)), *self.exhibition.absent)

    def table(self) -> list[list[Any]]:
        """Return the rows of a CSV file: one for each row of pixels."""
        drawn = [(solver, name, reduced(image.values)) for solver, name, image in self.images]
        width = max(values.shape[1] for _, _, values in drawn)
        head: list[list[Any]] = [["problem", "seed", "solver", "image", "row", *range(width)]]
        problem, seed = self.exhibition.problem, self.exhibition.seed
        return head + [
            [problem, seed, solver, name, row, *(f"{v:.6g}" for v in pixels)]
            for solver, name, values in drawn
            for row, pixels in enumerate(values.tolist())
        ]


def pages(exhibition: Exhibition, columns: int = SCREEN.columns) -> list[Page]:
    """Return the pages on which the images fit; references are on every one.

    Parameters
    ----------
    exhibition : Exhibition
    columns : int
        The most images side by side.
    """
    references, names = exhibition.references(Image), exhibition.names(Image)
    label = f"{exhibition.problem}: images"
    if not names:
        return [Page(label, exhibition, references, [], [], columns)] if references else []
    parts = list(itertools.product(_parts(exhibition.own(Image), ROWS), _parts(names, columns)))
    labels = [f"{label} {i} of {len(parts)}" for i in range(1, len(parts) + 1)]
    return [
        Page(label if len(parts) == 1 else own, exhibition, references, some_names, rows, columns)
        for own, (rows, some_names) in zip(labels, parts, strict=True)
    ]


def draw_gallery(page: Page, layout: Layout = SCREEN) -> Figure:
    """Draw a page: references first, then a row for each solver.

    Parameters
    ----------
    page : Page
    layout : Layout
    """
    with layout.applied():
        lines = heading(page.name, page.about, _width(page, layout), layout)
        (wide, high), gap = _cell(page, layout), layout.gap / 2
        titled, tops, end = dict(enumerate(page.titles)), [], layout.margin + heading_height(lines)
        for i in range(len(page.cell_rows)):
            tops.append(end + _title_height(titled.get(i, ()), wide, layout))
            end = tops[-1] + high
        width, height = _width(page, layout), end - gap + layout.margin
        fig = blank(width, height)
        write_heading(fig, lines, layout)
        size = ((wide - gap) / width, (high - gap) / height)
        for i, ((entry, row), top) in enumerate(zip(page.cell_rows, tops, strict=True)):
            if entry or not i:
                _label_row(fig, 1 - top / height, entry, layout)
            for column, (name, image) in enumerate(row):
                corner = (layout.names + column * wide) / width, 1 - (top + high - gap) / height
                title = _title(name, wide, layout) if i in titled else ""
                draw_image(fig.add_axes((*corner, *size)), image, title)
    return fig


def draw_image(ax: Axes, image: Image | None, title: str = "") -> None:
    """Draw an image into an axis of its own, on a colour scale of its own.

    Parameters
    ----------
    ax : matplotlib Axes
    image : Image, optional
        None is drawn as a dash.
    title : str
    """
    import matplotlib as mpl

    size = mpl.rcParams["font.size"]
    ax.set_title(title, fontsize=size, color=INK, pad=0.4 * size, parse_math=False)
    ax.set(xticks=[], yticks=[], anchor="N")
    if image is None:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "–", transform=ax.transAxes, color=MUTED, ha="center", va="center")
        return
    values = reduced(image.values)
    low, high = colour_limits(values, image.signed)
    colours = mpl.colormaps[COLOURS[image.signed]].with_extremes(bad=NOTHING)
    aspect: Literal["equal", "auto"] = "auto" if fills_cell(values) else "equal"
    ax.imshow(values, cmap=colours, vmin=low, vmax=high, aspect=aspect)
    for spine in ax.spines.values():
        spine.set(color="#b0b0b0", linewidth=0.6)


def _title_height(names: Sequence[str], wide: float, layout: Layout) -> float:
    """Return the height of the titles above a row of cells of this width."""
    lines = [_title(name, wide, layout).count("\n") + 1.6 for name in names]
    return max(lines, default=0.0) * LINE * layout.small / 72


def _width(page: Page, layout: Layout) -> float:
    cells = page.width * _cell(page, layout)[0] - layout.gap / 2
    needed = layout.names + cells + layout.margin
    return max(layout.widths[0], min(needed, layout.widths[-1]))


def _cell(page: Page, layout: Layout) -> tuple[float, float]:
    """Return width and height of the cells: the widest that fit, as high as the images need."""
    gap = layout.gap / 2
    room = layout.widths[-1] - layout.names - layout.margin + gap
    wide = min(layout.cell, room / page.width)
    shapes = [image.values.shape for _, _, image in page.images]
    tallest = max(height / width for height, width in shapes)
    return wide, (wide - gap) * min(max(tallest, 0.4), 1.25) + gap


def _title(name: str, wide: float, layout: Layout) -> str:
    """Return a name on at most three lines of this width."""
    return "\n".join(fitted(name, wide - layout.gap, layout.small, 3))


def _label_row(fig: Figure, top: float, entry: SolverResult | None, layout: Layout) -> None:
    """Write the label of a row beside its first cell."""
    name = legend_label(entry) if entry else "the same for all"
    text = "\n".join(fitted(name, layout.names - layout.margin - layout.gap / 2, layout.small))
    fig.text(
        layout.margin / fig.get_figwidth(), top, text, ha="left", va="top",
        color=INK if entry else MUTED, style="normal" if entry else "italic",
        fontsize=layout.small, parse_math=False,
    )  # fmt: skip


def _parts(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Return the items in parts of at most `size`."""
    return [items[at : at + size] for at in range(0, len(items), size)]

"""Galleries: the images that solutions exhibit, a row for each solver under the references."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from orthobench.contract.exhibits import Image
from orthobench.report.figures.drawing import INK, MUTED
from orthobench.report.figures.layouts import SCREEN, Layout
from orthobench.report.figures.sheet import blank, heading, height_of, write_heading
from orthobench.report.figures.text import LINE, fitted
from orthobench.report.plots.exhibits import Exhibition
from orthobench.report.plots.images import COLOURS, NOTHING, fills, limits, reduced, scales
from orthobench.report.plots.labels import legend_label
from orthobench.results.tuning import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

T = TypeVar("T")

ROWS = 8
"""Most solvers on a page."""

Line: TypeAlias = tuple[Entry | None, list[tuple[str, Image | None]]]
"""A row of cells: whose it is, nobody's where it is of references; images by name, or none."""


@dataclass(frozen=True)
class Page:
    """A page of a gallery.

    Attributes
    ----------
    name : str
        Of the picture, for its file.
    shown : Exhibition
    references : mapping
        Images that are the same for all solvers.
    columns : sequence of str
        Names of the solvers' images.
    rows : sequence of (Entry, mapping)
        The solvers, and the images of each by name.
    most : int
        Most images side by side.
    """

    name: str
    shown: Exhibition
    references: Mapping[str, Image]
    columns: Sequence[str]
    rows: Sequence[tuple[Entry, Mapping[str, Image]]]
    most: int

    @property
    def images(self) -> list[tuple[str, str, Image]]:
        """Solver, name and image of all there are; references are of no solver."""
        return [
            (entry.solver if entry else "", name, image)
            for entry, row in self.lines
            for name, image in row
            if image is not None
        ]

    @property
    def lines(self) -> list[Line]:
        """The rows of cells, references first."""
        found: list[Line] = [
            (None, [(name, self.references[name]) for name in names])
            for names in _parts(list(self.references), self.most)
        ]
        return found + [
            (who, [(name, own.get(name)) for name in self.columns]) for who, own in self.rows
        ]

    @property
    def titles(self) -> list[Sequence[str]]:
        """The names above the first rows: those of references, and above the first solver."""
        found = _parts(list(self.references), self.most)
        return [*found, self.columns] if self.rows else found

    @property
    def across(self) -> int:
        """Cells side by side."""
        return max(map(len, self.titles))

    @property
    def about(self) -> tuple[str, ...]:
        """What a reader must know: who is not shown, and what the colours mean."""
        images = [image for _, _, image in self.images]
        return (*self.shown.about(*scales(images)), *self.shown.absent)

    def table(self) -> list[list[Any]]:
        """Return what the page shows as the rows of a CSV file: one for each row of pixels."""
        drawn = [(solver, name, reduced(image.values)) for solver, name, image in self.images]
        width = max(values.shape[1] for _, _, values in drawn)
        head: list[list[Any]] = [["problem", "seed", "solver", "image", "row", *range(width)]]
        return head + [
            [self.shown.problem, self.shown.seed, solver, name, row, *(f"{v:.6g}" for v in line)]
            for solver, name, values in drawn
            for row, line in enumerate(values.tolist())
        ]


def pages(shown: Exhibition, columns: int = SCREEN.columns) -> list[Page]:
    """Return the pages on which the images fit; references are on every one.

    Parameters
    ----------
    shown : Exhibition
    columns : int
        Most images side by side.
    """
    references, names = shown.references(Image), shown.names(Image)
    label = f"{shown.problem}: images"
    if not names:
        return [Page(label, shown, references, [], [], columns)] if references else []
    parts = list(itertools.product(_parts(shown.own(Image), ROWS), _parts(names, columns)))
    return [
        Page(f"{label}{_number(i, len(parts))}", shown, references, some_names, some, columns)
        for i, (some, some_names) in enumerate(parts, 1)
    ]


def gallery(page: Page, layout: Layout = SCREEN) -> Figure:
    """Draw a page: references first, then a row for each solver.

    Parameters
    ----------
    page : Page
    layout : Layout
    """
    with layout.applied():
        above = heading(page.name, page.about, _width(page, layout), layout)
        grid = _grid(page, layout, height_of(above))
        fig = blank(grid.width, grid.height)
        write_heading(fig, above, layout)
        for i, (entry, row) in enumerate(page.lines):
            if entry or not i:
                _label(fig, grid.box(i, 0), entry, layout)
            for column, (name, image) in enumerate(row):
                title = _title(name, grid.cell[0], layout) if i < len(page.titles) else ""
                draw_image(fig.add_axes(grid.box(i, column)), image, title)
    return fig


def draw_image(ax: Axes, image: Image | None, title: str = "") -> None:
    """Draw an image into an axis of its own, on a scale of its own.

    Parameters
    ----------
    ax : matplotlib Axes
    image : Image, optional
        A dash stands for one that is not there.
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
    low, high = limits(values, image.signed)
    colours = mpl.colormaps[COLOURS[image.signed]].with_extremes(bad=NOTHING)
    aspect: Literal["equal", "auto"] = "auto" if fills(values) else "equal"
    ax.imshow(values, cmap=colours, vmin=low, vmax=high, aspect=aspect)
    for spine in ax.spines.values():
        spine.set(color="#b0b0b0", linewidth=0.6)


@dataclass(frozen=True)
class _Grid:
    """Where the cells of a page are, in inches.

    Attributes
    ----------
    width, height : float
        Of the page.
    cell : (float, float)
        Width and height of a cell, with the gap to the next.
    gap : float
    left, top : float
        Where the first row begins.
    titled : mapping
        The room that the titles of a row need, by its number.
    """

    width: float
    height: float
    cell: tuple[float, float]
    gap: float
    left: float
    top: float
    titled: Mapping[int, float]

    def box(self, row: int, column: int) -> tuple[float, float, float, float]:
        """Return left, bottom, width and height of a cell, as fractions of the page."""
        wide, high = self.cell
        titles = sum(room for at, room in self.titled.items() if at <= row)
        bottom = self.height - self.top - titles - (row + 1) * high + self.gap
        return (
            (self.left + column * wide) / self.width, bottom / self.height,
            (wide - self.gap) / self.width, (high - self.gap) / self.height,
        )  # fmt: skip


def _grid(page: Page, layout: Layout, above: float) -> _Grid:
    """Return where the cells of a page are, below so much text."""
    cell, line = _cell(page, layout), LINE * layout.small / 72
    titled = {
        i: 0.6 * line + line * max(_title(name, cell[0], layout).count("\n") + 1 for name in names)
        for i, names in enumerate(page.titles)
    }
    top = layout.margin + above
    rows = len(page.titles) - bool(page.rows) + len(page.rows)
    height = top + sum(titled.values()) + rows * cell[1] - layout.gap / 2 + layout.margin
    return _Grid(_width(page, layout), height, cell, layout.gap / 2, layout.names, top, titled)


def _width(page: Page, layout: Layout) -> float:
    cells = page.across * _cell(page, layout)[0] - layout.gap / 2
    needed = layout.names + cells + layout.margin
    return max(layout.widths[0], min(needed, layout.widths[-1]))


def _cell(page: Page, layout: Layout) -> tuple[float, float]:
    """Return width and height of the cells: the widest that fit, as high as the images need."""
    gap = layout.gap / 2
    room = layout.widths[-1] - layout.names - layout.margin + gap
    wide = min(layout.cell, room / page.across)
    shapes = [image.values.shape for _, _, image in page.images]
    tallest = max(height / width for height, width in shapes)
    return wide, (wide - gap) * min(max(tallest, 0.4), 1.25) + gap


def _title(name: str, wide: float, layout: Layout) -> str:
    """Return a name on at most three lines of this width."""
    return "\n".join(fitted(name, wide - layout.gap, layout.small, 3))


def _label(
    fig: Figure, box: tuple[float, float, float, float], entry: Entry | None, layout: Layout
) -> None:
    """Write what a row is of, beside its first cell."""
    _, bottom, _, height = box
    name = legend_label(entry) if entry else "the same for all"
    text = "\n".join(fitted(name, layout.names - layout.margin - layout.gap / 2, layout.small))
    fig.text(
        layout.margin / fig.get_figwidth(), bottom + height, text, ha="left", va="top",
        color=INK if entry else MUTED, style="normal" if entry else "italic",
        fontsize=layout.small, parse_math=False,
    )  # fmt: skip


def _number(page: int, pages: int) -> str:
    return f" {page} of {pages}" if pages > 1 else ""


def _parts(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Return the items in parts of at most `size`."""
    return [items[at : at + size] for at in range(0, len(items), size)]

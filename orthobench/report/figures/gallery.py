"""Galleries: the images that solutions exhibit, a row for each solver under the references."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

from orthobench.exhibits import Image, Values
from orthobench.report.figures.drawing import INK, MUTED, legend_label
from orthobench.report.figures.sheet import LINE, blank, footnotes, heading, wrapped
from orthobench.report.plots.exhibits import Exhibition
from orthobench.tuning import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

T = TypeVar("T")

ROWS, COLUMNS = 8, 6
"""Most solvers and most images beside each other on a page."""

SIDE = 512
"""Longest side in pixels at which an image is drawn; larger ones are averaged over blocks."""

SLIM = 4
"""Images longer than this times their width fill their cell: their pixels are no squares."""

PERCENTILES = (0.25, 99.75)
"""What of the values of an image its colours span."""

COLOURS = {False: "viridis", True: "RdBu_r"}
"""Perceptually uniform; where zero is special, diverging from white."""

NOTHING = "#d4d4d4"
"""The colour of pixels without a value."""

WIDTH, NARROWEST, CELL = 14.0, 8.0, 2.6
"""Of the widest page, of the narrowest, and of the widest cell, in inches."""

LABELS, MARGIN, GAP = 2.0, 0.25, 0.14
"""The room for the solvers' names, the left margin of these, and between cells, in inches."""


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
    """

    name: str
    shown: Exhibition
    references: Mapping[str, Image]
    columns: Sequence[str]
    rows: Sequence[tuple[Entry, Mapping[str, Image]]]

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
            for names in _parts(list(self.references), COLUMNS)
        ]
        return found + [
            (who, [(name, own.get(name)) for name in self.columns]) for who, own in self.rows
        ]

    @property
    def titles(self) -> list[Sequence[str]]:
        """The names above the first rows: those of references, and above the first solver."""
        found = _parts(list(self.references), COLUMNS)
        return [*found, self.columns] if self.rows else found

    @property
    def across(self) -> int:
        """Cells side by side."""
        return max(map(len, self.titles))


def pages(shown: Exhibition) -> list[Page]:
    """Return the pages on which the images fit; references are on every one.

    Parameters
    ----------
    shown : Exhibition
    """
    references, names = shown.references(Image), shown.names(Image)
    label = f"{shown.problem}: images"
    if not names:
        return [Page(label, shown, references, [], [])] if references else []
    parts = list(itertools.product(_parts(shown.own(Image), ROWS), _parts(names, COLUMNS)))
    return [
        Page(f"{label}{_number(i, len(parts))}", shown, references, columns, some)
        for i, (some, columns) in enumerate(parts, 1)
    ]


def gallery(page: Page, note: str) -> tuple[Figure, list[list[Any]]]:
    """Draw a page: references first, then a row for each solver.

    Parameters
    ----------
    page : Page
    note : str
        What else the reader should know; stands under the title.

    Returns
    -------
    Figure
    list of list
        What it shows, as the rows of a CSV file: one for each row of pixels.
    """
    images = [image for _, _, image in page.images]
    room = _width(page) - 2 * MARGIN
    about = wrapped(page.shown.about(*_scales(images), note), room)
    notes = [part for text in page.shown.absent for part in wrapped(text, room)]
    layout = _layout(page, len(about), len(notes))
    fig = blank(layout.width, layout.height)
    heading(fig, page.name, about, MARGIN / layout.width)
    footnotes(fig, notes, MARGIN / layout.width)
    for i, (entry, row) in enumerate(page.lines):
        titles = page.titles[i] if i < len(page.titles) else ()
        if entry or not i:
            _label(fig, layout.box(i, 0), entry)
        for column, (name, image) in enumerate(row):
            title = _fitted(name, layout.cell[0]) if titles else ""
            draw_image(fig.add_axes(layout.box(i, column)), image, title)
    return fig, _table(page)


def draw_image(ax: Axes, image: Image | None, title: str) -> None:
    """Draw an image into an axis of its own, on a scale of its own.

    Parameters
    ----------
    ax : matplotlib Axes
    image : Image, optional
        A dash stands for one that is not there.
    title : str
    """
    import matplotlib as mpl

    ax.set_title(title, fontsize=9.5, color=INK, pad=4, parse_math=False)
    ax.set(xticks=[], yticks=[], anchor="N")
    if image is None:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "–", transform=ax.transAxes, color=MUTED, ha="center", va="center")
        return
    values = reduced(image.values)
    low, high = limits(values, image.signed)
    colours = mpl.colormaps[COLOURS[image.signed]].with_extremes(bad=NOTHING)
    square = 1 / SLIM <= values.shape[0] / values.shape[1] <= SLIM
    aspect: Literal["equal", "auto"] = "equal" if square else "auto"
    ax.imshow(values, cmap=colours, vmin=low, vmax=high, aspect=aspect)
    for spine in ax.spines.values():
        spine.set(color="#b0b0b0", linewidth=0.6)


def limits(values: Values, signed: bool) -> tuple[float, float]:
    """Return the values at the ends of the colours: percentiles, or all where these are one.

    Around zero where the image is signed.

    Parameters
    ----------
    values : ndarray
    signed : bool
    """
    there = values[np.isfinite(values)].astype(np.float64)
    if signed:
        there = np.concatenate([there, -there])
    if not there.size:
        return -1.0, 1.0
    low, high = np.percentile(there, PERCENTILES).tolist()
    if low == high:
        low, high = float(there.min()), float(there.max())
    if low == high:
        low, high = low - (abs(low) or 1.0), high + (abs(high) or 1.0)
    return (-high, high) if signed else (low, high)


def reduced(values: Values) -> Values:
    """Return an image of at most `SIDE` pixels a side: means over blocks, without gaps.

    Parameters
    ----------
    values : ndarray, shape (height, width)
    """
    step = -(-max(values.shape) // SIDE)
    if step == 1:
        return values
    padding = [(0, -length % step) for length in values.shape]
    padded = np.pad(values.astype(np.float64), padding, constant_values=np.nan)
    blocks = padded.reshape(padded.shape[0] // step, step, padded.shape[1] // step, step)
    counts = np.isfinite(blocks).sum(axis=(1, 3))
    sums = np.nansum(blocks, axis=(1, 3))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


@dataclass(frozen=True)
class _Layout:
    """Where the cells of a page are, in inches.

    Attributes
    ----------
    width, height : float
        Of the page.
    cell : (float, float)
        Width and height of a cell, with the gap to the next.
    top : float
        Where the first row begins.
    titled : mapping
        The room that the titles of a row need, by its number.
    """

    width: float
    height: float
    cell: tuple[float, float]
    top: float
    titled: Mapping[int, float]

    def box(self, row: int, column: int) -> tuple[float, float, float, float]:
        """Return left, bottom, width and height of a cell, as fractions of the page."""
        wide, high = self.cell
        titles = sum(room for at, room in self.titled.items() if at <= row)
        bottom = self.height - self.top - titles - (row + 1) * high + GAP
        left = LABELS + column * wide
        return (
            left / self.width, bottom / self.height,
            (wide - GAP) / self.width, (high - GAP) / self.height,
        )  # fmt: skip


def _layout(page: Page, about: int, notes: int) -> _Layout:
    """Return the layout of a page with this many lines above and below its rows."""
    cell = _cell(page)
    titled = {i: 0.1 + LINE * _lines(names, cell[0]) for i, names in enumerate(page.titles)}
    top = 0.55 + LINE * about
    rows = len(page.titles) - bool(page.rows) + len(page.rows)
    height = top + sum(titled.values()) + rows * cell[1] + LINE * notes + 0.15
    return _Layout(_width(page), height, cell, top, titled)


def _width(page: Page) -> float:
    return max(NARROWEST, LABELS + page.across * _cell(page)[0])


def _cell(page: Page) -> tuple[float, float]:
    """Return width and height of the cells: the widest that fit, as high as the images need."""
    wide = min(CELL, (WIDTH - LABELS) / page.across)
    shapes = [image.values.shape for _, _, image in page.images]
    tallest = max(height / width for height, width in shapes)
    return wide, (wide - GAP) * min(max(tallest, 0.4), 1.25) + GAP


def _fitted(name: str, wide: float) -> str:
    """Return a name on at most three lines of this width."""
    return "\n".join(wrapped(name, wide - 2 * GAP, 3))


def _lines(names: Sequence[str], wide: float) -> int:
    return max(_fitted(name, wide).count("\n") + 1 for name in names)


def _label(fig: Figure, box: tuple[float, float, float, float], entry: Entry | None) -> None:
    """Write what a row is of, beside its first cell."""
    left, bottom, _, height = box
    at = left * MARGIN / LABELS, bottom + height
    name = legend_label(entry).strip() if entry else "the same for all"
    text = "\n".join(wrapped(name, LABELS - MARGIN - GAP))
    fig.text(
        *at, text, ha="left", va="top", color=INK if entry else MUTED, fontsize=9.5,
        style="normal" if entry else "italic", parse_math=False,
    )  # fmt: skip


def _scales(images: Sequence[Image]) -> list[str]:
    """Return what the colours mean, and whether pixels were averaged."""
    low, high = PERCENTILES
    around = ", signed ones around zero" if any(image.signed for image in images) else ""
    large = any(max(image.values.shape) > SIDE for image in images)
    return [
        f"each image on a scale of its own, percentiles {low} to {high}{around}",
        *([f"means over blocks of pixels where there are more than {SIDE}"] if large else []),
    ]


def _table(page: Page) -> list[list[Any]]:
    drawn = [(solver, name, reduced(image.values)) for solver, name, image in page.images]
    width = max(values.shape[1] for _, _, values in drawn)
    head: list[list[Any]] = [["problem", "seed", "solver", "image", "row", *range(width)]]
    return head + [
        [page.shown.problem, page.shown.seed, solver, name, row, *(f"{v:.6g}" for v in line)]
        for solver, name, values in drawn
        for row, line in enumerate(values.tolist())
    ]


def _number(page: int, pages: int) -> str:
    return f" {page} of {pages}" if pages > 1 else ""


def _parts(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Return the items in parts of at most `size`."""
    return [items[at : at + size] for at in range(0, len(items), size)]

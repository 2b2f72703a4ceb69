"""Pictures of what solutions exhibit: every image as a small PNG inside the page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO

import numpy as np

from orthobench.contract.exhibits import Image
from orthobench.report.plots.exhibits import Exhibition
from orthobench.report.plots.images import (
    COLOURS,
    NOTHING,
    SIDE,
    fills,
    limits,
    reduced,
    scales,
)
from orthobench.report.plots.labels import legend_label

SIDES = (SIDE, 256, 128)
"""Longest sides in pixels to draw images at: the first at which all of a page fit."""

BLANK = 255
"""The place in a palette of pixels without a value; all others are colours."""


@dataclass(frozen=True)
class Picture:
    """One image.

    Attributes
    ----------
    name, alt : str
        Its name, and whose image it is.
    source : str
        A PNG as a data URL.
    width, height : int
        In pixels.
    fills : bool
        Whether it fills its cell, whatever its shape.
    """

    name: str
    alt: str
    source: str
    width: int
    height: int
    fills: bool


@dataclass(frozen=True)
class Gallery:
    """The images of one problem at one seed; nothing but what it is where they do not fit.

    Attributes
    ----------
    about : tuple of str
        What a reader must know.
    references : tuple of Picture
        The same for all solvers.
    names : tuple of str
        The columns: what solvers show of their own.
    rows : tuple of (str, str, tuple of Picture or None)
        Solver, its label with chosen parameters, and its images, one for each column.
    """

    about: tuple[str, ...]
    references: tuple[Picture, ...] = ()
    names: tuple[str, ...] = ()
    rows: tuple[tuple[str, str, tuple[Picture | None, ...]], ...] = ()

    @property
    def size(self) -> int:
        """Characters of its images."""
        own = (picture for _, _, row in self.rows for picture in row if picture)
        return sum(len(picture.source) for picture in (*self.references, *own))


def galleries(shown: Sequence[Exhibition], room: int) -> dict[str, Gallery]:
    """Return the galleries of a page by their problems, where these exhibit images.

    All are drawn as large as their images are, or as small as needed to fit. Where they still do
    not, the last ones are left out: they are empty.

    Parameters
    ----------
    shown : sequence of Exhibition
    room : int
        Characters that the images may take.
    """
    with_images = [one for one in shown if one.references(Image) or one.names(Image)]
    found = [_gallery(one, SIDES[0]) for one in with_images]
    for side in SIDES[1:]:
        if sum(one.size for one in found) > room:
            found = [_gallery(one, side) for one in with_images]
    sizes = np.cumsum([one.size for one in found])
    return {
        one.problem: gallery if size <= room else Gallery(gallery.about)
        for one, gallery, size in zip(with_images, found, sizes.tolist(), strict=True)
    }


def _gallery(shown: Exhibition, side: int) -> Gallery:
    references, own = shown.references(Image), shown.own(Image)
    names = tuple(shown.names(Image))
    images = [*references.values(), *(image for _, images in own for image in images.values())]
    about = shown.about(*scales(images, side), *shown.absent)
    rows = []
    for entry, by_name in own:
        label = legend_label(entry)
        cells = (_picture(by_name.get(name), name, f"{name}: {label}", side) for name in names)
        rows.append((entry.solver, label, tuple(cells)))
    same = tuple(
        _drawn(image, name, f"{name}, the same for all", side) for name, image in references.items()
    )
    return Gallery(about, same, names, tuple(rows) if names else ())


def _picture(image: Image | None, name: str, alt: str, side: int) -> Picture | None:
    return _drawn(image, name, alt, side) if image else None


def _drawn(image: Image, name: str, alt: str, side: int) -> Picture:
    data = png(image, side)
    height, width = reduced(image.values, side).shape
    source = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return Picture(name, alt, source, width, height, fills(image.values))


def png(image: Image, side: int = SIDE) -> bytes:
    """Return an image as a PNG of one pixel for each of its own, in a palette of 256 colours.

    Parameters
    ----------
    image : Image
    side : int
        Longest side in pixels; larger images are averaged over blocks.
    """
    from PIL import Image as Pillow

    values = reduced(image.values, side)
    low, high = limits(values, image.signed)
    with np.errstate(invalid="ignore"):
        shares = (values - low) / (high - low)
    places = np.clip(np.nan_to_num(shares) * BLANK, 0, BLANK - 1).astype(np.uint8)
    places[np.isnan(values)] = BLANK
    drawn = Pillow.fromarray(places, mode="P")
    drawn.putpalette(_palette(image.signed))
    buffer = BytesIO()
    drawn.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


@cache
def _palette(signed: bool) -> bytes:
    """Return 255 colours, from the lowest value to the highest, and that of no value."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    colours = colormaps[COLOURS[signed]](np.linspace(0, 1, BLANK))[:, :3]
    table = np.concatenate([colours, [to_rgb(NOTHING)]])
    return bytes(np.rint(255 * table).astype(np.uint8).ravel().tolist())

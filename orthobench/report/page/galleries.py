"""Galleries of the images that solutions exhibit, each image a small PNG inside the page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np

from orthobench.contract.exhibits import Image, Values
from orthobench.report.plots.exhibits import Exhibition
from orthobench.report.plots.labels import legend_label

SIDE = 512
"""The longest side of a drawn image, in pixels; larger images are averaged over blocks."""

SLIM = 4
"""Images with a larger ratio of their sides than this fill their cell, with pixels not square."""

PERCENTILES = (0.25, 99.75)
"""The percentiles of an image's values at the ends of its colour scale."""

COLOURS = {False: "viridis", True: "RdBu_r"}
"""Colour maps: a perceptually uniform one, and for signed images one that is white at zero."""

NOTHING = "#d4d4d4"
"""The colour of pixels without a value."""

SIDES = (SIDE, 256, 128)
"""The longest side of images, in pixels: the first of these at which all images of a page fit."""

BLANK = 255
"""The entry of the palette for pixels without a value; entries 0 to 254 are colours."""


def galleries(exhibitions: Sequence[Exhibition], room: int) -> dict[str, dict[str, Any]]:
    """Return the galleries of a page, by problem.

    Each has its caption as ``about``, images that are the same for all solvers as ``references``,
    the ``names`` of the solvers' own ones, ``rows`` with a solver, its label with chosen
    parameters, and its images (None where it has none of a name), and the ``size`` of all images
    in characters.

    All images are drawn in full, or with smaller sides if they do not fit. If they still do not,
    the last galleries are left without images.

    Parameters
    ----------
    exhibitions : sequence of Exhibition
    room : int
        The most characters that the images may take.
    """
    with_images = [one for one in exhibitions if one.references(Image) or one.names(Image)]
    found = [_gallery(one, SIDES[0]) for one in with_images]
    for side in SIDES[1:]:
        if sum(one["size"] for one in found) > room:
            found = [_gallery(one, side) for one in with_images]
    sizes = np.cumsum([one["size"] for one in found])
    return {
        one.problem: gallery
        if size <= room
        else {**gallery, "references": [], "rows": [], "size": 0}
        for one, gallery, size in zip(with_images, found, sizes.tolist(), strict=True)
    }


def _gallery(exhibition: Exhibition, side: int) -> dict[str, Any]:
    references, own = exhibition.references(Image), exhibition.own(Image)
    names = tuple(exhibition.names(Image))
    images = [*references.values(), *(image for _, images in own for image in images.values())]
    about = exhibition.about(*scale_notes(images, side), *exhibition.absent)
    rows = []
    for entry, by_name in own:
        label = legend_label(entry)
        cells = tuple(
            _picture(by_name[name], name, f"{name}: {label}", side) if name in by_name else None
            for name in names
        )
        rows.append((entry.solver, label, cells))
    same = [
        _picture(image, name, f"{name}, the same for all", side)
        for name, image in references.items()
    ]
    pictures = [*same, *(picture for *_, cells in rows for picture in cells if picture)]
    return {
        "about": about, "references": same, "names": names, "rows": rows if names else [],
        "size": sum(len(picture["source"]) for picture in pictures),
    }  # fmt: skip


def _picture(image: Image, name: str, alt: str, side: int) -> dict[str, Any]:
    """Return a PNG as a data URL, its size in pixels, and whether it is stretched to its cell."""
    data = png(image, side)
    height, width = reduced(image.values, side).shape
    return {
        "name": name, "alt": alt, "width": width, "height": height,
        "source": f"data:image/png;base64,{base64.b64encode(data).decode()}",
        "fills": fills_cell(image.values),
    }  # fmt: skip


def png(image: Image, side: int = SIDE) -> bytes:
    """Return an image as a PNG with a palette of 256 colours.

    Parameters
    ----------
    image : Image
    side : int
        The longest side in pixels; larger images are averaged over blocks.
    """
    from PIL import Image as Pillow

    values = reduced(image.values, side)
    low, high = colour_limits(values, image.signed)
    with np.errstate(invalid="ignore"):
        positions = (values - low) / (high - low)
    entries = np.clip(np.nan_to_num(positions) * BLANK, 0, BLANK - 1).astype(np.uint8)
    entries[np.isnan(values)] = BLANK
    drawn = Pillow.fromarray(entries, mode="P")
    drawn.putpalette(_palette(image.signed))
    buffer = BytesIO()
    drawn.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


@cache
def _palette(signed: bool) -> bytes:
    """Return the colours of the lowest to the highest value, and that of pixels without one."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    colours = colormaps[COLOURS[signed]](np.linspace(0, 1, BLANK))[:, :3]
    table = np.concatenate([colours, [to_rgb(NOTHING)]])
    return bytes(np.rint(255 * table).astype(np.uint8).ravel().tolist())


def colour_limits(values: Values, signed: bool) -> tuple[float, float]:
    """Return the values at the ends of the colour scale.

    They are `PERCENTILES` of the values, or the smallest and the largest where these percentiles
    are equal. The scale of a signed image is symmetric around zero.

    Parameters
    ----------
    values : ndarray
    signed : bool
    """
    finite = values[np.isfinite(values)].astype(np.float64)
    if signed:
        finite = np.concatenate([finite, -finite])
    if not finite.size:
        return -1.0, 1.0
    low, high = np.percentile(finite, PERCENTILES).tolist()
    if low == high:
        low, high = float(finite.min()), float(finite.max())
    if low == high:
        low, high = low - (abs(low) or 1.0), high + (abs(high) or 1.0)
    return (-high, high) if signed else (low, high)


def fills_cell(values: Values) -> bool:
    """Return whether an image is stretched to fill its cell, since it is too slim."""
    return not 1 / SLIM <= values.shape[0] / values.shape[1] <= SLIM


def reduced(values: Values, side: int = SIDE) -> Values:
    """Return an image of at most `side` pixels a side, by means over blocks that leave out gaps.

    Parameters
    ----------
    values : ndarray, shape (height, width)
    side : int
    """
    step = -(-max(values.shape) // side)
    if step == 1:
        return values
    # a slim image has fewer pixels across than a block
    high, wide = (min(step, length) for length in values.shape)
    padding = [(0, -values.shape[0] % high), (0, -values.shape[1] % wide)]
    padded = np.pad(values.astype(np.float64), padding, constant_values=np.nan)
    blocks = padded.reshape(padded.shape[0] // high, high, padded.shape[1] // wide, wide)
    counts = np.isfinite(blocks).sum(axis=(1, 3))
    sums = np.nansum(blocks, axis=(1, 3))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def scale_notes(images: Sequence[Image], side: int = SIDE) -> list[str]:
    """Return what the colours mean, and whether pixels are averaged, for the caption.

    Parameters
    ----------
    images : sequence of Image
    side : int
        The most pixels that are drawn on a side.
    """
    low, high = PERCENTILES
    around = ", signed ones around zero" if any(image.signed for image in images) else ""
    large = any(max(image.values.shape) > side for image in images)
    return [
        f"each image on a scale of its own, percentiles {low} to {high}{around}",
        *([f"means over blocks of pixels where there are more than {side}"] if large else []),
    ]

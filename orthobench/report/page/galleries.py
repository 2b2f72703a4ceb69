"""Galleries of the images that solutions exhibit, each image a small PNG inside the page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np

from orthobench.contract.exhibits import Image, Values
from orthobench.report.plots.exhibits import Exhibition
from orthobench.report.plots.labels import legend_label

SIDES = (512, 256, 128)
"""The longest side of images, in pixels: the first of these at which all images of a page fit."""

SIZE = 2_000_000
"""The size that all images of a page should not exceed, in characters."""

SLIM = 4
"""Images with a larger ratio of their sides than this fill their cell, with pixels not square."""

PERCENTILES = (0.25, 99.75)
"""The percentiles of an image's values at the ends of its colour scale."""

COLOURS = {False: "viridis", True: "RdBu_r"}
"""Colour maps: a perceptually uniform one, and for signed images one that is white at zero."""

NOTHING = "#d4d4d4"
"""The colour of pixels without a value."""


def galleries(exhibitions: Sequence[Exhibition]) -> dict[str, dict[str, Any]]:
    """Return the galleries of a page, by problem.

    The images of ``rows`` belong to a solver, and those of ``references`` to none.
    """
    with_images = [one for one in exhibitions if one.references(Image) or one.names(Image)]
    found: dict[str, dict[str, Any]] = {}
    for side in SIDES:
        found = {one.problem: _gallery(one, side) for one in with_images}
        if sum(own["size"] for own in found.values()) <= SIZE:
            break
    return found


def _gallery(exhibition: Exhibition, side: int) -> dict[str, Any]:
    own, names = exhibition.own(Image), exhibition.names(Image)
    same = [
        _picture(image, name, f"{name}, the same for all", side)
        for name, image in exhibition.references(Image).items()
    ]
    rows = [
        (
            entry.solver, legend_label(entry),
            [_picture(images[name], name, f"{name}: {legend_label(entry)}", side)
             if name in images else None for name in names],
        )
        for entry, images in own
    ]  # fmt: skip
    pictures = [*same, *(picture for *_, cells in rows for picture in cells if picture)]
    scale = "each image on a scale of its own, percentiles {} to {}".format(*PERCENTILES)
    return {
        "about": exhibition.about(scale, *exhibition.absent),
        "references": same, "names": names, "rows": rows if names else [],
        "size": sum(len(picture["source"]) for picture in pictures),
    }  # fmt: skip


def _picture(image: Image, name: str, alt: str, side: int) -> dict[str, Any]:
    """Return a PNG as a data URL, its size in pixels, and whether it is stretched to its cell."""
    height, width = reduced(image.values, side).shape
    tall, wide = image.values.shape
    return {
        "name": name, "alt": alt, "width": width, "height": height,
        "source": f"data:image/png;base64,{base64.b64encode(png(image, side)).decode()}",
        "fills": max(tall, wide) > SLIM * min(tall, wide),
    }  # fmt: skip


def png(image: Image, side: int = SIDES[0]) -> bytes:
    """Return an image as a PNG in colours."""
    from matplotlib import colormaps
    from PIL import Image as Pillow

    values = reduced(image.values, side)
    low, high = colour_limits(values, image.signed)
    colours = colormaps[COLOURS[image.signed]].with_extremes(bad=NOTHING)
    places = np.ma.masked_where(np.isnan(values), (values - low) / (high - low))
    drawn = colours(places, bytes=True)
    buffer = BytesIO()
    Pillow.fromarray(drawn).convert("RGB").save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def colour_limits(values: Values, signed: bool) -> tuple[float, float]:
    """Return the values at the ends of the colour scale: `PERCENTILES`, or else the extremes.

    The scale of a signed image is symmetric around zero.
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


def reduced(values: Values, side: int = SIDES[0]) -> Values:
    """Return an image of at most `side` pixels a side, by means over blocks that leave out gaps."""
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

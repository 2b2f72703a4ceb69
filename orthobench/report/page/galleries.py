"""Galleries of the images that solutions exhibit, each image a small PNG inside the page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from orthobench.contract.exhibits import Image, Values
from orthobench.report.plots.exhibits import Exhibition
from orthobench.report.plots.labels import legend_label

if TYPE_CHECKING:
    from PIL.Image import Image as Drawn

SIDES = (128, 512)
"""Minimum and maximum of the longest side of images, in pixels."""

PIXELS = 1_000_000
"""Number of pixels of a page above which its images are smaller."""

SLIM = 4
"""Images with a larger ratio of their sides fill their cell."""

PERCENTILES = (0.25, 99.75)
"""Percentiles at the ends of a colour scale."""

COLOURS = {False: "viridis", True: "RdBu_r"}
"""Colour maps; that of signed images is white at zero."""

NOTHING = "#d4d4d4"
"""The colour of pixels without a value."""


def galleries(exhibitions: Sequence[Exhibition]) -> dict[str, dict[str, Any]]:
    """Return the galleries by problem: rows of solvers, and references of none."""
    counts = {one.problem: len(one.references(Image)) + sum(len(own) for _, own in one.own(Image))
              for one in exhibitions}  # fmt: skip
    side = int(np.clip(np.sqrt(PIXELS / max(1, sum(counts.values()))), *SIDES))
    return {one.problem: _gallery(one, side) for one in exhibitions if counts[one.problem]}


def _gallery(exhibition: Exhibition, side: int) -> dict[str, Any]:
    own, names = exhibition.own(Image), exhibition.names(Image)
    rows = [
        (
            entry.solver, legend_label(entry),
            [_picture(images[name], name, f"{name}: {legend_label(entry)}", side)
             if name in images else None for name in names],
        )
        for entry, images in own
    ]  # fmt: skip
    scale = "each image on a scale of its own, percentiles {} to {}".format(*PERCENTILES)
    return {
        "about": exhibition.about(scale, *exhibition.absent),
        "references": [
            _picture(image, name, f"{name}, the same for all", side)
            for name, image in exhibition.references(Image).items()
        ],
        "names": names, "rows": rows if names else [],
    }  # fmt: skip


def _picture(image: Image, name: str, alt: str, side: int) -> dict[str, Any]:
    drawn, buffer = coloured(image), BytesIO()
    drawn.thumbnail((side, side))
    drawn.save(buffer, "PNG", optimize=True)
    short, long = sorted(image.values.shape)
    return {
        "name": name, "alt": alt, "width": drawn.width, "height": drawn.height,
        "source": f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}",
        "fills": long > SLIM * short,
    }  # fmt: skip


def coloured(image: Image) -> Drawn:
    """Return an image in colours."""
    from matplotlib import colormaps
    from PIL import Image as Pillow

    low, high = colour_limits(image.values, image.signed)
    colours = colormaps[COLOURS[image.signed]].with_extremes(bad=NOTHING)
    places = np.ma.masked_invalid((image.values - low) / (high - low))
    return Pillow.fromarray(colours(places, bytes=True)).convert("RGB")


def colour_limits(values: Values, signed: bool) -> tuple[float, float]:
    """Return the ends of the colour scale: `PERCENTILES`, or else the extremes."""
    finite = values[np.isfinite(values)].astype(np.float64)
    ends = np.concatenate([finite, -finite]) if signed else finite
    if not ends.size:
        return -1.0, 1.0
    for low, high in (np.percentile(ends, PERCENTILES).tolist(), (ends.min(), ends.max())):
        if low < high:
            return float(low), float(high)
    room = abs(low) or 1.0
    return float(low - room), float(high + room)

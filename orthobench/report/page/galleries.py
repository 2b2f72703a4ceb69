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

SIDE = 256
"""Maximum of the longest side of an image, in pixels."""

PERCENTILES = (0.25, 99.75)
"""Percentiles at the ends of a colour scale."""

COLOURS = {False: "viridis", True: "RdBu_r"}
"""Colour maps; that of signed images is white at zero."""

NOTHING = "#d4d4d4"
"""The colour of pixels without a value."""


def galleries(exhibitions: Sequence[Exhibition]) -> dict[str, dict[str, Any]]:
    """Return the galleries by problem: rows of solvers, and references of none."""
    found = {one.problem: _gallery(one) for one in exhibitions}
    return {name: one for name, one in found.items() if one["references"] or one["names"]}


def _gallery(exhibition: Exhibition) -> dict[str, Any]:
    references, every = exhibition.of_kind(Image)
    names = [*dict.fromkeys(name for _, own in every for name in own)]
    rows = [
        (label, [_picture(own[n], n, f"{n}: {label}") if n in own else None for n in names])
        for label, own in ((legend_label(entry), own) for entry, own in every)
    ]
    scale = "each image on a scale of its own, percentiles {} to {}".format(*PERCENTILES)
    shown = [_picture(image, n, f"{n}, the same for all") for n, image in references.items()]
    about = (*exhibition.about, scale)
    return {"about": about, "references": shown, "names": names, "rows": rows}


def _picture(image: Image, name: str, alt: str) -> dict[str, Any]:
    drawn, buffer = coloured(image), BytesIO()
    drawn.thumbnail((SIDE, SIDE))
    drawn.save(buffer, "PNG", optimize=True)
    source = f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
    return {"name": name, "alt": alt, "source": source, "width": drawn.width,
            "height": drawn.height}  # fmt: skip


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

"""Sizes and colour scales of the images that solutions exhibit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthobench.contract.exhibits import Image, Values

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
    """Return an image of at most so many pixels a side, by means over blocks; gaps do not count.

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

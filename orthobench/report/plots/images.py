"""Exhibited images: at which size they are drawn, and what their colours mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthobench.contract.exhibits import Image, Values

SIDE = 512
"""Longest side in pixels at which images are drawn; larger ones are averaged over blocks."""

SLIM = 4
"""Images longer than this times their width fill their cell: their pixels are no squares."""

PERCENTILES = (0.25, 99.75)
"""What of the values of an image its colours span."""

COLOURS = {False: "viridis", True: "RdBu_r"}
"""Perceptually uniform; where zero is special, diverging from white."""

NOTHING = "#d4d4d4"
"""The colour of pixels without a value."""


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


def fills(values: Values) -> bool:
    """Return whether an image fills its cell whatever its shape, since it is too slim."""
    return not 1 / SLIM <= values.shape[0] / values.shape[1] <= SLIM


def reduced(values: Values, side: int = SIDE) -> Values:
    """Return an image of at most so many pixels a side: means over blocks, without gaps.

    Parameters
    ----------
    values : ndarray, shape (height, width)
    side : int
    """
    step = -(-max(values.shape) // side)
    if step == 1:
        return values
    padding = [(0, -length % step) for length in values.shape]
    padded = np.pad(values.astype(np.float64), padding, constant_values=np.nan)
    blocks = padded.reshape(padded.shape[0] // step, step, padded.shape[1] // step, step)
    counts = np.isfinite(blocks).sum(axis=(1, 3))
    sums = np.nansum(blocks, axis=(1, 3))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def scales(images: Sequence[Image], side: int = SIDE) -> list[str]:
    """Return what the colours mean, and whether pixels were averaged.

    Parameters
    ----------
    images : sequence of Image
    side : int
        At most so many pixels are drawn on a side.
    """
    low, high = PERCENTILES
    around = ", signed ones around zero" if any(image.signed for image in images) else ""
    large = any(max(image.values.shape) > side for image in images)
    return [
        f"each image on a scale of its own, percentiles {low} to {high}{around}",
        *([f"means over blocks of pixels where there are more than {side}"] if large else []),
    ]

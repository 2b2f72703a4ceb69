"""Packing: arrays stored once, with the digits that can be seen, and compressed for a page."""

from __future__ import annotations

import base64
import gzip
import math

import numpy as np

from orthobench.tools.arrays import Array

DIGITS = 5
"""Significant digits of what is drawn: a pixel is about a thousandth of an axis."""


class Pool:
    """Arrays by number; equal ones, to `DIGITS`, have the same number.

    Attributes
    ----------
    size : int
        Numbers held.
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._seen: dict[bytes, int] = {}
        self.size = 0

    def place(self, values: Array) -> int:
        """Return the number of an array, which is added where it is not there yet."""
        bits = values.tobytes()
        if bits not in self._seen:  # writing numbers as text is slow
            text = ",".join(map(written, values.tolist()))
            if text not in self._places:
                self.size += len(values)
            self._seen[bits] = self._places.setdefault(text, len(self._places))
        return self._seen[bits]

    def as_json(self) -> str:
        """Return all arrays as JSON, in the order of their numbers."""
        return "[" + ",".join(f"[{text}]" for text in self._places) + "]"


def written(value: float) -> str:
    """Return a number as JSON: null for NaN; infinity as 1e999, which browsers read as that."""
    if math.isfinite(value):
        return f"{value:.{DIGITS}g}"
    return "null" if math.isnan(value) else "1e999" if value > 0 else "-1e999"


def thinned(count: int, most: int, keep: int | None = None) -> slice | Array:
    """Return which of `count` points are drawn: evenly spaced, both ends and `keep` included.

    Parameters
    ----------
    count, most : int
        Points there are, and most that may be drawn.
    keep : int, optional
        A point that must stay.
    """
    if count <= most:
        return slice(None)
    chosen = np.linspace(0, count - 1, most).round().astype(np.intp)
    return np.unique(chosen if keep is None else np.append(chosen, keep))


def packed(text: str) -> str:
    """Return a text gzip-compressed, in base64; equal texts give equal results."""
    # for numbers, the highest level takes four times as long for the last hundredth
    return base64.b64encode(gzip.compress(text.encode(), 7, mtime=0)).decode()

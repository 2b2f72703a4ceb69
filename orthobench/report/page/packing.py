"""Packing of arrays into a page: each stored once, rounded to visible digits, and compressed."""

from __future__ import annotations

import base64
import gzip
import math

import numpy as np

from orthobench.tools.arrays import Array

DIGITS = 5
"""Significant digits of drawn numbers: a pixel is about a thousandth of an axis."""


class Pool:
    """Arrays by index; arrays that are equal to `DIGITS` digits have the same index.

    Attributes
    ----------
    size : int
        The number of values in all arrays.
    """

    def __init__(self) -> None:
        self._by_text: dict[str, int] = {}
        self._by_bits: dict[bytes, int] = {}
        self.size = 0

    def index(self, values: Array) -> int:
        """Return the index of an array, which is added if it is new."""
        bits = values.tobytes()
        if bits not in self._by_bits:  # formatting numbers is slow
            text = ",".join(map(json_number, values.tolist()))
            if text not in self._by_text:
                self.size += len(values)
            self._by_bits[bits] = self._by_text.setdefault(text, len(self._by_text))
        return self._by_bits[bits]

    def as_json(self) -> str:
        """Return all arrays as JSON, in the order of their indices."""
        return "[" + ",".join(f"[{text}]" for text in self._by_text) + "]"


def json_number(value: float) -> str:
    """Return a number as JSON: null for NaN, and 1e999 for infinity, which browsers parse as it."""
    if math.isfinite(value):
        return f"{value:.{DIGITS}g}"
    return "null" if math.isnan(value) else "1e999" if value > 0 else "-1e999"


def thinned(count: int, most: int, keep: int | None = None) -> slice | Array:
    """Return the indices of the drawn points: evenly spaced, with both ends and `keep`.

    Parameters
    ----------
    count, most : int
        The number of points, and the most that may be drawn.
    keep : int, optional
        A point that must be drawn.
    """
    if count <= most:
        return slice(None)
    chosen = np.linspace(0, count - 1, most).round().astype(np.intp)
    return np.unique(chosen if keep is None else np.append(chosen, keep))


def packed(text: str) -> str:
    """Return a text compressed by gzip, in base64; equal texts give equal results."""
    # the highest level would take four times as long, for 1 % less
    return base64.b64encode(gzip.compress(text.encode(), 7, mtime=0)).decode()

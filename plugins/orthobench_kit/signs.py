"""The signs of vectors."""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array


def signs(V: Array) -> Array:
    """Return factors, 1 or -1, that make the largest entry of columns positive."""
    largest = np.take_along_axis(V, np.abs(V).argmax(axis=0)[None], axis=0)[0]
    return np.where(largest < 0, -1.0, 1.0).astype(V.dtype)

"""Which points of a curve stand for the rest: evenly along it, as it is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.tools.arrays import Array


def along(x: NDArray[Any], y: NDArray[Any], fractions: Array) -> list[int]:
    """Return which points are these fractions of a curve's length, drawn in a square.

    Parameters
    ----------
    x, y : ndarray, shape (m,)
        At least one point; gaps, where y is not finite, have no length.
    fractions : ndarray
        In [0, 1].
    """
    steps = [np.diff(part.astype(np.float64)) / _span(part) for part in (x, y)]
    lengths = np.nan_to_num(np.hypot(*steps), posinf=0.0)
    reached = np.concatenate([[0.0], np.cumsum(lengths)])
    found: list[int] = np.searchsorted(reached, fractions * reached[-1]).tolist()
    return [min(at, len(x) - 1) for at in found]


def _span(part: NDArray[Any]) -> float:
    there = part[np.isfinite(part)].astype(np.float64)
    return float(np.ptp(there)) or 1.0 if there.size else 1.0

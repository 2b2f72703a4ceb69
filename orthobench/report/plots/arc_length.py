"""Points of a curve that are evenly spaced by arc length, as the curve is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.tools.arrays import Array


def points_at(x: NDArray[Any], y: NDArray[Any], fractions: Array) -> list[int]:
    """Return the indices of the points at these fractions of a curve's length.

    The length is that of the curve drawn in a square.

    Parameters
    ----------
    x, y : ndarray, shape (m,)
        At least one point; gaps, where y is not finite, have no length.
    fractions : ndarray
        In [0, 1].
    """
    steps = [np.diff(part.astype(np.float64)) / _span(part) for part in (x, y)]
    lengths = np.nan_to_num(np.hypot(*steps), posinf=0.0)
    travelled = np.concatenate([[0.0], np.cumsum(lengths)])
    found: list[int] = np.searchsorted(travelled, fractions * travelled[-1]).tolist()
    return [min(at, len(x) - 1) for at in found]


def _span(values: NDArray[Any]) -> float:
    finite = values[np.isfinite(values)].astype(np.float64)
    return float(np.ptp(finite)) or 1.0 if finite.size else 1.0

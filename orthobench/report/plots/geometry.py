"""Where points are drawn: zeros on a logarithmic axis, and points spread evenly along a curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.tools.arrays import Array

TINY = 1e-16
"""Values up to this are zero on every axis."""

ROUNDING = 1e-12
"""Values below this fraction of the largest one may be zeros with rounding errors."""

GAP = 1e3
"""Such values are zeros if the next larger value is more than this many times as large."""


@dataclass(frozen=True)
class Floor:
    """The lower end of a log axis, and the values that are drawn there.

    A method may jump to zero, or to a rounding error of it, while others are still orders of
    magnitude above. Drawn to scale, such points would squeeze all curves into a fraction of the
    axis, so they are drawn on its lower edge. Curves that approach zero gradually are drawn to
    scale, down to `TINY`.

    Attributes
    ----------
    zero : float
        Values up to this count as zero.
    at : float
        The position on the axis where zeros are drawn.
    zeros : bool
        Whether there are any.
    """

    zero: float
    at: float
    zeros: bool

    def raised(self, values: Array) -> Array:
        """Return `values` with the zeros at the floor."""
        return np.where(values <= self.zero, self.at, values)


def floor_of(parts: Sequence[Array]) -> Floor | None:
    """Return the floor for all values of an axis.

    None where the axis must be linear: the values reach further below zero than above, so that
    most of them would count as zero.
    """
    values = np.concatenate([np.empty(0), *parts])
    values = np.sort(values[np.isfinite(values)])
    if len(values) and -values[0] > max(values[-1], TINY):
        return None
    positive = values[values > TINY]
    if not len(positive):
        return Floor(TINY, TINY, len(values) > 0)
    zero = TINY
    gaps = np.flatnonzero(positive[1:] > GAP * positive[:-1])
    below = [positive[i] for i in gaps if positive[i] < ROUNDING * positive[-1]]
    if below:
        zero = 10.0 ** math.ceil(math.log10(below[-1]))
    least = positive[positive > zero][0]
    return Floor(zero, float(least) / 3, bool(values[0] <= zero))


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
    indices = np.searchsorted(travelled, fractions * travelled[-1]).tolist()
    return [min(at, len(x) - 1) for at in indices]


def _span(values: NDArray[Any]) -> float:
    finite = values[np.isfinite(values)].astype(np.float64)
    return float(np.ptp(finite)) or 1.0 if finite.size else 1.0

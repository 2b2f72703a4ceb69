"""Where zeros are drawn on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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

    The floor of a linear axis, `LINEAR`, is below all values.
    """

    zero: float
    at: float
    zeros: bool

    @property
    def log(self) -> bool:
        """Whether the axis can be logarithmic."""
        return self.zero > 0

    def raised(self, values: Array) -> Array:
        """Return `values` with the zeros at the floor."""
        return np.where(values <= self.zero, self.at, values)


LINEAR = Floor(-math.inf, -math.inf, False)


def floor_of(parts: Sequence[Array]) -> Floor:
    """Return the floor for all values of an axis.

    It is `LINEAR` where the axis must be so: the values reach further below zero than above, and
    most of them would count as zero.
    """
    values = np.concatenate([np.empty(0), *parts])
    values = np.sort(values[np.isfinite(values)])
    if len(values) and -values[0] > max(values[-1], TINY):
        return LINEAR
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

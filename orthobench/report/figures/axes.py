"""Log axes that stay readable: where the floor is, which limits, which ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orthobench.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

TINY = 1e-16
"""Not above this is zero on every axis."""

ROUNDING = 1e-12
"""Below this part of the largest value, a value may be a zero with rounding errors."""

GAP = 1e3
"""Such values are zeros where nothing lies between them and this many times as much."""


@dataclass(frozen=True)
class Floor:
    """Where a log axis ends, and what is drawn there.

    A method may hit zero, or the rounding error of zero, at once, while others are still
    orders of magnitude above it. To scale, such points would squeeze all curves into a
    fraction of the axis; they are drawn on its lower edge. Curves that approach zero gradually
    are drawn to scale, down to `TINY`.

    Attributes
    ----------
    zero : float
        Values not above this count as zero.
    at : float
        Where they are drawn.
    zeros : bool
        Whether there are any.
    """

    zero: float
    at: float
    zeros: bool

    def raised(self, values: Array) -> Array:
        """Return `values` with the zeros at the floor."""
        return np.where(values <= self.zero, self.at, values)


def floor_of(parts: Sequence[Array]) -> Floor:
    """Return the floor for all values of an axis."""
    values = np.concatenate([np.empty(0), *parts])
    values = np.sort(values[np.isfinite(values)])
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


def scale(ax: Axes, which: str, parts: Sequence[Array], margin: float = 0.06) -> float:
    """Make the ``"x"`` or ``"y"`` axis logarithmic, with limits around all finite values.

    Returns the upper limit.
    """
    from matplotlib.ticker import NullFormatter

    values = np.concatenate([np.empty(0), *parts])
    values = values[np.isfinite(values) & (values > 0)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.1, 1.0)
    pad = max(margin * math.log10(high / low), 0.02) if high > low else 0.5
    low, high = low / 10**pad, high * 10**pad
    axis = ax.xaxis if which == "x" else ax.yaxis
    ax.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
    axis.set_minor_formatter(NullFormatter())
    _ticks(axis, math.log10(high / low))
    return high


def _ticks(axis: Axis, decades: float) -> None:
    """Set ticks so that each axis has some with labels, also within one decade."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    if decades > 2:
        axis.set_major_locator(LogLocator(numticks=9))
        return
    axis.set_major_formatter(_plain)
    if decades > 0.9:
        axis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
    else:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axis.set_minor_locator(NullLocator())


def _plain(value: float, position: float) -> str:
    del position
    return f"{value:,.6g}" if 1e-4 <= value < 1e7 else f"{value:.6g}"

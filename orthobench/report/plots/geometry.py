"""Ranges of axes, the floor of a logarithmic axis, and places of points beside each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.contract.panel import Panel
from orthobench.tools.arrays import Array

TINY = 1e-16
"""Values up to this are zero on every axis."""

ROUNDING = 1e-12
"""Values below this fraction of the largest one may be zeros."""

GAP = 1e3
"""They are zeros if the next larger value is more times as large."""

MARGINS = {"x": 0.03, "y": 0.06}
"""The space at both ends of an axis, as a fraction of its span."""


@dataclass(frozen=True)
class Clipped(Panel):
    """A panel whose log axis ends at `least`: at smaller values all are as good."""

    least: float = 0.0


@dataclass(frozen=True)
class Floor:
    """The lower edge of a log axis, at which values up to `zero` are drawn.

    A jump to a rounding error of zero would squeeze all other curves.
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
"""The floor of a linear axis, below all values."""


def floor_of(parts: Sequence[Array]) -> Floor:
    """Return the floor for values; `LINEAR` if they reach further below zero than above."""
    values = np.concatenate([np.empty(0), *parts])
    values = np.sort(values[np.isfinite(values)])
    if len(values) and -values[0] > max(values[-1], TINY):
        return LINEAR
    positive = values[values > TINY]
    if not len(positive):
        return Floor(TINY, TINY, len(values) > 0)
    before, after = positive[:-1], positive[1:]
    tiny = before[(after > GAP * before) & (before < ROUNDING * positive[-1])]
    zero = 10.0 ** math.ceil(math.log10(tiny[-1])) if len(tiny) else TINY
    least = positive[positive > zero][0]
    return Floor(zero, float(least) / 3, bool(values[0] <= zero))


def panel_floor(panels: Sequence[Panel]) -> Floor:
    """Return the floor of the common y axis of some panels."""
    lines = [part for panel in panels for series in panel.series for part in (series.y, series.low)]
    parts = [part for part in lines if part is not None]
    floor = floor_of(parts) if panels[0].y.log else LINEAR
    least = max((one.least for one in panels if isinstance(one, Clipped)), default=0.0)
    if not floor.log or floor.zero >= least:
        return floor
    return Floor(least, least, any((part <= least).any() for part in parts))


def x_range(panel: Panel) -> tuple[float, float]:
    """Return the ends of the x axis, around points, crosses and rules."""
    if panel.x.categories:
        return -0.6, len(panel.x.categories) - 0.4
    crosses = [np.array([x for x, _ in series.crosses]) for series in panel.series]
    points = [series.x for series in panel.series]
    return _range([*points, *crosses, np.array(panel.rules)], "x", log=panel.x.log)


def y_range(panels: Sequence[Panel], floor: Floor) -> tuple[float, float]:
    """Return the ends of a common y axis: around lines, and bands at most 10 times as high."""
    heights = [part for panel in panels for part in _heights(panel)]
    return _range([floor.raised(part) for part in heights], "y", log=floor.log)


def _heights(panel: Panel) -> list[Array]:
    lines = [series.y for series in panel.series]
    finite = [y[np.isfinite(y)] for y in lines]
    most = max((float(y.max()) for y in finite if len(y)), default=math.inf)
    most = 10 * most if most > 0 and panel.y.log else math.inf
    around = [part for s in panel.series for part in (s.low, s.high) if part is not None]
    around += [np.array([y for _, y in series.crosses]) for series in panel.series]
    return [*lines, *(part[part <= most] for part in around)]


def _range(parts: Sequence[Array], which: str, *, log: bool) -> tuple[float, float]:
    values = np.concatenate([np.empty(0), *parts])
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    ends = [values.min(), values.max()] if len(values) else [0.1, 1.0]
    low, high = np.log10(ends) if log else ends
    pad = MARGINS[which] * (high - low) or (0.5 if log else 0.1 * abs(high) or 1.0)
    low, high = (10 ** (low - pad), 10 ** (high + pad)) if log else (low - pad, high + pad)
    return float(low), float(high)


def positions(panel: Panel, number: int) -> Array:
    """Return the x of a series' points; those of several series side by side in a category."""
    x = panel.series[number].x.astype(np.float64)
    if not panel.x.categories:
        return np.where((x > 0) | (not panel.x.log), x, math.nan)
    count = len(panel.series)
    return np.asarray(x + 0.6 * (number - (count - 1) / 2) / count)

"""Axes that stay readable: which limits, which ticks, at any size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from orthobench.arrays import Array
from orthobench.report.figures.text import LINE, plain, power, width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

SUBS = {(1, 2, 3, 5): 0.176, (1, 2, 5): 0.301, (1, 3): 0.477}
"""Ticks in each decade, and the least distance between two of them, in decades."""

TITLE_PAD = 0.6
"""Between a panel and its title, in font sizes."""

MOST = {"x": 7, "y": 8}
"""Most labels of an axis."""


def scale(
    ax: Axes, which: str, parts: Sequence[Array], margin: float = 0.06, *, log: bool = True
) -> None:
    """Set scale, limits and ticks of the ``"x"`` or ``"y"`` axis, around all finite values.

    Parameters
    ----------
    ax : matplotlib Axes
        Of its final size, or nearly so: there are as many ticks as have room for their labels.
    which : str
    parts : sequence of ndarray
        The values.
    margin : float
        Room beyond the values at both ends, as a part of what they span.
    log : bool
        Whether it is logarithmic; values that are not positive have no place then.
    """
    values = np.concatenate([np.empty(0), *parts])
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    low, high = _limits(values, margin, log)
    axis = ax.xaxis if which == "x" else ax.yaxis
    ax.set(**{f"{which}scale": "log" if log else "linear", f"{which}lim": (low, high)})
    fits = _fits(ax, which, (low, high))
    if log:
        _log_ticks(axis, low, high, fits)
    else:
        _even_ticks(axis, fits)


def label_ticks(ax: Axes, ticks: Sequence[float]) -> None:
    """Put ticks of the x axis at these values, with labels where two do not overlap.

    Parameters
    ----------
    ax : matplotlib Axes
        With its limits set.
    ticks : sequence of float
        Ascending.
    """
    from matplotlib.ticker import NullLocator

    size = font_size("xtick.labelsize")
    inches = _places(ax.xaxis, ticks) * extent(ax, "x")
    labels: list[str] = []
    free = -math.inf
    for place, tick in zip(inches, ticks, strict=True):
        text = plain(tick)
        half = width(text, size) / 2
        fits = place - half > free
        labels.append(text if fits else "")
        free = place + half + 0.4 * size / 72 if fits else free
    ax.set_xticks(list(ticks), labels)
    ax.xaxis.set_minor_locator(NullLocator())


def extent(ax: Axes, which: str) -> float:
    """Return how long an axis is, in inches."""
    pixels = ax.bbox.width if which == "x" else ax.bbox.height
    return float(pixels / ax.figure.dpi)


def room(ax: Axes) -> tuple[float, float, float, float]:
    """Return the room that ticks and labels need: left, below, right, above an axis, in inches.

    Computed from the widths of the texts, which is ten times as fast as having them laid out.

    Parameters
    ----------
    ax : matplotlib Axes
        With ticks that are level.
    """
    x, y = (font_size(f"{which}tick.labelsize") for which in "xy")
    columns, rows = (_labels(axis) for axis in (ax.xaxis, ax.yaxis))
    left = _tick("y") + max((width(text, y) for text, _ in rows), default=0.0)
    left += _label(ax.get_ylabel(), font_size("axes.labelsize"))
    halves = [(at * extent(ax, "x"), width(text, x) / 2) for text, at in columns]
    right = max((at + half - extent(ax, "x") for at, half in halves), default=0.0)
    left = max(left, *(half - at for at, half in halves), 0.0)
    below = _tick("x") + LINE * x / 72 + _label(ax.get_xlabel(), font_size("axes.labelsize"))
    size = font_size("axes.titlesize")
    lines = len(ax.get_title().splitlines())
    above = max(0.6 * y / 72, lines and (lines * LINE + TITLE_PAD) * size / 72)
    return left, below, max(right, 0.0), above


def _tick(which: str) -> float:
    import matplotlib as mpl

    return float(sum(mpl.rcParams[f"{which}tick.major.{part}"] for part in ("size", "pad"))) / 72


def _label(text: str, size: float) -> float:
    import matplotlib as mpl

    lines = len(text.splitlines())
    return (lines * LINE * size + mpl.rcParams["axes.labelpad"]) / 72 if lines else 0.0


def _labels(axis: Axis) -> list[tuple[str, float]]:
    """Return the labels of an axis, with their places as parts of its length."""
    at = np.asarray(axis.get_majorticklocs())
    low, high = sorted(axis.get_view_interval())
    at = at[(low <= at) & (at <= high)]
    return list(zip(axis.get_major_formatter().format_ticks(at), _places(axis, at), strict=True))


def _places(axis: Axis, values: Sequence[float] | Array) -> Array:
    """Return where values stand on an axis, as parts of its length."""
    ends = axis.get_view_interval()
    seen = axis.get_transform().transform(np.array([*ends, *values], dtype=np.float64))
    return np.asarray((seen[2:] - seen[0]) / (seen[1] - seen[0]))


def font_size(setting: str) -> float:
    """Return a font size that matplotlib is set to, in points.

    Parameters
    ----------
    setting : str
        Such as ``"axes.labelsize"``.
    """
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=mpl.rcParams[setting]).get_size_in_points())


def _limits(values: Array, margin: float, log: bool) -> tuple[float, float]:
    if not len(values):
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if log:
        pad = max(margin * math.log10(high / low), 0.02) if high > low else 0.5
        return low / 10**pad, high * 10**pad
    pad = margin * (high - low) or 0.1 * abs(high) or 1.0
    return low - pad, high + pad


def _fits(ax: Axes, which: str, ends: tuple[float, float]) -> float:
    """Return how many labels like those of the ends have room."""
    size = font_size(f"{which}tick.labelsize")
    if which == "y":
        return extent(ax, which) * 72 / (1.8 * size)
    widest = max(width(plain(float(f"{end:.2g}")), size) for end in ends)
    return extent(ax, which) / (widest + size / 72)


def _log_ticks(axis: Axis, low: float, high: float, fits: float) -> None:
    """Set ticks so that each axis has some with labels, also within one decade."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

    decades = math.log10(high / low)
    axis.set_minor_formatter(NullFormatter())
    if decades > 2:
        axis.set_major_locator(LogLocator(numticks=int(min(max(fits, 3), 9))))
        axis.set_major_formatter(power)
        return
    axis.set_major_formatter(plain)
    for subs, distance in SUBS.items():
        if fits * distance > decades and decades > 0.9 and _ticks(low, high, subs) > 1:
            axis.set_major_locator(LogLocator(subs=subs))
            return
    axis.set_major_locator(MaxNLocator(_count(fits / 1.4, 5), steps=[1, 2, 5, 10]))
    axis.set_minor_locator(NullLocator())


def _ticks(low: float, high: float, subs: Sequence[int]) -> int:
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return sum(low <= sub * 10.0**exponent <= high for exponent in exponents for sub in subs)


def _even_ticks(axis: Axis, fits: float) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(_count(fits, MOST[axis.axis_name]), steps=[1, 2, 5, 10]))
    axis.set_major_formatter(plain)


def _count(fits: float, most: int) -> int:
    return int(min(max(fits, 2), most))

"""Limits, ticks and margins of matplotlib axes, readable at any size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from orthobench.report.figures.text import plain, power, width
from orthobench.tools.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUBS = {(1, 2, 3, 5): 0.176, (1, 2, 5): 0.301, (1, 3): 0.477, (1,): 1.0}
"""Ticks in each decade, and the smallest distance between two of them, in decades."""

TITLE_PAD = 0.6
"""The distance between a panel and its title, in font sizes."""


def scale(
    ax: Axes, which: str, parts: Sequence[Array], margin: float = 0.06, *, log: bool = True
) -> None:
    """Set scale, limits and ticks of the ``"x"`` or ``"y"`` axis, around all finite values.

    Parameters
    ----------
    ax : matplotlib Axes
        Of about its final size, since there are as many ticks as have room for their labels.
    which : str
    parts : sequence of ndarray
        The values.
    margin : float
        Room beyond the values at both ends, as a fraction of their span.
    log : bool
        Whether the axis is logarithmic; values that are not positive are then left out.
    """
    values = np.concatenate([np.empty(0), *parts])
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    low, high = _limits(values, margin, log)
    ax.set(**{f"{which}scale": "log" if log else "linear", f"{which}lim": (low, high)})
    (_log_ticks if log else _even_ticks)(ax, which, low, high)


def label_ticks(ax: Axes, ticks: Sequence[float]) -> None:
    """Put ticks of the x axis at these values, with labels as long as these do not overlap.

    Parameters
    ----------
    ax : matplotlib Axes
        With its limits set.
    ticks : sequence of float
        Ascending.
    """
    from matplotlib.ticker import NullLocator

    size = font_size("xtick.labelsize")
    pixels = ax.transData.transform([(tick, 0.5) for tick in ticks])[:, 0]
    inches = pixels / ax.figure.dpi
    labels: list[str] = []
    free = -math.inf
    for place, tick in zip(inches, ticks, strict=True):
        text = plain(tick, ticks[-1])
        half = width(text, size) / 2
        fits = place - half > free
        labels.append(text if fits else "")
        free = place + half + 0.4 * size / 72 if fits else free
    ax.set_xticks(list(ticks), labels)
    ax.xaxis.set_minor_locator(NullLocator())


def extent(ax: Axes, which: str) -> float:
    """Return the length of an axis, in inches."""
    pixels = ax.bbox.width if which == "x" else ax.bbox.height
    return float(pixels / ax.figure.dpi)


def room(ax: Axes) -> tuple[float, float, float, float]:
    """Return the room that ticks and labels need: left, below, right, above an axis, in inches."""
    tight, box = ax.get_tightbbox(), ax.get_window_extent()
    if tight is None:
        return 0.0, 0.0, 0.0, 0.0
    pixels = (box.x0 - tight.x0, box.y0 - tight.y0, tight.x1 - box.x1, tight.y1 - box.y1)
    left, below, right, above = (max(0.0, float(part)) / ax.figure.dpi for part in pixels)
    return left, below, right, above


def font_size(setting: str) -> float:
    """Return a font size from matplotlib's settings, in points.

    Parameters
    ----------
    setting : str
        Such as ``"axes.labelsize"``.
    """
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=_setting(setting)).get_size_in_points())


def _setting(setting: str) -> Any:
    import matplotlib as mpl

    return cast("Mapping[str, Any]", mpl.rcParams)[setting]


def _limits(values: Array, margin: float, log: bool) -> tuple[float, float]:
    if not len(values):
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if log:
        pad = max(margin * math.log10(high / low), 0.02) if high > low else 0.5
        return low / 10**pad, high * 10**pad
    pad = margin * (high - low) or 0.1 * abs(high) or 1.0
    return low - pad, high + pad


def _label_count(ax: Axes, which: str, texts: Sequence[str]) -> float:
    """Return for how many labels like these an axis has room."""
    size = font_size(f"{which}tick.labelsize")
    if which == "y":
        return extent(ax, which) * 72 / (1.8 * size)
    widest = max(width(text, size) for text in texts)
    return extent(ax, which) / (widest + size / 72)


def _log_ticks(ax: Axes, which: str, low: float, high: float) -> None:
    """Set the ticks of a log axis; it has some with labels also within one decade."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

    axis, decades = ax.xaxis if which == "x" else ax.yaxis, math.log10(high / low)
    axis.set_minor_formatter(NullFormatter())
    if decades > 2:
        fits = _label_count(ax, which, [power(low), power(high)])
        axis.set_major_locator(LogLocator(numticks=_count(fits, 3, 9)))
        axis.set_major_formatter(lambda value, _: power(value))
        return
    fits = _label_count(ax, which, [plain(float(f"{end:.1g}"), high) for end in (low, high)])
    axis.set_major_formatter(lambda value, _: plain(value, high))
    for subs, distance in SUBS.items():
        if fits * distance > decades and _ticks(low, high, subs) > (1 if decades > 0.9 else 2):
            axis.set_major_locator(LogLocator(subs=subs))
            return
    ratio = high / low
    ends = {n: math.log10(ratio / (ratio - (ratio - 1) / n)) for n in (5, 4, 3)}
    most = next((n for n, distance in ends.items() if fits * distance > decades), 2)
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10]))
    axis.set_minor_locator(NullLocator())


def _ticks(low: float, high: float, subs: Sequence[int]) -> int:
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return sum(low <= sub * 10.0**exponent <= high for exponent in exponents for sub in subs)


def _even_ticks(ax: Axes, which: str, low: float, high: float) -> None:
    from matplotlib.ticker import MaxNLocator

    fits = _label_count(ax, which, [plain(float(f"{end:.2g}"), high) for end in (low, high)])
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_locator(MaxNLocator(_count(fits, 2, 7), steps=[1, 2, 5, 10]))
    axis.set_major_formatter(lambda value, _: plain(value, high))


def _count(fits: float, least: int, most: int) -> int:
    return int(min(max(fits, least), most))

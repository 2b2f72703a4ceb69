"""Line search by the strong Wolfe conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, sqrt

from orthobench_tucker.objective import Point, gain

SUFFICIENT = 1e-4
"""Least gain, relative to what the slope at the start predicts."""

FLATTER = 0.9
"""Largest slope at the end, relative to that at the start."""

TRIALS = 25
"""Most trials."""

STRETCH = 4.0
"""Longest extrapolation, relative to the last trial."""

MARGIN = 0.1
"""Least distance of a trial from the ends of its bracket, relative to the width of that."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A point on a curve: its parameter, the function there, and the derivative along the curve."""

    t: float
    point: Point
    slope: float


def wolfe_search(
    probe: Callable[[float], Trial], start: Trial, longest: float
) -> tuple[Trial | None, int]:
    """Search for a point on a curve that meets the strong Wolfe conditions, for a rising F.

    F(t) - F(0) >= 1e-4 t F'(0), and |F'(t)| <= 0.9 F'(0). A bracket contains such a point once its
    lower end has risen enough but is still steep, and its upper end is too far; further trials
    are maximizers of the cubic through both ends, kept away from these. F(t) - F(0) is computed by
    `orthobench_tucker.objective.gain`.

    Parameters
    ----------
    probe : callable
        Maps t to a trial.
    start : Trial
        At t = 0, with positive slope.
    longest : float
        Largest t; a trial there that has risen enough is accepted, however steep. The first trial
        is at 1 or there.

    Returns
    -------
    Trial or None
        None where none of 25 trials has risen enough. If some have, but none was flat enough, the
        last lower end of the bracket.
    int
        Number of trials.

    Notes
    -----
    One evaluation of F and its slope for each trial.

    References
    ----------
    Nocedal and Wright 2006, Algorithms 3.5 and 3.6 and equation 3.59, in one loop.
    """
    low, high = start, None
    t = min(1.0, longest)
    for tried in range(1, TRIALS + 1):
        trial = probe(t)
        if not _rises(start, trial) or trial.slope < -FLATTER * start.slope:
            high = trial
        elif trial.slope <= FLATTER * start.slope or t >= longest:
            return trial, tried
        else:
            low = trial
        t = min(STRETCH * t, longest) if high is None else _between(low, high)
    return (low if low.t > 0 else None), TRIALS


def _rises(start: Trial, trial: Trial) -> bool:
    slopes = (trial.t * start.slope, trial.t * trial.slope)
    return gain(start.point.value, trial.point.value, slopes) >= SUFFICIENT * trial.t * start.slope


def _between(low: Trial, high: Trial) -> float:
    """Return the maximizer of the cubic through both ends, kept away from them by `MARGIN`."""
    width = high.t - low.t
    slopes = (width * low.slope, width * high.slope)
    rise = gain(low.point.value, high.point.value, slopes)
    inner = low.slope + high.slope - 3 * rise / width
    root = inner * inner - low.slope * high.slope
    t = low.t + width / 2
    if isfinite(root) and root >= 0:
        bottom = high.slope - low.slope - 2 * sqrt(root)
        if bottom != 0:
            t = high.t - width * (high.slope - sqrt(root) - inner) / bottom
    return min(max(t, low.t + MARGIN * width), high.t - MARGIN * width)

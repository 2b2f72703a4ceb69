"""The global maximum of a trigonometric polynomial over its period, compiled.

f(x) = sum_h cosines[h] cos(h x) + sines[h] sin(h x), h = 1, ..., d. The circle is divided into
cells. By Taylor's theorem, with a bound on the third derivative, a cell is discarded where f is
monotone or convex on it, or nowhere above the best value known; where f is concave Newton's method
finds its maximum; any other cell is halved. So no maximum is missed, however close to another one
it lies. A grid might miss one, and so might rounded roots of a polynomial in tan(x/2).
"""

from __future__ import annotations

from math import pi

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import kernel

RESOLUTION = 1e-14
"""Maxima that differ by less than this, relative to the sum of |coefficients|, are equal."""

CELLS = 4
"""Initial cells of the circle for each harmonic."""

NARROW = 1e-7
"""Half-width, in radians, below which a cell is not halved any more."""

DISCARD, CLIMB, HALVE = 0, 1, 2
"""What may be done with a cell: see `_verdict`."""

STEPS = 30
"""Most steps of Newton's method."""

DEPTH = 64
"""Room for waiting cells besides the initial ones: each halving adds one."""


@kernel
def best_angle(cosines: Array, sines: Array) -> float:
    """Return the global maximizer of f, in [-pi, pi]; near zero where the maximum there is equal.

    Parameters
    ----------
    cosines, sines : ndarray, shape (d + 1,)
        Coefficients of the harmonics 0, ..., d; those of harmonic 0 do not matter.

    Returns
    -------
    float
        Zero where any gain would be rounding. Small gains near a maximum are not: `gain` computes
        them from half-angles, and never as the difference of two values.
    """
    d = len(cosines) - 1
    size, third = _bounds(cosines, sines)
    if not size > 0:
        return 0.0
    slack = RESOLUTION * size
    best = _stationary(cosines, sines, 0.0, pi / d)
    if gain(cosines, sines, best) < 0:
        best = 0.0
    top = gain(cosines, sines, best)
    centres, halves = np.empty(CELLS * d + DEPTH), np.empty(CELLS * d + DEPTH)
    waiting = CELLS * d
    for cell in range(waiting):
        centres[cell], halves[cell] = pi * (2 * cell + 1) / waiting - pi, pi / waiting
    while waiting > 0:
        waiting -= 1
        x, w = centres[waiting], halves[waiting]
        verdict = _verdict(cosines, sines, x, w, third, top + slack)
        if verdict == CLIMB:
            x = _stationary(cosines, sines, x, w)
            value = gain(cosines, sines, x)
            if value > top + slack:
                best, top = x, value
        elif verdict == HALVE:
            centres[waiting], halves[waiting] = x - w / 2, w / 2
            centres[waiting + 1], halves[waiting + 1] = x + w / 2, w / 2
            waiting += 2
    turns: float = np.rint(best / (2 * pi))
    return best - 2 * pi * turns


@kernel
def _bounds(cosines: Array, sines: Array) -> tuple[float, float]:
    """Return bounds on |f|, without harmonic 0, and on its third derivative."""
    size, third = 0.0, 0.0
    for h in range(1, len(cosines)):
        length = np.hypot(cosines[h], sines[h])
        size += length
        third += h * h * h * length
    return size, third


@kernel
def _verdict(cosines: Array, sines: Array, x: float, w: float, third: float, level: float) -> int:
    """Return what to do with the cell of half-width w around x, by Taylor's theorem.

    `DISCARD` where no maximum above `level` can be in it, `CLIMB` where f is concave on it or it is
    too narrow, else `HALVE`.
    """
    slope, curvature = derivatives(cosines, sines, x)
    bend = third * w
    if abs(slope) > w * (abs(curvature) + bend / 2) or curvature > bend:
        return DISCARD
    most = w * (abs(slope) + w * (max(curvature, 0.0) / 2 + bend / 6))
    if gain(cosines, sines, x) + most <= level:
        return DISCARD
    return CLIMB if curvature < -bend or w < NARROW else HALVE


@kernel
def _stationary(cosines: Array, sines: Array, x: float, w: float) -> float:
    """Return a stationary point of f within w of x, where its slope falls, by Newton's method.

    Bisection replaces the steps that would leave the bracket.
    """
    low, high = x - w, x + w
    for _ in range(STEPS):
        slope, curvature = derivatives(cosines, sines, x)
        if slope > 0:
            low = x
        else:
            high = x
        following = x - slope / curvature if curvature < 0 else np.nan
        if following == x:
            return x
        if not low <= following <= high:
            following = (low + high) / 2
        if abs(following - x) <= 1e-16 * abs(x):
            return following
        x = following
    return x


@kernel
def gain(cosines: Array, sines: Array, x: float) -> float:
    """Return f(x) - f(0), to full relative accuracy near zero."""
    total = 0.0
    for h in range(1, len(cosines)):
        s = np.sin(h * x / 2)
        total += 2 * s * (sines[h] * np.cos(h * x / 2) - cosines[h] * s)
    return total


@kernel
def derivatives(cosines: Array, sines: Array, x: float) -> tuple[float, float]:
    """Return f'(x) and f''(x)."""
    slope, curvature = 0.0, 0.0
    for h in range(1, len(cosines)):
        c, s = np.cos(h * x), np.sin(h * x)
        slope += h * (sines[h] * c - cosines[h] * s)
        curvature -= h * h * (cosines[h] * c + sines[h] * s)
    return slope, curvature

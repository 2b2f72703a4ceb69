"""The best rotation in a plane for sparse PCA: the global maximum along the circle.

A grid over the period finds the basin (`sparse_circle`), Halley's method its maximum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import inner, kernel
from orthobench_givens.sparse_circle import (
    COSINES,
    GRID,
    PASSES,
    Derivatives,
    derivatives,
    evaluate,
    evaluate_four,
)

SCRATCH = GRID * PASSES + GRID
"""Length of the scratch that `best_angle` needs."""

FEW = 16
"""Up to so many rows, the grid takes four passes, and the angles that turn a row into an axis."""

MANY = 256
"""From so many rows on, it takes one pass, unless that is flat."""

FLAT = 0.8
"""The first pass is flat where its lowest value is above this share of its highest."""

ACCURACY = 1e-8
"""A step of at most so many radians is the last: what is left after it is far shorter still."""

CLIMB = 60
"""Most evaluations of one climb."""


class Found(NamedTuple):
    """A rotation, what it gains, and what finding it cost.

    Attributes
    ----------
    cosine, sine : float
        Of the angle, which lies within 45 degrees.
    value : float
        f at the angle.
    gain : float
        f(angle) - f(0).
    values : int
        Evaluations of f.
    slopes : int
        Evaluations of f and three derivatives.
    """

    cosine: float
    sine: float
    value: float
    gain: float
    values: int
    slopes: int


class _Peak(NamedTuple):
    """A local maximum, and how many evaluations it took."""

    cosine: float
    sine: float
    value: float
    slopes: int


@inner
def _halley(at: Derivatives, radius: float) -> float:
    """Return the step of Halley's method towards a maximum, no longer than `radius`."""
    step = np.copysign(radius, at.first)
    if at.second < 0.0:
        step = -at.first / at.second
        bent = at.second - 0.5 * at.first * (at.third / at.second)
        if bent < 0.0:
            step = -at.first / bent
    return float(min(max(step, -radius), radius))


@inner
def _ascend(
    x: Array, y: Array, n: int, gamma: float, cosine: float, sine: float, radius: float
) -> _Peak:
    """Climb from an angle to a local maximum, in steps of at most `radius`; never descend."""
    at = derivatives(x, y, n, gamma, cosine, sine)
    slopes = 1
    while slopes < CLIMB and at.first != 0.0:
        step = _halley(at, radius)
        c, s = np.cos(step), np.sin(step)
        c, s = cosine * c - sine * s, sine * c + cosine * s
        if abs(step) <= ACCURACY:
            gain = 2.0 * at.first * step + at.second * step * step
            return _Peak(c, s, at.value + max(gain, 0.0), slopes)
        ahead = derivatives(x, y, n, gamma, c, s)
        slopes += 1
        if ahead.value >= at.value:
            at, cosine, sine = ahead, c, s
        else:
            radius = 0.25 * abs(step)
    return _Peak(cosine, sine, at.value, slopes)


@inner
def _better(peak: _Peak, other: _Peak) -> _Peak:
    """Return the higher of two maxima, with the evaluations of both."""
    slopes = peak.slopes + other.slopes
    if other.value > peak.value:
        return _Peak(other.cosine, other.sine, other.value, slopes)
    return _Peak(peak.cosine, peak.sine, peak.value, slopes)


@inner
def _highest(grid: Array, count: int) -> int:
    """Return the maximum of the grid, the first where several tie."""
    best = 0
    for k in range(1, count):
        best = k if grid[k] > grid[best] else best
    return best


@inner
def _second(grid: Array, count: int, best: int) -> int:
    """Return the highest local maximum of the grid apart from the best; -1 where none is."""
    second = -1
    for k in range(count):
        before, after = grid[k - 1 if k else count - 1], grid[(k + 1) % count]
        summit = k != best and grid[k] >= before and grid[k] > after
        if summit and (second < 0 or grid[k] > grid[second]):
            second = k
    return second


@inner
def _fill(x: Array, y: Array, n: int, gamma: float, grid: Array, done: int, passes: int) -> None:
    """Bring the first `passes` passes into the order of their angles; `done` of them are there."""
    for k in range(GRID * done - 1, 0, -1):
        grid[k * passes // done] = grid[k]
    four = grid[GRID * PASSES :]
    for p in range(passes):
        if p * done % passes:
            evaluate_four(x, y, n, gamma, p * (PASSES // passes), four)
            for k in range(GRID):
                grid[k * passes + p] = four[k]


@inner
def _flat(grid: Array) -> bool:
    """Return whether the first pass hardly tells angles apart."""
    highest, lowest = grid[0], grid[0]
    for k in range(1, GRID):
        highest, lowest = max(highest, grid[k]), min(lowest, grid[k])
    return bool(lowest > FLAT * highest)


@inner
def _fill_grid(x: Array, y: Array, n: int, gamma: float, grid: Array) -> int:
    """Set the first entries of the grid to f at equal spacing over the period; return how many.

    More where there are few rows, where few angles show several maxima or hardly differ, or where
    the maximum of even the longest row is narrower than the spacing: it is positive within
    arccos(gamma / r) only.
    """
    longest = evaluate_four(x, y, n, gamma, 0, grid)
    passes = 4 if n <= FEW else 2 if n < MANY or _flat(grid) else 1
    while passes < PASSES and longest * COSINES[PASSES // passes] ** 2 < gamma * gamma:
        passes *= 2
    _fill(x, y, n, gamma, grid, 1, passes)
    if passes < 4 and _second(grid, GRID * passes, _highest(grid, GRID * passes)) >= 0:
        _fill(x, y, n, gamma, grid, passes, 4)
        passes = 4
    return GRID * passes


@inner
def _crest(grid: Array, count: int, k: int) -> tuple[float, float]:
    """Return where, in spacings, and how high the parabola through a maximum of the grid peaks."""
    before, at, after = grid[k - 1 if k else count - 1], grid[k], grid[(k + 1) % count]
    bend = 2.0 * at - before - after
    if not bend > 0.0:
        return 0.0, at
    shift = 0.5 * (after - before) / bend
    return shift, at + 0.25 * shift * (after - before)


@inner
def _from_grid(x: Array, y: Array, n: int, gamma: float, grid: Array, count: int, k: int) -> _Peak:
    """Climb from near a maximum of the grid."""
    h = 0.5 * np.pi / count
    shift, _ = _crest(grid, count, k)
    t = (k + shift) * h
    peak = _ascend(x, y, n, gamma, np.cos(t), np.sin(t), h)
    if peak.value >= grid[k]:
        return peak
    again = _ascend(x, y, n, gamma, np.cos(k * h), np.sin(k * h), h)
    return _Peak(again.cosine, again.sine, again.value, again.slopes + peak.slopes)


@inner
def _climb_grid(x: Array, y: Array, n: int, gamma: float, grid: Array, count: int) -> _Peak:
    """Climb from the best of the grid, and from the second best maximum where it may be higher."""
    best = _highest(grid, count)
    peak = _from_grid(x, y, n, gamma, grid, count, best)
    second = _second(grid, count, best)
    if second >= 0:
        _, crest = _crest(grid, count, second)
        if 2.0 * crest - grid[second] > peak.value:
            return _better(peak, _from_grid(x, y, n, gamma, grid, count, second))
    return peak


@inner
def _longest(x: Array, y: Array, n: int) -> int:
    """Return the row of largest x² + y²."""
    best = 0
    for k in range(1, n):
        if x[k] * x[k] + y[k] * y[k] > x[best] * x[best] + y[best] * y[best]:
            best = k
    return best


@inner
def _climb_rows(
    x: Array, y: Array, first: int, last: int, n: int, gamma: float, peak: _Peak, radius: float
) -> _Peak:
    """Climb from the best angle that turns a row into an axis, where that beats the peak."""
    best = peak
    for k in range(first, last):
        r = np.hypot(x[k], y[k])
        value = evaluate(x, y, n, gamma, x[k] / r, y[k] / r)
        if value > best.value:
            best = _Peak(x[k] / r, y[k] / r, value, 0)
    if best.value > peak.value:
        return _better(peak, _ascend(x, y, n, gamma, best.cosine, best.sine, radius))
    return peak


@inner
def _nearest(cosine: float, sine: float) -> tuple[float, float]:
    """Return the angle of the same f that lies within 45 degrees of zero."""
    if abs(sine) > abs(cosine):
        cosine, sine = sine, -cosine
    return (-cosine, -sine) if cosine < 0.0 else (cosine, sine)


@kernel
def best_angle(x: Array, y: Array, n: int, gamma: float, grid: Array) -> Found:
    """Return the rotation that maximizes f.

    The grid finds all but very narrow maxima, which only rows barely outside the circle have:
    they lie where a row turns into an axis, so that those angles are tried too, of all rows where
    there are few, or of the longest where the grid is as fine as it gets.

    Parameters
    ----------
    x, y : ndarray, shape (at least n, rounded up to a multiple of `COUNT`)
        Entries of the two columns in the rows that can count; zeros beyond the first n.
    n : int
    gamma : float
        Above zero.
    grid : ndarray, shape (at least SCRATCH,)
        Scratch.

    Notes
    -----
    Mostly 4 to 17 evaluations of f and 2 to 3 with derivatives; 12n and 24n flops each.
    """
    count = _fill_grid(x, y, n, gamma, grid)
    peak, values = _climb_grid(x, y, n, gamma, grid, count), count
    first, last = 0, n
    if n > FEW:
        first = _longest(x, y, n) if count == GRID * PASSES else n
        last = min(first + 1, n)
    if last > first:
        radius = 0.5 * np.pi / count
        peak = _climb_rows(x, y, first, last, n, gamma, peak, radius)
        values += last - first
    c, s = _nearest(peak.cosine, peak.sine)
    return Found(c, s, peak.value, peak.value - grid[0], values, peak.slopes)

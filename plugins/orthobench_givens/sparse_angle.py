"""The best rotation in a plane for sparse PCA: the global maximum of equation 6 along a circle.

With u = cos t x + sin t y and v = cos t y - sin t x the function is
f(t) = sum_k [|u_k| - gamma]²_+ + [|v_k| - gamma]²_+ . It has period pi/2 and a continuous
derivative; its second derivative jumps where an entry crosses gamma. With the soft threshold
s(u) = sign(u) [|u| - gamma]_+ ,

    f'   = 2 sum  s(u) v - s(v) u
    f''  = 2 sum  1(u) v² + 1(v) u² - s(u) u - s(v) v
    f''' = -6 sum (1(u) - 1(v)) u v - f'

where 1(u) tells whether |u| > gamma. A grid over the period finds the basin, Halley's method its
maximum. Angles are pairs (cos t, sin t).

Rows are given without those that lie inside the circle of radius gamma, which never count, and
filled up with zeros to a multiple of `orthobench.lanes.COUNT`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthobench.arrays import Array
from orthobench.compiled import inner, kernel
from orthobench.lanes import COUNT, Lanes, fill, largest, load, magnitude, total, where

GRID = 8
"""Angles that one pass over the rows evaluates: half of them, and 45 degrees on the others."""

PASSES = 8
"""Most such passes; angles between those of the first."""

SCRATCH = GRID * PASSES + GRID
"""Length of the scratch that `best_angle` needs."""

FEW = 16
"""Up to so many rows, the grid takes two passes, and the angles that turn a row into an axis."""

ACCURACY = 1e-8
"""A step of at most so many radians is the last: what is left after it is far shorter still."""

CLIMB = 60
"""Most evaluations of one climb."""

COSINES, SINES = (f(np.pi / 16 / PASSES * np.arange(GRID // 2 * PASSES)) for f in (np.cos, np.sin))


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


class _Slopes(NamedTuple):
    """f, and the halves of its first three derivatives."""

    value: float
    first: float
    second: float
    third: float


class _Peak(NamedTuple):
    """A local maximum, and how many evaluations it took."""

    cosine: float
    sine: float
    value: float
    slopes: int


@inner
def _squared(u: Lanes, gamma: float) -> Lanes:
    """Return [|u| - gamma]²_+ in each lane."""
    over = magnitude(u) - gamma
    over = where(over > 0.0, over, 0.0)
    return over * over


@inner
def _soft(u: Lanes, gamma: float) -> Lanes:
    """Return sign(u) [|u| - gamma]_+ in each lane."""
    above = where(u > -gamma, u, -gamma)
    return u - where(above < gamma, above, gamma)


@inner
def evaluate(x: Array, y: Array, n: int, gamma: float, cosine: float, sine: float) -> float:
    """Return f at an angle."""
    sum_ = fill(0.0)
    for k in range(0, n, COUNT):
        a, b = load(x, k), load(y, k)
        sum_ = sum_ + _squared(a * cosine + b * sine, gamma)
        sum_ = sum_ + _squared(b * cosine - a * sine, gamma)
    return float(total(sum_))


@inner
def _slopes(x: Array, y: Array, n: int, gamma: float, cosine: float, sine: float) -> _Slopes:
    """Return f and the halves of its derivatives at an angle."""
    value, first, second, third = fill(0.0), fill(0.0), fill(0.0), fill(0.0)
    for k in range(0, n, COUNT):
        a, b = load(x, k), load(y, k)
        u, v = a * cosine + b * sine, b * cosine - a * sine
        su, sv = _soft(u, gamma), _soft(v, gamma)
        value = value + su * su + sv * sv
        first = first + su * v - sv * u
        in_u, in_v = magnitude(u) > gamma, magnitude(v) > gamma
        second = second + where(in_u, v * v, 0.0) + where(in_v, u * u, 0.0) - su * u - sv * v
        third = third + where(in_u, u * v, 0.0) - where(in_v, u * v, 0.0)
    slope = float(total(first))
    return _Slopes(total(value), slope, total(second), -3.0 * total(third) - slope)


@inner
def _add_two(
    a: Lanes, b: Lanes, cosine: float, sine: float, gamma: float, wide: float, f: Lanes, g: Lanes
) -> tuple[Lanes, Lanes]:
    """Add what rows give at an angle to f, and twice what they give 45 degrees on to g.

    There the entries are (u + v, v - u) / sqrt(2): no products are needed.
    """
    u, v = a * cosine + b * sine, b * cosine - a * sine
    f = f + _squared(u, gamma) + _squared(v, gamma)
    return f, g + _squared(u + v, wide) + _squared(v - u, wide)


@inner
def _eight(x: Array, y: Array, n: int, gamma: float, at: int, out: Array) -> float:
    """Set out to f at (at / PASSES + 0, ..., 7) pi/16; return the largest x² + y²."""
    c0, s0 = COSINES[at], SINES[at]
    c1, s1 = COSINES[at + PASSES], SINES[at + PASSES]
    c2, s2 = COSINES[at + 2 * PASSES], SINES[at + 2 * PASSES]
    c3, s3 = COSINES[at + 3 * PASSES], SINES[at + 3 * PASSES]
    f0, f1, f2, f3 = fill(0.0), fill(0.0), fill(0.0), fill(0.0)
    g0, g1, g2, g3 = fill(0.0), fill(0.0), fill(0.0), fill(0.0)
    longest, wide = fill(0.0), np.sqrt(2.0) * gamma
    for k in range(0, n, COUNT):
        a, b = load(x, k), load(y, k)
        r = a * a + b * b
        longest = where(r > longest, r, longest)
        f0, g0 = _add_two(a, b, c0, s0, gamma, wide, f0, g0)
        f1, g1 = _add_two(a, b, c1, s1, gamma, wide, f1, g1)
        f2, g2 = _add_two(a, b, c2, s2, gamma, wide, f2, g2)
        f3, g3 = _add_two(a, b, c3, s3, gamma, wide, f3, g3)
    out[0], out[1], out[2], out[3] = total(f0), total(f1), total(f2), total(f3)
    out[4], out[5] = 0.5 * total(g0), 0.5 * total(g1)
    out[6], out[7] = 0.5 * total(g2), 0.5 * total(g3)
    return float(largest(longest))


@inner
def _halley(at: _Slopes, radius: float) -> float:
    """Return the step of Halley's method towards a maximum, no longer than `radius`."""
    step = np.copysign(radius, at.first)
    if at.second < 0.0:
        step = -at.first / at.second
        bent = at.second - 0.5 * at.first * at.third / at.second
        if bent < 0.0:
            step = -at.first / bent
    return float(min(max(step, -radius), radius))


@inner
def _ascend(
    x: Array, y: Array, n: int, gamma: float, cosine: float, sine: float, radius: float
) -> _Peak:
    """Climb from an angle to a local maximum, in steps of at most `radius`; never descend."""
    at = _slopes(x, y, n, gamma, cosine, sine)
    slopes = 1
    while slopes < CLIMB and at.first != 0.0:
        step = _halley(at, radius)
        c, s = np.cos(step), np.sin(step)
        c, s = cosine * c - sine * s, sine * c + cosine * s
        if abs(step) <= ACCURACY:
            gain = 2.0 * at.first * step + at.second * step * step
            return _Peak(c, s, at.value + max(gain, 0.0), slopes)
        ahead = _slopes(x, y, n, gamma, c, s)
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
def _fill_grid(x: Array, y: Array, n: int, gamma: float, grid: Array) -> int:
    """Set the first entries of the grid to f at equal spacing over the period; return how many.

    More where there are few rows, where the first pass shows several maxima, or where that of even
    the longest row is narrower than the spacing: it is positive within arccos(gamma / r) only.
    """
    eight = grid[GRID * PASSES :]
    longest = _eight(x, y, n, gamma, 0, eight)
    passes = 2 if n <= FEW or _second(eight, GRID, _highest(eight, GRID)) >= 0 else 1
    while passes < PASSES and longest * COSINES[PASSES // passes] ** 2 < gamma * gamma:
        passes *= 2
    for k in range(GRID):
        grid[k * passes] = eight[k]
    for p in range(1, passes):
        _eight(x, y, n, gamma, p * (PASSES // passes), eight)
        for k in range(GRID):
            grid[k * passes + p] = eight[k]
    return GRID * passes


@inner
def _crest(grid: Array, count: int, k: int) -> tuple[float, float]:
    """Return where, in spacings, and how high the parabola through a maximum of the grid peaks."""
    before, at, after = grid[k - 1 if k else count - 1], grid[k], grid[(k + 1) % count]
    bend = 2.0 * at - before - after
    if not bend > 0.0:
        return 0.0, at
    return 0.5 * (after - before) / bend, at + 0.125 * (after - before) ** 2 / bend


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
    About 8 evaluations of f and 2 to 3 with derivatives; 12n and 24n flops each.
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

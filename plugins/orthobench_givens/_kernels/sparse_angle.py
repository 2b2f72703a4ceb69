"""The best rotation of two columns for sparse PCA: the global maximum of f over the circle.

A grid over the period locates the maximum of f (`sparse_circle`), Halley's method refines it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from orthobench_kit.compiled import kernel

from orthobench.contract import Array
from orthobench_givens._kernels.sparse_circle import (
    COSINES,
    GRID,
    PASSES,
    Derivatives,
    derivatives,
    evaluate,
    evaluate_four,
)

SCRATCH = GRID * PASSES + GRID
"""Length of the scratch array of `best_angle`."""

FEW_ROWS = 16
"""Maximum number of rows for a grid of four passes, and for `_climb_rows` to try all of them."""

MANY_ROWS = 256
"""Minimum number of rows for a grid of one pass, unless that is flat."""

FLAT = 0.8
"""Ratio of the lowest to the highest value of the first pass above which it is flat."""

ACCURACY = 1e-8
"""Length of the last step, in radians; convergence is cubic."""

MOST_EVALUATIONS = 60
"""Maximum number of evaluations of the derivatives in one climb."""


class BestAngle(NamedTuple):
    """The rotation that maximizes f: an angle in [-pi/4, pi/4], its `value` f and `gain` over 0.

    `values` and `slopes` are the numbers of evaluations of f without and with three derivatives.
    """

    cosine: float
    sine: float
    value: float
    gain: float
    values: int
    slopes: int


class _Peak(NamedTuple):
    """A local maximum, and its number of evaluations of derivatives."""

    cosine: float
    sine: float
    value: float
    slopes: int


@kernel
def _halley(at: Derivatives, radius: float) -> float:
    """Return the step of Halley's method towards a maximum, at most `radius` long."""
    step = np.copysign(radius, at.first)
    if at.second < 0.0:
        step = -at.first / at.second
        curvature = at.second - 0.5 * at.first * (at.third / at.second)
        if curvature < 0.0:
            step = -at.first / curvature
    return float(min(max(step, -radius), radius))


@kernel
def _climb(
    x: Array, y: Array, n: int, gamma: float, cosine: float, sine: float, radius: float
) -> _Peak:
    """Climb from an angle to a local maximum in steps of at most `radius`; f never falls."""
    at = derivatives(x, y, n, gamma, cosine, sine)
    slopes = 1
    while slopes < MOST_EVALUATIONS and at.first != 0.0:
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


@kernel
def _higher(peak: _Peak, other: _Peak) -> _Peak:
    slopes = peak.slopes + other.slopes
    if other.value > peak.value:
        return _Peak(other.cosine, other.sine, other.value, slopes)
    return _Peak(peak.cosine, peak.sine, peak.value, slopes)


@kernel
def _second_highest(grid: Array, count: int, best: int) -> int:
    """Return the index of the highest local maximum of the grid other than `best`, or -1."""
    second = -1
    for k in range(count):
        before, after = grid[k - 1 if k else count - 1], grid[(k + 1) % count]
        summit = k != best and grid[k] >= before and grid[k] > after
        if summit and (second < 0 or grid[k] > grid[second]):
            second = k
    return second


@kernel
def _refine(x: Array, y: Array, n: int, gamma: float, grid: Array, done: int, passes: int) -> None:
    for k in range(GRID * done - 1, 0, -1):
        grid[k * passes // done] = grid[k]
    four = grid[GRID * PASSES :]
    for p in range(passes):
        if p * done % passes:
            evaluate_four(x, y, n, gamma, p * (PASSES // passes), four)
            for k in range(GRID):
                grid[k * passes + p] = four[k]


@kernel
def _fill_grid(x: Array, y: Array, n: int, gamma: float, grid: Array) -> int:
    """Set the grid to f at equally spaced angles, finer for few rows or several maxima."""
    longest, first = evaluate_four(x, y, n, gamma, 0, grid), grid[:GRID]
    flat = first.min() > FLAT * first.max()
    passes = 4 if n <= FEW_ROWS else 2 if n < MANY_ROWS or flat else 1
    while passes < PASSES and longest * COSINES[PASSES // passes] ** 2 < gamma * gamma:
        passes *= 2
    _refine(x, y, n, gamma, grid, 1, passes)
    count = GRID * passes
    if passes < 4 and _second_highest(grid, count, int(np.argmax(grid[:count]))) >= 0:
        _refine(x, y, n, gamma, grid, passes, 4)
        passes = 4
    return GRID * passes


@kernel
def _parabola(grid: Array, count: int, k: int) -> tuple[float, float]:
    """Return position and height of the maximum of the parabola through three grid values."""
    before, at, after = grid[k - 1 if k else count - 1], grid[k], grid[(k + 1) % count]
    curvature = 2.0 * at - before - after
    if not curvature > 0.0:
        return 0.0, at
    shift = 0.5 * (after - before) / curvature
    return shift, at + 0.25 * shift * (after - before)


@kernel
def _climb_from(x: Array, y: Array, n: int, gamma: float, grid: Array, count: int, k: int) -> _Peak:
    h = 0.5 * np.pi / count
    shift, _ = _parabola(grid, count, k)
    t = (k + shift) * h
    peak = _climb(x, y, n, gamma, np.cos(t), np.sin(t), h)
    if peak.value >= grid[k]:
        return peak
    again = _climb(x, y, n, gamma, np.cos(k * h), np.sin(k * h), h)
    return _Peak(again.cosine, again.sine, again.value, again.slopes + peak.slopes)


@kernel
def _climb_grid(x: Array, y: Array, n: int, gamma: float, grid: Array, count: int) -> _Peak:
    """Climb from the highest grid value, and from the second maximum if it may end higher."""
    best = int(np.argmax(grid[:count]))
    peak = _climb_from(x, y, n, gamma, grid, count, best)
    second = _second_highest(grid, count, best)
    if second >= 0:
        _, height = _parabola(grid, count, second)
        if 2.0 * height - grid[second] > peak.value:
            return _higher(peak, _climb_from(x, y, n, gamma, grid, count, second))
    return peak


@kernel
def _climb_rows(
    x: Array, y: Array, first: int, last: int, n: int, gamma: float, peak: _Peak, radius: float
) -> _Peak:
    best = peak
    for k in range(first, last):
        r = np.hypot(x[k], y[k])
        value = evaluate(x, y, n, gamma, x[k] / r, y[k] / r)
        if value > best.value:
            best = _Peak(x[k] / r, y[k] / r, value, 0)
    if best.value > peak.value:
        return _higher(peak, _climb(x, y, n, gamma, best.cosine, best.sine, radius))
    return peak


@kernel
def _smallest(cosine: float, sine: float) -> tuple[float, float]:
    if abs(sine) > abs(cosine):
        cosine, sine = sine, -cosine
    return (-cosine, -sine) if cosine < 0.0 else (cosine, sine)


@kernel
def best_angle(x: Array, y: Array, n: int, gamma: float, grid: Array) -> BestAngle:
    """Return the rotation of two columns that maximizes f, the objective in their plane.

    The grid misses only maxima of rows barely outside the circle of radius gamma, near the angles
    that rotate them onto an axis. So these are tried too: all if there are few rows, and that of
    the longest row if the grid is finest.

    `x` and `y` have n >= 1 rows, padded with zeros to a multiple of `orthobench_kit.simd.COUNT`.
    Usually 4 to 17 evaluations of f and 2 to 3 with derivatives; 12n and 24n flops each. Shalit
    and Chechik 2014, Algorithm 2, line 2.
    """
    count = _fill_grid(x, y, n, gamma, grid)
    peak, values = _climb_grid(x, y, n, gamma, grid, count), count
    first, last = 0, n
    if n > FEW_ROWS:
        first = int(np.argmax(x[:n] * x[:n] + y[:n] * y[:n])) if count == GRID * PASSES else n
        last = min(first + 1, n)
    if last > first:
        radius = 0.5 * np.pi / count
        peak = _climb_rows(x, y, first, last, n, gamma, peak, radius)
        values += last - first
    c, s = _smallest(peak.cosine, peak.sine)
    return BestAngle(c, s, peak.value, peak.value - grid[0], values, peak.slopes)

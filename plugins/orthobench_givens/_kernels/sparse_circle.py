"""The objective of sparse PCA along the rotations of two columns x and y, and its derivatives.

With u = cos t x + sin t y and v = cos t y - sin t x it is (Shalit and Chechik 2014, equation 6)

    f(t) = sum_k [|u_k| - gamma]²_+ + [|v_k| - gamma]²_+ .

It has period pi/2. With the soft threshold s(u) = sign(u) [|u| - gamma]_+ and the indicator 1(u)
of |u| > gamma,

    f'   = 2 sum  s(u) v - s(v) u
    f''  = 2 sum  1(u) v² + 1(v) u² - s(u) u - s(v) v
    f''' = -6 sum (1(u) - 1(v)) u v - f' .

Only the n rows outside the circle of radius gamma contribute. They are padded with zeros to a
multiple of `orthobench_kit.simd.COUNT`. Angles are given by cosine and sine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from orthobench_kit.compiled import kernel
from orthobench_kit.simd import COUNT, Lanes, fill, largest, load, magnitude, total, where

from orthobench.contract import Array

GRID = 4
"""Number of angles at which one pass evaluates f: two, and 45 degrees beyond each."""

PASSES = 16
"""Maximum number of passes; later ones take angles between those of the first."""

COSINES, SINES = (f(np.pi / 8 / PASSES * np.arange(GRID // 2 * PASSES)) for f in (np.cos, np.sin))
"""Cosines and sines of the angles in [0, pi/4) of the finest grid."""


class Derivatives(NamedTuple):
    """The value of f at an angle, and half of each of its first three derivatives."""

    value: float
    first: float
    second: float
    third: float


@kernel
def _squared(u: Lanes, gamma: float) -> Lanes:
    excess = magnitude(u) - gamma
    excess = where(excess > 0.0, excess, 0.0)
    return excess * excess


@kernel
def _soft(u: Lanes, gamma: float) -> Lanes:
    at_least = where(u > -gamma, u, -gamma)
    return u - where(at_least < gamma, at_least, gamma)


@kernel
def evaluate(x: Array, y: Array, n: int, gamma: float, cosine: float, sine: float) -> float:
    """Return f at an angle; 12n flops."""
    sum_ = fill(0.0)
    for k in range(0, n, COUNT):
        a, b = load(x, k), load(y, k)
        sum_ = sum_ + _squared(a * cosine + b * sine, gamma)
        sum_ = sum_ + _squared(b * cosine - a * sine, gamma)
    return float(total(sum_))


@kernel
def derivatives(
    x: Array, y: Array, n: int, gamma: float, cosine: float, sine: float
) -> Derivatives:
    """Return f and half of each of its first three derivatives at an angle; 24n flops."""
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
    return Derivatives(total(value), slope, total(second), -3.0 * total(third) - slope)


@kernel
def _add_two(
    a: Lanes, b: Lanes, cosine: float, sine: float, gamma: float, wide: float, f: Lanes, g: Lanes
) -> tuple[Lanes, Lanes]:
    """Add the terms of some rows at an angle to f, and twice those 45 degrees beyond it to g."""
    u, v = a * cosine + b * sine, b * cosine - a * sine
    f = f + _squared(u, gamma) + _squared(v, gamma)
    return f, g + _squared(u + v, wide) + _squared(v - u, wide)


@kernel
def evaluate_four(x: Array, y: Array, n: int, gamma: float, at: int, out: Array) -> float:
    """Set `out` to f at the angles (at / PASSES + k) pi/8, k < 4; return max x_k² + y_k²."""
    c0, s0 = COSINES[at], SINES[at]
    c1, s1 = COSINES[at + PASSES], SINES[at + PASSES]
    f0, f1, g0, g1, longest = fill(0.0), fill(0.0), fill(0.0), fill(0.0), fill(0.0)
    wide = np.sqrt(2.0) * gamma
    for k in range(0, n, COUNT):
        a, b = load(x, k), load(y, k)
        r = a * a + b * b
        longest = where(r > longest, r, longest)
        f0, g0 = _add_two(a, b, c0, s0, gamma, wide, f0, g0)
        f1, g1 = _add_two(a, b, c1, s1, gamma, wide, f1, g1)
    out[0], out[1] = total(f0), total(f1)
    out[2], out[3] = 0.5 * total(g0), 0.5 * total(g1)
    return float(largest(longest))

"""The objective of sparse PCA along the rotations in a plane, and its derivatives.

With u = cos t x + sin t y and v = cos t y - sin t x it is (Shalit and Chechik 2014, equation 6)

    f(t) = sum_k [|u_k| - gamma]²_+ + [|v_k| - gamma]²_+ .

It has period pi/2 and a continuous derivative; its second derivative jumps where an entry crosses
gamma. With the soft threshold s(u) = sign(u) [|u| - gamma]_+ , and 1(u) for whether |u| > gamma,

    f'   = 2 sum  s(u) v - s(v) u
    f''  = 2 sum  1(u) v² + 1(v) u² - s(u) u - s(v) v
    f''' = -6 sum (1(u) - 1(v)) u v - f' .

Rows are given without those inside the circle of radius gamma, which never count, and filled up
with zeros to a multiple of `orthobench.tools.simd.COUNT`. Angles are pairs (cos t, sin t).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import inner
from orthobench.tools.simd import COUNT, Lanes, fill, largest, load, magnitude, total, where

GRID = 4
"""Angles that one pass over the rows evaluates: two, and both 45 degrees on."""

PASSES = 16
"""Most such passes, at angles between those of the first."""

COSINES, SINES = (f(np.pi / 8 / PASSES * np.arange(GRID // 2 * PASSES)) for f in (np.cos, np.sin))


class Derivatives(NamedTuple):
    """f, and the halves of its first three derivatives."""

    value: float
    first: float
    second: float
    third: float


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
def derivatives(
    x: Array, y: Array, n: int, gamma: float, cosine: float, sine: float
) -> Derivatives:
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
    return Derivatives(total(value), slope, total(second), -3.0 * total(third) - slope)


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
def evaluate_four(x: Array, y: Array, n: int, gamma: float, at: int, out: Array) -> float:
    """Set out to f at (at / PASSES + 0, 1, 2, 3) pi/8; return the largest x² + y²."""
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

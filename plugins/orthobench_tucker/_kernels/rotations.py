"""Plane rotations of a small symmetric tensor that maximize its leading block, compiled.

F is the squared norm of the leading block. After the rotation of u_i, i <= r < j, into c u_i + s
u_j, c = cos t and s = sin t, F is the sum over k = 0, ..., d, and over all tuples of d - k leading
indices other than i, of

    binom(d, k) (sum_e binom(k, e) c^(k-e) s^e T[others, i, ..., i, j, ..., j])²,   e times j.

Term k is a trigonometric polynomial with harmonics up to k in 2t. By symmetry ascending tuples are
enough, with multiplicities.

The global maximum of f(x) = sum_h a_h cos(h x) + b_h sin(h x), h = 1, ..., d, is found on cells of
the circle, by a bound on the third derivative. A cell without a higher maximum is discarded. If f
is concave on a cell, Newton's method finds its maximum; any other cell is halved.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.compiled import kernel

from orthobench.contract import Array
from orthobench_tucker.sample_moments import monomials

RESOLUTION = 1e-14
"""Difference of equal maxima, relative to the sum of |coefficients|."""

CELLS = 4
"""Number of initial cells of the circle for each harmonic."""

NARROW = 1e-7
"""Minimum half-width of a cell that is halved, in radians."""

DISCARD, CLIMB, HALVE = 0, 1, 2
"""Verdicts on a cell."""

STEPS = 30
"""Maximum number of steps of Newton's method."""

DEPTH = 64
"""Number of waiting cells besides the initial ones."""


@kernel
def best_angle(cosines: Array, sines: Array) -> float:
    """Return the global maximizer of f in [-pi, pi], near zero if the maximum there is equal.

    Coefficients have shape (d + 1,). Zero if any gain would be rounding; `gain` resolves small
    gains.
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
    """Return bounds on |f| and on its third derivative."""
    size, third = 0.0, 0.0
    for h in range(1, len(cosines)):
        length = np.hypot(cosines[h], sines[h])
        size += length
        third += h * h * h * length
    return size, third


@kernel
def _verdict(cosines: Array, sines: Array, x: float, w: float, third: float, level: float) -> int:
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


class Plane(NamedTuple):
    """Tables by which F along plane rotations is computed, for one r and d.

    Attributes
    ----------
    others : ndarray of int, shape (count, d - 1)
        Ascending tuples of d - k of the r - 1 other leading indices, k = `degrees`, padded.
    multiplicities : ndarray, shape (count,)
        Number of entries for each tuple, times binom(d, k).
    harmonics : ndarray, shape (d + 1, 2d + 1, 2, d + 1)
        Coefficients of cos(h x) and sin(h x) in c^(2k - q) s^q, x = 2t.
    """

    others: NDArray[np.intp]
    degrees: NDArray[np.intp]
    multiplicities: Array
    binomials: Array
    harmonics: Array


@lru_cache(maxsize=16)
def plane(rank: int, order: int) -> Plane:
    others, degrees, multiplicities = [], [], []
    for k in range(1, order + 1):
        table = monomials(rank - 1, order - k) if order > k else None
        indices = table.indices if table else ((),)
        counts = table.multiplicities if table else np.ones(1)
        for own, count in zip(indices, counts, strict=True):
            others.append((*own, *(0,) * (order - 1 - len(own))))
            degrees.append(k)
            multiplicities.append(comb(order, k) * count)
    rows = np.array(others, dtype=np.intp).reshape(len(others), order - 1)
    binomials = np.array(
        [[comb(k, e) for e in range(order + 1)] for k in range(order + 1)], dtype=np.float64
    )
    weights = np.array(multiplicities, dtype=np.float64)
    return Plane(rows, np.array(degrees, dtype=np.intp), weights, binomials, _harmonics(order))


def _harmonics(order: int) -> Array:
    size = 2 * order + 1
    angles = np.pi * np.arange(size) / size
    result = np.zeros((order + 1, size, 2, order + 1))
    for k in range(1, order + 1):
        for q in range(2 * k + 1):
            values = np.cos(angles) ** (2 * k - q) * np.sin(angles) ** q
            transform = np.fft.rfft(values)[: k + 1] * (2 / size)
            transform[0] /= 2
            result[k, q, 0, : k + 1], result[k, q, 1, : k + 1] = transform.real, -transform.imag
    return result


@kernel
def rotate_planes(
    T: Array, turned: Array, rank: int, order: int, tables: Plane, least: float
) -> tuple[int, int]:
    """Rotate in each plane (i, j), i < r <= j, in turn, to the global maximum of F.

    The flattened tensor T (m^d,) and `turned` = G' (m, m), where T becomes T ·(G, ..., G), are
    rotated in place. A plane is skipped if |dF/dt| at t = 0 is below `least`. Returns the number of
    planes tried, and of rotations. 6d m^(d - 1) flops a rotation.
    """
    m = len(turned)
    cosines, sines = np.empty(order + 1), np.empty(order + 1)
    tried, rotated = 0, 0
    for j in range(rank, m):
        for i in range(rank):
            tried += 1
            restrict(T, m, order, i, j, tables, cosines, sines)
            if 2 * abs(derivatives(cosines, sines, 0.0)[0]) < least:
                continue
            x = best_angle(cosines, sines)
            if not gain(cosines, sines, x) > 0:
                continue
            rotated += 1
            c, s = np.cos(x / 2), np.sin(x / 2)
            inside = 1
            for _ in range(order):
                _rotate(T.reshape(-1, m, inside), i, j, c, s)
                inside *= m
            _rotate(turned.reshape(1, m, m), i, j, c, s)
    return tried, rotated


@kernel
def restrict(
    T: Array, m: int, order: int, i: int, j: int, tables: Plane, cosines: Array, sines: Array
) -> None:
    """Set the Fourier coefficients of F along rotations of u_i and u_j."""
    powers = np.zeros((order + 1, 2 * order + 1))
    values = np.empty(order + 1)
    for row in range(len(tables.degrees)):
        k = tables.degrees[row]
        at = 0
        for place in range(order - k):
            other = tables.others[row, place]
            at = at * m + other + (other >= i)
        for _ in range(k):
            at = at * m + i
        unit = 1
        for e in range(k + 1):
            values[e] = tables.binomials[k, e] * T[at]
            at += unit * (j - i)
            unit *= m
        for e in range(k + 1):
            for f in range(k + 1):
                powers[k, e + f] += tables.multiplicities[row] * values[e] * values[f]
    cosines[:], sines[:] = 0.0, 0.0
    for k in range(1, order + 1):
        for q in range(2 * k + 1):
            for h in range(1, k + 1):
                cosines[h] += powers[k, q] * tables.harmonics[k, q, 0, h]
                sines[h] += powers[k, q] * tables.harmonics[k, q, 1, h]


@kernel
def _rotate(T: Array, i: int, j: int, c: float, s: float) -> None:
    for outer in range(len(T)):
        for last in range(T.shape[2]):
            a, b = T[outer, i, last], T[outer, j, last]
            T[outer, i, last], T[outer, j, last] = c * a + s * b, c * b - s * a

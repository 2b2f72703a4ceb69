"""Rotations in one plane: of two rows, and the best one for a tensor, in closed form.

Let c and s be cosine and sine of the angle, and iii, iij, ... the entries of T~ = T(U, U, U).
Along rotations of u_i and u_j the objective of Shalit and Chechik (2014), equation 8, is a
constant plus (equation 11, corrected)

    c³(iii + jjj - 3ijj - 3iij) + s³(jjj - iii + 3ijj - 3iij) + 3c(ijj + iij) + 3s(iij - ijj).

The paper prints the terms in s³ and s with the opposite sign, a misprint: they are those of a
rotation by -angle. With 1 = c² + s² this is the cubic form p0 c³ + p1 c²s + p2 cs² + p3 s³ of the
kernels. It is odd in (c, s): its maximum is its largest modulus on the critical lines through 0.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from orthobench_kit.compiled import kernel

from orthobench.contract import Array

Corner: TypeAlias = tuple[float, float, float, float]

EIGHTHS = np.pi / 4 * np.arange(4)
"""The angles from which tangents may be measured (`_chart`), in radians."""

CHARTS = np.stack(
    [np.cos(EIGHTHS), np.sin(EIGHTHS), np.cos(3 * EIGHTHS), np.sin(3 * EIGHTHS)], axis=1
)
"""Cosine and sine of each of these angles, then of three times each."""


@kernel
def rotate_rows(x: Array, y: Array, cosine: float, sine: float) -> None:
    """Rotate two vectors in their plane: x <- cosine x + sine y, y <- cosine y - sine x."""
    for k in range(len(x)):
        a, b = x[k], y[k]
        x[k] = cosine * a + sine * b
        y[k] = cosine * b - sine * a


@kernel
def best_rotation(
    iii: float, iij: float, ijj: float, jjj: float, slope_tolerance: float, gain_tolerance: float
) -> tuple[float, float]:
    """Return cosine and sine of the angle that maximizes the objective over the full circle.

    The plane is stationary if |p1|, the derivative at angle 0, is at most `slope_tolerance`.
    Differences of the objective up to `gain_tolerance` are rounding: the smallest of such angles is
    taken. Returns (1, 0) if the plane is stationary and no other angle gains. About 225 flops.
    """
    p0, p1 = iii + jjj, 3.0 * (iij - ijj)
    p2, p3 = 3.0 * (iij + ijj), jjj - iii
    c, s = _highest(p0, p1, p2, p3, gain_tolerance)
    if abs(p1) <= slope_tolerance and _form(p0, p1, p2, p3, c, s) - p0 <= gain_tolerance:
        return 1.0, 0.0
    c, s = _newton(p0, p1, p2, p3, c, s)
    return _normalized(c, s)


@kernel
def corner_rotated(corner: Corner, powers: Corner) -> Corner:
    """Return the entries (iii, iij, ijj, jjj) after a rotation with powers c³, c²s, cs² and s³."""
    (iii, iij, ijj, jjj), (ccc, ccs, css, sss) = corner, powers
    return (
        ccc * iii + 3.0 * (ccs * iij + css * ijj) + sss * jjj,
        ccc * iij + ccs * (2.0 * ijj - iii) + css * (jjj - 2.0 * iij) - sss * ijj,
        ccc * ijj + ccs * (jjj - 2.0 * iij) + css * (iii - 2.0 * ijj) + sss * iij,
        ccc * jjj + 3.0 * (css * iij - ccs * ijj) - sss * iii,
    )


@kernel
def _normalized(c: float, s: float) -> tuple[float, float]:
    """Recompute the larger of cosine and sine from the smaller: c² + s² = 1 without bias."""
    if abs(s) < abs(c):
        return np.copysign(_cofunction(s), c), s
    return c, np.copysign(_cofunction(c), s)


@kernel
def _cofunction(x: float) -> float:
    root: float = 1.0 - x * x / (1.0 + np.sqrt(1.0 - x * x))
    return root


@kernel
def _form(p0: float, p1: float, p2: float, p3: float, c: float, s: float) -> float:
    return c * (c * (p0 * c + p1 * s) + p2 * s * s) + p3 * s * s * s


@kernel
def _newton(p0: float, p1: float, p2: float, p3: float, c: float, s: float) -> tuple[float, float]:
    """Return the angle after a Newton step on the derivative, if that is short and ascends."""
    q0, q1, q2, q3 = p1, 2.0 * p2 - 3.0 * p0, 3.0 * p3 - 2.0 * p1, -p2
    slope = _form(q0, q1, q2, q3, c, s)
    along_c = c * (3.0 * q0 * c + 2.0 * q1 * s) + q2 * s * s
    along_s = c * (q1 * c + 2.0 * q2 * s) + 3.0 * q3 * s * s
    curvature = c * along_s - s * along_c
    if not abs(slope) < -0.1 * curvature:
        return c, s
    step = -slope / curvature
    length = np.sqrt(1.0 + step * step)
    return (c - step * s) / length, (s + step * c) / length


@kernel
def _highest(
    p0: float, p1: float, p2: float, p3: float, gain_tolerance: float
) -> tuple[float, float]:
    """Return the critical point of largest value, among equal ones that of smallest angle."""
    a1, b1 = (3.0 * p0 + p2) / 4.0, (p1 + 3.0 * p3) / 4.0
    a3, b3 = (p0 - p2) / 4.0, (p1 - p3) / 4.0
    chart = _chart(a1, b1, a3, b3)
    best, cosine, sine = -np.inf, 1.0, 0.0
    for t in _tangents(a1, b1, a3, b3, chart):
        length = np.sqrt(1.0 + t * t)
        c = (CHARTS[chart, 0] - CHARTS[chart, 1] * t) / length
        s = (CHARTS[chart, 1] + CHARTS[chart, 0] * t) / length
        value = _form(p0, p1, p2, p3, c, s)
        if value < 0.0:
            c, s, value = -c, -s, -value
        if value > best + gain_tolerance or (value >= best - gain_tolerance and c > cosine):
            cosine, sine = c, s
            best = max(best, value)
    return cosine, sine


@kernel
def _chart(a1: float, b1: float, a3: float, b3: float) -> int:
    """Choose the angle to measure tangents from, so that no critical angle is near 90 degrees.

    The derivative is a cubic in the tangent, whose leading coefficient, that at 90 degrees, may
    vanish. The largest of the four candidates is at least its root mean square over the circle.
    """
    chart, largest = 0, -1.0
    for k in range(4):
        c, s, c3, s3 = CHARTS[k]
        slope = abs(3.0 * (a3 * c3 + b3 * s3) - (a1 * c + b1 * s))
        if slope > largest:
            chart, largest = k, slope
    return chart


@kernel
def _tangents(a1: float, b1: float, a3: float, b3: float, chart: int) -> tuple[float, float, float]:
    """Return the tangents of the zeros of a1 cos t + b1 sin t + a3 cos 3t + b3 sin 3t."""
    c, s, c3, s3 = CHARTS[chart]
    a1, b1 = a1 * c + b1 * s, b1 * c - a1 * s
    a3, b3 = a3 * c3 + b3 * s3, b3 * c3 - a3 * s3
    lead = 3.0 * a3 - a1
    if lead == 0.0:
        return 0.0, 0.0, 0.0
    return _roots((b1 - 9.0 * b3) / lead, -(a1 + 9.0 * a3) / lead, (b1 + 3.0 * b3) / lead)


@kernel
def _roots(a: float, b: float, c: float) -> tuple[float, float, float]:
    """Return the real roots of t³ + at² + bt + c; a single one is returned three times."""
    Q = (a * a - 3.0 * b) / 9.0
    R = (a * (2.0 * a * a - 9.0 * b) + 27.0 * c) / 54.0
    excess, shift = R * R - Q * Q * Q, a / 3.0
    if excess >= 0.0:
        A = np.cbrt(abs(R) + np.sqrt(excess))
        t = A + (Q / A if A > 0.0 else 0.0)
        t = (-t if R > 0.0 else t) - shift
        return t, t, t
    angle = np.arccos(R / np.sqrt(Q * Q * Q)) / 3.0
    size = -2.0 * np.sqrt(Q)
    near, far = size * np.cos(angle), size * np.sin(angle) * np.sqrt(0.75)
    return near - shift, -0.5 * near - far - shift, -0.5 * near + far - shift

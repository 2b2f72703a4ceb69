"""Global minimization of a function of one angle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import atan2, cos, fsum, hypot, isfinite, pi, remainder, sin
from typing import NamedTuple, TypeAlias

import numpy as np

from orthobench.errors import DataError
from orthobench.tools.arrays import Array

Harmonic: TypeAlias = tuple[int, float, float]
"""A harmonic h >= 1 with its coefficients a and b, a cos(h angle) + b sin(h angle)."""

SIZES = (16, 32, 64)
"""Numbers of grid points, tried in turn."""

ROUNDING = 1e-13
"""Rounding errors of a function's values, relative to the largest."""

OFF_GRID = 1.0
"""An angle off grid, in radians, to check an interpolant."""

BRACKETS = 3
"""Number of lowest grid minima around which a function is searched."""

WIDTHS = (2 * pi / SIZES[-1], 1e-7)
"""Half-widths of two searches in turn."""

NEGLIGIBLE = 1e-15
"""Rounding errors of a polynomial, relative to its largest coefficients."""

NEWTON_STEPS = 3
"""Number of Newton steps for each root."""

SHORT = 1e-2
"""Maximum Newton step, in radians."""


class Minimum(NamedTuple):
    """The global minimum of a function of an angle.

    Attributes
    ----------
    angle : float
        In radians, in [-pi, pi]; zero if nothing is gained.
    gain : float
        The value at angle zero minus the minimum, >= 0.
    spread : float
        A bound on the maximum minus the minimum.
    """

    angle: float
    gain: float
    spread: float


@dataclass(frozen=True)
class Trigonometric:
    """A trigonometric polynomial, sum_h cosines[h] cos(h angle) + sines[h] sin(h angle).

    Polynomials of degree p in the entries of U have harmonics up to p along plane rotations.

    Attributes
    ----------
    cosines, sines : sequence of float, of equal lengths
        Coefficients of the harmonics 0, 1, 2, ...
    """

    cosines: Sequence[float]
    sines: Sequence[float]

    def __call__(self, angle: float) -> float:
        """Return the value at an angle."""
        return fsum(
            a * cos(h * angle) + b * sin(h * angle)
            for h, (a, b) in enumerate(zip(self.cosines, self.sines, strict=True))
        )

    def minimum(self) -> Minimum:
        """Return the global minimum; of equal ones that nearest to zero.

        The derivative is a polynomial of degree 2H in exp(i angle), H the highest harmonic. Its
        roots come from a companion matrix. O(H³) flops; a single harmonic has a formula.

        Raises
        ------
        DataError
            If coefficients are not finite.
        """
        harmonics = self._harmonics()
        spread = 2 * sum(hypot(a, b) for _, a, b in harmonics)
        if not isfinite(spread):
            raise DataError("the objective is not finite along the rotations in a plane")
        if not harmonics:
            return Minimum(0.0, 0.0, 0.0)
        if len(harmonics) == 1:
            h, a, b = harmonics[0]
            angle = atan2(-b, -a) / h
        else:
            angle = _lowest(*np.array(harmonics, dtype=np.float64).T)
        gain = _gain(harmonics, angle)
        return Minimum(angle, gain, spread) if gain > 0 else Minimum(0.0, 0.0, spread)

    def _harmonics(self) -> list[Harmonic]:
        pairs = zip(self.cosines, self.sines, strict=True)
        return [(h, a, b) for h, (a, b) in enumerate(pairs) if h and (a or b)]


Restriction: TypeAlias = Trigonometric | Callable[[float], float]
"""A function of an angle with period 2 pi."""


def minimize(restriction: Restriction) -> Minimum:
    """Minimize a function of an angle over its whole period.

    Parameters
    ----------
    restriction : Trigonometric or callable
        A `Trigonometric` polynomial is minimized exactly. Other functions are sampled at 16, 32 and
        64 points, until the upper half of the harmonics is rounding, and the interpolant is
        minimized: exact for degree 16 or less in U. An unresolved function is searched around its
        three lowest points by Brent's method; valleys narrower than 2 pi / 64 may be missed.

    Raises
    ------
    DataError
        If the function is not finite.

    Notes
    -----
    18 evaluations if 16 points resolve the function.

    References
    ----------
    Wright, Javed, Montanelli and Trefethen 2015, "Extension of Chebfun to periodic functions".
    """
    if isinstance(restriction, Trigonometric):
        return restriction.minimum()
    return _sampled_minimum(restriction)


def _gain(harmonics: Sequence[Harmonic], angle: float) -> float:
    """Return the value at zero minus that at `angle`, accurate by 1 - cos(t) = 2 sin²(t / 2)."""
    total = 0.0
    for h, a, b in harmonics:
        s = sin(h * angle / 2)
        total += 2 * s * (a * s - b * cos(h * angle / 2))
    return total


def _lowest(h: Array, a: Array, b: Array) -> float:
    slopes = np.zeros(int(h[-1]) + 1, dtype=np.complex128)
    slopes[h.astype(np.intp)] = h * (b + 1j * a)
    slopes /= np.abs(slopes).max()
    # harmonics below rounding would spoil the companion matrix
    slopes = slopes[: int(np.flatnonzero(np.abs(slopes) > NEGLIGIBLE)[-1]) + 1]
    roots = np.roots(np.concatenate([slopes[:0:-1], [0.0], slopes[1:].conj()]))
    angles = np.append(np.angle(roots), 0.0)
    slack = NEGLIGIBLE * float(np.hypot(a, b).sum())
    polished = _polished(angles, h, a, b)
    better = _gains(polished, h, a, b) >= _gains(angles, h, a, b) - slack
    angles = np.where(better, polished, angles)
    gains = _gains(angles, h, a, b)
    best = angles[gains >= gains.max() - slack]
    return float(best[np.argmin(np.abs(best))])


def _gains(angles: Array, h: Array, a: Array, b: Array) -> Array:
    half = np.multiply.outer(angles, h / 2)
    gains: Array = 2 * (np.sin(half) * (a * np.sin(half) - b * np.cos(half))).sum(axis=1)
    return gains


def _polished(angles: Array, h: Array, a: Array, b: Array) -> Array:
    for _ in range(NEWTON_STEPS):
        at = np.multiply.outer(angles, h)
        slope = (h * (b * np.cos(at) - a * np.sin(at))).sum(axis=1)
        curvature = -(h * h * (a * np.cos(at) + b * np.sin(at))).sum(axis=1)
        short = np.abs(slope) < SHORT * np.abs(curvature)
        angles = angles - np.where(short, slope, 0.0) / np.where(short, curvature, 1.0)
    return pi - np.remainder(pi - angles, 2 * pi)


def _sampled_minimum(f: Callable[[float], float]) -> Minimum:
    values = np.empty(0)
    for size in SIZES:
        values = _sampled(f, size, values)
        rounding = ROUNDING * float(np.abs(values).max())
        polynomial = _interpolant(values, rounding)
        if polynomial and abs(f(OFF_GRID) - polynomial(OFF_GRID)) <= 10 * rounding:
            found = polynomial.minimum()
            lower = found.gain > 0 and f(found.angle) <= values[0]
            return found if lower else Minimum(0.0, 0.0, found.spread)
    angle, value = min(
        (_searched(f, values, k) for k in _grid_minima(values)), key=lambda found: found[1]
    )
    gain, spread = float(values[0] - value), float(values.max() - min(values.min(), value))
    return Minimum(angle, gain, spread) if gain > rounding else Minimum(0.0, 0.0, spread)


def _sampled(f: Callable[[float], float], size: int, known: Array) -> Array:
    values = np.empty(size)
    new = range(1, size, 2) if len(known) else range(size)
    values[: 2 * len(known) : 2] = known
    for k in new:
        values[k] = f(2 * pi * k / size)
    if not np.isfinite(values).all():
        k = int(np.argmin(np.isfinite(values)))
        raise DataError(
            f"the cost is {float(values[k])!r} after a rotation by {2 * pi * k / size:.6g} in a "
            "plane; it must be finite at every orthogonal matrix"
        )
    return values


def _interpolant(values: Array, rounding: float) -> Trigonometric | None:
    """Return the trigonometric interpolant, or None if its upper harmonics are not rounding."""
    size = len(values)
    transform = np.fft.rfft(values) * (2 / size)
    transform[0] /= 2
    top = size // 4
    if np.abs(transform[top + 1 :]).max() > rounding:
        return None
    kept = np.where(np.abs(transform) > rounding, transform, 0.0)[: top + 1]
    return Trigonometric(kept.real.tolist(), (-kept.imag).tolist())


def _grid_minima(values: Array) -> list[int]:
    low = (values <= np.roll(values, 1)) & (values <= np.roll(values, -1))
    at = np.flatnonzero(low)
    return [int(k) for k in at[np.argsort(values[at], kind="stable")][:BRACKETS]]


def _searched(f: Callable[[float], float], values: Array, k: int) -> tuple[float, float]:
    from scipy.optimize import minimize_scalar

    angle, value = remainder(2 * pi * k / len(values), 2 * pi), float(values[k])
    for width in WIDTHS:
        centre = angle
        found = minimize_scalar(
            lambda offset, centre=centre: f(centre + offset),
            bounds=(-width, width), method="bounded", options={"xatol": 1e-11},
        )  # fmt: skip
        if found.fun < value:
            angle, value = centre + float(found.x), float(found.fun)
    return remainder(angle, 2 * pi), value

"""Approximations of powers by polynomials and fractions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from orthobench.contract import Array

GRID = 4000
"""Number of grid points, with logarithms at equal distances."""

COARSE = 400
"""Points of each half of a linear program's grid."""


@lru_cache(maxsize=64)
def power_polynomial(exponent: float, degree: int, low: float) -> tuple[float, ...]:
    """Return the coefficients of the best polynomial for t^exponent on [low, 1], lowest first.

    It has the minimal largest relative error on a grid, by a linear program (Cheney 1966, chapters
    2 and 3). A hundredth of a second, once for each set of arguments; memory 1,600 by degree + 2.
    """
    from scipy.optimize import linprog

    t = np.union1d(np.geomspace(low, 1, COARSE), 1 - np.geomspace(1e-5, 0.5, COARSE))[:, None]
    basis = np.polynomial.chebyshev.chebvander(2 * t[:, 0] - 1, degree) / t**exponent
    units = np.abs(basis).max(axis=0)
    basis, error = basis / units, np.ones_like(t)
    above, below = np.hstack([basis, -error]), np.hstack([-basis, -error])
    bounds = np.concatenate([error[:, 0], -error[:, 0]])
    least = [*np.zeros(degree + 1), 1.0]
    solved = linprog(least, np.vstack([above, below]), bounds, bounds=(None, None))
    series = np.polynomial.Chebyshev(solved.x[:-1] / units, domain=[0, 1])
    return tuple(series.convert(kind=np.polynomial.Polynomial, domain=[-1, 1]).coef.tolist())


@dataclass(frozen=True)
class Fractions:
    """m + sum_j a_j / (t + c_j): the `constant` m, `weights` a_j and `poles` c_j.

    `error` is the largest relative error on the grid.
    """

    constant: float
    weights: tuple[float, ...]
    poles: tuple[float, ...]
    error: float


@lru_cache(maxsize=64)
def power_fractions(exponent: float, low: float, terms: int, target: float) -> Fractions:
    """Return fractions near t^exponent on [low, 1], with poles that the AAA algorithm finds.

    At most `terms` fractions for an exponent between -1 and 1, fewer at the relative error
    `target`. About terms² of 4,000 points flops for each number of terms; memory 4,000 by terms.

    References
    ----------
    Nakatsukasa, Sete and Trefethen 2018, "The AAA algorithm for rational approximation".
    """
    t = np.geomspace(low, 1, GRID)
    f = t**exponent
    found = Fractions(float(np.sqrt(f[0] * f[-1])), (), (), np.inf)
    near, support = np.full(GRID, found.constant), np.zeros(GRID, dtype=bool)
    for r in range(terms + 1):
        support[np.abs(np.where(support, 0.0, near / f - 1)).argmax()] = True
        z, rest = t[support], ~support
        cauchy = 1 / (t[rest][:, None] - z)
        loewner = (f[rest][:, None] - f[support]) * cauchy / f[rest][:, None]
        w = np.linalg.svd(loewner, full_matrices=False)[2][-1]
        near = f.copy()
        near[rest] = cauchy @ (w * f[support]) / (cauchy @ w)
        if r:
            better = _fractions(f, t, _poles(z, w))
            if better is None or better.error > found.error:
                break
            found = better
            if found.error <= target:
                break
    return found


def _poles(z: Array, w: Array) -> Array:
    from scipy.linalg import eigvals

    m = len(z)
    left, right = np.diag(np.append(z, 0.0)), np.eye(m + 1)
    left[m, :m], left[:m, m], right[m, m] = w, 1.0, 0.0
    values = eigvals(left, right)
    return np.asarray(-values[np.isfinite(values)])


def _fractions(f: Array, t: Array, poles: Array) -> Fractions | None:
    """Return the fractions nearest to f in relative error; None if a pole is not on the axis."""
    if np.abs(poles.imag).max() > 0 or poles.real.min() <= 0:
        return None
    c = np.sort(poles.real)
    basis = np.column_stack([np.ones_like(t), c / (t[:, None] + c)]) / f[:, None]
    units = np.linalg.norm(basis, axis=0)
    solved = np.linalg.lstsq(basis / units, np.ones_like(t), rcond=1e-15)[0] / units
    error = float(np.abs(basis @ solved - 1).max())
    weights = tuple((solved[1:] * c).tolist())
    return Fractions(float(solved[0]), weights, tuple(c.tolist()), error)

"""Quantiles and bootstrap intervals of medians, with infinity as a value; pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orthobench.tools.arrays import Array

CEILING = 1e150
"""A finite stand-in for infinity in sums, in which infinity minus infinity would be NaN."""

BEYOND = 1e130
"""A result above this is infinite: it was interpolated between a finite value and `CEILING`."""

FEW = 4
"""With fewer values than this, their spread is the range and not the quartiles."""

RESAMPLES = 5000
"""Bootstrap resamples for each interval."""


def quantiles(values: ArrayLike, q: float | Sequence[float]) -> Any:
    """Return quantiles along the first axis, linearly interpolated, with infinity as a value.

    Parameters
    ----------
    values : array_like, shape (n, ...)
        NaN counts as positive infinity.
    q : float or sequence of float
        Probabilities in [0, 1].

    Returns
    -------
    ndarray
        As from `numpy.quantile`; infinite where a quantile lies between a finite value and an
        infinite one.
    """
    return restored(np.quantile(bounded(values), q, axis=0))


def spread(values: ArrayLike) -> tuple[Any, Any, Any]:
    """Return median, low and high along the first axis: quartiles, or the range of few values."""
    few = len(np.asarray(values)) < FEW
    low, median, high = quantiles(values, (0, 0.5, 1) if few else (0.25, 0.5, 0.75))
    return median, low, high


def spread_name(runs: int) -> str:
    """Return in words what `spread` returns for this many runs."""
    return "min to max" if runs < FEW else "25 to 75 %"


def interval(values: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return the expanded percentile-bootstrap interval of the median.

    The plain percentile interval is too narrow for few values. The expanded one takes quantiles of
    the bootstrap distribution that lie further out: see `expanded_level`.

    Parameters
    ----------
    values : array_like, shape (n,)
        NaN counts as positive infinity. With n = 1, the value is its own interval.
    level : float
        Nominal coverage.

    Notes
    -----
    True coverage of 95 % intervals in per cent, over 20,000 samples of normal and of lognormal
    values (standard error 0.2); with n < 6, no interval within the values reaches 95 %:

    ===================  ====  ====  ====  ====  ====  ====  ====  ====  ====
    n                       3     4     5     6     7    10    20    30    50
    ===================  ====  ====  ====  ====  ====  ====  ====  ====  ====
    expanded, normal     74.7  87.6  93.5  96.7  98.5  96.3  95.8  95.5  94.8
    expanded, lognormal  74.7  87.6  93.5  96.7  98.5  96.2  95.8  95.5  94.9
    plain, normal        74.7  87.6  93.5  93.5  87.4  94.7  93.4  94.0  93.4
    plain, lognormal     74.7  87.6  93.5  93.2  87.4  94.6  93.4  94.0  93.4
    ===================  ====  ====  ====  ====  ====  ====  ====  ====  ====

    Deterministic: the resamples are drawn from a fixed seed.
    """
    ordered = np.sort(bounded(values))
    if len(ordered) < 2:
        return float(restored(ordered[0])), float(restored(ordered[0]))
    lower, upper = _middles(len(ordered))
    tail = (1 - expanded_level(level, len(ordered))) / 2
    ends = np.quantile((ordered[lower] + ordered[upper]) / 2, [tail, 1 - tail])
    # quantiles of equal values differ from them by rounding
    low, high = restored(np.clip(ends, ordered[0], ordered[-1]))
    return float(low), float(high)


@cache
def _middles(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places of the two middle values of each resample of n sorted values.

    The median of a resample is the value at the median of its indices. Each resample comes with its
    mirror image, so that intervals change sign with the values.
    """
    drawn = np.sort(np.random.default_rng(0).integers(0, n, (RESAMPLES // 2, n)), axis=1)
    lower, upper = drawn[:, (n - 1) // 2], drawn[:, n // 2]
    return np.append(lower, n - 1 - upper), np.append(upper, n - 1 - lower)


def expanded_level(level: float, n: int) -> float:
    """Return the level of a percentile interval that covers the median at `level`.

    The expanded interval is wider than the plain one by the ratio of Student's t quantile to the
    normal one, and by sqrt(n / (n - 1)), since the bootstrap's variance has divisor n.

    Source: Hesterberg 2015, "What teachers should know about the bootstrap", *The American
    Statistician* 69, 371-386: the expanded percentile interval.
    """
    return math.erf(math.sqrt(n / (n - 1) / 2) * student_quantile((1 + level) / 2, n - 1))


@cache
def student_quantile(probability: float, freedom: int) -> float:
    """Return a quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def bounded(values: ArrayLike) -> Array:
    """Return values with `CEILING` for infinity and NaN."""
    # unlike minimum and maximum, fmin and fmax replace NaN
    return np.fmax(np.fmin(np.asarray(values, dtype=np.float64), CEILING), -CEILING)


def restored(values: Array) -> Array:
    """Return values with infinity for those beyond `BEYOND`."""
    found: Array = np.where(np.abs(values) > BEYOND, np.copysign(math.inf, values), values)
    return found[()]

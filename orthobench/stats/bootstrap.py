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
"""A finite value for infinity in sums, in which infinity minus infinity would be NaN."""

BEYOND = 1e130
"""Maximum finite result; larger ones were interpolated up to `CEILING`."""

FEW = 4
"""Minimum number of values with quartiles; the spread of fewer is their range."""

RESAMPLES = 5000
"""Number of bootstrap resamples of an interval."""


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
        As from `numpy.quantile`; infinite between a finite and an infinite value.
    """
    return restored(np.quantile(bounded(values), q, axis=0))


def spread(values: ArrayLike) -> tuple[Any, Any, Any]:
    """Return median, low and high along the first axis: quartiles, or the range of few values."""
    few = len(np.asarray(values)) < FEW
    low, median, high = quantiles(values, (0, 0.5, 1) if few else (0.25, 0.5, 0.75))
    return median, low, high


def spread_name(runs: int) -> str:
    """Return the name of the spread of a number of runs."""
    return "min to max" if runs < FEW else "25 to 75 %"


def interval(values: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return the expanded percentile-bootstrap interval of the median.

    Parameters
    ----------
    values : array_like, shape (n,)
        NaN counts as positive infinity. With n = 1, the value is its own interval.
    level : float
        Nominal coverage; with n < 6, no interval within the values reaches 95 %.

    Notes
    -----
    Deterministic: the resamples are drawn from a fixed seed. Source: Hesterberg 2015, "What
    teachers should know about the bootstrap", *The American Statistician* 69.
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

    Each resample comes with its mirror image, so that intervals change sign with the values.
    """
    drawn = np.sort(np.random.default_rng(0).integers(0, n, (RESAMPLES // 2, n)), axis=1)
    lower, upper = drawn[:, (n - 1) // 2], drawn[:, n // 2]
    return np.append(lower, n - 1 - upper), np.append(upper, n - 1 - lower)


def expanded_level(level: float, n: int) -> float:
    """Return the level of a percentile interval that covers the median at `level`.

    It is wider by the ratio of Student's t quantile to the normal one, and by sqrt(n / (n - 1)),
    since the bootstrap's variance has divisor n.
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

"""Quantiles of Student's t distribution, without the time that importing SciPy takes."""

from __future__ import annotations

import math
from functools import cache


@cache
def quantile(probability: float, freedom: int) -> float:
    """Return a quantile of Student's t distribution, by bisection on its closed form.

    Source: Abramowitz and Stegun 1964, *Handbook of Mathematical Functions*, 26.7.3 and 26.7.4.

    Parameters
    ----------
    probability : float
        At least one half.
    freedom : int
        Degrees of freedom.
    """
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        if _within(middle, freedom) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """Return the probability of less than sqrt(freedom) tan(angle), in absolute value."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = cosine if odd else 1.0, 0.0
    for i in range(1 + odd, freedom, 2):
        total += term
        term *= cosine**2 * i / (i + 1)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total

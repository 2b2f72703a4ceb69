"""Sequential tests of a mean by e-values, which may be looked at after every observation.

The probability that an e-value ever exceeds 1/alpha under the null hypothesis is at most alpha
(Ville's inequality). The statistic is the likelihood ratio of Student's t against a mixture of
effects, which is free of the unknown variance (Robbins 1970; Lai 1976; Pérez-Ortiz, Lardy, de Heide
and Grünwald 2024, "E-statistics, group invariance and anytime-valid testing").
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from orthobench.tools.arrays import Array

EFFECTS: Array = 2.0 ** np.arange(-1, 6, dtype=np.float64)
"""The effects of the mixture, in standard deviations: 1/2 to 32, with equal weights."""

_STEP = 0.05
_STEPS = np.arange(-12, 12 + _STEP, _STEP)
"""The nodes of the rectangle rule, relative to the mode of the integrand."""


def log_evidence(x: ArrayLike, null: float = 0.0, reach: float = np.inf) -> float:
    """Return the logarithm of the e-value against a mean of at most `null`.

    Parameters
    ----------
    x : array_like, shape (n,)
        The observations so far: independent, normal, of unknown variance.
    null : float
    reach : float
        Observations further from `null` than this are clipped, so that an outlier costs little.

    Returns
    -------
    float
        Large if the mean is larger than `null`; 0 without observations.

    Notes
    -----
    With t = sum(x) / sqrt(sum(x²)), the likelihood ratio of an effect d is
    exp(-n d²/2) I(d t) / I(0), where I(a) is the integral of r^(n-1) exp(-r²/2 + a r) over r > 0.
    """
    shifted = np.clip(np.asarray(x, float) - null, -reach, reach)
    size = float(np.linalg.norm(shifted))
    n = len(shifted)
    if n == 0 or size == 0:
        return 0.0
    t = float(shifted.sum()) / size
    ratios = _log_integrals(n, EFFECTS * t) - n * EFFECTS**2 / 2
    log_mean = np.logaddexp.reduce(ratios) - np.log(len(EFFECTS))
    return float(log_mean - _log_integrals(n, np.zeros(1))[0])


def bounds(x: ArrayLike, alpha: float = 0.05, reach: float = np.inf) -> tuple[float, float]:
    """Return bounds of the mean that hold whenever observation stops (a confidence sequence).

    They hold with probability 1 - alpha, half of it for each side, and are infinite if no mean is
    rejected. See `log_evidence`.
    """
    values = np.asarray(x, float)
    return _lower_bound(values, alpha / 2, reach), -_lower_bound(-values, alpha / 2, reach)


def discoveries(log_values: Sequence[float], rate: float) -> list[bool]:
    """Return which null hypotheses to reject so that the false discovery rate is at most `rate`.

    The e-BH procedure of Wang and Ramdas (2022, "False discovery rate control with e-values"), on
    logarithms of e-values. It needs no independence.
    """
    from scipy.stats import false_discovery_control

    if len(log_values) == 0:
        return []
    # on e-values it is the procedure of Benjamini and Hochberg on their inverses
    inverses = np.exp(-np.maximum(log_values, 0.0))
    rejected: list[bool] = (false_discovery_control(inverses) <= rate).tolist()
    return rejected


def _lower_bound(values: Array, alpha: float, reach: float) -> float:
    """Return the largest value for which "the mean is at most this" is rejected, by bisection."""
    if len(values) == 0:
        return -np.inf
    far = 100 * float(np.ptp(values)) + 1e-9
    low, high = float(values.min()) - far, float(np.median(values))
    if log_evidence(values, low, reach) < -np.log(alpha):
        return -np.inf
    for _ in range(40):
        middle = (low + high) / 2
        if log_evidence(values, middle, reach) >= -np.log(alpha):
            low = middle
        else:
            high = middle
    return low


def _log_integrals(n: int, a: Array) -> Array:
    """Return log of the integral of r^(n-1) exp(-r²/2 + a r) over r > 0, for each a."""
    mode = (a + np.sqrt(a**2 + 4 * (n - 1))) / 2
    r = np.maximum(mode, 0)[:, None] + _STEPS
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(r > 0, (n - 1) * np.log(r) - r**2 / 2 + a[:, None] * r, -np.inf)
    top = logs.max(axis=1)
    sums: Array = top + np.log(np.exp(logs - top[:, None]).sum(axis=1) * _STEP)
    return sums

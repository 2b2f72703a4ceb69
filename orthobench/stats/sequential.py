"""Evidence that may be looked at after every observation: sequential tests of a mean.

A sequence of e-values: each is a non-negative statistic with expectation at most 1 under the null
hypothesis, whenever the observing stops, so that the chance that it ever exceeds 1/alpha is at
most alpha (Ville's inequality). Nothing has to be planned: neither the number of observations nor
when to look.

The statistic is the t-test's: the likelihood ratio of Student's t against a mixture of effects,
free of the unknown variance (Robbins 1970; Lai 1976; Pérez-Ortiz, Lardy, de Heide and Grünwald
2024, "E-statistics, group invariance and anytime-valid testing").
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from orthobench.tools.arrays import Array

EFFECTS: Array = 2.0 ** np.arange(-1, 6, dtype=np.float64)
"""The mixture, in standard deviations: equal weights, half to 32."""

_STEP = 0.05
_STEPS = np.arange(-12, 12 + _STEP, _STEP)


def log_evidence(x: ArrayLike, null: float = 0.0, reach: float = np.inf) -> float:
    """Return the logarithm of the e-value against a mean of at most `null`.

    Parameters
    ----------
    x : array_like, shape (n,)
        Independent normal observations of unknown variance, so far.
    null : float
    reach : float
        Observations that are farther from `null` count as that far, so that one of them costs
        little; what is symmetric about `null` remains so.

    Returns
    -------
    float
        Large where the mean is larger; 0 without observations.

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
    """Return bounds of the mean that hold at 1 - alpha whenever the observing stops.

    Parameters
    ----------
    x : array_like, shape (n,)
    alpha : float
        Half of it for each side.
    reach : float
        See `log_evidence`.

    Returns
    -------
    tuple of float
        The means that the evidence does not exclude; infinite where nothing is excluded.
    """
    values = np.asarray(x, float)
    return _least(values, alpha / 2, reach), -_least(-values, alpha / 2, reach)


def discoveries(log_values: Sequence[float], rate: float) -> list[bool]:
    """Return which null hypotheses to reject so that the false discovery rate is at most `rate`.

    The e-BH procedure of Wang and Ramdas (2022, "False discovery rate control with e-values"): it
    needs no independence. Where all hypotheses are true, the chance of any rejection is at most
    `rate`.

    Parameters
    ----------
    log_values : sequence of float
        Logarithms of the e-values.
    rate : float
    """
    n = len(log_values)
    order = np.argsort(log_values)[::-1]
    least = np.log(n / rate) - np.log(np.arange(1, n + 1)) if n else np.empty(0)
    enough = np.flatnonzero(np.asarray(log_values, float)[order] >= least)
    rejected = np.zeros(n, bool)
    if len(enough):
        rejected[order[: enough[-1] + 1]] = True
    return rejected.tolist()


def _least(values: Array, alpha: float, reach: float) -> float:
    """Return the largest mean that the values exclude being at most, by bisection."""
    if len(values) == 0:
        return -np.inf
    low, high = float(values.min()) - _far(values), float(np.median(values))
    if log_evidence(values, low, reach) < -np.log(alpha):
        return -np.inf
    for _ in range(40):
        middle = (low + high) / 2
        if log_evidence(values, middle, reach) >= -np.log(alpha):
            low = middle
        else:
            high = middle
    return low


def _far(values: Array) -> float:
    return 100 * float(np.ptp(values)) + 1e-9


def _log_integrals(n: int, a: Array) -> Array:
    """Return log of the integral of r^(n-1) exp(-r²/2 + a r) over r > 0, for each a.

    By the rectangle rule around the integrand's mode, outside of which it is below exp(-72).
    """
    mode = (a + np.sqrt(a**2 + 4 * (n - 1))) / 2
    r = np.maximum(mode, 0)[:, None] + _STEPS
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(r > 0, (n - 1) * np.log(r) - r**2 / 2 + a[:, None] * r, -np.inf)
    top = logs.max(axis=1)
    sums: Array = top + np.log(np.exp(logs - top[:, None]).sum(axis=1) * _STEP)
    return sums

"""Projections of a spectrum onto the feasible sets of the relaxations of PCA.

Each works on the eigenvalues alone, in ascending order: the projected matrix has the
eigenvectors of the matrix projected (Arora, Cotter and Srebro 2013, Lemma 3.2 and sections
3.3 and 5.1).
"""

from __future__ import annotations

import numpy as np

from orthobench.contract import Array
from orthobench.tools.compiled import inner, kernel


@kernel
def shift(values: Array, counts: Array, k: float) -> float:
    """Return the S for which the values min(1, max(0, value + S)) sum to k.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Eigenvalues in ascending order; distinct ones suffice.
    counts : ndarray, shape (n,)
        Their multiplicities, as floats.
    k : float
        0 < k <= counts.sum().

    Notes
    -----
    Algorithm 2: two pointers walk the 2n thresholds at which a value leaves 0 or reaches 1. As
    printed its last test reads sigma_{j+1} >= 1 where it must read sigma_j + S >= 1. Here S
    rises, so that the sum only grows, and the one test left, whether the sum reaches k within
    the segment, cannot fail by rounding.
    """
    low = high = len(values)  # values[low:high] lie strictly inside, values[high:] at 1
    inside, inside_sum, ones = 0.0, 0.0, 0.0
    while low > 0 or high > low:
        enters = -values[low - 1] if low > 0 else np.inf
        leaves = 1.0 - values[high - 1] if high > low else np.inf
        if ones + inside_sum + inside * min(enters, leaves) >= k:
            break
        if enters <= leaves:
            low -= 1
            inside += counts[low]
            inside_sum += counts[low] * values[low]
        else:
            high -= 1
            inside -= counts[high]
            inside_sum -= counts[high] * values[high]
            ones += counts[high]
        if low == high:
            inside_sum = 0.0  # exactly: what rounding left there must not count
    if low == high:
        least_that_clips: float = 1.0 - values[high]
        return least_that_clips
    return _between(values, counts, low, high, k - ones)


@inner
def _between(values: Array, counts: Array, low: int, high: int, rest: float) -> float:
    """Return the S for which values[low:high] + S sum to `rest`, summed afresh."""
    total, number = 0.0, 0.0
    for i in range(low, high):
        total += counts[i] * values[i]
        number += counts[i]
    return (rest - total) / number


@kernel
def onto_fantope(values: Array, k: float) -> None:
    """Project eigenvalues onto {0 <= s <= 1, sum s <= k} in place: the projection of MSG.

    Once the trace has reached k an update never lowers it, so that this is Lemma 3.2's
    projection onto {sum s = k} from then on, and Theorem 1's start at zero before: S <= 0.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Ascending, nonnegative. Zero eigenvalues not listed stay zero, since S <= 0.
    k : float
    """
    if _clipped_sum(values) > k:
        _shift(values, k)
    _clip(values)


@kernel
def onto_capped(values: Array, k: float, full: bool) -> bool:
    """Project eigenvalues onto {0 <= s <= 1, sum s = k} in place: the projection of capped MSG.

    Parameters
    ----------
    values : ndarray, shape (n,)
        The K largest eigenvalues, ascending: keeping those is optimal for the rank constraint
        of equation 5.1, since the distance falls with every eigenvalue kept.
    k : float
    full : bool
        Whether the trace has reached k before. Until then sum s <= k is asked for; from then
        on S may be positive.

    Returns
    -------
    bool
        Whether the trace has reached k now.
    """
    total = _clipped_sum(values)
    if total != k and (full or total > k):
        _shift(values, k)
    _clip(values)
    return full or total >= k


@kernel
def onto_complement(values: Array, k: float) -> None:
    """Project N = -log(I - M) onto {tr M <= k} in the von Neumann divergence of I - M, in place.

    The projection of Warmuth and Kuzmin: max(0, value - gamma), with gamma >= 0 such that the
    sum of 1 - exp(-value) is k; all in logarithms, since exp(-value) underflows.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Eigenvalues of N, ascending, nonnegative.
    k : float
    """
    n, total, gamma = len(values), 1.0, 0.0  # total: of exp(least - value) over the largest
    for number in range(1, n + 1):
        least = values[n - number]
        fall = np.exp(values[n - number - 1] - least) if number < n else 0.0
        if number > k and number - k >= total * fall:
            gamma = least + np.log((number - k) / total)
            break
        total = total * fall + 1.0
    if gamma > 0.0:  # else the trace is at most k already
        for i in range(n):
            values[i] = max(0.0, values[i] - gamma)


@kernel
def onto_density(values: Array, others: int, k: float) -> float:
    """Project log M onto {log M <= 0, tr M = k} in the von Neumann divergence of M, in place.

    The projection of MEG: the eigenvalues of M become min(1, exp(S) s) with sum k.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Eigenvalues of log M less its floor, ascending, nonnegative.
    others : int
        Multiplicity of the floor besides.
    k : float

    Returns
    -------
    float
        The new floor, of which the old one is no part; `values` are relative to it.
    """
    n = len(values)
    total, largest = np.empty(n + 1), 0.0
    total[0] = float(others)
    for i in range(n):  # total[i + 1]: of exp(value - values[i]) over the floor and values[: i + 1]
        total[i + 1] = total[i] * np.exp(largest - values[i]) + 1.0
        largest = values[i]
    floor = 0.0
    for ones in range(n + 1):
        top = values[n - ones - 1] if ones < n else 0.0
        floor = np.log((k - ones) / total[n - ones]) - top
        if top + floor <= 0.0 or ones + 1 >= k:
            break
    for i in range(n):
        values[i] = max(0.0, min(values[i], -floor))
    return floor


@inner
def _clipped_sum(values: Array) -> float:
    total = 0.0
    for value in values:
        total += min(1.0, value)
    return total


@inner
def _shift(values: Array, k: float) -> None:
    """Add to the values, each of multiplicity one, the S of `shift`."""
    counts = np.empty(len(values))
    for i in range(len(values)):
        counts[i] = 1.0
    change = shift(values, counts, k)
    for i in range(len(values)):
        values[i] += change


@inner
def _clip(values: Array) -> None:
    for i in range(len(values)):
        values[i] = min(1.0, max(0.0, values[i]))

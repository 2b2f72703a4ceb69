"""Projections of ascending eigenvalues onto the feasible sets of the relaxations of PCA.

A matrix and its projection have the same eigenvectors (Arora, Cotter and Srebro 2013, Lemma 3.2).
"""

from __future__ import annotations

import numpy as np
from orthobench_kit.compiled import kernel

from orthobench.contract import Array


@kernel
def shift(values: Array, k: float) -> float:
    """Return the smallest S for which the values min(1, max(0, value + S)) sum to k, 0 < k <= n.

    Two pointers walk the 2n values of S at which an eigenvalue leaves 0 or reaches 1. The only
    test, whether the sum reaches k, cannot fail by rounding. O(n) flops.

    References
    ----------
    Arora, Cotter and Srebro 2013, Algorithm 2. Its last test is printed as sigma_{j+1} >= 1, a
    misprint for sigma_j + S >= 1.
    """
    low = high = len(values)  # values[low:high] lie strictly between 0 and 1, values[high:] at 1
    inside, inside_sum, ones = 0.0, 0.0, 0.0
    while low > 0 or high > low:
        enters = -values[low - 1] if low > 0 else np.inf
        leaves = 1.0 - values[high - 1] if high > low else np.inf
        if ones + inside_sum + inside * min(enters, leaves) >= k:
            break
        if enters <= leaves:
            low -= 1
            inside += 1.0
            inside_sum += values[low]
        else:
            high -= 1
            inside -= 1.0
            inside_sum -= values[high]
            ones += 1.0
        if low == high:
            inside_sum = 0.0  # exactly, without the rounding errors of the sum
    if low == high:
        reaches_one: float = 1.0 - values[high]
        return reaches_one
    total = 0.0
    for i in range(low, high):
        total += values[i]
    return (k - ones - total) / (high - low)


@kernel
def onto_fantope(values: Array, k: float, full: bool) -> bool:
    """Project eigenvalues onto {0 <= s <= 1, sum s <= k} in place: MSG and capped MSG.

    MSG's trace grows to k (Theorem 1), then stays, so that shifts are never positive and zeros need
    not be listed. Capped MSG keeps the K largest eigenvalues, which is optimal (problem 5.1); its
    trace may fall. `full` says whether the sum has to be k: never for MSG, for capped MSG once it
    has reached k. Returns whether it has.

    References
    ----------
    Arora, Cotter and Srebro 2013, Lemma 3.2, Theorem 1 and section 5.1.
    """
    total = 0.0
    for value in values:
        total += min(1.0, value)
    change = shift(values, k) if total > k or (full and total < k) else 0.0
    for i in range(len(values)):
        values[i] = min(1.0, max(0.0, values[i] + change))
    return full or total >= k


@kernel
def onto_complement(values: Array, k: float) -> None:
    """Project N = -log(I - M) onto {tr M <= k} in the von Neumann divergence of I - M, in place.

    max(0, value - gamma), with gamma >= 0 such that the sum of 1 - exp(-value) is k; in logarithms,
    since exp(-value) underflows. O(n) flops. Warmuth and Kuzmin 2008; Arora, Cotter and Srebro
    2013, section 3.3.
    """
    n, total, gamma = len(values), 1.0, 0.0  # total: sum of exp(least - value), value >= least
    for number in range(1, n + 1):
        least = values[n - number]
        ratio = np.exp(values[n - number - 1] - least) if number < n else 0.0
        if number > k and number - k >= total * ratio:
            gamma = least + np.log((number - k) / total)
            break
        total = total * ratio + 1.0
    if gamma > 0.0:  # otherwise the trace is at most k
        for i in range(n):
            values[i] = max(0.0, values[i] - gamma)


@kernel
def onto_density(values: Array, others: int, k: float) -> float:
    """Project log M onto {log M <= 0, tr M = k} in the von Neumann divergence of M, in place.

    The eigenvalues s of M become min(1, exp(S) s), with sum k (MEG: Arora, Cotter and Srebro 2013,
    section 3.3). `values` are relative to the floor, which `others` further eigenvalues equal.
    Returns the new floor, to which `values` are now relative. O(n) flops.
    """
    n = len(values)
    total, largest = np.empty(n + 1), 0.0
    total[0] = float(others)
    # total[i + 1]: sum of exp(value - values[i]) over the others, of value 0, and values[: i + 1]
    for i in range(n):
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

"""Decisions between solvers by numpy alone: what tests hold reports against.

P-values by enumeration of all signs, Holm's procedure step by step, simultaneous intervals as the
set of ratios that no test rejects. Nothing is from the package.
"""

import itertools
import math
from functools import cache

import numpy as np

LEVEL = 0.05


@cache
def signs(n):
    """Return all signs of n ranks, shape (2**n, n)."""
    return np.array(list(itertools.product((-1, 1), repeat=n)))


def logs(first, second, rounding):
    """Return the logarithms of ratios on common seeds, with infinity for failures."""
    found = []
    for a, b in zip(first, second, strict=True):
        if math.isnan(a) or math.isnan(b):
            continue
        if math.isinf(a) or math.isinf(b):
            found.append(0.0 if a == b else math.inf * (1 if math.isinf(b) else -1))
        elif abs(b - a) <= rounding:
            found.append(0.0)
        else:
            found.append(math.log(max(b, rounding) / max(a, rounding)))
    return np.array(found)


def p_of(d):
    """Return the share of all signs with a rank sum as far from zero, and the rank sum."""
    d = d[d != 0]
    size = np.abs(d)
    ranks = np.array([(size < s).sum() + ((size == s).sum() + 1) / 2 for s in size])
    sums = signs(len(d)) @ ranks
    seen = float(np.sign(d) @ ranks)
    return float((np.abs(sums) >= abs(seen) - 1e-9).mean()), seen


def holm(p):
    """Return adjusted p-values, by the procedure: the smallest is multiplied by their number."""
    adjusted, largest = [0.0] * len(p), 0.0
    for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - step) * p[i]))
        adjusted[i] = largest
    return adjusted


def corrected(p, ahead):
    """Return adjusted p-values: those of Holm, or the largest where all favour the best."""
    adjusted = dict(zip(p, holm(list(p.values())), strict=True))
    return adjusted if ahead else {s: min(adjusted[s], max(p.values())) for s in p}


def kept(d, level):
    """Return the ends of the set of shifts that the test does not reject, found by looking.

    With ties that set has gaps. Its ends are then those that as many values without ties have: the
    averages of pairs whose place the ranks 1 to n, of all signs, leave out at either end.
    """
    pairs = itertools.combinations_with_replacement(d, 2)
    with np.errstate(invalid="ignore"):
        edges = np.sort([a if a == b else (a + b) / 2 for a, b in pairs])
    if not d.all():
        sums = (signs(len(d)) > 0) @ np.arange(1, len(d) + 1)
        out = sum(2 * (sums <= c).mean() <= level for c in range(len(edges)))
        return (edges[out - 1], edges[-out]) if out else (-math.inf, math.inf)
    edges = np.unique(edges[np.isfinite(edges)])
    middles = [edges[0] - 1, *((edges[1:] + edges[:-1]) / 2), edges[-1] + 1]
    inside = [i for i, at in enumerate(middles) if p_of(d - at)[0] > level]
    low = -math.inf if inside[0] == 0 else edges[inside[0] - 1]
    return low, math.inf if inside[-1] == len(edges) else edges[inside[-1]]


def best_of(table, rounding, seconds=None):
    """Return the solver with the smallest median and no failure; of equal ones the fastest."""
    medians = {s: np.median([v for v in row if not math.isnan(v)]) for s, row in table.items()}
    sound = {s: m for s, m in medians.items() if not np.isinf(table[s]).any()}
    least = min(sound.values())
    equal = [s for s, m in sound.items() if m - least <= rounding]
    return min(equal, key=seconds.get) if seconds else min(sound, key=sound.get)


def decided(table, rounding, seconds=None):
    """Return mark, effect, interval, p and adjusted p of every solver but the best one."""
    best = best_of(table, rounding, seconds)
    others = [s for s in table if s != best]
    paired = {s: logs(table[best], table[s], rounding) for s in others}
    p = {s: p_of(d)[0] for s, d in paired.items() if d.any()}
    ahead = [s for s in p if p_of(paired[s])[1] <= 0 or np.median(paired[s]) < 0]
    adjusted = {**dict.fromkeys(others, 1.0), **(corrected(p, ahead) if p else {})}
    smallest = {s: 2 / 2 ** np.count_nonzero(paired[s]) for s in p}
    attainable = {s: corrected({**p, s: smallest[s]}, [a for a in ahead if a != s])[s] for s in p}
    open_ = [s for s in others if s not in p or s in ahead or p[s] * len(p) >= LEVEL]
    found = {best: ("best", None, None, None, None)}
    for s in others:
        effect = float(np.median(paired[s]))
        against = [logs(table[i], table[s], rounding) for i in (best, *open_) if i != s]
        ends = [kept(d, LEVEL / max(1, len(p))) for d in against]
        ends += [(0.0, 0.0)] if s in open_ else []
        low = min(max(0.0, min(a for a, _ in ends)), effect)
        high = max(*(b for _, b in ends), effect)
        agree = s in p and p_of(paired[s])[1] * effect >= 0
        undecided = "undecided" if s in p and attainable[s] >= LEVEL else "close"
        mark = "" if adjusted[s] < LEVEL and agree else undecided if s in p else "equal"
        mark = "failed" if np.isinf(table[s]).any() else mark
        found[s] = (
            mark,
            math.exp(effect),
            (math.exp(low), np.exp(high)),
            p.get(s, 1.0),
            adjusted[s],
        )
    return found

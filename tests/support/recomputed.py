"""Verdicts and costs of one problem from its curves, with numpy and scipy: no shared code."""

import math

import numpy as np
from scipy.stats import binom, t, wilcoxon


def upper(d, level):
    """Return the smallest end such that the sign test rejects every larger median."""
    d, n = np.maximum(d, 0), len(d)
    beyond = [k for k in range(n) if binom.cdf(k, n, 0.5) <= level]
    if beyond:
        return np.sort(d)[::-1][beyond[-1]]
    return max(d.max(), d.mean() + t.ppf(1 - level, n - 1) * d.std(ddof=1) / math.sqrt(n))


def above(d, bound, level):
    """Return whether the centre is shown to be above a bound."""
    n = len(d)
    if 0.5**n <= level:
        tiny = -1e-300 * np.arange(1, n + 1)  # one at the bound is not above
        signed = np.where(d == bound, tiny, d - bound)
        return wilcoxon(signed, alternative="greater", method="exact").pvalue <= level
    return min(d.min(), d.mean() - t.ppf(1 - level, n - 1) * d.std(ddof=1) / math.sqrt(n)) > bound


def restarted(hits, whole):
    """Return the median cost to a target, or what successes and failures took over successes."""
    there = np.isfinite(hits)
    if there.all():
        return float(np.median(hits))
    return (hits[there].sum() + whole[~there].sum()) / there.sum() if there.any() else math.inf


def decided(solvers, tolerance):
    """Return the verdict, the cost and the misses of each solver of a problem.

    Parameters
    ----------
    solvers : mapping
        For each solver and seed the values and the costs at all checkpoints.
    tolerance : float
    """
    names = list(solvers)
    start = np.max([[run[0][0] for run in solvers[name]] for name in names], axis=0)
    seen = np.min([[run[0].min() for run in solvers[name]] for name in names], axis=0)
    ends = {name: np.array([run[0][-1] for run in solvers[name]]) for name in names}
    gap = start - seen
    left = {name: (end - seen) / gap for name, end in ends.items()}
    left = {
        name: np.where(share * gap > 1e-12 * abs(start), share, 0) for name, share in left.items()
    }
    best = min(names, key=lambda n: (np.median(left[n]), np.minimum(left[n], 1).mean(), n))
    target = np.maximum(ends[best], seen) + tolerance * gap
    found, level = {}, 0.05 / max(1, len(names) - 1)
    pairs = {(a, b): (ends[a] - ends[b]) / gap for a in names for b in names if a != b}
    pairs = {p: np.where(np.abs(d) * gap > 1e-12 * abs(start), d, 0) for p, d in pairs.items()}
    not_best = {a for a, b in pairs if above(pairs[a, b], 0.0, level)}
    for name in names:
        others = [other for other in names if other != name]
        tail = 0.1 if name == best else level
        verdict = "undecided"
        if max((upper(pairs[name, other], tail) for other in others), default=0) <= tolerance:
            verdict = "as good"
        elif name in not_best and all(
            above(pairs[name, o], tolerance, level) for o in others if o not in not_best
        ):
            verdict = "worse"
        hits = np.array([
            min((c for value, c in zip(*run, strict=True) if value <= to), default=math.inf)
            for run, to in zip(solvers[name], target, strict=True)
        ])  # fmt: skip
        whole = np.array([run[1].max() for run in solvers[name]])
        found[name] = verdict, restarted(hits, whole), int(np.isinf(hits).sum())
    return found

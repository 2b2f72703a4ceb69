"""Verdicts, stops and costs of one problem from its curves, with numpy and scipy: no shared code.

A run is its steps, values and costs at all checkpoints, and how it ended: ``"own"`` if more time
would change nothing, ``"budget"`` at a number of steps, ``"clock"``; or None if it failed.
"""

import math

import numpy as np
from scipy.stats import binom, t, wilcoxon

FAILED = 1e6


def upper(d, level):
    """Return the smallest end such that the sign test rejects every larger median."""
    d, n = np.maximum(d, 0), len(d)
    beyond = (binom.cdf(np.arange(n), n, 0.5) <= level).sum()
    if beyond:
        return np.sort(d)[-beyond]
    return max(d.max(), d.mean() + t.ppf(1 - level, n - 1) * d.std(ddof=1) / math.sqrt(n))


def above(d, bound, level):
    """Return whether the centre is shown to be above a bound."""
    n = len(d)
    if 0.5**n > level:
        return min(d.min(), d.mean() - t.ppf(1 - level, n - 1) * d.std(ddof=1) / n**0.5) > bound
    if (abs(d) > FAILED / 2).any():
        return binom.cdf((d <= bound).sum(), n, 0.5) <= level
    tiny = -1e-300 * np.arange(1, n + 1)  # one at the bound is not above
    signed = np.where(d == bound, tiny, d - bound)
    return wilcoxon(signed, alternative="greater", method="exact").pvalue <= level


def grid(last):
    """Return the numbers of steps at which runs are recorded."""
    numbers = [1]
    while numbers[-1] < last:
        numbers.append(max(numbers[-1] + 1, int(1.3 * numbers[-1])))
    return [n for n in numbers if n <= last]


def at(run, n):
    """Return where a run was after some steps, as its place in the trace; None if it is unknown."""
    steps, ending = list(run[0]), run[3]
    if n in steps:
        return steps.index(n)
    return len(steps) - 1 if n > steps[-1] and ending == "own" else None


def calls(runs):
    """Return the calls that runs stand for, the shortest first: (steps, places in the traces)."""
    sound = [run for run in runs if run is not None]
    ends = [len(run[0]) - 1 for run in sound]
    whole, found = bool(sound) and all(run[3] != "clock" for run in sound), []
    for n in grid(max((run[0][-1] for run in sound), default=0)):
        places = [at(run, n) for run in sound]
        if None not in places and not (whole and places == ends):
            found.append((n, places))
    if whole:
        limit = next((run[0][-1] for run in sound if run[3] == "budget"), None)
        found.append((limit, ends))
    order = np.cumsum([run is not None for run in runs]) - 1
    return [
        (n, [None if run is None else own[i] for run, i in zip(runs, order, strict=True)])
        for n, own in found
    ]


def offered(run):
    """Return a run up to its last number of steps of the grid, if the clock cut it."""
    if run is None or run[3] != "clock":
        return run
    on_grid = [i for i, n in enumerate(run[0]) if n in grid(n)]
    last = max(on_grid, default=len(run[0]) - 1)
    return *(column[: last + 1] for column in run[:3]), run[3]


def preferred(offers):
    """Return the call to make of some: (cost, misses, whether it is the own end, ...)."""
    cheap = min(offers)
    surest = min((o for o in offers if not o[1]), default=cheap)
    best = surest if surest[0] <= 2 * cheap[0] else cheap
    own = [o for o in offers if o[2] and o[1] <= best[1] and o[0] <= 1.5 * best[0]]
    return own[0] if own else best


def decided(solvers, tolerance):
    """Return the verdict of each solver, and the cost, reach and stop of its call.

    Parameters
    ----------
    solvers : mapping
        The runs of each solver, seed by seed.
    tolerance : float
    """
    solvers = {name: [offered(run) for run in runs] for name, runs in solvers.items()}
    names, seeds = list(solvers), len(next(iter(solvers.values())))
    by_seed = [[runs[s] for runs in solvers.values() if runs[s] is not None] for s in range(seeds)]
    start = np.array([max(run[1][0] for run in runs) for runs in by_seed])
    seen = np.array([min(run[1][-1] for run in runs) for runs in by_seed])
    gap, small = start - seen, 1e-12 * abs(start)

    def values(runs, places):
        return np.array([
            seen[s] + FAILED * gap[s] if run is None else run[1][place]
            for s, (run, place) in enumerate(zip(runs, places, strict=True))
        ])  # fmt: skip

    def difference(a, b):
        return np.where(abs(a - b) > small, a - b, 0) / gap

    ends = {name: values(runs, [-1] * seeds) for name, runs in solvers.items()}
    failed = {n for n, runs in solvers.items() if 2 * sum(run is None for run in runs) >= seeds}
    alive = [name for name in names if name not in failed]
    left = {name: difference(ends[name], seen) for name in alive}
    best = min(alive, key=lambda n: (np.median(left[n]), np.minimum(left[n], 1).mean(), n))
    reached = [e if run else s for e, s, run in zip(ends[best], seen, solvers[best], strict=True)]
    target = np.maximum(reached, seen) + tolerance * gap + small
    level = 0.05 / max(1, len(alive) - 1)
    pairs = {(a, b): difference(ends[a], ends[b]) for a in alive for b in alive if a != b}
    not_best = {a for a, b in pairs if above(pairs[a, b], 0.0, level)}
    found = dict.fromkeys(failed, ("failed", None))
    for name in alive:
        tail, others = 0.1 if name == best else level, [b for b in alive if b != name]
        verdict = "undecided"
        if max((upper(pairs[name, b], tail) for b in others), default=0) <= tolerance:
            verdict = "as good"
        elif name in not_best and all(
            above(pairs[name, b], tolerance, level) for b in others if b not in not_best
        ):
            verdict = "worse"
        found[name] = verdict, None
        if verdict != "as good":
            continue
        offers, known = [], calls(solvers[name])[::-1]
        whole = all(run is None or run[3] != "clock" for run in solvers[name])
        for i, (stop, places) in enumerate(known):
            reach, own = values(solvers[name], places), stop is None
            highest = max(upper(difference(reach, ends[b]), 0.05 / len(alive)) for b in alive)
            if highest > tolerance and (i or not whole):
                break
            cost = np.median([
                run[2][place] for run, place in zip(solvers[name], places, strict=True) if run
            ])  # fmt: skip
            offers.append((cost, int((reach > target).sum()), own, stop))
        found[name] = verdict, preferred(offers) if offers else None
    return found

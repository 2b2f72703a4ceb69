"""How often decisions are wrong: simulated problems on which it is known who is good enough."""

import math

import numpy as np

from orthobench.decide.more_seeds import contenders, next_look
from orthobench.decide.rule import TOLERANCE, Comparison, Verdict, decide

KINDS = ("normal", "heavy tails", "skewed", "ties", "failures", "copies", "unequal seeds")


def simulate(kind, seeds, problems, *, worse=(1.0, 1.0, 1.0), good=2, noise=1.0, first=0, rng=None):
    """Return error rates and power over simulated problems.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    seeds, problems : int
    worse : tuple of float
        How far the typical values of the other solvers are above those of the good ones, in
        tolerances. What lies just beyond is the hardest to tell; they are the cheapest.
    good : int
        Solvers with the same typical value.
    noise : float
        Scale of the noise, in tolerances.
    first : int
        The seeds of the first look, where seeds are added as `orthobench.decide.more_seeds` says;
        0 where all are there at once.
    """
    rng = rng or np.random.default_rng(0)
    shift = TOLERANCE * np.array([0.0] * good + [1.0001 * d for d in worse])
    counts = dict.fromkeys(("use", "worse", "as good", "found worse"), 0)
    for _ in range(problems):
        values = 0.5 + shift[:, None] + TOLERANCE * noise * _noise(kind, len(shift), seeds, rng)
        identity = list(range(seeds))
        if kind == "ties":
            values = 0.5 + TOLERANCE * 1.0001 * np.round((values - 0.5) / (TOLERANCE * 1.0001))
        if kind == "failures":
            values[1:][rng.random(values[1:].shape) < 0.05] = math.inf
        if kind == "copies":
            half = math.ceil(seeds / 2)
            values[:, half:] = values[:, : seeds - half]
            identity = [*range(half), *range(seeds - half)]
        if kind == "unequal seeds":
            values[1:][rng.random(values[1:].shape) < 0.2] = math.nan
        names = [f"s{i}" for i in range(len(shift))]
        look = first or seeds
        running = set(names)
        while True:
            values[[n not in running for n in names], look // 2 : look] = math.nan
            best, found = decide(
                {n: row[:look] for n, row in zip(names, values.tolist(), strict=True)},
                [1.5] * look,
                {name: [float(len(shift) - i)] * look for i, name in enumerate(names)},
                lowest=[0.5] * look,
                identity=dict.fromkeys(names, identity[:look]),
            )
            told = Comparison("", "", "", "", best, tuple(found), seeds=look)
            running &= set(contenders(told, seeds))
            if look == seeds or not running:
                break
            look = next_look(look, seeds)
        verdicts = {d.solver: d.verdict for d in found}
        star = next((d.solver for d in found if d.as_good), None)
        bad = {name for name, d in zip(names, shift, strict=True) if d > TOLERANCE}
        counts["use"] += star in bad
        fine = [n for n in names if n not in bad]
        counts["worse"] += any(verdicts[n] is Verdict.WORSE for n in fine)
        counts["as good"] += sum(verdicts[n] is Verdict.AS_GOOD for n in fine) / len(fine)
        counts["found worse"] += sum(verdicts[n] is Verdict.WORSE for n in bad) / max(1, len(bad))
    return {name: count / problems for name, count in counts.items()}


def _noise(kind, solvers, seeds, rng):
    if kind == "heavy tails":
        return rng.standard_t(2, (solvers, seeds))
    if kind == "skewed":
        return np.exp(rng.standard_normal((solvers, seeds))) - 1
    return rng.standard_normal((solvers, seeds))


def table(problems):
    """Return the lines of the table of `docs/decision.md`."""
    yield "| values | seeds | use X | use X, noise of 5 | worse | as good found | worse found |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for kind in KINDS:
        for seeds in (3, 5, 10, 30):
            at = simulate(kind, seeds, problems)
            far = simulate(kind, seeds, problems // 4, worse=(5.0, 5.0, 5.0), noise=0.3)
            loud = simulate(kind, seeds, problems // 2, noise=5.0)
            wrong = max(at["worse"], loud["worse"])
            rates = (at["use"], loud["use"], wrong, far["as good"], far["found worse"])
            yield f"| {kind} | {seeds} | " + " | ".join(f"{100 * r:.1f}" for r in rates) + " |"


def table_of_looks(problems):
    """Return the lines of the table of `docs/decision.md` on seeds that are added."""
    yield "| values | use X | use X, noise of 5 | worse | as good found | worse found |"
    yield "|---|---:|---:|---:|---:|---:|"
    for kind in KINDS:
        at, loud = (simulate(kind, 40, problems, noise=noise, first=5) for noise in (1.0, 5.0))
        far = simulate(kind, 40, problems // 4, worse=(5.0, 5.0, 5.0), first=5)
        rates = at["use"], loud["use"], max(at["worse"], loud["worse"])
        rates = *rates, far["as good"], far["found worse"]
        yield f"| {kind} | " + " | ".join(f"{100 * r:.1f}" for r in rates) + " |"


if __name__ == "__main__":
    import sys

    problems = int(sys.argv[1])
    for line in (*table(problems), "", *table_of_looks(problems // 2)):
        sys.stdout.write(f"{line}\n")

"""How often the winner of a race is wrong, which looks again after each seed: simulated races."""

import numpy as np
from decision_errors import noise_of
from trials import made_trial

from orthobench.decide.rule import TOLERANCE
from orthobench.racing.halving import Halving
from orthobench.racing.standing import SEEDS, Rules
from orthobench.stats.noninferiority import FEWEST

KINDS = ("normal", "heavy tails", "skewed")


def simulate(kind, races, *, behind=1.0, noise=1.0, looks=True, rng=None):
    """Return how often a race shows a method to be as good that is not, and one that is.

    Two methods are good, and two are cheaper and just not good enough. All end by themselves.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    races : int
    behind : float
        How far the typical values of the cheap ones are above those of the others, in tolerances.
        Values just beyond are the hardest to distinguish.
    noise : float
        Scale of the noise, in tolerances.
    looks : bool
        Whether it stops as soon as it knows, or looks once, when all seeds are run.
    """
    rng = rng or np.random.default_rng(0)
    cost = {"cheap": 1.0, "dearer": 1.2, "good": 2.0, "slow": 3.0}
    shift = TOLERANCE * 1.0001 * behind * np.array([1.0, 1.0, 0.0, 0.0])
    wrong = right = 0
    for _ in range(races):
        ends = 0.5 + shift[:, None] + TOLERANCE * noise * noise_of(kind, (4, SEEDS), rng)
        best = _best(dict(zip(cost, ends, strict=True)), cost, looks)
        wrong += best in ("cheap", "dearer")
        right += best in ("good", "slow")
    return wrong / races, right / races


def _best(ends, cost, looks):
    """Return the cheapest that a race calls as good, if any."""
    rules = Rules({name: name for name in cost}, 600.0, TOLERANCE)
    trials = []
    while (ask := Halving(rules, tuple(trials)).next(600.0)) is not None:
        trials.append(_trial(ask.configuration, ask.seed, ends, cost))
    field = Halving(rules, tuple(trials))
    if not looks and len(field.gaps) >= FEWEST:
        known = field.latest
        rest = [(n, s) for n in field.finalists for s in range(SEEDS) if (n, s) not in known]
        field = Halving(rules, (*trials, *(_trial(n, s, ends, cost) for n, s in rest)))
    good = [d for d in field.decisions() if d.as_good]
    return min(good, key=lambda d: d.cost).solver if good else None


def _trial(name, seed, ends, cost):
    spent = np.array([0.0, cost[name]])
    return made_trial(name, seed, 60.0, np.array([1.5, ends[name][seed]]), spent, True)


def table(races):
    """Return the lines of the table of `docs/guide/race.md`."""
    yield "| values | looks | noise 0.3 | noise 1 | noise 5 | a good one, 5 behind, noise 0.3 |"
    yield "|---|---|---:|---:|---:|---:|"
    for kind in KINDS:
        for looks, name in ((True, "after each seed"), (False, f"once, at {SEEDS} seeds")):
            wrong = [simulate(kind, races, noise=n, looks=looks)[0] for n in (0.3, 1.0, 5.0)]
            right = simulate(kind, races // 4, behind=5.0, noise=0.3, looks=looks)[1]
            yield (
                f"| {kind} | {name} | "
                + " | ".join(f"{100 * r:.1f}" for r in (*wrong, right))
                + " |"
            )


if __name__ == "__main__":
    import sys

    for line in table(int(sys.argv[1])):
        sys.stdout.write(f"{line}\n")

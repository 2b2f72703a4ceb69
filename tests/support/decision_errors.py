"""How often decisions are wrong: simulated problems on which it is known what is good enough."""

import math

import numpy as np

from orthobench.decide.more_seeds import contenders, next_look
from orthobench.decide.rule import STRICT, TOLERANCE, Comparison, Evidence, Verdict
from orthobench.stats.calls import Calls, Stop
from orthobench.stats.differences import Differences

KINDS = ("normal", "heavy tails", "skewed", "ties", "failures", "copies", "unequal seeds")

BEYOND = 1.0001 * TOLERANCE
"""The least difference that is not good enough."""

LITTLE = STRICT / TOLERANCE
"""The same at the second tolerance, in units of the first."""

HEIGHTS = 10.0, 3.0, 1.0, LITTLE, 0.0, 0.0
"""How far a call typically ends above the end of its solver, in units of `BEYOND`."""

STEPS = 1.0, 2.0, 3.0, 4.0, 5.0, 10.0
"""The steps of these calls; the last is the own end."""

STOPS = *(Stop.at(steps=steps) for steps in STEPS[:-1]), Stop()


def simulate(
    kind, seeds, problems, *, behind=(1.0, 1.0, LITTLE), noise=1.0, first=0, kept=0.0, start=0
):
    """Return the shares of problems with a false statement, at any of both tolerances, and power.

    Two solvers are good, and others, which are cheaper, end a little too high. The values at the
    earlier stops of all solvers are above their ends on average, with noise of the same size.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    seeds, problems : int
    behind : tuple of float
        How far other solvers typically end above the good ones, in units of `BEYOND`.
    noise : float
        Scale of the noise, in tolerances.
    first : int
        The seeds of the first look, if seeds are added as `orthobench.decide.more_seeds` says; 0 if
        all are there at once.
    kept : float
        The probability that a run has the same noise at one stop and at the next.
    start : int
        The first problem: each one is a random stream.

    Returns
    -------
    dict
        Shares of problems: ``call``, a named call is not good enough; ``worse``, a good solver is
        said to be worse; ``any``, any statement is false. At the first tolerance: ``found good``
        and ``found worse``, the shares of good and of worse solvers that are found; ``shorter``,
        the share of problems with a named call that is shorter than the own end.
    """
    total = np.zeros(6)
    for problem in range(start, start + problems):
        rng = np.random.default_rng([KINDS.index(kind), seeds, problem])
        total += _judged(*_problem(kind, seeds, behind, noise, kept, rng), first)
    names = "call", "worse", "any", "found good", "found worse", "shorter"
    return dict(zip(names, (total / problems).tolist(), strict=True))


def _problem(kind, seeds, behind, noise, kept, rng):
    """Return typical values of calls, values on seeds, and copies of a problem."""
    shifts, heights = np.array([0.0, 0.0, *behind]), np.array(HEIGHTS)
    if kind == "ties":
        shifts, heights = np.round(shifts), np.round(heights)
    typical = BEYOND * (shifts[:, None] + heights)
    drawn = noise_of(kind, (*typical.shape, seeds), rng)
    for j in reversed(range(len(heights) - 1)):
        same = rng.random((len(shifts), seeds)) < kept
        drawn[:, j] = np.where(same, drawn[:, j + 1], drawn[:, j])
    drawn = TOLERANCE * noise * np.clip(drawn, -10, 10)  # so that no value changes the gap
    if kind == "ties":
        drawn = BEYOND * np.round(drawn / BEYOND)
    values, runs = 1.0 + typical[..., None] + drawn, np.arange(seeds)
    others = values[1:].swapaxes(1, 2)  # a view: all stops of a run have one fate
    if kind == "failures":
        others[rng.random(others.shape[:2]) < 0.05] = math.inf
    if kind == "unequal seeds":
        others[rng.random(others.shape[:2]) < 0.2] = math.nan
    if kind == "copies":
        runs %= math.ceil(seeds / 2)
        values = values[:, :, runs]
    return typical, values, runs


def noise_of(kind, shape, rng):
    """Draw noise of a kind: heavy tails, skewed, or normal."""
    if kind == "heavy tails":
        return rng.standard_t(2, shape)
    if kind == "skewed":
        return np.exp(rng.standard_normal(shape)) - 1
    return rng.standard_normal(shape)


def _judged(typical, values, runs, first):
    """Return what is false on one problem, and the power; see `simulate`."""
    seeds, running = values.shape[2], set(range(len(values)))
    look = first or seeds
    while True:
        values[[i not in running for i in range(len(values))], :, look // 2 : look] = math.nan
        views = _decided(values[..., :look], runs[:look])
        running &= {int(name) for name in contenders(views[0], seeds)}
        if look == seeds or not running:
            break
        look = next_look(look, seeds)
    call = worse = good = False
    for told in views:
        enough = typical <= told.tolerance  # the best solver typically ends at zero
        if told.named is not None:
            call |= not enough[int(told.named.solver), told.named.call.place]
        for d in told.decisions:
            own = enough[int(d.solver)]
            worse |= d.verdict is Verdict.WORSE and bool(own[-1])
            good |= d.as_good and not (own[-1] and own[d.call.place])
    told, enough = views[0], typical[:, -1] <= TOLERANCE
    found = [told.of(str(i)).verdict for i in range(len(typical))]
    return np.array([
        call, worse, call or worse or good,
        np.mean([v is Verdict.AS_GOOD for v, fine in zip(found, enough, strict=True) if fine]),
        np.mean([v is Verdict.WORSE for v, fine in zip(found, enough, strict=True) if not fine]),
        told.named is not None and not told.named.call.stop.own,
    ])  # fmt: skip


def _decided(values, runs):
    """Return what is decided at both tolerances."""
    seeds = values.shape[2]
    places = np.tile(np.arange(len(STOPS))[:, None], seeds)
    calls = {str(i): Calls(STOPS, own, places, whole=True) for i, own in enumerate(values)}
    costs = {
        name: np.outer(STEPS, np.full(seeds, float(len(values) - i)))
        for i, name in enumerate(calls)
    }
    finals = {name: own.values[-1] for name, own in calls.items()}
    identity = dict.fromkeys(calls, runs.tolist())
    evidence = Evidence(Differences(finals, [1.5] * seeds, [0.5] * seeds, identity), calls)
    return [
        Comparison(
            "", "", "", "", evidence.best, tuple(evidence.decide(costs, tolerance)), tolerance,
            seeds=seeds,
        )
        for tolerance in (TOLERANCE, STRICT)
    ]  # fmt: skip


COLUMNS = {
    "3 seeds": (3, 0), "5 seeds": (5, 0), "10 seeds": (10, 0), "30 seeds": (30, 0),
    "12, 24, 48": (48, 12),
}  # fmt: skip
"""The seeds, and those of the first look, of each column of the tables."""

NOISE = 0.3, 1.0, 5.0


def shares(kind, column, problems):
    """Return errors, the largest of three sizes of noise, and power if others are far behind."""
    seeds, first = COLUMNS[column]
    at = [simulate(kind, seeds, problems, noise=noise, first=first) for noise in NOISE]
    far = simulate(kind, seeds, problems // 4, behind=(5.0,) * 3, noise=0.3, first=first)
    return {**far, **{name: max(one[name] for one in at) for name in ("call", "worse", "any")}}


def table(found, names):
    """Yield the lines of a table of `docs/decision.md`.

    Parameters
    ----------
    found : mapping
        Results of `shares`, by kind and column.
    names : sequence of str
        Shares to show, separated by slashes.
    """
    yield f"| values | {' | '.join(COLUMNS)} |"
    yield f"|---|{'---:|' * len(COLUMNS)}"
    for kind in KINDS:
        cells = (row(found[kind, column], names) for column in COLUMNS)
        yield f"| {kind} | {' | '.join(cells)} |"


def row(one, names):
    """Return some shares in per cent, as a cell of a table has them."""
    return " / ".join(f"{100 * one[name]:.1f}" for name in names)


TABLES = ("call", "worse", "any"), ("found good", "found worse", "shorter")

if __name__ == "__main__":
    import sys

    problems = int(sys.argv[1])
    found = {(kind, column): shares(kind, column, problems) for kind in KINDS for column in COLUMNS}
    for names in TABLES:
        sys.stdout.write("\n".join(table(found, names)) + "\n\n")

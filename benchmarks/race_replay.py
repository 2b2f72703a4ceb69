"""What the winner of a race costs over the best, on curves that are recorded already.

    orthobench map --store stores                         # some hours: races on grids of sizes
    python benchmarks/race_replay.py stores --within 30   # two minutes

Each store has a long race on a problem: all configurations on the first seed, for ten times the
seconds of the leader, and the best ten on fresh seeds. A race by the rule of today is played on
those curves, with two runs at a time and some seconds beside each, and its winner is compared with
the cheapest that is as good as the best in the store. One that is shown to be worse counts ten. It
begins in the order that the other problems of the folder teach, those of its name left out. A run
that the store does not have goes as that of the same configuration on the first seed.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from orthobench.atlas.answers import portfolio
from orthobench.decide.answer import MISS
from orthobench.decide.rule import Comparison, Verdict
from orthobench.racing.halving import Ask, Field, Rules, Trial
from orthobench.racing.race import trial_of
from orthobench.results.store import Store

BESIDE = 0.15
"""Seconds of a run beside its clock."""

BEGIN = 2.0
"""Seconds before the first run."""


class Recorded(NamedTuple):
    """The label of a problem, all that is known of it, and what is decided there."""

    label: str
    field: Field
    decided: Comparison


def recorded(path: Path) -> Recorded:
    """Read the curves of a store."""
    with Store(path) as store:
        runs = store.records(store.suites()[-1])
    order = {run.solver.label: run.solver.name for run in runs}
    plain_first = dict(sorted(order.items(), key=lambda pair: pair[0] != pair[1]))
    rules = Rules(plain_first, math.inf, factor=MISS, finalists=10)
    trials = [trial_of(run, "seconds") for run in runs]
    told = [trial for trial in trials if len(trial.values) or trial.failed or not trial.seed]
    field, problem = Field(rules, told), runs[0].problem
    decided = tuple(field.decisions())
    about = problem.label, problem.name, str(path.parent), problem.primary
    return Recorded(problem.label, field, Comparison(*about, None, decided))


def in_order(one: Recorded, all_: Sequence[Recorded]) -> Field:
    """Return what is known of a problem, with the order that others of its folder teach."""
    own = one.decided
    others = [
        other.decided for other in all_
        if other.decided.family == own.family and other.decided.block != own.block
    ]  # fmt: skip
    order = one.field.rules.order
    first = {label: order[label] for label in portfolio(others) if label in order}
    return Field(replace(one.field.rules, order={**first, **order}), one.field.trials)


def played(known: Field, within: float, workers: int = 2) -> tuple[Field, float]:
    """Return a race on recorded curves as it ends, and the seconds that it took."""
    rules = Rules(known.rules.order, within)
    trials: list[Trial] = []
    running: dict[tuple[str, int], tuple[float, Trial]] = {}
    now, end = BEGIN, 0.95 * within - 0.5
    while now < end:
        while len(running) < workers:
            race = Field(rules, trials)
            ask = race.next((end - now) * workers, BESIDE, running.keys())
            if ask is None:
                break
            trial = _cut(_of(known, ask), ask.cap)
            seconds = max(trial.seconds, default=ask.cap) if trial.ended else ask.cap
            running[ask.configuration, ask.seed] = now + seconds + BESIDE, trial
        if not running:
            break
        at = min(running, key=lambda at: running[at][0])
        now, trial = running.pop(at)
        if now < end:
            trials.append(trial)
    return Field(rules, trials), min(now, end)


def _of(known: Field, ask: Ask) -> Trial:
    """Return a recorded run; on a seed without one, that of the first seed moved to its gap."""
    there = known.latest.get((ask.configuration, ask.seed))
    if there is not None:
        return there
    first = known.latest[ask.configuration, 0]
    (start, best), (own_start, own_best) = known.gaps[0], known.gaps.get(ask.seed, known.gaps[0])
    shares = (first.values - best) / max(start - best, 1e-300)
    values = own_best + shares * (own_start - own_best)
    return replace(first, seed=ask.seed, values=values, start=own_start)


def _cut(trial: Trial, cap: float) -> Trial:
    """Return what a run is after some seconds; its start is always there."""
    kept = max(int((trial.seconds <= cap).sum()), min(1, len(trial.seconds)))
    return replace(
        trial, cap=cap, values=trial.values[:kept], seconds=trial.seconds[:kept],
        spent=trial.spent[:kept], ended=trial.ended and kept == len(trial.seconds),
    )  # fmt: skip


def regret(race: Field, known: Field) -> tuple[str | None, str | None, float]:
    """Return the winner of a race, the best of all, and the cost of the one over the other."""
    winner = _winner(race)
    decided = {d.solver: d for d in known.decisions()}
    best = _winner(known)
    own = decided.get(winner or "")
    if best is None:
        return winner, best, math.nan
    if winner is None or (own and own.verdict in (Verdict.WORSE, Verdict.FAILED)):
        return winner, best, MISS
    costs = [decided[n].cost if n in decided else known.cost(n) for n in (winner, best)]
    return winner, best, min(MISS, max(1.0, costs[0] / costs[1]))


def _winner(race: Field) -> str | None:
    good = [d for d in race.decisions() if d.as_good]
    return min(good, key=lambda d: d.cost).solver if good else race.leader


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each store where the winner is dearer by a fifth, and the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("stores", type=Path, help="folder of stores")
    parser.add_argument("--within", type=float, default=30.0, help="seconds of a race")
    options = parser.parse_args(arguments)
    lost, spent = [], []
    stored = [recorded(path) for path in sorted(options.stores.rglob("*.sqlite"))]
    for one in stored:
        label, known = one.label, in_order(one, stored)
        race, seconds = played(known, options.within)
        winner, best, factor = regret(race, known)
        if math.isnan(factor):
            continue
        lost.append(factor)
        spent.append(seconds)
        if factor > 1.2:
            click.echo(f"{label}: {winner} (best {best}), regret {factor:.2f}")
    click.echo(
        f"{len(lost)} problems: regret {np.exp(np.log(lost).mean()):.3f} (geometric mean), "
        f"{np.quantile(lost, 0.95):.2f} (95 % quantile), {max(lost):.2f} (largest); "
        f"{np.median(spent):.0f} s (median)"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

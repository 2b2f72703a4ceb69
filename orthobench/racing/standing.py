"""How a race stands: who leads, who is dropped, who is a finalist, and what is decided of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import numpy as np

from orthobench.decide.rule import TOLERANCE, Decision, Evidence, Verdict, named_of
from orthobench.decide.wording import factor_text
from orthobench.racing.trials import Trial
from orthobench.stats.calls import calls_of
from orthobench.tools.collections import grouped

FINALISTS = 6
"""Maximum number of configurations that run on fresh seeds."""

SURE = 2
"""Number of exact configurations among them, if there are that many."""

SEEDS = 12
"""Maximum number of seeds of a race."""

FACTOR = 4.0
"""How many times the seconds of the leader a configuration has to get as far."""

FLOOR = 0.1
"""The share of the time that runs of the least length may take together."""

BEHIND = 2.0
"""What had no time to get there is dropped where the leader is as far in this fraction of it."""

FRESH = 2.5
"""How many times the seconds of the leader a finalist has on a fresh seed."""

NEAR = 30.0
"""How many tolerances above the best value a run may end on the first seed, and still be a finalist
where there is room: luck decides about one seed."""

FAR = 0.75
"""The share of that factor beyond which a finalist is dropped, after three seeds."""


@dataclass(frozen=True)
class Rules:
    """What does not change during a race.

    Attributes
    ----------
    order : mapping
        The solver of each configuration, those that are expected to be best first.
    total : float
        Seconds of the whole race.
    tolerance : float
        The part of the gap by which what is good enough may end above the best.
    timed : bool
        Whether the cost is seconds, so that no run need be longer than a few times the leader's.
    factor : float
        How many times the seconds of the leader a configuration has to get as far.
    finalists : int
        The most configurations that run on fresh seeds.
    seeds : int
        The most seeds.
    ending : collection of str
        The configurations that end by themselves.
    """

    order: Mapping[str, str]
    total: float
    tolerance: float = TOLERANCE
    timed: bool = True
    factor: float = FACTOR
    finalists: int = FINALISTS
    seeds: int = SEEDS
    ending: Collection[str] = ()


@dataclass(frozen=True)
class Standing:
    """A race as it stands: what all trials so far say.

    Attributes
    ----------
    rules : Rules
    trials : sequence of Trial
        In any order; of several of a configuration on a seed the one with the largest cap counts.
    """

    rules: Rules
    trials: Sequence[Trial]

    @cached_property
    def latest(self) -> dict[tuple[str, int], Trial]:
        """The trial that counts of each configuration and seed."""
        found = sorted(self.trials, key=lambda t: t.cap)
        return {(t.configuration, t.seed): t for t in found}

    @cached_property
    def ran(self) -> dict[str, list[Trial]]:
        """The trials that count, by configuration."""
        return grouped(self.latest.values(), lambda trial: trial.configuration)

    @cached_property
    def gaps(self) -> dict[int, tuple[float, float]]:
        """The common start and the best value seen, of each seed that something is known of."""
        sound = [t for t in self.latest.values() if len(t.values)]
        return {
            seed: (
                max(float(np.fmin(t.start, t.values[0])) for t in sound if t.seed == seed),
                min(t.lowest for t in sound if t.seed == seed),
            )
            for seed in sorted({t.seed for t in sound if t.lowest < math.inf})
        }

    def target(self, seed: int) -> float:
        """Return the value that is good enough on a seed."""
        start, best = self.gaps[seed]
        return best + self.rules.tolerance * (start - best)

    def above(self, trial: Trial) -> float:
        """Return how far a trial ends above the best value, in units of the gap."""
        start, best = self.gaps[trial.seed]
        return (trial.lowest - best) / max(start - best, 1e-300)

    def costs(self, configuration: str) -> list[float]:
        """Return the cost to the target on each seed that it was run on."""
        own = self.ran.get(configuration, ())
        return [t.cost(self.target(t.seed)) if t.seed in self.gaps else math.inf for t in own]

    def cost(self, configuration: str) -> float:
        """Return the median over seeds of the cost to the target; infinite where it misses it."""
        costs = sorted(self.costs(configuration))
        return costs[len(costs) // 2] if costs else math.inf

    @cached_property
    def failed(self) -> dict[str, str]:
        """Why each configuration failed that did, on half of its seeds or more."""
        why = {name: [t.failed for t in own if t.failed] for name, own in self.ran.items()}
        return {
            n: some[-1] for n, some in why.items() if some and 2 * len(some) >= len(self.ran[n])
        }

    @cached_property
    def leader(self) -> str | None:
        """The cheapest of the configurations that are there, on most seeds of those that have."""
        raced = self.ran.keys() - self.failed.keys()
        least = {n: min(self.costs(n)) for n in self.rules.order if n in raced}
        there = [name for name, cost in least.items() if cost < math.inf]
        final = [name for name in there if len(self.costs(name)) > 1]
        return min(final or there, key=lambda n: (self.cost(n), least[n]), default=None)

    @cached_property
    def lead(self) -> float:
        """The seconds that the leader needed, the median over seeds."""
        if self.leader is None:
            return math.inf
        own = [t for t in self.ran[self.leader] if t.seed in self.gaps]
        needed = [t.seconds_to(self.target(t.seed)) for t in own]
        return median([s for s in needed if s < math.inf])

    @cached_property
    def dropped(self) -> dict[str, str]:
        """Why each configuration is out of the race that is."""
        first = (self.latest.get((name, 0)) for name in self.rules.order)
        return {t.configuration: why for t in first if t and (why := self._why(t))}

    def _why(self, trial: Trial) -> str:
        """Return why a configuration is out of the race; empty where it is not."""
        name, leader = trial.configuration, self.leader
        if name in self.failed:
            return f"failed: {self.failed[name]}"
        if leader is None or name == leader:
            return ""
        costs = self.costs(name)
        if len(costs) == 1 and costs[0] == math.inf:
            return self._why_not_there(trial, leader)
        if trial.exact and trial.seconds[-1] <= self.rules.factor * self._exact_seconds:
            return ""
        factor = self.cost(name) / self.cost(leader)
        if math.inf > factor > self.rules.factor * (FAR if len(costs) > 2 else 1):
            noun = "time" if self.rules.timed else "cost"
            return f"{factor_text(factor)} times the {noun} of {leader} for the same quality"
        return ""

    @cached_property
    def _exact_seconds(self) -> float:
        """The least seconds of an exact run on the first seed; infinite without any."""
        first = (trial for (_, seed), trial in self.latest.items() if not seed)
        return min((float(t.seconds[-1]) for t in first if t.exact), default=math.inf)

    def _why_not_there(self, trial: Trial, leader: str) -> str:
        if trial.ended and self._near(trial):
            return ""
        if trial.ended and trial.lowest == math.inf:
            return "ends outside the level at which solvers are compared"
        if trial.ended:
            return f"ends {100 * self.above(trial):.2g} % of the gap above {leader}"
        if self.rules.timed and trial.cap >= self.rules.factor * self.lead:
            factor = factor_text(trial.cap / self.lead)
            return f"more than {factor} times the time of {leader} for the same quality"
        start, best = self.gaps[0]
        behind = trial.lowest - self.latest[leader, 0].at(trial.cap / BEHIND)
        if len(trial.values) > 1 and behind > self.rules.tolerance * (start - best):
            return f"after {trial.cap:.2g} s behind where {leader} is in half of that"
        return ""

    def _near(self, trial: Trial) -> bool:
        """Whether a run ended so little above the best value, and so soon, that luck may tell."""
        soon = trial.seconds[-1] <= self._fresh_cap
        return bool(soon and self.above(trial) <= NEAR * self.rules.tolerance)

    @cached_property
    def floor(self) -> float:
        """The least seconds of a run."""
        return FLOOR * self.rules.total / len(self.rules.order)

    @property
    def _fresh_cap(self) -> float:
        """The seconds of a run on a fresh seed."""
        return max(self.floor, FRESH * self.lead)

    @cached_property
    def finalists(self) -> list[str]:
        """The configurations that run on fresh seeds, the cheapest first.

        The best of each solver come before others of the same; then those that ended so little
        above the best value that another seed may put them in front.
        """
        if 0 not in self.gaps:
            return []
        out = set(self.dropped)
        first = {
            name: self.latest[name, 0].cost(self.target(0))
            for name in self.rules.order
            if (name, 0) in self.latest and name not in out
        }
        there = sorted((n for n, c in first.items() if c < math.inf), key=lambda n: first[n])
        best = {self.rules.order[name]: name for name in reversed(there)}
        rest = [name for name in there if name not in best.values()]
        missed = [self.latest[name, 0] for name, cost in first.items() if cost == math.inf]
        exact = sorted((n for n in there if self.latest[n, 0].exact), key=self._end)[:SURE]
        near = sorted((t for t in missed if t.ended and self._near(t)), key=self.above)
        chosen = [n for n in there if n in best.values()]
        ranked = dict.fromkeys([*exact, *chosen, *rest, *(t.configuration for t in near)])
        return sorted([*ranked][: self.rules.finalists], key=self.cost)

    def _end(self, name: str) -> float:
        """Return the seconds of a configuration on the first seed."""
        return float(self.latest[name, 0].seconds[-1])

    def decisions(self) -> list[Decision]:
        """Return what is decided of the finalists, on the seeds that something is known of."""
        seeds = sorted(self.gaps)
        trials = {name: [self.latest.get((name, s)) for s in seeds] for name in self.finalists}
        calls = {
            name: calls_of(
                [t.curve if t else None for t in own],
                [bool(t and t.failed) for t in own],
                next(t.ratio for t in own if t),
            )
            for name, own in trials.items()
        }
        costs = {
            name: calls[name].costs([t.spent if t and len(t.values) else None for t in own])
            for name, own in trials.items()
        }
        evidence = Evidence(
            {name: [t.end if t else math.nan for t in own] for name, own in trials.items()},
            [self.gaps[s][0] for s in seeds],
            calls,
            [self.gaps[s][1] for s in seeds],
            {name: [t and t.values.tobytes() for t in own] for name, own in trials.items()},
            any(t.certified for t in self.latest.values()),
        )
        return evidence.decide(costs, self.rules.tolerance, self._cost)

    @property
    def _cost(self) -> str:
        """The cost that the rule of decision knows, if it is seconds."""
        return "seconds" if self.rules.timed else ""

    @cached_property
    def settled(self) -> bool:
        """Whether a call can be named, and nothing open is cheaper."""
        decided = self.decisions()
        named = named_of(decided, self._cost)
        if named is None or named.call is None:
            return False
        if not named.call.stop.own and named.call.seeds < self.rules.seeds:
            return False  # a few seeds say too little about how often a short stop misses
        open_ = (d for d in decided if d.verdict in (Verdict.UNDECIDED, Verdict.UNTESTED))
        return not any(d.cost <= named.cost for d in open_)

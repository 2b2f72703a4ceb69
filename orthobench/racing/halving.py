"""The rule of a race, without clock or processes: the next configuration, seed and time.

Successive halving with adaptive capping. The leader is the cheapest configuration within the
tolerance of the best value so far. Each other one gets a few times its seconds, or an equal share
if time is short, and is dropped if it is not there by then, or far behind at equal time. One
without a step yet, or that would pass the best value at its rate of descent, runs again. The
finalists run on fresh seeds until `orthobench.decide` names the cheapest that is as good.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from orthobench.decide.rule import FREE, Decision, Evidence, Verdict, named_of
from orthobench.racing.standing import BEHIND, FACTOR, FRESH, SURE, Standing, Trial
from orthobench.stats.calls import calls_of
from orthobench.stats.differences import Differences
from orthobench.stats.noninferiority import FEWEST

MOST = 10.0
"""Maximum time of a configuration that may pass the best value, over that of the leader."""

FIRST = 0.1
"""Maximum share of the time of a race for its first run."""

FINALS = 0.25
"""Share of the time for fresh seeds."""

DOUBLINGS = 3
"""A run may go on if this number of doublings of its time would pass the best value, each with the
gain of the last one."""

Run: TypeAlias = tuple[str, int]
"""A configuration and a seed."""


@dataclass(frozen=True)
class NextRun:
    """A configuration, a seed and a number of seconds."""

    configuration: str
    seed: int
    cap: float


@dataclass(frozen=True)
class Halving(Standing):
    """The state of a race, and the next run."""

    @cached_property
    def finalists(self) -> list[str]:
        """The configurations that run on fresh seeds, the cheapest first.

        The best of each solver come before its others, then those that ended near the best value.
        """
        if 0 not in self.gaps:
            return []
        left = {name: trial for name, trial in self.first.items() if name not in self.dropped}
        costs = {name: trial.cost(self.target(0)) for name, trial in left.items()}
        there = sorted((n for n, cost in costs.items() if cost < math.inf), key=costs.__getitem__)
        best = {self.rules.order[name]: name for name in reversed(there)}
        exact = sorted((name for name in there if left[name].exact), key=self._end)[:SURE]
        near = [n for n, t in left.items() if n not in there and t.ended and self._near(t)]
        near.sort(key=lambda name: self.above(left[name]))
        ranked = dict.fromkeys([*exact, *(n for n in there if n in best.values()), *there, *near])
        return sorted([*ranked][: self.rules.finalists], key=self.cost)

    def _end(self, name: str) -> float:
        return float(self.first[name].seconds[-1])

    def decisions(self) -> list[Decision]:
        """Return the decisions about the finalists, on the seeds with results."""
        seeds = sorted(self.gaps)
        trials = {
            name: [self.latest.get((name, s)) or Trial(name, s, 0.0, None) for s in seeds]
            for name in self.finalists
        }
        calls, costs = {}, {}
        for name, own in trials.items():
            failed = [bool(t.failed) for t in own]
            calls[name] = calls_of([t.curve for t in own], failed, own[0].ratio)
            costs[name] = calls[name].costs([t.spent if t.curve else None for t in own])
        ends = Differences(
            {name: [t.end for t in own] for name, own in trials.items()},
            [self.gaps[seed][0] for seed in seeds],
            [self.gaps[seed][1] for seed in seeds],
            {name: [t.values.tobytes() for t in own] for name, own in trials.items()},
        )
        certified = any(t.certified for t in self.latest.values())
        return Evidence(ends, calls, certified).decide(costs, self.rules.tolerance, self.rules.cost)

    @cached_property
    def settled(self) -> bool:
        """Whether a call can be named, and no undecided one is cheaper."""
        decided = self.decisions()
        named = named_of(decided, self.rules.cost)
        if named is None or named.call is None:
            return False
        if not named.call.stop.own and named.call.seeds < self.rules.seeds:
            return False  # a few seeds say too little about how often a short stop misses
        open_ = (d for d in decided if d.verdict in (Verdict.UNDECIDED, Verdict.UNTESTED))
        return not any(d.cost <= named.cost for d in open_)

    def next(
        self, left: float, overhead: float = 0.0, running: Collection[Run] = (), workers: int = 1
    ) -> NextRun | None:
        """Return the next run, or None until one of the running ones ends.

        No run begins that is known to take longer than what is left.

        Parameters
        ----------
        left : float
            Remaining seconds of the race.
        overhead : float
            Seconds of a run beside its clock.
        running : collection of (str, int)
            Current configurations and seeds.
        workers : int
            Number of runs at once.
        """
        most, shared = left - overhead, left * workers
        if left <= 0 or (self.leader and most <= 0):
            return None
        ask, spare = None, shared - max(FINALS * self.rules.total, self._due(shared, overhead))
        if spare > 0 or self.leader is None:
            cut = [t for t in self._cut(most) if (t.configuration, 0) not in running]
            ask = (
                self._look(filter(self._contends, cut), spare, overhead)
                or self._untried(spare, overhead, running)
                or self._look(filter(self._may_win, cut), spare, overhead)
                or self._to_the_end(most, running)
            )
        if ask is None:
            ask = self._fresh(self._affordable(shared, overhead), most, overhead, running)
        # a run that stops in time is a result, one that the end of the race kills is none
        return replace(ask, cap=min(ask.cap, most)) if ask and most > 0 else ask

    def _due(self, shared: float, overhead: float) -> float:
        """Return the seconds of the leader's first `FEWEST` seeds, without which nothing is shown.

        No other configuration may use them, unless the leader is too long for this race, or there
        is no time for all of them.
        """
        if self.leader is None or self.is_long:
            return 0.0
        seconds = self._missing(self.leader) * (self.lead + overhead)
        return seconds if seconds <= shared else 0.0

    def _missing(self, name: str) -> int:
        """Return the number of the first `FEWEST` seeds that have no run yet."""
        return sum((name, seed) not in self.latest for seed in range(1, FEWEST))

    def _untried(self, spare: float, overhead: float, running: Collection[Run]) -> NextRun | None:
        """Return the next first run: solvers in their order, then grids, the best solver first.

        No run begins if ``spare``, the time besides fresh seeds, is too short for it, unless the
        leader is too long. The seconds of a run on endless data say little, so that the
        very first one is short.
        """
        known = {*self.latest, *((name, 0) for name, _ in running)}
        waiting = [name for name in self.rules.order if (name, 0) not in known]
        if not waiting:
            return None
        seen = sorted(self.first.items(), key=lambda item: -item[1].lowest)
        lowest = {self.rules.order[name]: trial.lowest for name, trial in seen}
        first = min(waiting, key=lambda name: lowest.get(self.rules.order[name], -math.inf))
        cap = self._cap(spare, len(waiting), overhead)
        if self.leader is None:
            return NextRun(first, 0, self.floor if first in self.rules.endless else cap)
        is_timed = self.rules.cost == "seconds"
        late = is_timed and not self.is_long and cap + overhead > spare
        return None if late else NextRun(first, 0, cap)

    def _cap(self, spare: float, waiting: int, overhead: float) -> float:
        if self.leader is None:
            return FIRST * self.rules.total
        is_timed = self.rules.cost == "seconds"
        most = self.rules.factor * self.lead + FREE["seconds"] if is_timed else math.inf
        return max(self.floor, min(most, max(spare / waiting - overhead, overhead)))

    def _cut(self, most: float) -> list[Trial]:
        """Return the trials on the first seed that were cut, and can run longer, up to ``most``."""
        if 0 not in self.gaps:
            return []
        longest = min(most, FIRST * self.rules.total)
        return [t for t in self.first.values() if not (t.failed or t.ended) and t.cap < longest]

    def _look(self, wanted: Iterable[Trial], spare: float, overhead: float) -> NextRun | None:
        """Return a longer run of a trial that was cut: the leader first, then by value."""
        looks = [*wanted]
        if not looks:
            return None
        trial = min(looks, key=lambda t: (t.configuration != self.leader, t.lowest))
        cap = max(FACTOR * trial.cap, self._cap(spare, len(looks), overhead))
        return NextRun(trial.configuration, 0, min(cap, FIRST * self.rules.total))

    def _to_the_end(self, most: float, running: Collection[Run]) -> NextRun | None:
        """Return a run of a finalist to its own end, if no exact call is known."""
        if any(trial.exact for trial in self.latest.values()):
            return None
        able = {t.configuration for t in self._cut(most) if t.certified} & {*self.rules.ending}
        sure = [name for name in self.finalists if name in able][:SURE]
        free = (name for name in sure if (name, 0) not in running)
        return next((NextRun(name, 0, FIRST * self.rules.total) for name in free), None)

    def _contends(self, trial: Trial) -> bool:
        """Whether a run that was cut off keeps up with the leader, or leads and falls on."""
        if len(trial.values) < 2:
            return False
        if trial.configuration == self.leader:
            return trial.seconds_to(self.target(0)) > trial.cap / BEHIND
        return trial.end > self.target(0) and trial.configuration not in self.dropped

    def _may_win(self, trial: Trial) -> bool:
        """Whether a run that was cut off took no step yet, or would pass the best value soon."""
        if len(trial.values) < 2 or trial.lowest == math.inf:
            return trial.cap < self.lead
        if trial.cap >= MOST * max(self.lead, self.floor):
            return False
        start, best = self.gaps[0]
        gain = trial.at(trial.cap / 2) - trial.lowest
        soon = trial.lowest - DOUBLINGS * gain
        return trial.end > self.target(0) and soon < best - self.rules.tolerance * (start - best)

    def _affordable(self, shared: float, overhead: float) -> list[str]:
        """Return the cheapest finalists whose first `FEWEST` seeds fit in the time; one at least.

        Others would take the seeds that the cheapest needs to be tested.
        """
        chosen = list[str]()
        for name in self.finalists:
            shared -= self._missing(name) * (self._end(name) + overhead)
            if chosen and shared < 0:
                break
            chosen.append(name)
        return chosen

    def _fresh(
        self, names: Sequence[str], most: float, overhead: float, running: Collection[Run]
    ) -> NextRun | None:
        """Return a run of some finalists on a fresh seed, until the cheapest is known."""
        if self.leader is None or self._repeat(names):
            return None
        for seed in range(1, self.rules.seeds):
            if seed >= FEWEST and self.settled:
                return None
            for name in names:
                cap = self._cap_on(name, seed)
                if cap and self._needs(name) < most and (name, seed) not in running:
                    return NextRun(name, seed, max(cap, overhead))
        return None

    def _needs(self, name: str) -> float:
        """Return the seconds of a configuration to the target, or else to its end, on seed 0."""
        trial = self.first[name]
        return min(trial.seconds_to(self.target(0)), float(trial.seconds[-1]))

    def _cap_on(self, name: str, seed: int) -> float:
        """Return the seconds of a finalist on a seed, more after a kill; 0 if it is done."""
        trial, most = self.latest.get((name, seed)), MOST * self.lead
        if trial is None:
            return max(self._fresh_cap, FRESH * self._end(name) * self.first[name].ended)
        killed = trial.curve is None and name not in self.failed
        return most if killed and trial.cap < most else 0.0

    def _repeat(self, names: Sequence[str]) -> bool:
        """Whether the first two runs of some finalists are copies: further ones would be, too."""
        return all(
            (name, 1) in self.latest
            and np.array_equal(self.first[name].values, self.latest[name, 1].values)
            for name in names
        )

"""The rule of a race: which configuration runs next, and for how long; without clock or processes.

Successive halving with adaptive capping. A first run gives a value and what it costs to come within
the tolerance of it: from there the gap is that from the start to the best value seen. Then each of
the others has a few times the seconds of the leader, the cheapest of those that are there; what is
not there by then is dropped. Where that is more than the time allows, all have equal shares of it;
those behind the leader at equal time are dropped, and the others have more. What did not take a
step yet, or would pass the best value at the rate at which it falls, is looked at again. The best
of the rest run on fresh seeds until `orthobench.decide` names the cheapest that is as good.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.decide.rule import (
    EXACT,
    FREE,
    TOLERANCE,
    Decision,
    Evidence,
    Verdict,
    named_of,
)
from orthobench.decide.wording import factor_text
from orthobench.harness.run import RATIO
from orthobench.stats.calls import calls_of
from orthobench.stats.cost_curve import CostCurve, settled
from orthobench.stats.noninferiority import FEWEST
from orthobench.tools.arrays import Array

FINALISTS = 6
"""Maximum number of configurations that run on fresh seeds."""

SURE = 2
"""Number of exact configurations among them, if there are that many."""

SEEDS = 12
"""Maximum number of seeds of a race."""

FACTOR = 4.0
"""How many times the seconds of the leader a configuration has to get as far."""

MOST = 10.0
"""How many times the seconds of the leader what may pass the best value has at most."""

FIRST = 0.1
"""The share of the time of a race that its first run may take."""

FLOOR = 0.1
"""The share of the time that runs of the least length may take together."""

FINALS = 0.25
"""The share of the time that is kept for fresh seeds."""

DOUBLINGS = 3
"""A run may go on that would pass the best value after so many doublings of its time, if each
gained what the last one did."""

BEHIND = 2.0
"""What had no time to get there is dropped where the leader is as far in this fraction of it."""

FRESH = 2.5
"""How many times the seconds of the leader a finalist has on a fresh seed."""

NEAR = 30.0
"""How many tolerances above the best value a run may end on the first seed, and still be a finalist
where there is room: luck decides about one seed."""

FAR = 0.75
"""The share of that factor beyond which a finalist is dropped, after three seeds."""

Run: TypeAlias = tuple[str, int]
"""A configuration and a seed."""


@dataclass(frozen=True)
class Trial:
    """A run of a configuration on a seed.

    Attributes
    ----------
    configuration : str
    seed : int
    cap : float
        The seconds that it had.
    values : ndarray, shape (m,)
        What is to be small, at each checkpoint; empty where the run failed, infinite where it does
        not keep a level of another metric.
    seconds, spent : ndarray, shape (m,)
        The seconds and the cost up to each checkpoint.
    ended : bool
        Whether it ended by itself, so that more time would change nothing.
    failed : str
        Why it failed; empty where it did not.
    start : float
        The value where it began, if that is not its first: a start may be out of what counts.
    steps : ndarray of int, shape (m,), optional
        The steps up to each checkpoint; by default 0, 1, 2 and so on.
    certified : bool
        Whether a value of zero is known to be the optimum.
    ratio : float
        The ratio of the numbers of steps of two checkpoints.
    """

    configuration: str
    seed: int
    cap: float
    values: Array
    seconds: Array
    spent: Array
    ended: bool = False
    failed: str = ""
    start: float = math.nan
    steps: NDArray[np.int64] | None = None
    certified: bool = False
    ratio: float = RATIO

    @property
    def curve(self) -> CostCurve | None:
        """What it says about calls; None if it failed."""
        if not len(self.values):
            return None
        steps = np.arange(len(self.values)) if self.steps is None else self.steps
        return CostCurve(steps, self.values, self.ended)

    @property
    def exact(self) -> bool:
        """Whether it ended by itself, at a known optimum."""
        start = np.fmin(self.start, self.values[0]) if len(self.values) else math.nan
        return bool(self.certified and self.ended and abs(self.values[-1]) <= EXACT * abs(start))

    @property
    def lowest(self) -> float:
        """The smallest value that it reached."""
        return float(self.values.min(initial=math.inf))

    def cost(self, target: float) -> float:
        """Return the cost of the first checkpoint from which on all are at or below a value."""
        return settled(self.values, self.spent, target)

    def seconds_to(self, target: float) -> float:
        """Return the seconds of the first checkpoint from which on all are at or below a value."""
        return settled(self.values, self.seconds, target)

    def at(self, seconds: float) -> float:
        """Return the smallest value that was there after some seconds."""
        return float(self.values[self.seconds <= seconds].min(initial=math.inf))


@dataclass(frozen=True)
class Ask:
    """What to run next: a configuration on a seed, for some seconds."""

    configuration: str
    seed: int
    cap: float


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
class Field:
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
        own = [t for (name, _), t in self.latest.items() if name == configuration]
        return [t.cost(self.target(t.seed)) if t.seed in self.gaps else math.inf for t in own]

    def cost(self, configuration: str) -> float:
        """Return the median over seeds of the cost to the target; infinite where it misses it."""
        costs = sorted(self.costs(configuration))
        return costs[len(costs) // 2] if costs else math.inf

    @cached_property
    def failed(self) -> dict[str, str]:
        """Why each configuration failed that did, on half of its seeds or more."""
        found = {t.configuration: t.failed for t in self.latest.values() if t.failed}
        ran = Counter(name for name, _ in self.latest)
        failed = Counter(t.configuration for t in self.latest.values() if t.failed)
        return {name: why for name, why in found.items() if 2 * failed[name] >= ran[name]}

    @cached_property
    def leader(self) -> str | None:
        """The cheapest of the configurations that are there, on most seeds of those that have."""
        raced = {name for name, _ in self.latest} - set(self.failed)
        least = {n: min(self.costs(n)) for n in self.rules.order if n in raced}
        there = [name for name, cost in least.items() if cost < math.inf]
        final = [name for name in there if len(self.costs(name)) > 1]
        return min(final or there, key=lambda n: (self.cost(n), least[n]), default=None)

    @cached_property
    def lead(self) -> float:
        """The seconds that the leader needed, the median over seeds."""
        if self.leader is None:
            return math.inf
        own = [t for (name, _), t in self.latest.items() if name == self.leader]
        needed = [t.seconds_to(self.target(t.seed)) for t in own if t.seed in self.gaps]
        return median([s for s in needed if s < math.inf])

    @cached_property
    def dropped(self) -> dict[str, str]:
        """Why each configuration is out of the race that is."""
        found = {}
        for name in self.rules.order:
            if (trial := self.latest.get((name, 0))) is not None and (why := self._why(trial)):
                found[name] = why
        return found

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
            return f"{factor_text(factor)} times the {self._noun} of {leader} for the same quality"
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
            share = f"{100 * self.above(trial):.2g} %"
            return f"ends {share} of the gap above {leader}"
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

    @property
    def _fresh_cap(self) -> float:
        """The seconds of a run on a fresh seed."""
        return max(self.floor, FRESH * self.lead)

    @property
    def _noun(self) -> str:
        return "time" if self.rules.timed else "cost"

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
        names = self.finalists

        trials = {name: [self.latest.get((name, s)) for s in seeds] for name in names}

        def final(trial: Trial | None) -> float:
            if trial is None or not (len(trial.values) or trial.failed):
                return math.nan
            return float(trial.values[-1]) if len(trial.values) else math.inf

        calls = {
            name: calls_of(
                [trial.curve if trial else None for trial in own],
                [bool(trial and trial.failed) for trial in own],
                next(trial.ratio for trial in own if trial),
            )
            for name, own in trials.items()
        }
        spent = {
            name: [t.spent if t and len(t.values) else None for t in own]
            for name, own in trials.items()
        }
        evidence = Evidence(
            {name: [final(trial) for trial in own] for name, own in trials.items()},
            [self.gaps[s][0] for s in seeds],
            calls,
            [self.gaps[s][1] for s in seeds],
            {name: [t and t.values.tobytes() for t in own] for name, own in trials.items()},
            any(trial.certified for trial in self.latest.values()),
        )
        return evidence.decide(
            {name: own.costs(spent[name]) for name, own in calls.items()},
            self.rules.tolerance,
            "seconds" if self.rules.timed else "",
        )

    @cached_property
    def settled(self) -> bool:
        """Whether a call can be named, and nothing open is cheaper."""
        decided = self.decisions()
        named = named_of(decided, "seconds" if self.rules.timed else "")
        if named is None or named.call is None:
            return False
        if not named.call.stop.own and named.call.seeds < self.rules.seeds:
            return False  # a few seeds say too little about how often a short stop misses
        open_ = (d for d in decided if d.verdict in (Verdict.UNDECIDED, Verdict.UNTESTED))
        return not any(d.cost <= named.cost for d in open_)

    def next(self, left: float, overhead: float = 0.0, running: Collection[Run] = ()) -> Ask | None:
        """Return what to run next, None where there is nothing until one of those running ends.

        Parameters
        ----------
        left : float
            Seconds of the race that are left, times the runs that may go on at once.
        overhead : float
            Seconds that a run takes beside those on its clock.
        running : collection of (str, int)
            Configurations and seeds that run now.
        """
        if left <= 0:
            return None
        if left > FINALS * self.rules.total or self.leader is None:
            ask = (
                self._look(left, overhead, running, contenders=True)
                or self._untried(left, overhead, running)
                or self._look(left, overhead, running, contenders=False)
                or self._to_the_end(running)
            )
            if ask:
                return ask
        return next(self._fresh(overhead, running), None)

    @cached_property
    def floor(self) -> float:
        """The least seconds of a run."""
        return FLOOR * self.rules.total / len(self.rules.order)

    def _untried(self, left: float, overhead: float, running: Collection[Run]) -> Ask | None:
        """Return the next first run: solvers in their order, then the points of their grids.

        Those of solvers that have come further so far come first.
        """
        known = {*self.latest, *((name, 0) for name, _ in running)}
        waiting = [name for name in self.rules.order if (name, 0) not in known]
        if not waiting:
            return None
        ends = {t.configuration: t.lowest for t in self.latest.values() if t.seed == 0}
        lowest: dict[str, float] = {}
        for name, end in ends.items():
            solver = self.rules.order[name]
            lowest[solver] = min(end, lowest.get(solver, math.inf))
        first = min(waiting, key=lambda name: lowest.get(self.rules.order[name], -math.inf))
        return Ask(first, 0, self._cap(left, len(waiting), overhead))

    def _cap(self, left: float, waiting: int, overhead: float) -> float:
        """Return the seconds of the next of some that wait."""
        if self.leader is None:
            return min(FIRST * self.rules.total, left)
        share = (left - FINALS * self.rules.total) / waiting - overhead
        most = self.rules.factor * self.lead + FREE["seconds"] if self.rules.timed else math.inf
        return max(self.floor, min(most, max(share, overhead)))

    def _look(
        self, left: float, overhead: float, running: Collection[Run], contenders: bool
    ) -> Ask | None:
        """Return the next run of what had too little time: the leader first, then by value.

        Parameters
        ----------
        left, overhead, running
            As of `next`.
        contenders : bool
            Only what is known to keep up with the leader; otherwise also what took no step yet, or
            falls fast.
        """
        if 0 not in self.gaps:
            return None
        first = [self.latest[name, 0] for name in self.rules.order if (name, 0) in self.latest]
        free = [t for t in first if (t.configuration, 0) not in running]
        looks = [t for t in free if (self._contends(t) if contenders else self._may_win(t))]
        if not looks:
            return None
        trial = min(looks, key=lambda t: (t.configuration != self.leader, t.lowest))
        cap = max(FACTOR * trial.cap, self._cap(left, len(looks), overhead))
        return Ask(trial.configuration, 0, min(cap, FIRST * self.rules.total))

    def _to_the_end(self, running: Collection[Run]) -> Ask | None:
        """Return a run of a finalist to its own end, as long as no exact call is known."""
        known = [self.latest[name, 0] for name in self.finalists if name in self.rules.ending]
        if any(trial.exact for trial in self.latest.values()):
            return None
        able = [t for t in known if t.certified and self._more(t)][:SURE]
        for trial in able:
            if (trial.configuration, 0) not in running:
                return Ask(trial.configuration, 0, FIRST * self.rules.total)
        return None

    def _more(self, trial: Trial) -> bool:
        """Whether a run was cut off, and may have more time."""
        cut = not (trial.failed or trial.ended)
        return cut and trial.cap < FIRST * self.rules.total

    def _contends(self, trial: Trial) -> bool:
        """Whether a run that was cut off keeps up with the leader, or leads and falls on."""
        if not self._more(trial) or len(trial.values) < 2:
            return False
        if trial.configuration == self.leader:
            return trial.seconds_to(self.target(0)) > trial.cap / BEHIND
        return trial.lowest > self.target(0) and trial.configuration not in self.dropped

    def _may_win(self, trial: Trial) -> bool:
        """Whether a run that was cut off took no step yet, or would pass the best value soon."""
        if not self._more(trial):
            return False
        if len(trial.values) < 2 or trial.lowest == math.inf:
            return trial.cap < self.lead
        if trial.cap >= MOST * max(self.lead, self.floor):
            return False
        start, best = self.gaps[0]
        gain = trial.at(trial.cap / 2) - trial.lowest
        soon = trial.lowest - DOUBLINGS * gain
        return trial.lowest > self.target(0) and soon < best - self.rules.tolerance * (start - best)

    def _fresh(self, overhead: float, running: Collection[Run]) -> Iterator[Ask]:
        """Yield the runs of finalists on fresh seeds, until the cheapest is known.

        None has less time than what is spent beside it, where the clock of short runs is uncertain.
        """
        if self.leader is None or self._repeats:
            return
        for seed in range(1, self.rules.seeds):
            if seed >= FEWEST and self.settled:
                return
            for name in self.finalists:
                cap = self._cap_on(name, seed)
                if cap and (name, seed) not in running:
                    yield Ask(name, seed, max(cap, overhead))
                    return

    def _cap_on(self, name: str, seed: int) -> float:
        """Return the seconds that a finalist has now on a seed: more where it was killed; or 0."""
        trial, most = self.latest.get((name, seed)), MOST * self.lead
        if trial is None:
            first = self.latest[name, 0]
            return max(self._fresh_cap, FRESH * self._end(name) if first.ended else 0.0)
        killed = not len(trial.values) and name not in self.failed
        return most if killed and trial.cap < most else 0.0

    @property
    def _repeats(self) -> bool:
        """Whether the first two runs of all finalists are copies, so that another says nothing."""
        return all(
            (name, 1) in self.latest
            and np.array_equal(self.latest[name, 0].values, self.latest[name, 1].values)
            for name in self.finalists
        )

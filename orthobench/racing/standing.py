"""The standing of a race by its trials: the leader, and the dropped configurations."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median

import numpy as np

from orthobench.decide.rule import EXACT, TOLERANCE, chosen
from orthobench.decide.wording import factor_text
from orthobench.harness.run import RATIO
from orthobench.harness.stopping import RunStatus
from orthobench.results.runs import Run
from orthobench.stats.calls import Call, Stop, calls_of, offered, ratio_of
from orthobench.stats.cost_curve import CostCurve, cost_curve, cut_short, gap_of, settled
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped

FINALISTS = 6
"""Maximum number of configurations that run on fresh seeds."""

SURE = 2
"""Maximum number of exact configurations that come first among them."""

SEEDS = 12
"""Maximum number of seeds of a race."""

FACTOR = 4.0
"""Maximum time of a configuration, over that of the leader."""

FLOOR = 0.1
"""Share of the time for runs of minimum length together."""

ENDLESS = 0.001
"""Maximum of that length on endless data, over the time of a race: each run takes all of it, and
samples are drawn besides."""

BEHIND = 2.0
"""A cut configuration is dropped if the leader is as far in 1 / BEHIND of its time."""

FRESH = 2.5
"""Time of a finalist on a fresh seed, over that of the leader."""

NEAR = 30.0
"""Maximum distance of a finalist's end above the best value on the first seed, in tolerances: one
seed is a matter of luck."""

FAR = 0.75
"""Part of `FACTOR` above which a finalist is dropped after three seeds."""

LONG = 0.05
"""Maximum part of the time of a race that its best call may take: others would get no seeds."""

SHORT = RunStatus.TIMEOUT, RunStatus.NOTHING_DONE
"""Endings of runs with too little time, which are no failures in a race."""


@dataclass(frozen=True)
class Trial:
    """A run of a configuration on a seed.

    Attributes
    ----------
    cap : float
        Its limit, in seconds.
    curve : CostCurve, optional
        The metric at each checkpoint, infinite outside a level; ``ended`` by its own test. None if
        the run failed, or was killed before its first checkpoint.
    seconds, spent : ndarray, shape (m,)
        The seconds and the cost up to each checkpoint.
    failed : str
        The reason of a failure, or empty.
    certified : bool
        Whether zero is known to be the optimum.
    ratio : float
        The ratio of the steps of two checkpoints.
    """

    configuration: str
    seed: int
    cap: float
    curve: CostCurve | None
    seconds: Array = field(default_factory=lambda: np.zeros(0))
    spent: Array = field(default_factory=lambda: np.zeros(0))
    failed: str = ""
    certified: bool = False
    ratio: float = RATIO

    @property
    def values(self) -> Array:
        """The metric at each checkpoint."""
        return self.curve.values if self.curve else np.zeros(0)

    @property
    def ended(self) -> bool:
        """Whether it ended by its own test."""
        return self.curve is not None and self.curve.ended

    @property
    def exact(self) -> bool:
        """Whether it ended by its own test, at a known optimum."""
        curve = self.curve
        if curve is None or not (curve.ended and self.certified):
            return False
        return bool(abs(curve.values[-1]) <= EXACT * abs(curve.start))

    @property
    def end(self) -> float:
        """The value at its end: infinite if it failed, NaN if it was killed before its first."""
        if len(self.values):
            return float(self.values[-1])
        return math.inf if self.failed else math.nan

    def at_stop(self, stop: Stop) -> float:
        """Return the value at which a call ends; infinite if there is none."""
        curve, steps = self.curve, dict(stop.limits).get("steps", math.inf)
        return math.inf if curve is None else float(curve.values[curve.steps <= steps][-1])

    @property
    def lowest(self) -> float:
        """Its smallest value."""
        return float(self.values.min(initial=math.inf))

    def cost(self, target: float) -> float:
        """Return the cost of the first checkpoint after which all are at or below a value."""
        return settled(self.values, self.spent, target)

    def seconds_to(self, target: float) -> float:
        """Return the seconds of the first checkpoint after which all are at or below a value."""
        return settled(self.values, self.seconds, target)

    def at(self, seconds: float) -> float:
        """Return the smallest value within some seconds."""
        return float(self.values[self.seconds <= seconds].min(initial=math.inf))


@dataclass(frozen=True)
class Rules:
    """The constants of a race.

    Attributes
    ----------
    order : mapping
        The solver of each configuration, the best expected first.
    total : float
        Seconds of the race.
    cost : str
        The cost to minimise, by name.
    ending : collection of str
        The configurations that end by their own test.
    endless : collection of str
        The configurations that only a limit ends, on data without an end.
    timed_on_all : int
        Number of the cheapest calls to the own end that are timed on each seed.
    """

    order: Mapping[str, str]
    total: float
    tolerance: float = TOLERANCE
    cost: str = "seconds"
    factor: float = FACTOR
    finalists: int = FINALISTS
    seeds: int = SEEDS
    ending: Collection[str] = ()
    endless: Collection[str] = ()
    timed_on_all: int = 0


@dataclass(frozen=True)
class Standing:
    """The standing of a race by its trials: of one configuration and seed, the longest counts."""

    rules: Rules
    trials: Sequence[Trial]

    @cached_property
    def latest(self) -> dict[tuple[str, int], Trial]:
        """The trial that counts, for each configuration and seed."""
        found = sorted(self.trials, key=lambda t: t.cap)
        return {(t.configuration, t.seed): t for t in found}

    @cached_property
    def first(self) -> dict[str, Trial]:
        """The trials on the first seed, by configuration."""
        order = self.rules.order
        return {name: self.latest[name, 0] for name in order if (name, 0) in self.latest}

    @cached_property
    def ran(self) -> dict[str, list[Trial]]:
        """The trials that count, by configuration."""
        return grouped(self.latest.values(), lambda trial: trial.configuration)

    @cached_property
    def gaps(self) -> dict[int, tuple[float, float]]:
        """The common start and the lowest end so far, for each seed with results.

        A configuration ends within the tolerance on each seed, so that there is always a leader.
        """
        curves: dict[int, list[CostCurve]] = {}
        for (_, seed), trial in self.latest.items():
            if trial.curve:
                curves.setdefault(seed, []).append(trial.curve)
        found = {seed: gap_of(own) for seed, own in sorted(curves.items())}
        return {seed: gap for seed, gap in found.items() if gap[1] < math.inf}

    def target(self, seed: int) -> float:
        """Return the largest value that is good enough on a seed."""
        start, best = self.gaps[seed]
        return best + self.rules.tolerance * (start - best)

    def above(self, trial: Trial) -> float:
        """Return the distance of the end of a trial above the best value, in units of the gap."""
        start, best = self.gaps[trial.seed]
        return (trial.end - best) / max(start - best, 1e-300)

    def costs(self, configuration: str) -> list[float]:
        """Return the cost to the target on each seed of a configuration."""
        own = self.ran.get(configuration, ())
        return [t.cost(self.target(t.seed)) if t.seed in self.gaps else math.inf for t in own]

    def cost(self, configuration: str) -> float:
        """Return the median cost to the target over seeds; infinite for a miss."""
        costs = sorted(self.costs(configuration))
        return costs[len(costs) // 2] if costs else math.inf

    @cached_property
    def failed(self) -> dict[str, str]:
        """Reasons of the configurations that failed on at least half of their seeds."""
        why = {name: [t.failed for t in own if t.failed] for name, own in self.ran.items()}
        return {
            n: some[-1] for n, some in why.items() if some and 2 * len(some) >= len(self.ran[n])
        }

    @cached_property
    def leader(self) -> str | None:
        """The cheapest configuration within the tolerance, on several seeds if there are any."""
        raced = self.ran.keys() - self.failed.keys()
        least = {n: min(self.costs(n)) for n in self.rules.order if n in raced}
        there = [name for name, cost in least.items() if cost < math.inf]
        final = [name for name in there if len(self.costs(name)) > 1]
        return min(final or there, key=lambda n: (self.cost(n), least[n]), default=None)

    @cached_property
    def leading(self) -> Call | None:
        """The call of the leader by the first seed on which it reaches the target."""
        ran = [t for t in self.ran.get(self.leader or "", ()) if t.seed in self.gaps]
        there = (t for t in ran if t.cost(self.target(t.seed)) < math.inf)
        trial = min(there, key=lambda t: t.seed, default=None)
        if trial is None or trial.curve is None:
            return None
        calls = calls_of([trial.curve], [False], trial.ratio)
        costs, target = calls.costs([trial.spent]), np.array([self.target(trial.seed)])
        own = [calls.call(j, costs[j], target) for j in range(len(calls.stops))]
        first = max((j for j, call in enumerate(own) if call.misses), default=-1) + 1
        if (call := chosen(own[first:])) is None:
            return None
        at = [t.at_stop(call.stop) <= self.target(t.seed) for t in ran]
        return replace(call, reached=sum(at), seeds=len(self.ran[trial.configuration]))

    @cached_property
    def lead(self) -> float:
        """The median seconds of the leader to the target."""
        if self.leader is None:
            return math.inf
        own = [t for t in self.ran[self.leader] if t.seed in self.gaps]
        needed = [t.seconds_to(self.target(t.seed)) for t in own]
        return median([s for s in needed if s < math.inf])

    @property
    def is_long(self) -> bool:
        """Whether no call is known that is short enough for this race, or for any seeds of it."""
        return self.lead > LONG * self.rules.total

    @cached_property
    def dropped(self) -> dict[str, str]:
        """Reasons of the configurations that are out of the race."""
        return {name: why for name, trial in self.first.items() if (why := self._why(trial))}

    def _why(self, trial: Trial) -> str:
        """Return why a configuration is out of the race; empty if it is not."""
        name, leader = trial.configuration, self.leader
        if name in self.failed:
            return f"failed: {self.failed[name]}"
        if leader is None or name == leader:
            return ""
        costs = self.costs(name)
        if len(costs) == 1 and costs[0] == math.inf:
            return self._why_not_there(trial, leader)
        if trial.exact:
            quickest = min(other.seconds[-1] for other in self.first.values() if other.exact)
            if trial.seconds[-1] <= self.rules.factor * quickest:
                return ""
        factor = self.cost(name) / self.cost(leader)
        if math.inf > factor > self.rules.factor * (FAR if len(costs) > 2 else 1):
            noun = "time" if self.rules.cost == "seconds" else "cost"
            return f"{factor_text(factor)} times the {noun} of {leader} for the same quality"
        return ""

    def _why_not_there(self, trial: Trial, leader: str) -> str:
        if trial.ended and self._near(trial):
            return ""
        if trial.ended and trial.end == math.inf:
            return "ends outside the level at which solvers are compared"
        if trial.ended:
            return f"ends {100 * self.above(trial):.2g} % of the gap above {leader}"
        if self.rules.cost == "seconds" and trial.cap >= self.rules.factor * self.lead:
            factor = factor_text(trial.cap / self.lead)
            return f"more than {factor} times the time of {leader} for the same quality"
        start, best = self.gaps[0]
        behind = trial.lowest - self.latest[leader, 0].at(trial.cap / BEHIND)
        if len(trial.values) > 1 and behind > self.rules.tolerance * (start - best):
            return f"after {trial.cap:.2g} s behind where {leader} is in half of that"
        return ""

    def _near(self, trial: Trial) -> bool:
        """Whether a run ended soon and near the best value, so that another seed may differ."""
        soon = trial.seconds[-1] <= self._fresh_cap
        return bool(soon and self.above(trial) <= NEAR * self.rules.tolerance)

    @cached_property
    def floor(self) -> float:
        """Minimum seconds of a run."""
        share = FLOOR / len(self.rules.order)
        return self.rules.total * (min(share, ENDLESS) if self.rules.endless else share)

    @property
    def _fresh_cap(self) -> float:
        return max(self.floor, FRESH * self.lead)


def trial_of(run: Run, cost: str) -> Trial:
    """Return the trial of a stored run."""
    stop, cap = run.stop, run.budget.get("seconds", math.inf)
    is_short = stop.status in SHORT
    counted = cut_short(run) if is_short else run
    level = run.problem.levels[0] if run.problem.levels else None
    path = cost_curve(counted, level, measured(run))
    if path is None:
        failed = "" if is_short else stop.reason
        return Trial(run.solver.label, run.seed, cap, None, failed=failed)
    values = path.values
    if level and run.trace[-1].metrics.get(level.metric, math.inf) > level.value:
        values = np.full_like(values, math.inf)
    ended = stop.status in (RunStatus.DONE, RunStatus.NOT_STATIONARY)
    curve = offered(replace(path, values=values, ended=ended), ratio_of(run))
    return Trial(
        run.solver.label, run.seed, cap, curve, curve.spent("seconds"), curve.spent(cost),
        certified=measured(run) == run.problem.primary, ratio=ratio_of(run),
    )  # fmt: skip


def measured(run: Run) -> str:
    """Return the metric of a race: the primary one if it is known, otherwise the objective."""
    known = run.trace[0].metrics if run.trace else {}
    primary, other = run.problem.primary, run.problem.tuned_by
    return other if primary not in known and other in known else primary

"""The rule of decision on one problem: the calls that are as good as the best, and the star.

A solver is *as good as the best* if the upper end of the interval of its typical (median)
difference from the true best is within the tolerance, and *worse* if the lower end is beyond it
(`orthobench.stats.differences`). With fewer than `FEWEST` seeds it is *untested*; if it typically
ends lower than another one, that one is *undecided*. At most one problem in twenty has a wrong
verdict (`docs/decision.md`).

The calls of such a solver are its end, and earlier stops. From the end backwards each stop is
tested against the ends of all solvers, up to the first that fails. This order is fixed before, and
needs no correction (Marcus, Peritz and Gabriel 1976, *Biometrika* 63).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from orthobench.stats.calls import Call, Calls, Stop
from orthobench.stats.differences import LEVEL, Differences
from orthobench.stats.noninferiority import FEWEST, factor_interval, seeds_to_decide
from orthobench.tools.arrays import Array

TOLERANCE = 0.01
"""The part of the gap by which a solver that is as good as the best may end above it."""

STRICT = 1e-6
"""The tolerance of the second view."""

EXACT = 1e-9
"""Maximum part of its value at the start that a metric with a known optimum of zero may have at an
exact solution."""

OWN = 1.5
"""Maximum cost of a solver's own end, as a multiple of its cheapest stop, if it is preferred."""

HALF = 2.0
"""Factor that a call has to save to be named in spite of a miss, or in place of an exact one."""

FREE = {"seconds": 0.1}
"""Minimum amount that a call has to save to be named in place of an exact one, by cost."""


class Verdict(Enum):
    """The verdict on a solver on a problem."""

    AS_GOOD = "as good"
    """It is shown to end within the tolerance of the best solver."""
    UNDECIDED = "undecided"
    """Neither that nor the opposite is shown."""
    UNTESTED = "untested"
    """It has fewer than `FEWEST` independent seeds."""
    WORSE = "worse"
    """It is shown to end further above the best one."""
    FAILED = "failed"
    """Half of its runs or more failed."""
    ABSENT = "absent"
    """The solver was refused, or not run yet."""


@dataclass(frozen=True)
class Decision:
    """The decision on a solver on a problem.

    Attributes
    ----------
    solver : str
        Its label.
    verdict : Verdict
    difference : float
        Median over seeds of its end above that of the best solver, in units of the gap.
    low, high : float
        The interval of that difference from whichever solver is truly best.
    call : Call, optional
        The call to make if it is as good; otherwise the longest one, None if the clock cut all.
    exact : Call, optional
        The cheapest call that ends at a known optimum on all seeds.
    factor : float
        The cost of its call over that of the named one; NaN if it is not as good.
    factor_interval : (float, float)
        Its 95 % interval, paired over the seeds.
    seeds, copies, n_failed : int
        Number of distinct seeds, of copies of other seeds, and of failed runs.
    success : float
        The share of its runs that end within `STRICT` of the best value seen.
    more_seeds : int, optional
        Estimated number of seeds that would decide; None if none would, or it is decided.
    parameters : mapping
    name : str
        The solver's name in the catalogue.
    """

    solver: str
    verdict: Verdict
    difference: float = math.nan
    low: float = 0.0
    high: float = math.inf
    call: Call | None = None
    exact: Call | None = None
    factor: float = math.nan
    factor_interval: tuple[float, float] = (math.nan, math.nan)
    seeds: int = 0
    copies: int = 0
    n_failed: int = 0
    success: float = math.nan
    more_seeds: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    @property
    def as_good(self) -> bool:
        """Whether it is as good as the best."""
        return self.verdict is Verdict.AS_GOOD

    @property
    def cost(self) -> float:
        """The cost of its call; infinite without one."""
        return self.call.cost if self.call else math.inf

    @property
    def is_exact(self) -> bool:
        """Whether its call ends at a known optimum on all seeds."""
        return self.exact is not None and self.call == self.exact

    @property
    def reached(self) -> int:
        """Seeds on which its call ends within the tolerance."""
        return self.call.reached if self.call else 0

    @property
    def misses(self) -> int:
        """Seeds on which its call does not get to the tolerance."""
        return self.call.misses if self.call else 0


@dataclass(frozen=True)
class Comparison:
    """The decisions on the solvers of one problem, by one metric and cost.

    Attributes
    ----------
    problem : str
        Its label.
    block : str
        Variants of one data set are one block.
    family, metric : str
    best : str, optional
        The solver that ends lowest of those without a failed run.
    decisions : tuple of Decision
        Those that are as good first, by cost.
    tolerance : float
    cost : str
    seeds : int
        Seeds planned.
    name, parameters
        The name of the problem in the catalogue, and its parameters.
    """

    problem: str
    block: str
    family: str
    metric: str
    best: str | None
    decisions: tuple[Decision, ...]
    tolerance: float = TOLERANCE
    cost: str = "seconds"
    seeds: int = 0
    name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def distinct(self) -> int:
        """Number of seeds without copies."""
        return max((d.seeds for d in self.decisions), default=0)

    @cached_property
    def named(self) -> Decision | None:
        """The solver to name, with the call to make; see `named_of`."""
        return named_of(self.decisions, self.cost)

    @property
    def cheapest(self) -> str | None:
        """The star: the solver to name."""
        return self.named.solver if self.named else None

    @cached_property
    def as_good(self) -> tuple[Decision, ...]:
        """The decisions of the solvers that are as good as the best, by cost."""
        return tuple(d for d in self.decisions if d.as_good)

    @property
    def exact(self) -> Decision | None:
        """The solver with the cheapest exact call, as its call; None without any."""
        return _exact(self.decisions)

    @property
    def alternative(self) -> Decision | None:
        """The cheaper call beside an exact one that is named, or the exact one beside it."""
        named = self.named
        if named is None:
            return None
        if named.is_exact:
            return _cheapest_decision(d for d in self.as_good if d.cost < named.cost)
        return self.exact

    def lead(self, solver: str) -> float:
        """Return the cost of the next solver over that of a solver; NaN without a next one."""
        own = self.of(solver)
        costs = [d.cost for d in self.as_good if d.solver != solver and d.cost >= own.cost]
        return min(costs) / own.cost if own.as_good and costs and own.cost > 0 else math.nan

    def with_costs(self, costs: Mapping[tuple[str, Stop], float]) -> Comparison:
        """Return the comparison with other costs of some calls, given by solver and stop."""

        def of(solver: str, call: Call | None) -> Call | None:
            return call and replace(call, cost=costs.get((solver, call.stop), call.cost))

        found = [
            replace(d, call=of(d.solver, d.call), exact=of(d.solver, d.exact))
            for d in self.decisions
        ]
        return replace(self, decisions=tuple(_with_factors(found, {}, self.cost)))

    def of(self, solver: str) -> Decision:
        """Return the decision on a solver; absent if it was not run."""
        return self.by_solver.get(solver) or Decision(solver, Verdict.ABSENT)

    @cached_property
    def by_solver(self) -> dict[str, Decision]:
        """The decision of each solver, by its label."""
        return {d.solver: d for d in self.decisions}


def decide(
    finals: Mapping[str, Sequence[float]],
    starts: Sequence[float],
    costs: Mapping[str, Sequence[float]],
    *,
    lowest: Sequence[float] | None = None,
    identity: Mapping[str, Sequence[object]] | None = None,
    tolerance: float = TOLERANCE,
    certified: bool = False,
) -> tuple[str | None, list[Decision]]:
    """Return the best solver of a problem, and the decision on each solver.

    Parameters
    ----------
    finals : mapping
        For each solver its final values by seed, smaller is better; infinite if a run failed, NaN
        without one. All of one length.
    starts : sequence of float
        The common start of each seed.
    costs : mapping
        The cost of each run.
    lowest : sequence of float, optional
        The best value seen on each seed; the smallest final value by default.
    identity : mapping, optional
        For each run a value that is equal for copies; start and final value by default.
    tolerance : float
    certified : bool
        Whether the smallest possible value is known to be zero.
    """
    calls = {name: Calls.of_ends(own) for name, own in finals.items()}
    prices = {name: np.asarray(own, dtype=np.float64)[None] for name, own in costs.items()}
    found = Evidence(Differences(finals, starts, lowest, identity), calls, certified)
    return found.best, found.decide(prices, tolerance)


@dataclass(frozen=True)
class Evidence:
    """The runs of one problem, before costs and a tolerance are chosen.

    Attributes
    ----------
    ends : Differences
    calls : mapping
        The calls of each solver.
    certified : bool
        Whether the smallest possible value is known to be zero.
    """

    ends: Differences
    calls: Mapping[str, Calls]
    certified: bool = False

    @property
    def best(self) -> str | None:
        """The solver that ends lowest of those that did not fail."""
        return None if self.ends.best is None else self.ends.names[self.ends.best]

    def decide(
        self, costs: Mapping[str, Array], tolerance: float = TOLERANCE, cost: str = ""
    ) -> list[Decision]:
        """Return the decision on each solver.

        Parameters
        ----------
        costs : mapping
            The cost of each call of each solver, shape (J, S).
        tolerance : float
        cost : str
            The name of the cost, or empty.
        """
        ends, targets, found = self.ends, self.ends.targets(tolerance), []
        for i, name in enumerate(ends.names):
            own = self.calls[name]
            verdict, more = self._verdict(i, tolerance)
            stops = range(len(own.stops))
            tested = stops[self._shortest(i, tolerance) :] if verdict is Verdict.AS_GOOD else ()
            if verdict is Verdict.AS_GOOD and not tested:
                verdict = Verdict.UNDECIDED  # the clock cut its runs before anything can be shown
            calls = [own.call(j, costs[name][j], targets) for j in tested or stops[-1:]]
            low, high, _ = ends.intervals.get(i, (0.0, math.inf, None))
            above = ends.above_best[i][~np.isnan(ends.above_best[i])]
            strict = ends.above_seen[i][ends.ran[i]] <= STRICT
            found.append(Decision(
                name, verdict,
                difference=float(np.median(above)) if len(above) else math.nan,
                low=low, high=high,
                call=chosen(calls),
                exact=chosen([call for call in calls if self._is_exact(i, call)]),
                seeds=int(ends.distinct[i]), copies=int(ends.counts[i] - ends.distinct[i]),
                n_failed=int(ends.failed[i].sum()),
                success=float(np.mean(strict)) if len(strict) else math.nan,
                more_seeds=more,
            ))  # fmt: skip
        return _with_factors(found, costs, cost)

    def _verdict(self, i: int, tolerance: float) -> tuple[Verdict, int | None]:
        """Return the verdict on the end of a solver's runs, and the seeds that would decide."""
        ends = self.ends
        if not ends.counts[i]:
            return Verdict.ABSENT, None
        if ends.broken[i]:
            return Verdict.FAILED, None
        missing = FEWEST - int(ends.counts[i])
        if i not in ends.intervals or (missing > 0 and not ends.repeats[i]):
            return Verdict.UNTESTED, missing
        low, high, pair = ends.intervals[i]
        if high <= tolerance:
            lower = [j for j in ends.few.tolist() if ends.typically_lower(j, i, tolerance)]
            more = FEWEST - min((int(ends.counts[j]) for j in lower), default=0)
            return (Verdict.UNDECIDED, more) if lower else (Verdict.AS_GOOD, None)
        if low > tolerance:
            return Verdict.WORSE, None
        return Verdict.UNDECIDED, seeds_to_decide(pair, tolerance, ends.tail(i))

    def _shortest(self, i: int, tolerance: float) -> int:
        own = self.calls[self.ends.names[i]]
        place = len(own.stops) - own.whole
        while place > 0 and self.ends.within(i, own.values[place - 1], tolerance):
            place -= 1
        return place

    def _is_exact(self, i: int, call: Call) -> bool:
        values = self.calls[self.ends.names[i]].values[call.place]
        near = np.abs(values) <= EXACT * np.abs(self.ends.start)
        return self.certified and bool(call.seeds) and bool(near[self.ends.ran[i]].all())


Offer = TypeVar("Offer", Call, Decision)


def _cheapest(offers: Iterable[Offer], place: Callable[[Offer], Any]) -> Offer | None:
    """Return the first offer by cost; one without a miss, unless that costs more than `HALF`."""
    own = sorted(offers, key=place)
    sure = [offer for offer in own if not offer.misses]
    if sure and sure[0].cost <= HALF * own[0].cost:
        return sure[0]
    return own[0] if own else None


def chosen(calls: Sequence[Call]) -> Call | None:
    """Return the call to make of some that are as good, the shortest first; None without any."""
    found = _cheapest(calls, lambda call: (call.cost, call.misses))
    if found is None:
        return None
    end = calls[-1]
    preferred = end.stop.own and end.misses <= found.misses and end.cost <= OWN * found.cost
    return end if preferred else found


def _cheapest_decision(decisions: Iterable[Decision]) -> Decision | None:
    able = (d for d in decisions if d.cost < math.inf)
    return _cheapest(able, lambda d: (d.cost, d.high, d.solver))


def _exact(decisions: Sequence[Decision]) -> Decision | None:
    able = [replace(d, call=d.exact) for d in decisions if d.as_good and d.exact]
    return min(able, key=lambda d: (d.cost, d.solver), default=None)


def named_of(decisions: Sequence[Decision], cost: str) -> Decision | None:
    """Return which solver to name, with the call to make; None if none is as good.

    That is the cheapest exact call, unless a call within the tolerance saves a factor of `HALF`
    and the amount of `FREE`.
    """
    near, exact = _cheapest_decision(d for d in decisions if d.as_good), _exact(decisions)
    if exact is None or near is None:
        return near
    saves = exact.cost > HALF * near.cost and exact.cost - near.cost > FREE.get(cost, 0.0)
    return near if saves else exact


def _with_factors(
    found: Sequence[Decision], costs: Mapping[str, Array], cost: str
) -> list[Decision]:
    """Return the decisions in order, with factors of cost to the call that is named."""
    named, done = named_of(found, cost), []
    for d in found:
        if named and d.solver == named.solver:
            d = named
        if d.as_good and d.call and named and named.call and 0 < named.cost < math.inf:
            ends = (math.nan, math.nan)
            if costs:
                own, other = costs[d.solver][d.call.place], costs[named.solver][named.call.place]
                ends = factor_interval(own, other, 1 - LEVEL)
            d = replace(d, factor=d.cost / named.cost, factor_interval=ends)
        done.append(d)
    order = list(Verdict)

    def place(d: Decision) -> tuple[object, ...]:
        middle = math.inf if math.isnan(d.difference) else d.difference
        first = named is not None and d.solver == named.solver
        return order.index(d.verdict), not first, d.cost if d.as_good else middle, middle, d.solver

    return sorted(done, key=place)

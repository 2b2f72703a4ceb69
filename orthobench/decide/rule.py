"""The rule of decision on one problem: which calls are as good as the best, and which to name.

The difference of two solvers on a seed is what one ends above the other, in units of the gap from
the common start to the best value seen on that seed. A solver is *as good as the best* if the
upper end of the interval of its typical (median) difference from whichever solver is truly best is
within the tolerance, and *worse* if the lower end is beyond it. All intervals of a problem hold
together, so that at most one problem in twenty has a wrong verdict: Bonferroni's correction over
the differences from the true best, whichever that is (Edwards and Hsu 1983, *JASA* 78). The
intervals are those of `orthobench.stats.noninferiority`.

The solver that ends lowest has to pass against each other one, without a correction for their
number (Gutmann and Maymin 1987, *Annals of Statistics* 15), and at `LEVEL_OF_LOWEST`: to fail, it
has to have come out lowest by chance and to pass by chance everywhere, which in simulations is much
rarer than `LEVEL` (`docs/decision.md`). To count it as as good untested would name a solver that is
not good enough on up to half of all noisy problems.

Fewer than `FEWEST` seeds decide nothing: such a solver is *untested*. A deterministic solver, whose
runs on all seeds are copies of each other, is decided by its value: another seed would show it
again. No solver is tested against one with too few seeds; if that one typically ends lower, the
others are *undecided*. A failed run counts as a miss, as a value that is far above all others.

A solver that is as good offers calls (`orthobench.stats.calls`): its end, and earlier stops. From
the end backwards each stop is tested against the ends of all solvers, its own included, at `LEVEL`
over their number, and the first that fails ends the search. The order is fixed before, so that
there is no further correction (Marcus, Peritz and Gabriel 1976, *Biometrika* 63). Of the stops that
pass the cheapest is taken. One that missed the tolerance on some seed has to cost less than half of
all that did not, and the solver's own end is preferred if it costs at most `OWN` times as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from orthobench.stats.calls import Call, Calls, Stop
from orthobench.stats.noninferiority import (
    FAR,
    FEWEST,
    factor_interval,
    lower_ends,
    seeds_to_decide,
    upper_ends,
)
from orthobench.tools.arrays import Array

TOLERANCE = 0.01
"""The part of the gap by which a solver that is as good as the best may end above it."""

STRICT = 1e-6
"""The tolerance of the second view."""

LEVEL = 0.05
"""The most problems with a wrong verdict."""

LEVEL_OF_LOWEST = 0.1
"""The level of each test by which the solver that ends lowest is shown to be as good."""

ROUNDING = 1e-12
"""Values are equal that differ by less than this fraction of the largest value at a start."""

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
    """What the seeds say of a solver on a problem."""

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
    """It takes no part, or was not run yet."""


@dataclass(frozen=True)
class Decision:
    """What is decided of a solver on a problem.

    Attributes
    ----------
    solver : str
        Its label.
    verdict : Verdict
    difference : float
        Median over seeds of what it ends above the best solver, in units of the gap.
    low, high : float
        The interval of that difference from whichever solver is truly best.
    call : Call, optional
        The call that it offers: if it is as good, the one to make within the tolerance; otherwise
        the longest that was run. None if none can be made: the clock cut all of its runs.
    exact : Call, optional
        The cheapest call that ends at a known optimum on all seeds.
    factor : float
        The cost of its call over that of the call that is named; NaN if it is not as good.
    factor_interval : (float, float)
        The 95 % interval of that factor, paired over the seeds.
    seeds : int
        Distinct seeds that it was run on.
    copies : int
        Seeds whose runs are copies of another one's, and do not count.
    n_failed : int
        Its failed runs.
    success : float
        The share of its runs that end at the best value seen, within `STRICT` of the gap.
    more_seeds : int, optional
        About so many seeds more would decide; None if none would, or it is decided.
    parameters : mapping
        Its parameters, by name.
    name : str
        What the solver is called in the catalogue.
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
    def reached(self) -> int:
        """Seeds on which its call ends within the tolerance."""
        return self.call.reached if self.call else 0

    @property
    def misses(self) -> int:
        """Seeds on which its call does not get to the tolerance."""
        return self.call.misses if self.call else 0


@dataclass(frozen=True)
class Comparison:
    """What is decided between the solvers of one problem, at one measure.

    Attributes
    ----------
    problem : str
        Its label.
    block : str
        Variants of one data set are one block.
    family : str
    metric : str
        What is compared; smaller is better.
    best : str, optional
        The solver that ends lowest of those without a failed run.
    decisions : tuple of Decision
        Of each solver, those that are as good first, by cost.
    tolerance : float
    cost : str
        What is least: one of `orthobench.stats.costs.COSTS`.
    seeds : int
        Seeds planned.
    name : str
        The name of the problem in the catalogue.
    parameters : mapping
        The parameters of the problem.
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
        """Seeds whose runs are no copies of those of another one."""
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
        """The solver with the cheapest exact call, which is its call then; None without any."""
        return _exact(self.decisions)

    @property
    def alternative(self) -> Decision | None:
        """The cheaper call beside an exact one that is named, or the exact one beside it."""
        named = self.named
        if named is None or named.call is None:
            return None
        if named.call is named.exact:
            return _cheapest_decision(d for d in self.as_good if d.cost < named.cost)
        return self.exact

    def lead(self, solver: str) -> float:
        """Return the cost of the next solver that is as good over the cost of a solver.

        NaN if it is not as good itself, or no other is that is not cheaper.
        """
        own = self.of(solver)
        costs = [d.cost for d in self.as_good if d.solver != solver and d.cost >= own.cost]
        return min(costs) / own.cost if own.as_good and costs and own.cost > 0 else math.nan

    def with_costs(self, costs: Mapping[tuple[str, Stop], float]) -> Comparison:
        """Return the comparison with other costs of some calls, given by solver and stop."""

        def of(solver: str, call: Call | None) -> Call | None:
            return call and replace(call, cost=costs.get((solver, call.stop), call.cost))

        found = []
        for d in self.decisions:
            exact = of(d.solver, d.exact)
            call = exact if d.call is d.exact else of(d.solver, d.call)
            found.append(replace(d, call=call, exact=exact))
        return replace(self, decisions=tuple(_with_factors(found, {}, self.cost)))

    def of(self, solver: str) -> Decision:
        """Return what is decided of a solver; absent where it takes no part."""
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
    """Return the best solver of a problem, and what is decided of each; the numbers alone.

    Parameters
    ----------
    finals : mapping
        The final values of each solver, seed by seed, smaller is better; infinity is a run that
        failed, NaN one that was not run. All of one length.
    starts : sequence of float
        The common start of each seed.
    costs : mapping
        The cost of each run.
    lowest : sequence of float, optional
        The best value seen on each seed; the smallest final value by default.
    identity : mapping, optional
        Of each run something that is equal for runs that are copies; start and final value by
        default.
    tolerance : float
    certified : bool
        Whether the smallest possible value is known to be zero.
    """
    calls = {name: Calls.of_ends(own) for name, own in finals.items()}
    prices = {name: np.asarray(own, dtype=np.float64)[None] for name, own in costs.items()}
    found = Evidence(finals, starts, calls, lowest, identity, certified)
    return found.best, found.decide(prices, tolerance)


class Evidence:
    """What the runs of one problem say, before costs and a tolerance are chosen.

    Parameters
    ----------
    finals, starts, lowest, identity, certified
        As of `decide`.
    calls : mapping
        The calls of each solver.

    Attributes
    ----------
    best : str, optional
        The solver that ends lowest of those that did not fail.
    """

    best: str | None

    def __init__(
        self,
        finals: Mapping[str, Sequence[float]],
        starts: Sequence[float],
        calls: Mapping[str, Calls],
        lowest: Sequence[float] | None = None,
        identity: Mapping[str, Sequence[object]] | None = None,
        certified: bool = False,
    ) -> None:
        self._names, self._calls, self._certified = list(finals), calls, certified
        table = np.array([finals[n] for n in finals], dtype=np.float64).reshape(-1, len(starts))
        self._start = np.asarray(starts, dtype=np.float64)
        self._failed, self._run = np.isposinf(table), ~np.isnan(table)
        self._measure(table, lowest)
        self._table = np.where(self._failed, self._far, table)
        self._groups = _identities(table, self._start, self._names, identity)
        self._counts = self._run.sum(axis=1)
        self._broken = 2 * self._failed.sum(axis=1) >= self._counts
        self._fill_copies()
        # another seed would repeat the runs of a deterministic solver
        seeds = np.where(self._repeats, FEWEST, self._counts)
        able = ~self._broken & (self._counts > 0)
        sound = able & (seeds >= min(FEWEST, seeds[able].max(initial=0)))
        self._sound, self._few = np.flatnonzero(sound), np.flatnonzero(able & ~sound)
        self._compare()

    def _measure(self, table: Array, lowest: Sequence[float] | None) -> None:
        """Find the best value seen on each seed, the gap, and the value of a failed run."""
        seen = np.where(np.isfinite(table), table, np.inf).min(axis=0, initial=np.inf)
        self._seen = seen if lowest is None else np.fmin(seen, np.asarray(lowest, np.float64))
        known = np.isfinite(self._seen)
        largest = np.fmax(np.abs(self._start), np.where(known, np.abs(self._seen), 0.0))
        self._rounding = ROUNDING * largest
        with np.errstate(invalid="ignore"):
            least = np.fmax(self._rounding, np.finfo(float).tiny)
            self._unit = np.fmax(self._start - self._seen, least)
            self._far = np.where(known, self._seen + FAR * self._unit, np.nan)

    def _fill_copies(self) -> None:
        """Find the solvers that repeat their runs, which have the same value on all seeds."""
        self._repeats = np.zeros(len(self._names), np.bool_)
        for i, run in enumerate(self._run):
            self._repeats[i] = len(set(self._groups[i, run].tolist())) == 1 < run.sum()
            if self._repeats[i]:
                first = int(run.argmax())
                self._table[i], self._groups[i] = self._table[i, first], self._groups[i, first]

    def _compare(self) -> None:
        """Compare all pairs of solvers."""
        with np.errstate(invalid="ignore"):
            self._shares = np.where(self._run, (self._table - self._seen) / self._unit, np.inf)
        best = self._lowest()
        self.best = None if best is None else self._names[best]
        ends = (
            self._seen if best is None else np.where(self._failed[best], np.nan, self._table[best])
        )
        with np.errstate(invalid="ignore"):
            self._above_best = (self._table - ends) / self._unit
        self._reference = np.where(np.isnan(ends), self._seen, np.fmax(ends, self._seen))
        self._intervals = dict(zip(self._sound.tolist(), self._against_best(best), strict=True))

    def _lowest(self) -> int | None:
        """Return the solver that ends lowest: by the median of the gap left, then by its mean."""

        def place(i: int) -> tuple[float, float, str]:
            own = np.fmax(self._shares[i][self._run[i]], 0.0)
            median = float(np.median(own))
            mean = float(np.fmin(own, 1).mean())
            return (median if median > ROUNDING else 0.0), mean, self._names[i]

        return min(self._sound.tolist(), key=place, default=None)

    def _against_best(self, best: int | None) -> list[tuple[float, float, Array]]:
        """Return the ends of each solver's difference from whichever is truly best.

        With them come the distinct differences of the pair that decides.
        """
        sound = self._sound
        m, tail = len(sound), LEVEL / max(1, len(sound) - 1)
        low, highs, deciding = np.zeros((m, m)), np.zeros(m), list[Array]()
        for row, i in enumerate(sound.tolist()):
            gaps, alike = self._gaps(i, self._table[i])
            low[row] = lower_ends(gaps, tail, alike)
            high = upper_ends(gaps, LEVEL_OF_LOWEST if i == best else tail, alike)
            low[row, row], high[row] = 0.0, -1.0
            worst = int(np.argmax(high))
            highs[row] = max(0.0, float(high[worst]))
            deciding.append(gaps[worst][~np.isnan(gaps[worst])] if worst != row else np.zeros(0))
        lows, beaten = np.zeros(m), (low > 0).any(axis=1)
        if not beaten.all():
            lows[beaten] = np.maximum(0.0, low[beaten][:, ~beaten].min(axis=1))
        return list(zip(lows.tolist(), highs.tolist(), deciding, strict=True))

    def _gaps(self, i: int, values: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return how far values of a solver are above those of each sound one, in units of the gap.

        Parameters
        ----------
        i : int
            The solver.
        values : ndarray, shape (S,)

        Returns
        -------
        gaps : ndarray, shape (m, S)
            NaN without a run, and for seeds that repeat the runs of both solvers on an earlier one.
        alike : ndarray of bool, shape (m,)
            Whether all seeds repeat the same two runs.
        """
        one, others = self._groups[i], self._groups[self._sound]
        with np.errstate(invalid="ignore"):
            gaps = values - self._table[self._sound]
        gaps = np.where(np.abs(gaps) <= self._rounding, 0.0, gaps) / self._unit
        there = ~np.isnan(gaps)
        same = (one[:, None] == one) & (others[:, :, None] == others[:, None]) & there[:, None]
        distinct = there & ~np.tril(same, -1).any(axis=2)
        alike = (distinct.sum(axis=1) == 1) & (there.sum(axis=1) > 1)
        return np.where(distinct, gaps, np.nan), alike

    def decide(
        self, costs: Mapping[str, Array], tolerance: float = TOLERANCE, cost: str = ""
    ) -> list[Decision]:
        """Return what is decided of each solver.

        Parameters
        ----------
        costs : mapping
            The cost of each call of each solver, shape (J, S).
        tolerance : float
        cost : str
            What the cost is called, one of `orthobench.stats.costs.ALL_COSTS`, or nothing.
        """
        targets = self._reference + tolerance * self._unit + self._rounding
        found = []
        for i, name in enumerate(self._names):
            own, run = self._calls[name], self._run[i]
            verdict, more = self._verdict(i, tolerance)
            stops = range(len(own.stops))
            tested = stops[self._shortest(i, tolerance) :] if verdict is Verdict.AS_GOOD else ()
            if verdict is Verdict.AS_GOOD and not tested:
                verdict = Verdict.UNDECIDED  # the clock cut its runs before anything can be shown
            calls = [own.call(j, costs[name][j], targets) for j in tested or stops[-1:]]
            low, high, _ = self._intervals.get(i, (0.0, math.inf, None))
            above = self._above_best[i][~np.isnan(self._above_best[i])]
            distinct = len(set(self._groups[i, run].tolist()))
            found.append(Decision(
                name, verdict,
                difference=float(np.median(above)) if len(above) else math.nan,
                low=low, high=high,
                call=chosen(calls),
                exact=chosen([call for call in calls if self._is_exact(i, call)]),
                seeds=distinct, copies=int(run.sum()) - distinct,
                n_failed=int(self._failed[i].sum()),
                success=float((self._shares[i][run] <= STRICT).mean()) if run.any() else math.nan,
                more_seeds=more,
            ))  # fmt: skip
        return _with_factors(found, costs, cost)

    def _verdict(self, i: int, tolerance: float) -> tuple[Verdict, int | None]:
        """Return what the end of a solver's runs shows, and how many seeds more would decide."""
        if not self._counts[i]:
            return Verdict.ABSENT, None
        if self._broken[i]:
            return Verdict.FAILED, None
        missing = FEWEST - int(self._counts[i])
        if i not in self._intervals or (missing > 0 and not self._repeats[i]):
            return Verdict.UNTESTED, missing
        low, high, pair = self._intervals[i]
        if high <= tolerance:
            lower = [j for j in self._few.tolist() if self._ends_lower(j, i, tolerance)]
            more = FEWEST - min((int(self._counts[j]) for j in lower), default=0)
            return (Verdict.UNDECIDED, more) if lower else (Verdict.AS_GOOD, None)
        if low > tolerance:
            return Verdict.WORSE, None
        others = max(1, len(self._sound) - 1)
        tail = LEVEL_OF_LOWEST if self._names[i] == self.best else LEVEL / others
        return Verdict.UNDECIDED, seeds_to_decide(pair, tolerance, tail)

    def _ends_lower(self, j: int, i: int, tolerance: float) -> bool:
        """Return whether a solver that has too few seeds typically ends below another one."""
        with np.errstate(invalid="ignore"):
            gaps = (self._table[i] - self._table[j]) / self._unit
        own = gaps[~np.isnan(gaps)]
        return len(own) > 0 and float(np.median(own)) > tolerance

    def _shortest(self, i: int, tolerance: float) -> int:
        """Return the place of the shortest call of a solver that is as good."""
        own, tail = self._calls[self._names[i]], LEVEL / max(1, len(self._sound))
        values = np.where(np.isposinf(own.values), self._far, own.values)
        if self._repeats[i]:
            values = np.broadcast_to(values[:, [int(self._run[i].argmax())]], values.shape)
        for at in range(len(own.stops) - own.whole, 0, -1):
            gaps, alike = self._gaps(i, values[at - 1])
            if (upper_ends(gaps, tail, alike) > tolerance).any():
                return at
        return 0

    def _is_exact(self, i: int, call: Call) -> bool:
        """Return whether a call ends at a known optimum on all seeds."""
        values = self._calls[self._names[i]].values[call.place]
        near = np.abs(values) <= EXACT * np.abs(self._start)
        return self._certified and bool(call.seeds) and bool(near[self._run[i]].all())


def _identities(
    table: Array,
    start: Array,
    names: Sequence[str],
    identity: Mapping[str, Sequence[object]] | None,
) -> NDArray[np.intp]:
    """Return a number for each run that those of its solver share that are copies of it."""
    groups = np.zeros(table.shape, dtype=np.intp)
    for i, name in enumerate(names):
        own = identity[name] if identity else zip(start.tolist(), table[i].tolist(), strict=True)
        known: dict[object, int] = {}
        groups[i] = [known.setdefault(one, len(known)) for one in own]
    return groups


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
    """Return the decision with the call to make."""
    able = (d for d in decisions if d.cost < math.inf)
    return _cheapest(able, lambda d: (d.cost, d.high, d.solver))


def _exact(decisions: Sequence[Decision]) -> Decision | None:
    """Return the solver with the cheapest exact call, which is its call then."""
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
    """Return the decisions in order, with factors of cost to the call that is named.

    Parameters
    ----------
    found : sequence of Decision
    costs : mapping
        The costs of the calls of each solver, shape (J, S); without them factors have no interval.
    cost : str
    """
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

"""The rule of decision on one problem: which calls are as good as the best, and which to name.

The difference of two solvers on a seed is what one ends above the other, in units of the gap from
the common start to the best value seen on that seed. A solver is *as good as the best* if the
upper end of the interval of its typical (median) difference from whichever solver is truly best is
within the tolerance, and *worse* if the lower end is beyond it. All intervals of a problem hold
together, so that at most one problem in twenty has a wrong verdict: Bonferroni's correction over
the differences from the true best, whichever that is (Edwards and Hsu 1983, *JASA* 78).

The solver that ends lowest has to pass against each other one, without a correction for their
number (Gutmann and Maymin 1987, *Annals of Statistics* 15), and at `LEVEL_OF_LOWEST`: to fail, it
has to have come out lowest by chance and to pass by chance everywhere, which in simulations is much
rarer than `LEVEL` (`docs/decision.md`). To count it as as good untested would name a solver that is
not good enough on up to half of all noisy problems.

Upper ends are those of the sign test, which holds for any distribution, with ties and infinite
values; lower ends are those of Wilcoxon's signed-rank test. If so few seeds have no such end, from
`FEWEST` on, it is the largest (smallest) difference seen, and at least that of Student's t: then an
error of a single comparison is below 1 in 2^n for any distribution, and the correction for their
number relies on t. Fewer seeds decide nothing: such a solver is *untested*. A deterministic
solver, whose runs on all seeds are copies of each other, is decided by its value: another seed
would show it again. A solver with fewer seeds than others is open, and no other solver is tested
against it. A failed run counts as a miss, as a value that is far above all others.

A solver that is as good offers calls (`orthobench.stats.calls`): its end, and earlier stops. From
the end backwards each stop is tested against the ends of all solvers, its own included, at `LEVEL`
over their number, and the first that fails ends the search. The order is fixed before, so that
there is no further correction (Marcus, Peritz and Gabriel 1976, *Biometrika* 63). Of the stops that
pass the cheapest is taken. One that missed the tolerance on some seed has to cost less than half of
all that did not, and the solver's own end is preferred if it costs at most `OWN` times as much.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthobench.stats.bootstrap import student_quantile
from orthobench.stats.calls import Call, Calls, Stop, one_call
from orthobench.stats.signed_rank import shift_intervals
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

FEWEST = 5
"""The fewest seeds that decide anything: 1 in 2^5 is below `LEVEL`."""

MOST_SEEDS = 1000
"""More seeds than this are not asked for."""


EXACT = 1e-9
"""Maximum part of its value at the start that a metric with a known optimum of zero may have at an
exact solution."""

OWN = 1.5
"""Maximum cost of a solver's own end, as a multiple of its cheapest stop, if it is preferred."""

HALF = 2.0
"""Factor that a call has to save to be named in spite of a miss, or in place of an exact one."""

FREE = {"seconds": 0.1}
"""Minimum amount that a call has to save to be named in place of an exact one, by cost."""

FAR = 1e6
"""The difference that a failed run counts as, in units of the gap."""


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


@dataclass(frozen=True)
class Comparison:
    """What is decided between the solvers of one problem, at one measure.

    Attributes
    ----------
    problem : str
        Its label.
    block : str
        Its name in the catalogue: variants of one data set are one block.
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
    distinct : int
        Seeds whose runs are no copies of those of another one.
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
    distinct: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)

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
            others = [d for d in self.as_good if d.cost < named.cost]
            return _cheapest(others)
        return self.exact

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
        names = self._names
        table = np.array([finals[n] for n in names], dtype=np.float64).reshape(-1, len(starts))
        self._start = np.asarray(starts, dtype=np.float64)
        self._failed, self._run = np.isposinf(table), ~np.isnan(table)
        seen = np.where(np.isfinite(table), table, np.inf).min(axis=0, initial=np.inf)
        self._seen = seen if lowest is None else np.fmin(seen, np.asarray(lowest, np.float64))
        known = np.isfinite(self._seen)
        largest = np.fmax(np.abs(self._start), np.where(known, np.abs(self._seen), 0.0))
        self._rounding = ROUNDING * largest
        with np.errstate(invalid="ignore"):
            least = np.fmax(self._rounding, np.finfo(float).tiny)
            self._unit = np.fmax(self._start - self._seen, least)
            self._far = np.where(known, self._seen + FAR * self._unit, np.nan)
        self._groups = _identities(table, self._start, names, identity)
        self._table = np.where(self._failed, self._far, table)
        self._counts = self._run.sum(axis=1)
        self._broken = 2 * self._failed.sum(axis=1) >= self._counts
        self._repeats = np.array([
            len(set(groups[run].tolist())) == 1 < run.sum()
            for groups, run in zip(self._groups, self._run, strict=True)
        ], np.bool_)  # fmt: skip
        for i in np.flatnonzero(self._repeats).tolist():  # another seed would show the same
            at = int(self._run[i].argmax())
            self._table[i], self._groups[i] = self._table[i, at], self._groups[i, at]
        enough = self._counts >= min(FEWEST, int(self._counts.max(initial=0)))
        self._sound = np.flatnonzero(
            ~self._broken & (enough | self._repeats) & self._run.any(axis=1)
        )
        self._compare()

    def _compare(self) -> None:
        """Compare all pairs of solvers."""
        names, sound = self._names, self._sound
        with np.errstate(invalid="ignore"):
            self._shares = np.where(self._run, (self._table - self._seen) / self._unit, np.inf)
        self.best = _lowest(self._shares, self._run, sound, names)
        first, ends = -1, self._seen
        if self.best is not None:
            at = names.index(self.best)
            first = int(np.flatnonzero(sound == at)[0])
            ends = np.where(self._failed[at], np.nan, self._table[at])
        with np.errstate(invalid="ignore"):
            self._above_best = (self._table - ends) / self._unit
        self._reference = np.where(np.isnan(ends), self._seen, np.fmax(ends, self._seen))
        lows, highs, pairs = _against_best(
            self._table[sound], self._unit, self._rounding, self._groups[sound], first
        )
        found = zip(sound.tolist(), lows.tolist(), highs.tolist(), pairs, strict=True)
        self._intervals = {i: (low, high, pair) for i, low, high, pair in found}

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
            own, run, groups = self._calls[name], self._run[i], self._groups[i]
            verdict, more = self._verdict(i, tolerance)
            stops = range(len(own.stops))
            tested = stops[self._good_from(i, tolerance) :] if verdict is Verdict.AS_GOOD else ()
            if verdict is Verdict.AS_GOOD and not tested:
                verdict = Verdict.UNDECIDED  # the clock cut its runs before anything can be shown
            calls = [
                one_call(own.stops[j], costs[name][j], own.values[j], targets, j)
                for j in tested or stops[-1:]
            ]
            low, high, _ = self._intervals.get(i, (0.0, math.inf, None))
            above = self._above_best[i][~np.isnan(self._above_best[i])]
            distinct = len(set(groups[run].tolist()))
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
        if i not in self._intervals:
            return Verdict.UNTESTED, missing
        low, high, pair = self._intervals[i]
        if missing > 0 and not self._repeats[i]:
            return Verdict.UNTESTED, missing
        if high <= tolerance and not self._is_above_untested(i, tolerance):
            return Verdict.AS_GOOD, None
        if low > tolerance:
            return Verdict.WORSE, None
        others = max(1, len(self._sound) - 1)
        tail = LEVEL_OF_LOWEST if self._names[i] == self.best else LEVEL / others
        return Verdict.UNDECIDED, _more_seeds(pair, tolerance, tail)

    def _is_above_untested(self, i: int, tolerance: float) -> bool:
        """Return whether a solver typically ends above one that has too few seeds to be tested."""
        few = ~self._broken & self._run.any(axis=1)
        few[self._sound] = False
        with np.errstate(invalid="ignore"):
            gaps = (self._table[i] - self._table[few]) / self._unit
        return any(
            float(np.median(own)) > tolerance for row in gaps if len(own := row[~np.isnan(row)])
        )

    def _good_from(self, i: int, tolerance: float) -> int:
        """Return the place of the shortest call of a solver that is as good."""
        own, tail = self._calls[self._names[i]], LEVEL / max(1, len(self._sound))
        values = np.where(np.isposinf(own.values), self._far, own.values)
        if self._repeats[i]:
            values = np.broadcast_to(values[:, [int(self._run[i].argmax())]], values.shape)
        at = len(own.stops) - own.whole
        while at > 0:
            gaps, alike = _gaps(
                values[at - 1], self._table[self._sound], self._unit, self._rounding,
                self._groups[i], self._groups[self._sound],
            )  # fmt: skip
            if (_upper_ends(gaps, tail, alike) > tolerance).any():
                break
            at -= 1
        return at

    def _is_exact(self, i: int, call: Call) -> bool:
        """Return whether a call ends at a known optimum on all seeds."""
        values = self._calls[self._names[i]].values[call.place]
        near = np.abs(values) <= EXACT * np.abs(self._start)
        return self._certified and bool(call.seeds) and bool(near[self._run[i]].all())


def chosen(calls: Sequence[Call]) -> Call | None:
    """Return the call to make of some that are as good, the shortest first; None without any."""
    if not calls:
        return None
    least = min(calls, key=lambda call: (call.cost, call.misses))
    sure = [call for call in calls if not call.misses]
    surest = min(sure, key=lambda call: call.cost, default=least)
    chosen = surest if surest.cost <= HALF * least.cost else least
    end = calls[-1]
    if end.stop.own and end.misses <= chosen.misses and end.cost <= OWN * chosen.cost:
        return end
    return chosen


def _cheapest(decisions: Sequence[Decision]) -> Decision | None:
    """Return the decision whose call costs least, without a miss unless that saves a half."""
    able = [d for d in decisions if d.call and d.cost < math.inf]
    sure = [d for d in able if d.call and not d.call.misses]

    def place(d: Decision) -> tuple[float, float, str]:
        return d.cost, d.high, d.solver

    least = min(able, key=place, default=None)
    surest = min(sure, key=place, default=least)
    if least is None or surest is None or surest.cost <= HALF * least.cost:
        return surest
    return least


def _exact(decisions: Sequence[Decision]) -> Decision | None:
    """Return the solver with the cheapest exact call, which is its call then."""
    able = [replace(d, call=d.exact) for d in decisions if d.as_good and d.exact]
    return min(able, key=lambda d: (d.cost, d.solver), default=None)


def named_of(decisions: Sequence[Decision], cost: str) -> Decision | None:
    """Return which solver to name, with the call to make; None if none is as good.

    That is the cheapest exact call, unless a call within the tolerance saves a factor of `HALF`
    and the amount of `FREE`.
    """
    near, exact = _cheapest([d for d in decisions if d.as_good]), _exact(decisions)
    if exact is None or near is None:
        return near
    saves = exact.cost > HALF * near.cost and exact.cost - near.cost > FREE.get(cost, 0.0)
    return near if saves else exact


def _gaps(
    values: Array, table: Array, unit: Array, rounding: Array,
    group: NDArray[np.intp], groups: NDArray[np.intp],
) -> tuple[Array, NDArray[np.bool_]]:  # fmt: skip
    """Return how far one solver's values are above those of each solver, in units of the gap.

    Parameters
    ----------
    values : ndarray, shape (S,)
    table : ndarray, shape (m, S)
    unit, rounding : ndarray, shape (S,)
    group : ndarray of int, shape (S,)
        From `_identities`, of the one solver.
    groups : ndarray of int, shape (m, S)
        The same of each solver.

    Returns
    -------
    gaps : ndarray, shape (m, S)
        NaN without a run, and for seeds that repeat the runs of both solvers.
    alike : ndarray of bool, shape (m,)
        Whether all seeds repeat the same two runs.
    """
    with np.errstate(invalid="ignore"):
        gaps = values - table
    gaps = np.where(np.abs(gaps) <= rounding, 0.0, gaps) / unit
    counts = (~np.isnan(gaps)).sum(axis=1)
    repeats = groups.max(axis=1, initial=0) + 1 < groups.shape[1]
    if group.max(initial=0) + 1 < len(group):  # both have to repeat theirs
        gaps[repeats] = _without_copies(gaps[repeats], group, groups[repeats])
    return gaps, ((~np.isnan(gaps)).sum(axis=1) == 1) & (counts > 1)


def _identities(
    table: Array,
    start: Array,
    names: Sequence[str],
    identity: Mapping[str, Sequence[object]] | None,
) -> NDArray[np.intp]:
    """Return a number for each run that those of its solver share that are copies of it."""
    groups = np.zeros(table.shape, dtype=np.intp)
    for i, name in enumerate(names):
        own = (
            identity[name]
            if identity
            else list(zip(start.tolist(), table[i].tolist(), strict=True))
        )
        known: dict[object, int] = {}
        groups[i] = [known.setdefault(one, len(known)) for one in own]
    return groups


def _lowest(
    shares: Array, run: NDArray[np.bool_], sound: NDArray[np.intp], names: Sequence[str]
) -> str | None:
    """Return the solver that ends lowest: by the median of the gap that is left, then the mean."""

    def place(i: int) -> tuple[float, float, str]:
        own = np.fmax(shares[i][run[i]], 0.0)
        median = float(np.median(own))
        return (median if median > ROUNDING else 0.0), float(np.fmin(own, 1).mean()), names[i]

    return names[min(sound.tolist(), key=place)] if len(sound) else None


def _against_best(
    table: Array, unit: Array, rounding: Array, groups: NDArray[np.intp], best: int
) -> tuple[Array, Array, list[Array]]:
    """Return the ends of each solver's difference from whichever is truly best.

    With them come the distinct differences of the pair that decides.
    """
    m = len(table)
    low, highs = np.zeros((m, m)), np.zeros(m)
    tail = LEVEL / max(1, m - 1)
    deciding: list[Array] = []
    for i in range(m):
        gaps, alike = _gaps(table[i], table, unit, rounding, groups[i], groups)
        low[i] = _lower_ends(gaps, tail, alike)
        high = _upper_ends(gaps, LEVEL_OF_LOWEST if i == best else tail, alike)
        low[i, i], high[i] = 0.0, -1.0
        worst = int(np.argmax(high))
        highs[i] = max(0.0, float(high[worst]))
        deciding.append(gaps[worst][~np.isnan(gaps[worst])] if worst != i else np.zeros(0))
    lows = np.zeros(m)
    beaten = (low > 0).any(axis=1)
    if not beaten.all():
        lows[beaten] = np.maximum(0.0, low[beaten][:, ~beaten].min(axis=1))
    return lows, highs, deciding


def _without_copies(gaps: Array, one: NDArray[np.intp], others: NDArray[np.intp]) -> Array:
    """Return differences with NaN for the seeds that repeat both runs of an earlier seed."""
    there = ~np.isnan(gaps)
    codes = np.where(there, one * (others.max(initial=0) + 1) + others, -1)
    order = np.argsort(codes, axis=1, kind="stable")
    sorted_codes = np.take_along_axis(codes, order, axis=1)
    repeated = np.zeros(gaps.shape, dtype=np.bool_)
    np.put_along_axis(repeated, order[:, 1:], sorted_codes[:, 1:] == sorted_codes[:, :-1], axis=1)
    return np.where(repeated, np.nan, gaps)


def upper_end(values: Array, tail: float, alike: bool = False) -> float:
    """Return the upper end of the interval of the median of some distinct differences.

    Parameters
    ----------
    values : ndarray, shape (n,)
    tail : float
        The probability that the median is beyond.
    alike : bool
        Whether these are one value of several seeds: then there is no chance in it.

    Returns
    -------
    float
        Infinite where the values are too few. Negative ones count as zero.
    """
    return float(_upper_ends(values[None], tail, np.array([alike]))[0])


def lower_end(values: Array, tail: float, alike: bool = False) -> float:
    """Return the lower end of the interval of the centre of some distinct differences.

    The parameters are those of `upper_end`.
    """
    return float(_lower_ends(values[None], tail, np.array([alike]))[0])


def _upper_ends(rows: Array, tail: float, alike: NDArray[np.bool_]) -> Array:
    """Return the `upper_end` of each row, without its NaN."""
    ends = np.full(len(rows), np.inf)
    for at, values in _by_count(np.maximum(rows, 0.0), alike):
        n = values.shape[1]
        if n == 1:
            ends[at] = values[:, 0]
        elif (allowed := _allowed(n, tail)) >= 0:
            ends[at] = np.partition(values, n - 1 - allowed, axis=1)[:, n - 1 - allowed]
        else:
            ends[at] = np.fmax(values.max(axis=1), _student(values, tail))
    return ends


def _lower_ends(rows: Array, tail: float, alike: NDArray[np.bool_]) -> Array:
    """Return the `lower_end` of each row, without its NaN."""
    ends = np.full(len(rows), -np.inf)
    for at, values in _by_count(rows, alike):
        n = values.shape[1]
        if n == 1:
            ends[at] = values[:, 0]
        elif (allowed := _allowed(n, tail)) >= 0:
            # one failed run among the differences would make every rank useless
            signs = np.partition(values, allowed, axis=1)[:, allowed]
            ranks = shift_intervals(values, 1 - 2 * tail)[0]
            ends[at] = np.where((np.abs(values) > FAR / 2).any(axis=1), signs, ranks)
        else:
            ends[at] = np.fmin(values.min(axis=1), -_student(-values, tail))
    return ends


def _by_count(rows: Array, alike: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.bool_], Array]]:
    """Yield the rows that have an end, together those with one number of values, without NaN."""
    counts = (~np.isnan(rows)).sum(axis=1)
    for n in np.unique(counts[alike | (counts >= FEWEST)]).tolist():
        at = (counts == n) & (alike | (n >= FEWEST))
        yield at, rows[at][~np.isnan(rows[at])].reshape(-1, n)


def _student(rows: Array, tail: float) -> Array:
    """Return the upper end of the interval of the mean of each row by Student's t."""
    n = rows.shape[1]
    with np.errstate(invalid="ignore"):
        reach = student_quantile(1 - tail, n - 1) * rows.std(axis=1, ddof=1) / math.sqrt(n)
        ends: Array = rows.mean(axis=1) + reach
    return ends


@lru_cache(maxsize=4096)
def _allowed(n: int, tail: float) -> int:
    """Return how many of n values may lie beyond the end of the sign test's interval; -1: none."""
    total, term, count = 0.0, 0.5**n, -1
    for k in range(n + 1):
        total += term
        if total > tail + 1e-15:
            break
        count, term = k, term * (n - k) / (k + 1)
    return count


def _more_seeds(values: Array, tolerance: float, tail: float) -> int | None:
    """Return about how many seeds more would decide, if those to come are like these."""
    n = len(values)
    if n < FEWEST:
        return FEWEST - n
    within = int((values <= tolerance).sum())
    minor = min(within, n - within)
    share = (minor + 0.5) / (n + 1) if minor else 0.0
    for total in range(n + 1, MOST_SEEDS + 1):
        allowed = _allowed(total, tail)
        if allowed >= share * total or (minor == 0 and allowed < 0):
            return total - n
    return None


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
                ends = _factor_interval(own, other)
            done.append(replace(d, factor=d.cost / named.cost, factor_interval=ends))
        else:
            done.append(d)
    order = list(Verdict)

    def place(d: Decision) -> tuple[object, ...]:
        middle = math.inf if math.isnan(d.difference) else d.difference
        first = named is not None and d.solver == named.solver
        return order.index(d.verdict), not first, d.cost if d.as_good else middle, middle, d.solver

    return sorted(done, key=place)


def _factor_interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.asarray(a, dtype=np.float64)) - np.log(np.asarray(b, dtype=np.float64))
        low, high = shift_intervals(logs[~np.isnan(logs)][None], 1 - LEVEL)
        ends = np.exp([low[0], high[0]])
    return float(ends[0]), float(ends[1])

"""The rule of decision on one problem: which solvers are as good as the best, and at what cost.

The difference of two solvers on a seed is what one ends above the other, in units of the gap from
the common start to the best value seen on that seed. A solver is *as good as the best* where the
upper end of the interval of its typical (median) difference from whichever solver is truly best is
within the tolerance, and *worse* where the lower end is beyond it. All intervals of a problem hold
together, so that at most one problem in twenty has a wrong verdict: Bonferroni's correction over
the differences from the true best, whichever that is (Edwards and Hsu 1983, *JASA* 78).

The solver that ends lowest has to pass against each other one, without a correction for their
number (Gutmann and Maymin 1987, *Annals of Statistics* 15), and at `LEVEL_OF_LOWEST`: to fail, it
has to have come out lowest by chance and to pass by chance everywhere, which in simulations is much
rarer than `LEVEL` (`docs/decision.md`). To count it as as good untested would name a solver that is
not good enough on up to half of all noisy problems.

Upper ends are those of the sign test, which holds for any distribution, with ties and infinite
values; lower ends are those of Wilcoxon's signed-rank test. Where so few seeds have no such end,
from `FEWEST` on, it is the largest (smallest) difference seen, and at least that of Student's t:
then an error of a single comparison is below 1 in 2^n for any distribution, and the correction for
their number relies on t. Fewer seeds decide nothing. What is deterministic, so that all seeds are
copies of each other, is decided by its value: another seed would show it again. A solver with fewer
seeds, where others have enough, is undecided, and nobody is held against it: a race
(`orthobench.racing`) gave it up, or its runs are still to come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.stats.bootstrap import student_quantile
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


CostsTo: TypeAlias = Callable[[Sequence[float]], Mapping[str, Sequence[float]]]
"""Returns the cost of each run to the targets of the seeds."""


Decider: TypeAlias = Callable[..., "tuple[str | None, list[Decision]]"]
"""Decides under costs, what all runs took, and a tolerance."""


class Verdict(Enum):
    """What the seeds say of a solver on a problem."""

    AS_GOOD = "as good"
    """It is shown to end within the tolerance of the best solver."""
    UNDECIDED = "undecided"
    """Neither that nor the opposite is shown."""
    WORSE = "worse"
    """It is shown to end further above the best one."""
    FAILED = "failed"
    """Some of its runs failed."""
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
    cost : float
        Median over seeds of its cost to the tolerance; where some runs miss it, what all took, to
        there or to their ends, over the number of those that got there: the expected cost with
        restarts (Auger and Hansen 2005, *CEC*). Infinite where none gets there.
    factor : float
        Its cost over that of the cheapest that is as good; NaN where it is not as good itself.
    factor_interval : (float, float)
        The 95 % interval of that factor, paired over the seeds; NaN where a cost is with restarts.
    seeds : int
        Distinct seeds that it was run on.
    copies : int
        Seeds whose runs are copies of another one's, and do not count.
    n_failed : int
        Its failed runs.
    misses : int
        Its runs that do not get to the tolerance, failed ones among them.
    success : float
        The share of its runs that end at the best value seen, within `STRICT` of the gap.
    more_seeds : int, optional
        About so many seeds more would decide; None where none would, or it is decided.
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
    cost: float = math.inf
    factor: float = math.nan
    factor_interval: tuple[float, float] = (math.nan, math.nan)
    seeds: int = 0
    copies: int = 0
    n_failed: int = 0
    misses: int = 0
    success: float = math.nan
    more_seeds: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    @property
    def as_good(self) -> bool:
        """Whether it is as good as the best."""
        return self.verdict is Verdict.AS_GOOD

    @property
    def restarts(self) -> bool:
        """Whether its cost is that with restarts."""
        return self.misses > 0 and math.isfinite(self.cost)


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

    @property
    def cheapest(self) -> str | None:
        """The star: the solver that is as good as the best at the least cost."""
        good = self.as_good
        return good[0].solver if good else None

    @cached_property
    def as_good(self) -> tuple[Decision, ...]:
        """The decisions of the solvers that are as good as the best, by cost."""
        return tuple(d for d in self.decisions if d.as_good)

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
    costs: Mapping[str, Sequence[float]] | CostsTo,
    *,
    lowest: Sequence[float] | None = None,
    spent: Mapping[str, Sequence[float]] | None = None,
    identity: Mapping[str, Sequence[object]] | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[str | None, list[Decision]]:
    """Return the best solver of a problem, and what is decided of each; the numbers alone.

    Parameters
    ----------
    finals : mapping
        The final values of each solver, seed by seed, smaller is better; infinity is a run that
        failed, NaN one that was not run. All of one length.
    starts : sequence of float
        The common start of each seed.
    costs : mapping or callable
        The cost of each run to the tolerance, infinite where it does not get there; or what
        returns them for the target of each seed: what the best solver ends at there, and the
        tolerance of the gap above it.
    lowest : sequence of float, optional
        The best value seen on each seed; the smallest final value where it is not given.
    spent : mapping, optional
        The cost of each run to its end. Without it, the cost of a solver is the median also where
        runs miss the tolerance.
    identity : mapping, optional
        Of each run something that is equal for runs that are copies; start and final value where
        it is not given.
    tolerance : float
    """
    return decider(finals, starts, lowest=lowest, identity=identity)(costs, spent, tolerance)


def decider(
    finals: Mapping[str, Sequence[float]],
    starts: Sequence[float],
    *,
    lowest: Sequence[float] | None = None,
    identity: Mapping[str, Sequence[object]] | None = None,
) -> Decider:
    """Return the function that decides under costs and a tolerance; see `decide`.

    What depends on neither, the intervals of all pairs, is computed once.
    """
    names = list(finals)
    table = np.array([finals[name] for name in names], dtype=np.float64).reshape(-1, len(starts))
    start = np.asarray(starts, dtype=np.float64)
    seen = np.where(np.isfinite(table), table, np.inf).min(axis=0, initial=np.inf)
    seen = seen if lowest is None else np.fmin(seen, np.asarray(lowest, dtype=np.float64))
    rounding = ROUNDING * np.fmax(np.abs(start), np.where(np.isfinite(seen), np.abs(seen), 0.0))
    with np.errstate(invalid="ignore"):
        unit = np.fmax(start - seen, np.fmax(rounding, np.finfo(float).tiny))
    failed = np.isposinf(table).sum(axis=1)
    run = ~np.isnan(table)
    counts = run.sum(axis=1)
    enough = counts >= min(FEWEST, int(counts.max(initial=0)))
    sound = np.flatnonzero((failed == 0) & run.any(axis=1) & enough)
    groups = _identities(table, start, names, identity)
    with np.errstate(invalid="ignore"):
        shares = np.where(run & np.isfinite(table), (table - seen) / unit, np.inf)
    best = _lowest(shares, run, sound, names)
    ends = table[names.index(best)] if best else seen
    with np.errstate(invalid="ignore"):
        above_best = (table - ends) / unit
    reference = np.where(np.isnan(ends), seen, np.fmax(ends, seen))
    place = {int(i): at for at, i in enumerate(sound)}
    first = place[names.index(best)] if best else -1
    lows, highs, pairs = _against_best(table[sound], unit, rounding, groups[sound], first)

    def decided(
        costs: Mapping[str, Sequence[float]] | CostsTo,
        spent: Mapping[str, Sequence[float]] | None = None,
        tolerance: float = TOLERANCE,
    ) -> tuple[str | None, list[Decision]]:
        if callable(costs):
            costs = costs((reference + tolerance * unit).tolist())
        found = []
        for i, name in enumerate(names):
            own, distinct = run[i], len(set(groups[i][run[i]].tolist()))
            verdict, more, low, high = Verdict.FAILED, None, 0.0, math.inf
            if not own.any():
                verdict = Verdict.ABSENT
            elif i in place:
                low, high = float(lows[place[i]]), float(highs[place[i]])
                tail = LEVEL_OF_LOWEST if name == best else LEVEL / max(1, len(sound) - 1)
                verdict, more = _verdict(low, high, pairs[place[i]], tolerance, tail)
            elif not failed[i]:
                verdict, more = Verdict.UNDECIDED, FEWEST - int(counts[i])
            hits, above = np.asarray(costs[name])[own], above_best[i][~np.isnan(above_best[i])]
            whole = np.asarray(spent[name])[own] if spent else None
            found.append(Decision(
                name, verdict,
                difference=float(np.median(above)) if len(above) else math.nan,
                low=low, high=high,
                cost=expected_cost(hits, whole),
                seeds=distinct, copies=int(own.sum()) - distinct, n_failed=int(failed[i]),
                misses=int(np.isinf(hits).sum()) if spent else 0,
                success=float((shares[i][own] <= STRICT).mean()) if own.any() else math.nan,
                more_seeds=more,
            ))  # fmt: skip
        return best, _with_factors(found, costs)

    return decided


def expected_cost(hits: Array, whole: Array | None = None) -> float:
    """Return what it costs to get to a target: the median, or the mean with restarts.

    Parameters
    ----------
    hits : ndarray, shape (n,)
        The cost of each run to the target; infinite where it misses it.
    whole : ndarray, shape (n,), optional
        The cost of each run to its end; NaN, where it is not known, counts nothing.

    Returns
    -------
    float
        The median where no run misses; else what all runs took, to the target or to their ends,
        over the number of those that got there. Infinite where none does.
    """
    reached = np.isfinite(hits)
    if not reached.any():
        return math.inf
    if whole is None or reached.all():
        return float(np.median(hits))
    return float(np.nansum(np.where(reached, hits, whole)) / reached.sum())


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
    m, n = table.shape
    low, highs = np.zeros((m, m)), np.zeros(m)
    tail = LEVEL / max(1, m - 1)
    repeats = np.array([len(np.unique(own)) < n for own in groups], dtype=np.bool_)
    deciding: list[Array] = []
    for i in range(m):
        with np.errstate(invalid="ignore"):
            gaps = table[i] - table
        gaps = np.where(np.abs(gaps) <= rounding, 0.0, gaps) / unit
        counts = (~np.isnan(gaps)).sum(axis=1)
        if repeats[i]:  # both have to repeat theirs
            gaps[repeats] = _without_copies(gaps[repeats], groups[i], groups[repeats])
        alike = ((~np.isnan(gaps)).sum(axis=1) == 1) & (counts > 1)
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
        elif _allowed(n, tail) >= 0:
            ends[at] = shift_intervals(values, 1 - 2 * tail)[0]
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


def _verdict(
    low: float, high: float, pair: Array, tolerance: float, tail: float
) -> tuple[Verdict, int | None]:
    if high <= tolerance:
        return Verdict.AS_GOOD, None
    if low > tolerance:
        return Verdict.WORSE, None
    return Verdict.UNDECIDED, _more_seeds(pair, tolerance, tail)


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
    found: Sequence[Decision], costs: Mapping[str, Sequence[float]]
) -> list[Decision]:
    """Return the decisions in order, with factors of cost to the cheapest that is as good."""
    good = [d for d in found if d.as_good]
    cheapest = min(good, key=lambda d: (d.cost, d.high, d.solver), default=None)
    done = []
    for d in found:
        if d.as_good and cheapest and math.isfinite(cheapest.cost) and cheapest.cost > 0:
            ends = (math.nan, math.nan)
            if not (d.misses or cheapest.misses):
                ends = _factor_interval(costs[d.solver], costs[cheapest.solver])
            done.append(replace(d, factor=d.cost / cheapest.cost, factor_interval=ends))
        else:
            done.append(d)
    order = list(Verdict)

    def place(d: Decision) -> tuple[object, ...]:
        middle = math.inf if math.isnan(d.difference) else d.difference
        return order.index(d.verdict), d.cost if d.as_good else middle, middle, d.solver

    return sorted(done, key=place)


def _factor_interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.asarray(a, dtype=np.float64)) - np.log(np.asarray(b, dtype=np.float64))
        low, high = shift_intervals(logs[~np.isnan(logs)][None], 1 - LEVEL)
        ends = np.exp([low[0], high[0]])
    return float(ends[0]), float(ends[1])

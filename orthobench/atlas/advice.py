"""Advice: the method that an atlas names for data that it has not seen, with its evidence.

The rule: the problems of the family whose features differ from those of the data by less than a
factor of `NEAR` in each, the `NEIGHBOURS` nearest of them, are near. A solver stays if on each of
these it is `close` to the best. Of those that stay, the one with the smallest median factor to the
best is named, of equal ones the fastest. Where nothing is near, nobody stays, or the seeds show no
difference (`orthobench.stats.paired`), the atlas cannot tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.atlas.choice import close
from orthobench.atlas.features import Features
from orthobench.atlas.regimes import Compared, Regime
from orthobench.atlas.table import AtlasRow

NEAR = 8.0
"""The largest factor between features of data and those of a problem that is near them."""

NEIGHBOURS = 3
"""The most problems that are asked."""

EQUAL = 1.001
"""Median factors that differ by less are equal: the fastest is named."""

SMALL = 0.01
"""What is added to features that may be zero, before their ratios are taken."""


@dataclass(frozen=True)
class Near:
    """A problem of the atlas that was asked.

    Attributes
    ----------
    problem : str
        Its label.
    suite : str
    factor : float
        By how much the feature that differs most does; 1 for the same.
    best : str, optional
        Its best solver; None where nobody is.
    shown : bool
        Whether that one is shown to be ahead of every other.
    seeds : int
    """

    problem: str
    suite: str
    factor: float
    best: str | None
    shown: bool
    seeds: int


@dataclass(frozen=True)
class Candidate:
    """A solver that stays.

    Attributes
    ----------
    solver : str
    factor : float
        Its median factor to the best, over the problems asked.
    worst : float
        Its largest one.
    highest : float
        The upper end of the intervals of these, all of them.
    seconds : float
        The median time of its runs there.
    """

    solver: str
    factor: float
    worst: float
    highest: float
    seconds: float


@dataclass(frozen=True)
class Advice:
    """The advice in one regime.

    Attributes
    ----------
    regime : str
    solver : str
        The solver named; empty where the atlas cannot tell.
    why : str
        Why it cannot.
    candidates : tuple of Candidate
        Those that stay, the named one first.
    near : tuple of Near
        The problems asked, the nearest first.
    """

    regime: str
    solver: str
    why: str
    candidates: tuple[Candidate, ...]
    near: tuple[Near, ...]


Usable = Callable[[str], bool]


def difference(a: Features, b: Features) -> float:
    """Return the largest factor between the features of two data sets; unknown ones do not count.

    Features are the rows, d, k, the decay beyond 1, the noise, and the share of entries that are
    there. Infinite where none is known of both.
    """
    ratios = [x / y for x, y in zip(_positive(a), _positive(b), strict=True)]
    known = [ratio for ratio in ratios if ratio > 0]
    return max((max(ratio, 1 / ratio) for ratio in known), default=math.inf)


def _positive(one: Features) -> list[float]:
    """Return the numbers whose ratios count; NaN where unknown."""
    sizes = [float(size) if size > 0 else math.nan for size in (one.rows, one.d, one.k)]
    decay = max(one.decay - 1, 0.0) + SMALL if math.isfinite(one.decay) else math.nan
    return [*sizes, decay, one.noise + SMALL, 1 - one.sparsity + SMALL]


def features_in(row: AtlasRow) -> Features:
    """Return the features of the problem of a row; of samples that never end, those drawn."""
    drawn = int(row.samples) if math.isfinite(row.samples) else 0
    return Features(row.rows or drawn, row.d, row.k, row.decay, row.noise, row.sparsity)


def advise(
    problems: Sequence[Compared],
    features: Features,
    regime: Regime,
    usable: Usable = lambda _: True,
) -> Advice:
    """Return the advice for some data in a regime.

    Parameters
    ----------
    problems : sequence of Compared
        Those of one family in the atlas, in this regime.
    features : Features
        Those of the data.
    regime : Regime
    usable : callable
        Whether a solver, by its label, can take the data.
    """
    ordered = sorted(
        ((difference(features, features_in(one.rows[0])), one) for one in problems),
        key=lambda pair: (pair[0], pair[1].rows[0].contest),
    )
    near = [pair for pair in ordered if pair[0] <= NEAR][:NEIGHBOURS]
    if not near:
        least = f": the nearest differs by a factor of {ordered[0][0]:.3g}" if ordered else ""
        return Advice(regime.name, "", f"no problem of the atlas is near{least}", (), ())
    return _decided(near, regime, usable)


def about(problems: Iterable[Compared], regime: Regime) -> Advice:
    """Return the advice for problems that are in the atlas, all of which are asked."""
    return _decided([(1.0, one) for one in problems], regime, lambda _: True)


def hits(problems: Sequence[Compared], regime: Regime) -> tuple[int, int, int]:
    """Return how good the advice is on problems that it was not made from.

    Each problem is asked about with the others alone, without those of its name.

    Returns
    -------
    good, named, problems : int
        How often a solver was named that is `close` to the best, how often one was
        named, and how many problems there are.
    """
    good = named = 0
    for one in problems:
        others = [other for other in problems if other.contest.block != one.contest.block]
        advice = advise(others, features_in(one.rows[0]), regime, one.values.__contains__)
        named += bool(advice.solver)
        good += advice.solver in close(one)
    return good, named, len(problems)


def _decided(near: Sequence[tuple[float, Compared]], regime: Regime, usable: Usable) -> Advice:
    problems = tuple(_near(factor, one) for factor, one in near)
    asked = [one for _, one in near]
    if why := _undecided(asked):
        return Advice(regime.name, "", why, (), problems)
    staying = [name for name in set.intersection(*map(close, asked)) if usable(name)]
    if not staying:
        why = "no method is as good as the best on all problems near, unfailingly"
        return Advice(regime.name, "", why, (), problems)
    candidates = [_candidate(name, asked) for name in staying]
    least = min(one.factor for one in candidates)
    candidates.sort(key=lambda one: _order(one, least))
    return Advice(regime.name, candidates[0].solver, "", tuple(candidates), problems)


def _order(one: Candidate, least: float) -> tuple[float, float, str]:
    """Return the place of a candidate: by its factor, of those that equal the least by time."""
    equal = not one.factor > least * EQUAL
    return (0.0, one.seconds, one.solver) if equal else (one.factor, one.seconds, one.solver)


def _near(factor: float, one: Compared) -> Near:
    row, contest = one.rows[0], one.contest
    return Near(row.problem, row.suite, factor, contest.best, contest.shown, contest.seeds)


def _undecided(asked: Sequence[Compared]) -> str:
    """Return why the problems say nothing; empty where they do."""
    if all(one.contest.equal for one in asked):
        return "all methods end equal on the problems near: any will do"
    if all(one.contest.best is None for one in asked):
        return "every method failed on the problems near"
    if all(one.contest.undecidable or one.contest.equal for one in asked):
        return "the seeds are too few to show a difference on any problem near"
    return ""


def _candidate(solver: str, asked: Sequence[Compared]) -> Candidate:
    factors = [one.factors[solver] for one in asked]
    ends = [
        c.interval[1] for one in asked for c in one.contest.comparisons
        if c.other == solver and c.ratio
    ]  # fmt: skip
    seconds = [row.seconds for one in asked for row in one.rows if row.solver == solver]
    return Candidate(
        solver,
        float(np.median(factors)),
        max(factors),
        max(ends, default=1.0),
        float(np.median(seconds)),
    )

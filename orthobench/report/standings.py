"""Standings of solvers over the problems of a family: wins, mean ranks, factors to the best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.report.ranking import Ranked, rank, rounding_level
from orthobench.results.tuning import Entry
from orthobench.stats.paired import Comparison, compare_pairs
from orthobench.stats.ranks import Ranks, enough, mean_ranks, problem_ranks
from orthobench.tools.arrays import Array


@dataclass(frozen=True)
class Standing:
    """The standing of one solver in a family.

    Attributes
    ----------
    solver : str
    wins : int
        Problems on which it is best: the smallest median of the solvers without a failed run.
    close : int
        Problems on which its median difference from the best may be zero (95 % interval).
    problems : int
        Problems that it takes part in.
    rank : float
        Its mean rank on these, by the median, among all solvers that take part; ties share the
        mean of their ranks.
    factors : mapping
        For each problem, its median divided by that of the best solver, or by the smallest where
        no solver is best. It is 1 where the two are equal up to rounding, NaN where one of them is
        at rounding level or below, infinite where its own median is, and below 1 where its median
        is smaller than that of the best but some of its runs failed.
    failed, planned : int
        Runs with the chosen parameters.
    """

    solver: str
    wins: int
    close: int
    problems: int
    rank: float
    factors: Mapping[str, float]
    failed: int
    planned: int


@dataclass(frozen=True)
class ProblemResults:
    """The solvers on one problem, ranked and compared.

    Attributes
    ----------
    problem : str
    ranked : sequence of Ranked
        Those that take part, as `orthobench.report.ranking.rank` sorts them.
    comparisons : tuple of Comparison
        Those of all their pairs.
    places : mapping
        For each solver a whole number: a larger median has a larger one, and medians that are
        equal up to rounding have the same.
    ranks : mapping
        For each solver its rank by these.
    rounding : float
        The largest difference that counts as zero.
    """

    problem: str
    ranked: Sequence[Ranked]
    comparisons: tuple[Comparison, ...]
    places: Mapping[str, int]
    ranks: Mapping[str, float]
    rounding: float = 0.0

    @property
    def best(self) -> Ranked | None:
        """The best solver; None where each has failed runs."""
        return next((r for r in self.ranked if r.best), None)

    @property
    def winner(self) -> str | None:
        """The name of the best solver."""
        return self.best.entry.solver if self.best else None


def problem_results(problem: str, ranked: Sequence[Ranked]) -> ProblemResults:
    """Compare the solvers that take part in a problem."""
    if not ranked:
        return ProblemResults(problem, ranked, (), {}, {})
    names = [r.entry.solver for r in ranked]
    rounding = rounding_level([r.entry for r in ranked])
    places = _places(np.array([r.summary.median for r in ranked]), rounding)
    return ProblemResults(
        problem,
        ranked,
        tuple(_compared(ranked)),
        dict(zip(names, places.tolist(), strict=True)),
        dict(zip(names, problem_ranks(places).tolist(), strict=True)),
        rounding,
    )


def comparisons(entries: Sequence[Entry]) -> list[Comparison]:
    """Return the paired comparisons of all solvers that take part in one problem.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of one problem.

    Returns
    -------
    list of Comparison
        The best solver with all others, then the next, ...
    """
    taking_part = [entry for entry in entries if not entry.refused]
    return _compared(rank(taking_part)) if taking_part else []


def standings(problems: Sequence[ProblemResults]) -> list[Standing]:
    """Return the standing of each solver over some problems, best first."""
    solvers = dict.fromkeys(r.entry.solver for problem in problems for r in problem.ranked)
    return sorted(
        (_standing(solver, problems) for solver in solvers),
        key=lambda s: (-s.wins, s.rank, s.failed, s.solver),
    )


def tested_ranks(standings: Sequence[Standing], problems: Sequence[ProblemResults]) -> Ranks | None:
    """Return the mean ranks of the solvers that take part in all problems, with their tests.

    None where there are too few of them, or where problems share their runs.
    """
    complete = [s.solver for s in standings if s.problems == len(problems)]
    if share_runs(problems) or not enough(len(complete), len(problems)):
        return None
    return mean_ranks({name: [one.places[name] for one in problems] for name in complete})


def share_runs(problems: Sequence[ProblemResults]) -> bool:
    """Return whether some of the problems are the same runs, compared at several levels."""
    labels = [one.ranked[0].entry.facts.label for one in problems if one.ranked]
    return len(set(labels)) < len(labels)


def _compared(ranked: Sequence[Ranked]) -> list[Comparison]:
    values = {r.entry.solver: r.summary.values for r in ranked}
    return compare_pairs(values, rounding_level([r.entry for r in ranked]))


def _places(medians: Array, rounding: float) -> Array:
    """Return whole numbers in the order of medians; equal ones where only rounding differs."""
    order = np.argsort(medians)
    with np.errstate(invalid="ignore"):
        steps = np.diff(medians[order], prepend=medians[order][0]) > rounding
    places = np.empty(len(medians))
    places[order] = np.cumsum(steps)
    return places


def _standing(solver: str, problems: Sequence[ProblemResults]) -> Standing:
    own = [(problem, r) for problem in problems for r in problem.ranked if r.entry.solver == solver]
    return Standing(
        solver,
        wins=sum(r.best for _, r in own),
        close=sum(r.close for _, r in own),
        problems=len(own),
        rank=float(np.mean([problem.ranks[solver] for problem, _ in own])),
        factors={problem.problem: _factor(r, problem) for problem, r in own},
        failed=sum(r.summary.n_failed for _, r in own),
        planned=sum(len(r.summary.values) for _, r in own),
    )


def _factor(ranked: Ranked, problem: ProblemResults) -> float:
    best = problem.best or problem.ranked[0]
    median, least = ranked.summary.median, best.summary.median
    if math.isinf(median):
        return math.inf
    if problem.places[ranked.entry.solver] == problem.places[best.entry.solver]:
        return 1.0
    return median / least if min(median, least) > problem.rounding else math.nan

"""Standings of solvers over the problems of a family: wins, mean ranks, factors to the best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.report.ranking import Ranked
from orthobench.stats.paired import Comparison
from orthobench.stats.ranks import Ranks, block_means, enough, mean_ranks, problem_ranks
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
        Problems on which it may be the best as well: no difference from the best is shown, though
        the seeds could have shown one.
    problems : int
        Problems that it takes part in.
    rank : float
        Its mean rank on these, by the median, among all solvers that take part; ties share the
        mean of their ranks, and problems of one name share one block, whose ranks are averaged
        first.
    factors : mapping
        For each problem, the median over the seeds of its value divided by that of the best solver
        on the same seed, or of the first where nobody is best. NaN where values have no ratio, and
        infinite where its median is.
    failed, missing, planned : int
        Runs with the chosen parameters: those that failed, those not run yet, and all.
    """

    solver: str
    wins: int
    close: int
    problems: int
    rank: float
    factors: Mapping[str, float]
    failed: int
    missing: int
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
        Those of the best, or of the first where nobody is best, with each other one.
    places : mapping
        For each solver a whole number: a larger median has a larger one, and medians that are
        equal up to rounding have the same.
    ranks : mapping
        For each solver its rank by these.
    """

    problem: str
    ranked: Sequence[Ranked]
    comparisons: tuple[Comparison, ...]
    places: Mapping[str, int]
    ranks: Mapping[str, float]

    @property
    def block(self) -> str:
        """The name of the problem, without its parameters: its block in tests of ranks."""
        return self.ranked[0].entry.problem_info.name

    @property
    def best(self) -> Ranked | None:
        """The best solver; None where each has failed runs, or all end equal."""
        return next((r for r in self.ranked if r.best), None)

    @property
    def trivial(self) -> bool:
        """Whether all solvers end equal, up to rounding, on every seed."""
        return self.best is None and not self.ranked[0].summary.n_failed

    @property
    def winner(self) -> str | None:
        """The name of the best solver."""
        return self.best.entry.solver if self.best else None


def problem_results(problem: str, ranked: Sequence[Ranked]) -> ProblemResults:
    """Compare the solvers that take part in a problem."""
    if not ranked:
        return ProblemResults(problem, ranked, (), {}, {})
    names = [r.entry.solver for r in ranked]
    places = _places(np.array([r.summary.median for r in ranked]), ranked[0].rounding)
    return ProblemResults(
        problem,
        ranked,
        tuple(r.comparison for r in ranked if r.comparison),
        dict(zip(names, places.tolist(), strict=True)),
        dict(zip(names, problem_ranks(places).tolist(), strict=True)),
    )


def standings(problems: Sequence[ProblemResults]) -> list[Standing]:
    """Return the standing of each solver over some problems, best first."""
    solvers = dict.fromkeys(r.entry.solver for problem in problems for r in problem.ranked)
    return sorted(
        (_standing(solver, problems) for solver in solvers),
        key=lambda s: (s.rank, -s.wins, s.failed, s.solver),
    )


def tested_ranks(standings: Sequence[Standing], problems: Sequence[ProblemResults]) -> Ranks | None:
    """Return the mean ranks of the solvers that take part in all problems, with their tests.

    None where there are too few of them, or too few problems of different names: variants of one
    problem, and levels of the same runs, are not independent.
    """
    complete = [s.solver for s in standings if s.problems == len(problems)]
    blocks = [one.block for one in problems]
    if not enough(len(complete), len(set(blocks))):
        return None
    return mean_ranks({name: [one.places[name] for one in problems] for name in complete}, blocks)


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
        rank=float(
            block_means(
                np.array([problem.ranks[solver] for problem, _ in own]),
                [problem.block for problem, _ in own],
            ).mean()
        ),
        factors={problem.problem: _factor(r, problem) for problem, r in own},
        failed=sum(r.summary.n_failed for _, r in own),
        missing=sum(r.summary.n_missing for _, r in own),
        planned=sum(len(r.summary.values) for _, r in own),
    )


def _factor(ranked: Ranked, problem: ProblemResults) -> float:
    if math.isinf(ranked.summary.median):
        return math.inf
    ratios = [c.ratio for c in problem.comparisons]
    if ranked.comparison is None:
        return 1.0 if all(ratios) else math.nan
    return ranked.comparison.effect if all(ratios) else math.nan

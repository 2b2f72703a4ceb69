"""What a comparison found: who wins where, by how much, how sure that is, and what failed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.report.ranking import Ranked, rank, rounding
from orthobench.report.verdicts import (
    HOLM,
    NEAR,
    beats_all,
    factor,
    multiple,
    of_ranks,
    sentence,
    verdict,
)
from orthobench.report.words import clean, listed, plural
from orthobench.results.tuning import Entry
from orthobench.stats.paired import LEVEL, Comparison, compare_pairs
from orthobench.stats.ranks import PROBLEMS, SOLVERS, Ranks, enough, mean_ranks, problem_ranks
from orthobench.tools.arrays import Array

__all__ = ["Family", "Standing", "comparisons", "families", "sentence"]


@dataclass(frozen=True)
class Standing:
    """How one solver stands in a family.

    Attributes
    ----------
    solver : str
    wins : int
        Problems on which it is best: the smallest median of those of which no run failed.
    close : int
        Problems on which its median difference from the best may be zero (95 % interval).
    problems : int
        Problems that it took part in.
    rank : float
        Mean rank over these, among all that took part; by the median, ties share their ranks.
    factors : mapping
        For each problem, its median over that of the best, or where there is none over the
        smallest; 1 where only rounding tells them apart, NaN where that is no number (a median
        that is not above rounding), infinite where its median is. Below 1 where it had the
        smaller median, but failed runs.
    failed, planned : int
        Runs, of the chosen trials.
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
class Family:
    """What was found on the problems of one family.

    Attributes
    ----------
    name : str
    problems : tuple of str
    standings : tuple of Standing
        Best first: by wins, then by mean rank.
    ranks : Ranks, optional
        Of the solvers that take part in all problems, where there are `enough` of both.
    sentences : tuple of str
        The verdict in words: who wins where, by how much, how sure that is, and what failed.
    verdicts : mapping
        The same of each problem, in a few sentences.
    comparisons : mapping
        For each problem, the paired comparisons of all its solvers.
    """

    name: str
    problems: tuple[str, ...]
    standings: tuple[Standing, ...]
    ranks: Ranks | None
    sentences: tuple[str, ...]
    verdicts: Mapping[str, str]
    comparisons: Mapping[str, tuple[Comparison, ...]]


@dataclass(frozen=True)
class _Field:
    """One problem with its solvers, as they are ranked, and what was found there."""

    problem: str
    ranked: Sequence[Ranked]
    comparisons: tuple[Comparison, ...]
    places: Mapping[str, int]
    ranks: Mapping[str, float]
    rounding: float = 0.0

    @property
    def best(self) -> Ranked | None:
        return next((r for r in self.ranked if r.best), None)

    @property
    def winner(self) -> str | None:
        return self.best.entry.solver if self.best else None


def families(ranked: Sequence[Ranked]) -> list[Family]:
    """Return what was found in each family.

    Parameters
    ----------
    ranked : sequence of Ranked
        Of all problems: `orthobench.report.ranking.rank`. Solvers that take no part are left out.

    Notes
    -----
    Ranks are tested over complete blocks only: solvers that take part in all problems. The others
    are named with how many they take. The tests take problems as independent of one another; where
    levels make several of the same runs, they are left out.
    """
    found: dict[str, dict[str, list[Ranked]]] = {}
    for r in ranked:
        problems = found.setdefault(r.entry.facts.family, {})
        problems.setdefault(r.entry.problem, []).extend([] if r.entry.refused else [r])
    return [
        _family(name, [_field(*group) for group in problems.items()])
        for name, problems in found.items()
    ]


def comparisons(entries: Sequence[Entry]) -> list[Comparison]:
    """Return the paired comparisons of all solvers that take part in one problem.

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem.

    Returns
    -------
    list of Comparison
        Of the best solver with all others, then of the next, ...
    """
    taking_part = [entry for entry in entries if not entry.refused]
    return _compared(rank(taking_part)) if taking_part else []


def _compared(ranked: Sequence[Ranked]) -> list[Comparison]:
    values = {r.entry.solver: r.summary.values for r in ranked}
    return compare_pairs(values, rounding([r.entry for r in ranked]))


def _field(problem: str, ranked: Sequence[Ranked]) -> _Field:
    if not ranked:
        return _Field(problem, ranked, (), {}, {})
    names = [r.entry.solver for r in ranked]
    smallest = rounding([r.entry for r in ranked])
    places = _places(np.array([r.summary.median for r in ranked]), smallest)
    return _Field(
        problem,
        ranked,
        tuple(_compared(ranked)),
        dict(zip(names, places.tolist(), strict=True)),
        dict(zip(names, problem_ranks(places).tolist(), strict=True)),
        smallest,
    )


def _places(medians: Array, smallest: float) -> Array:
    """Return whole numbers in the order of medians, equal where only rounding tells apart."""
    order = np.argsort(medians)
    with np.errstate(invalid="ignore"):
        steps = np.diff(medians[order], prepend=medians[order][0]) > smallest
    places = np.empty(len(medians))
    places[order] = np.cumsum(steps)
    return places


def _family(name: str, fields: Sequence[_Field]) -> Family:
    solvers = dict.fromkeys(r.entry.solver for field in fields for r in field.ranked)
    standings = sorted(
        (_standing(solver, fields) for solver in solvers),
        key=lambda s: (-s.wins, s.rank, s.failed, s.solver),
    )
    ranks = _ranks(standings, fields)
    verdicts = {field.problem: verdict(field.ranked, field.comparisons) for field in fields}
    told = [*verdicts.values()] if len(fields) == 1 else _over_problems(standings, fields)
    return Family(
        name,
        tuple(verdicts),
        tuple(standings),
        ranks,
        (*told, *_ranking(ranks, standings, fields), *_failures(standings, _not_chosen(fields))),
        verdicts,
        {field.problem: field.comparisons for field in fields},
    )


def _standing(solver: str, fields: Sequence[_Field]) -> Standing:
    own = [(field, r) for field in fields for r in field.ranked if r.entry.solver == solver]
    return Standing(
        solver,
        wins=sum(r.best for _, r in own),
        close=sum(r.close for _, r in own),
        problems=len(own),
        rank=float(np.mean([field.ranks[solver] for field, _ in own])),
        factors={field.problem: _factor(r, field) for field, r in own},
        failed=sum(r.summary.n_failed for _, r in own),
        planned=sum(len(r.summary.values) for _, r in own),
    )


def _factor(ranked: Ranked, field: _Field) -> float:
    best = field.best or field.ranked[0]
    median, least = ranked.summary.median, best.summary.median
    if math.isinf(median):
        return math.inf
    if field.places[ranked.entry.solver] == field.places[best.entry.solver]:
        return 1.0
    return median / least if min(median, least) > field.rounding else math.nan


def _ranks(standings: Sequence[Standing], fields: Sequence[_Field]) -> Ranks | None:
    complete = [s.solver for s in standings if s.problems == len(fields)]
    if _share_runs(fields) or not enough(len(complete), len(fields)):
        return None
    return mean_ranks({name: [field.places[name] for field in fields] for name in complete})


def _share_runs(fields: Sequence[_Field]) -> bool:
    """Return whether the same runs are compared at several levels, as several problems."""
    runs = [field.ranked[0].entry.facts.label for field in fields if field.ranked]
    return len(set(runs)) < len(runs)


def _over_problems(standings: Sequence[Standing], fields: Sequence[_Field]) -> list[str]:
    """Return who wins where, how sure that is and by how much, over several problems."""
    winners = [s for s in standings if s.wins]
    if not winners:
        return [f"On none of {len(fields)} problems is there a solver of which no run failed."]
    counts = [f"{clean(s.solver)} on {s.wins}" for s in winners]
    counts[0] += f" of {plural(len(fields), 'problem')}"
    first = f"Smallest median without a failed run: {listed(counts)}."
    return [first, *_how_sure(winners, fields), *_how_much(winners[0].solver, fields)]


def _how_sure(winners: Sequence[Standing], fields: Sequence[_Field]) -> list[str]:
    """Return on how many problems the best is shown to end lower than every other."""
    contested = [field for field in fields if field.comparisons]
    if not contested:
        return []
    blind = [field for field in contested if field.comparisons[0].attainable >= LEVEL]
    text = f"Shown to end lower than every other solver ({HOLM} on each problem): "
    if len(blind) == len(contested):
        one = all(len(field.ranked[0].entry.seeds) == 1 for field in contested)
        why = "one seed shows no" if one else "the seeds are too few to show any"
        return [f"{text}nobody, since {why} difference."]
    told: list[str] = []
    for s in winners:
        own = [field for field in contested if field.winner == s.solver]
        shown = sum(beats_all(field.comparisons, s.solver) for field in own)
        told += [f"{clean(s.solver)} on {shown} of its {s.wins}"] if shown else []
    text += listed(told) if told else "nobody, on any problem"
    few = f"; on {len(blind)} the seeds are too few to show any difference" if blind else ""
    return [f"{text}{few}."]


def _how_much(solver: str, fields: Sequence[_Field]) -> list[str]:
    """Return how many times as high the second's median is, where a solver is best."""
    found = [factor(field.ranked) for field in fields if field.winner == solver]
    times = sorted(one[0] for one in found if one and math.isfinite(one[0]))
    if not times or len(times) < len(found) or times[-1] < 1 + NEAR:
        return []
    span = dict.fromkeys(map(multiple, (times[0], times[-1])))
    where = f"Where {clean(solver)} is first, the median of the second is"
    return [f"{where} {' to '.join(span)} times as high."]


def _ranking(
    ranks: Ranks | None, standings: Sequence[Standing], fields: Sequence[_Field]
) -> list[str]:
    """Return what the mean ranks show, or why they are not tested."""
    if len(fields) == 1 or len(standings) < 2:
        return []
    partial = [s for s in standings if s.problems < len(fields)]
    if _share_runs(fields):
        return ["Mean ranks are not tested: problems at several levels share their runs."]
    everywhere = plural(len(standings) - len(partial), "solver")
    if ranks is None:
        needed = f"tests of ranks need at least {SOLVERS} solvers on {PROBLEMS} problems"
        here = f"{everywhere} on all {plural(len(fields), 'problem')}"
        return [f"Mean ranks are not tested: {needed}, here are {here}."]
    if not partial:
        return [of_ranks(ranks)]
    named = listed([f"{clean(s.solver)} ({s.problems})" for s in partial])
    left_out = (
        f"Left out of mean ranks, for not taking part in all {len(fields)} problems: {named}."
    )
    return [of_ranks(ranks), left_out]


def _not_chosen(fields: Sequence[_Field]) -> int:
    """Return how many runs failed of trials that tuning did not choose; each counts once."""
    failed = {
        record.key
        for field in fields
        for r in field.ranked
        for trial in r.entry.trials if trial.tuned != r.entry.chosen
        for record in trial.records if record.failed
    }  # fmt: skip
    return len(failed)


def _failures(standings: Sequence[Standing], not_chosen: int) -> list[str]:
    if not standings:
        return []
    worst = sorted((s for s in standings if s.failed), key=lambda s: -s.failed)
    failed = [f"{clean(s.solver)} {s.failed} of {plural(s.planned, 'run')}" for s in worst]
    told = f"Failed: {listed(failed)}." if failed else "No run failed."
    if not_chosen:
        told = told if failed else "No run with the chosen parameters failed."
        told += f" Failed with parameters that were not chosen: {plural(not_chosen, 'run')}."
    return [told]

"""Conclusions about each family: standings, tests of ranks, and sentences about its problems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orthobench.report.formatting import clean, listed, plural
from orthobench.report.ranking import Ranked
from orthobench.report.sentences import (
    HOLM,
    NEAR,
    beats_all,
    factor,
    factor_text,
    ranks_sentence,
    verdict,
)
from orthobench.report.standings import (
    ProblemResults,
    Standing,
    problem_results,
    share_runs,
    standings,
    tested_ranks,
)
from orthobench.stats.paired import LEVEL, Comparison
from orthobench.stats.ranks import PROBLEMS, SOLVERS, Ranks


@dataclass(frozen=True)
class Family:
    """The conclusions about the problems of one family.

    Attributes
    ----------
    name : str
    problems : tuple of str
    standings : tuple of Standing
        Best first: by wins, then by mean rank.
    ranks : Ranks, optional
        Mean ranks of the solvers that take part in all problems, if there are enough of both.
    sentences : tuple of str
        The conclusions: which solver wins where, by how much, how sure that is, and what failed.
    verdicts : mapping
        The same about each problem, in a few sentences.
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


def conclusions(ranked: Sequence[Ranked]) -> list[Family]:
    """Return the conclusions about each family.

    Parameters
    ----------
    ranked : sequence of Ranked
        All entries, ranked: `orthobench.report.ranking.rank`. Solvers that do not take part in a
        problem are left out there.

    Notes
    -----
    Ranks are tested over complete blocks only: the solvers that take part in all problems. The
    other solvers are named, with the number of their problems. The tests assume that problems are
    independent, so there are none where several problems are the same runs at several levels.
    """
    groups: dict[str, dict[str, list[Ranked]]] = {}
    for r in ranked:
        problems = groups.setdefault(r.entry.facts.family, {})
        problems.setdefault(r.entry.problem, []).extend([] if r.entry.refused else [r])
    return [
        _family(name, [problem_results(*group) for group in problems.items()])
        for name, problems in groups.items()
    ]


def _family(name: str, problems: Sequence[ProblemResults]) -> Family:
    ranking = standings(problems)
    ranks = tested_ranks(ranking, problems)
    verdicts = {one.problem: verdict(one.ranked, one.comparisons) for one in problems}
    about_medians = (
        list(verdicts.values()) if len(problems) == 1 else _over_problems(ranking, problems)
    )
    about_ranks = _about_ranks(ranks, ranking, problems)
    return Family(
        name,
        tuple(verdicts),
        tuple(ranking),
        ranks,
        (*about_medians, *about_ranks, *_about_failures(ranking, problems)),
        verdicts,
        {one.problem: one.comparisons for one in problems},
    )


def _over_problems(standings: Sequence[Standing], problems: Sequence[ProblemResults]) -> list[str]:
    """Return who wins where, how sure that is and by how much, over several problems."""
    winners = [s for s in standings if s.wins]
    if not winners:
        return [f"On each of the {len(problems)} problems every solver has failed runs."]
    counts = [f"{clean(s.solver)} on {s.wins}" for s in winners]
    counts[0] += f" of {plural(len(problems), 'problem')}"
    wins = f"Smallest median without a failed run: {listed(counts)}."
    return [wins, *_how_sure(winners, problems), *_how_much(winners[0].solver, problems)]


def _how_sure(winners: Sequence[Standing], problems: Sequence[ProblemResults]) -> list[str]:
    """Return on how many problems the best is shown to end lower than every other solver."""
    contested = [one for one in problems if one.comparisons]
    if not contested:
        return []
    too_few = [one for one in contested if one.comparisons[0].attainable >= LEVEL]
    text = f"Shown to end lower than every other solver ({HOLM} on each problem): "
    if len(too_few) == len(contested):
        one_seed = all(len(one.ranked[0].entry.seeds) == 1 for one in contested)
        why = "one seed shows no" if one_seed else "the seeds are too few to show any"
        return [f"{text}nobody, since {why} difference."]
    counts: list[str] = []
    for s in winners:
        own = [one for one in contested if one.winner == s.solver]
        shown = sum(beats_all(one.comparisons, s.solver) for one in own)
        counts += [f"{clean(s.solver)} on {shown} of its {s.wins}"] if shown else []
    text += listed(counts) if counts else "nobody, on any problem"
    few = f"; on {len(too_few)} the seeds are too few to show any difference" if too_few else ""
    return [f"{text}{few}."]


def _how_much(solver: str, problems: Sequence[ProblemResults]) -> list[str]:
    """Return how many times as high the second's median is, where a solver is best."""
    factors = [factor(one.ranked) for one in problems if one.winner == solver]
    ratios = sorted(value for value, _ in filter(None, factors) if math.isfinite(value))
    if not ratios or len(ratios) < len(factors) or ratios[-1] < 1 + NEAR:
        return []
    span = dict.fromkeys(map(factor_text, (ratios[0], ratios[-1])))
    where = f"Where {clean(solver)} is first, the median of the second is"
    return [f"{where} {' to '.join(span)} times as high."]


def _about_ranks(
    ranks: Ranks | None, standings: Sequence[Standing], problems: Sequence[ProblemResults]
) -> list[str]:
    """Return what the mean ranks show, or why they are not tested."""
    if len(problems) == 1 or len(standings) < 2:
        return []
    partial = [s for s in standings if s.problems < len(problems)]
    if share_runs(problems):
        return ["Mean ranks are not tested: problems at several levels share their runs."]
    everywhere = plural(len(standings) - len(partial), "solver")
    if ranks is None:
        needed = f"tests of ranks need at least {SOLVERS} solvers on {PROBLEMS} problems"
        here = f"{everywhere} on all {plural(len(problems), 'problem')}"
        return [f"Mean ranks are not tested: {needed}, here are {here}."]
    if not partial:
        return [ranks_sentence(ranks)]
    named = listed([f"{clean(s.solver)} ({s.problems})" for s in partial])
    left_out = (
        f"Left out of mean ranks, for not taking part in all {len(problems)} problems: {named}."
    )
    return [ranks_sentence(ranks), left_out]


def _about_failures(standings: Sequence[Standing], problems: Sequence[ProblemResults]) -> list[str]:
    """Return how many runs failed, of the chosen parameters and of those not chosen."""
    if not standings:
        return []
    worst = sorted((s for s in standings if s.failed), key=lambda s: -s.failed)
    failed = [f"{clean(s.solver)} {s.failed} of {plural(s.planned, 'run')}" for s in worst]
    text = f"Failed: {listed(failed)}." if failed else "No run failed."
    if not_chosen := _failed_not_chosen(problems):
        text = text if failed else "No run with the chosen parameters failed."
        text += f" Failed with parameters that were not chosen: {plural(not_chosen, 'run')}."
    return [text]


def _failed_not_chosen(problems: Sequence[ProblemResults]) -> int:
    """Return how many runs of trials that tuning did not choose failed; each counts once."""
    failed = {
        record.key
        for problem in problems
        for r in problem.ranked
        for trial in r.entry.trials if trial.tuned != r.entry.chosen
        for record in trial.records if record.failed
    }  # fmt: skip
    return len(failed)

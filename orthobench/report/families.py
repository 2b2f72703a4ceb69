"""Conclusions about each family: standings, tests of ranks, and sentences about its problems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orthobench.report.formatting import clean, listed, plural
from orthobench.report.ranking import Ranked
from orthobench.report.sentences import (
    HOLM,
    LARGEST,
    NEAR,
    beats_all,
    factor_text,
    nearest,
    ranks_sentence,
    verdict,
    wins_text,
)
from orthobench.report.standings import (
    ProblemResults,
    Standing,
    problem_results,
    standings,
    tested_ranks,
)
from orthobench.stats.paired import Comparison, Decision
from orthobench.stats.ranks import PROBLEMS, SOLVERS, Ranks
from orthobench.tools.collections import grouped


@dataclass(frozen=True)
class Family:
    """The conclusions about the problems of one family.

    Attributes
    ----------
    name : str
    problems : tuple of str
    standings : tuple of Standing
        By mean rank, then by wins.
    ranks : Ranks, optional
        Mean ranks of the solvers that take part in all problems, if there are enough of both.
    sentences : tuple of str
        The conclusions: which solver wins where, by how much, how sure that is, and what failed.
    verdicts : mapping
        The same about each problem, in a few sentences.
    comparisons : mapping
        For each problem, the comparisons of its best solver with each other one.
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
    other solvers are named, with the number of their problems. The tests assume that blocks are
    independent, so variants of one problem share one, and so do the same runs at several levels.
    """
    families = grouped(
        (r for r in ranked if not r.entry.refused), lambda r: r.entry.problem_info.family
    )
    names = dict.fromkeys(r.entry.problem_info.family for r in ranked)
    return [_family(name, ranked, families.get(name, [])) for name in names]


def _family(name: str, everyone: Sequence[Ranked], taking_part: Sequence[Ranked]) -> Family:
    labels = dict.fromkeys(r.entry.problem for r in everyone if r.entry.problem_info.family == name)
    begun = grouped((r for r in taking_part if r.entry.finished), lambda r: r.entry.problem)
    waiting = {r.entry.problem for r in taking_part} - set(begun)
    problems = [problem_results(*group) for group in begun.items()]
    ranking = standings(problems)
    ranks = tested_ranks(ranking, problems)
    verdicts = {
        label: "No run is finished yet." if label in waiting else verdict(begun.get(label, ()))
        for label in labels
    }
    several = len(labels) > 1 and problems
    about_medians = _over_problems(ranking, problems) if several else list(verdicts.values())[:1]
    return Family(
        name,
        tuple(labels),
        tuple(ranking),
        ranks,
        (
            *about_medians,
            *_about_ranks(ranks, ranking, problems),
            *_about_failures(ranking, problems),
            *_about_missing(taking_part),
        ),
        verdicts,
        {one.problem: one.comparisons for one in problems},
    )


def _over_problems(standings: Sequence[Standing], problems: Sequence[ProblemResults]) -> list[str]:
    """Return who wins where, how sure that is and by how much, over several problems."""
    winners = sorted((s for s in standings if s.wins), key=lambda s: -s.wins)
    trivial = sum(one.trivial for one in problems)
    alike = f"On {plural(trivial, 'problem')} all solvers end equal, up to rounding."
    if not winners:
        failing = f"On each of the {len(problems)} problems every solver has failed runs."
        return [alike if trivial else failing]
    wins = wins_text({s.solver: s.wins for s in winners}, len(problems))
    first = f"Smallest median without a failed run: {wins}."
    sure, much = _how_sure(winners, problems), _how_much(winners, problems)
    return [first, *sure, *much, *([alike] if trivial else [])]


def _how_sure(winners: Sequence[Standing], problems: Sequence[ProblemResults]) -> list[str]:
    """Return on how many problems the best is shown to end lower than every other solver."""
    contested = [one for one in problems if one.best and one.comparisons]
    if not contested:
        return []
    hidden = sum(map(_undecidable, contested))
    text = f"Shown to end lower than every other solver ({LARGEST}): "
    if hidden == len(contested):
        one_seed = all(c.n <= 1 for one in contested for c in one.comparisons)
        why = "one seed shows no" if one_seed else "the seeds are too few to show any"
        return [f"{text}nobody, since {why} difference."]
    counts: list[str] = []
    for s in winners:
        own = [one for one in contested if one.winner == s.solver]
        shown = sum(beats_all(one.ranked) for one in own)
        counts += [f"{clean(s.solver)} on {shown} of its {s.wins}"] if shown else []
    everyone = "on each of these problems" if len(contested) > 1 else "on this problem"
    everywhere = all(beats_all(one.ranked) for one in contested)
    text += everyone if everywhere else listed(counts) if counts else "nobody, on any problem"
    few = f"; on {hidden} the seeds are too few to show any difference" if hidden else ""
    decisions = [c.decision for one in contested for c in one.comparisons]
    behind = f"{decisions.count(Decision.BEHIND)} of the {len(decisions)} others"
    return [f"{text}{few}.", f"Shown not to be the best ({HOLM} on each problem): {behind}."]


def _undecidable(one: ProblemResults) -> bool:
    """Return whether the seeds of a problem could not have shown any difference."""
    ways = {c.decision for c in one.comparisons}
    return Decision.UNDECIDABLE in ways <= {Decision.UNDECIDABLE, Decision.EQUAL}


def _how_much(winners: Sequence[Standing], problems: Sequence[ProblemResults]) -> list[str]:
    """Return how many times as high the nearest solver ends where the leader is best, if any."""
    tied = any(s.wins == winners[0].wins for s in winners[1:])
    leader = None if tied else winners[0].solver
    won = [one for one in problems if one.winner and leader in (one.winner, None)]
    found = [c for c in (nearest(one.comparisons) for one in won) if c is not None]
    factors = [c.effect if c.ratio else math.inf for c in found]
    if not factors or math.isinf(max(factors)) or max(factors) < 1 + NEAR:
        return []
    span = " to ".join(dict.fromkeys(map(factor_text, (min(factors), max(factors)))))
    where = f"Where {clean(leader)} is first, the" if leader else "The"
    return [f"{where} nearest other solver ends {span} times as high in the median over the seeds."]


def _about_ranks(
    ranks: Ranks | None, standings: Sequence[Standing], problems: Sequence[ProblemResults]
) -> list[str]:
    """Return what the mean ranks show, or why they are not tested."""
    if len(problems) < 2 or len(standings) < 2:
        return []
    partial = [s for s in standings if s.problems < len(problems)]
    blocks = len({one.block for one in problems})
    everywhere = plural(len(standings) - len(partial), "solver")
    if ranks is None:
        needed = f"tests of ranks need at least {SOLVERS} solvers on {PROBLEMS} problems"
        here = f"{everywhere} on all {plural(len(problems), 'problem')}"
        alike = f", variants of {blocks}" if blocks < len(problems) else ""
        return [f"Mean ranks are not tested: {needed}, here are {here}{alike}."]
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
    failed = [
        f"{clean(s.solver)} {s.failed} of {plural(s.planned - s.missing, 'run')}" for s in worst
    ]
    text = f"Failed: {listed(failed)}." if failed else "No run failed."
    if not_chosen := _failed_not_chosen(problems):
        text = text if failed else "No run with the chosen parameters failed."
        text += f" Failed with parameters that were not chosen: {plural(not_chosen, 'run')}."
    return [text]


def _about_missing(taking_part: Sequence[Ranked]) -> list[str]:
    """Return how many runs of whom were not run yet."""
    waiting: dict[str, list[Ranked]] = grouped(taking_part, lambda r: clean(r.entry.solver))
    counts = {name: sum(r.summary.n_missing for r in own) for name, own in waiting.items()}
    planned = {name: sum(len(r.entry.seeds) for r in own) for name, own in waiting.items()}
    parts = [f"{name} {n} of {plural(planned[name], 'run')}" for name, n in counts.items() if n]
    return [f"Not run yet, and not counted: {listed(parts)}."] if parts else []


def _failed_not_chosen(problems: Sequence[ProblemResults]) -> int:
    """Return how many runs of trials that tuning did not choose failed; each counts once."""
    failed = {
        record.key
        for problem in problems
        for r in problem.ranked
        for trial in r.entry.trials if trial.tuned != r.entry.best_parameters
        for record in trial.records
        if record.failed
    }  # fmt: skip
    return len(failed)

"""Answers: for each regime, which solver is best on how many problems, and how sure that is.

A regime is what counts: the final value within the budget, or the least of one cost up to a target.
All are decided by `orthobench.stats.paired.compare_to_best`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.report.formatting import clean, listed, plural
from orthobench.report.plots.families import costs
from orthobench.report.ranking import Ranked
from orthobench.report.sentences import (
    INTERVAL,
    effect_text,
    factor_phrase,
    factor_text,
    interval_text,
    nearest,
    too_few,
    wins_text,
)
from orthobench.report.standings import problem_results
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.paired import Comparison, Decision, compare_to_best
from orthobench.stats.targets import RunMatrix
from orthobench.tools.collections import grouped

REACHED = 1e-2
"""The part of the gap between the start and the best value that may be left at the target."""

REGIMES: Mapping[str, tuple[str, str]] = {
    "samples": ("Fewest samples", "needs {} times as many samples"),
    "seconds": ("Least time", "takes {} times as long"),
    "flops": ("Least flops", "needs {} times as many flops"),
}
"""The costs that count, with the names of their regimes and how a factor of them reads."""


FAILED = "Nobody: every solver has failed runs on each problem"
MISSED = "Nobody: no solver gets there on every seed of a problem"
"""The answers where no solver is best on any problem."""


@dataclass(frozen=True)
class Contest:
    """The solvers of one problem in one regime.

    Attributes
    ----------
    block : str
        The name of the problem, without its parameters.
    best : str, optional
        None where no solver is best: all have failed runs, or all end equal.
    comparisons : tuple of Comparison
        Those of the best, or of the first, with each other solver.
    seeds : int
        On which solvers were run.
    equal : bool
        Whether all solvers end equal.
    """

    block: str
    best: str | None
    comparisons: tuple[Comparison, ...]
    seeds: int
    equal: bool

    @property
    def shown(self) -> bool:
        """Whether the best is shown to be better than each other solver, but for equal ones."""
        ways = {c.decision for c in self.comparisons}
        return self.best is not None and Decision.BEHIND in ways <= {
            Decision.BEHIND,
            Decision.EQUAL,
        }

    @property
    def undecidable(self) -> bool:
        """Whether the seeds could not have shown any difference."""
        ways = {c.decision for c in self.comparisons}
        return Decision.UNDECIDABLE in ways <= {Decision.UNDECIDABLE, Decision.EQUAL}

    @property
    def nearest(self) -> Comparison | None:
        """The comparison with the solver that comes next."""
        return nearest(self.comparisons)


@dataclass(frozen=True)
class Answer:
    """The answer in one regime.

    Attributes
    ----------
    regime : str
        What counts: ``"Least time"``.
    answer : str
        Which solver is best on how many problems.
    sure : str
        How sure that is, by how much, on how many seeds and problems.
    solver : str
        The solver that is best on the most problems, or one of them; empty where none is on any.
    """

    regime: str
    answer: str
    sure: str
    solver: str


def answers(
    entries: Sequence[SolverResult], ranked: Sequence[Ranked], runs: RunMatrix
) -> list[Answer]:
    """Return the answer of one family in each regime; none where no run is finished.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of the family.
    ranked : sequence of Ranked
        Those of them that take part and are begun, ranked.
    runs : RunMatrix
        Their runs.
    """
    if not ranked:
        return []
    known = {entry.problem: entry.problem_info.name for entry in entries}
    offered = costs(entries) if any(r.summary.n_ok for r in ranked) else ()
    return [lowest(ranked)] + [
        summarize(regime, factor, _of_cost(runs, cost, known), MISSED)
        for cost, (regime, factor) in REGIMES.items()
        if cost in offered
    ]


def lowest(ranked: Sequence[Ranked]) -> Answer:
    """Return the answer of one family in the regime of the final value.

    Parameters
    ----------
    ranked : sequence of Ranked
        The entries of the family that take part and are begun, at least one.
    """
    metric = clean(ranked[0].entry.problem_info.primary.replace("_", " "))
    return summarize(f"Lowest {metric}", "ends {} times as high", _finals(ranked), FAILED)


def _finals(ranked: Sequence[Ranked]) -> list[Contest]:
    """Return the contests of the final value, as the ranking decides them."""
    groups = grouped(ranked, lambda r: r.entry.problem)
    found = [problem_results(problem, own) for problem, own in groups.items()]
    return [
        Contest(one.block, one.winner, one.comparisons, _seeds(one.ranked), one.trivial)
        for one in found
    ]


def _seeds(ranked: Sequence[Ranked]) -> int:
    return max(r.summary.n_ok + r.summary.n_failed for r in ranked)


def _of_cost(runs: RunMatrix, cost: str, blocks: Mapping[str, str]) -> list[Contest]:
    """Return the contests of one cost up to the target; one that is never reached is a failure."""
    table, absent = runs.costs(cost, REACHED), set(runs.absent)
    found = []
    for problem in dict.fromkeys(problem for problem, _ in runs.instances):
        at = [i for i, (name, _) in enumerate(runs.instances) if name == problem]
        values = {
            solver: row[at].tolist()
            for solver, row in zip(runs.solvers, table, strict=True)
            if (solver, problem) not in absent
        }
        if values:
            found.append(contest(blocks[problem], values))
    return found


def contest(
    block: str,
    values: Mapping[str, Sequence[float]],
    rounding: float = 0.0,
    seconds: Mapping[str, float] | None = None,
) -> Contest:
    """Return who is best: the smallest median of those without a failure, as in the ranking.

    Parameters
    ----------
    block : str
        The name of the problem, without its parameters.
    values : mapping
        The values of each solver, seed by seed: `orthobench.stats.paired.compare_to_best`.
    rounding : float
        Differences of at most this count as zero.
    seconds : mapping, optional
        The time of each solver: of those whose medians equal the smallest, the fastest is best.
    """
    medians = {solver: float(quantiles(row, 0.5)) for solver, row in values.items()}
    without = [solver for solver in values if np.isfinite(values[solver]).all()]
    least, spent = min((medians[solver] for solver in without), default=math.inf), seconds or {}

    def place(solver: str) -> tuple[float, int, float]:
        failed = int(np.isinf(values[solver]).sum())
        if abs(medians[solver] - least) <= rounding:
            return least, failed, spent.get(solver, 0.0)
        return medians[solver], failed, 0.0

    order = sorted(values, key=place)
    sound = [solver for solver in order if solver in without]
    comparisons = compare_to_best(values, (sound or order)[0], rounding)
    equal = bool(comparisons) and all(c.decision is Decision.EQUAL for c in comparisons)
    best = sound[0] if sound and not equal else None
    return Contest(block, best, tuple(comparisons), len(values[order[0]]), equal and bool(sound))


def summarize(
    regime: str, factor: str, contests: Sequence[Contest], nobody: str = MISSED
) -> Answer:
    """Return the answer that some contests give.

    Parameters
    ----------
    regime : str
    factor : str
        How a factor of what counts reads: ``"takes {} times as long"``.
    contests : sequence of Contest
    nobody : str
        The answer where no solver is best on any.
    """
    wins = Counter(one.best for one in contests if one.best is not None)
    size = _size(contests)
    if not wins:
        return Answer(regime, _nobody(contests, nobody), size, "")
    (first, most), *others = wins.most_common()
    leader = None if any(count == most for _, count in others) else first
    sure = " ".join([*_how_sure(contests), *_how_much(leader, factor, contests), size])
    return Answer(regime, _who(wins, len(contests)), sure, first)


def _who(wins: Mapping[str, int], problems: int) -> str:
    """Return which solver is best on how many problems."""
    first = max(wins, key=lambda name: wins[name])
    if problems == 1:
        return clean(first)
    if wins[first] == problems:
        return f"{clean(first)}, on all {problems} problems"
    nobody = problems - sum(wins.values())
    rest = f"; nobody on {nobody}" if nobody else ""
    return f"No solver everywhere: {wins_text(wins, problems, 2)}{rest}"


def _nobody(contests: Sequence[Contest], otherwise: str) -> str:
    if contests and all(one.equal for one in contests):
        return "No difference: all solvers end equal, up to rounding"
    return otherwise


def _how_sure(contests: Sequence[Contest]) -> list[str]:
    """Return on how many problems the best is shown to be better than every other solver."""
    contested = [one for one in contests if one.best and one.comparisons]
    if not contested:
        return []
    if all(one.undecidable for one in contested):
        few = next(c for c in contested[0].comparisons if c.decision is Decision.UNDECIDABLE)
        return [f"Not decidable: {too_few(few)}."]
    shown = sum(one.shown for one in contested)
    if len(contests) == 1:
        return [_one_decision(contested[0])]
    if not shown:
        return ["On none of them is the best one shown to be ahead of every other solver."]
    where = "all" if shown == len(contests) else str(shown)
    return [f"The best one is shown to be ahead of every other solver on {where} of them."]


def _one_decision(contest: Contest) -> str:
    if contest.shown:
        return "Shown to be ahead of every other solver."
    if near := _others(contest, Decision.OPEN, Decision.UNDECIDABLE):
        return f"No difference is shown from {listed(near, 2)}."
    ahead = _others(contest, Decision.AHEAD)
    return f"Shown to be ahead where they do not fail: {listed(ahead, 2)}."


def _others(contest: Contest, *decisions: Decision) -> list[str]:
    return [clean(c.other) for c in contest.comparisons if c.decision in decisions]


def _how_much(leader: str | None, factor: str, contests: Sequence[Contest]) -> list[str]:
    """Return how far behind the second is, with its interval, where the leader is best, if any."""
    nearest = [one.nearest for one in contests if one.best and leader in (one.best, None)]
    found = [c for c in nearest if c is not None and c.n > 1]
    if not found:
        return []
    if len(contests) == 1:
        c = found[0]
        effect = factor_phrase(factor, c.effect) if c.ratio else f"ends {effect_text(c)}"
        text = f"The next, {clean(c.other)}, {effect}"
        return [f"{text}." if math.isinf(c.effect) else f"{text} ({INTERVAL} {interval_text(c)})."]
    if not all(c.ratio for c in found):
        return []
    effects = [c.effect for c in found]
    where = f"Where {clean(leader)} is first, the next" if leader else "The next"
    text = f"{where} {factor_phrase(factor, *effects)}"
    if all(map(math.isinf, effects)):
        return [f"{text}."]
    lows, highs = zip(*(c.interval for c in found), strict=True)
    return [f"{text} ({INTERVAL}s from {factor_text(min(lows))} to {factor_text(max(highs))})."]


def _size(contests: Sequence[Contest]) -> str:
    """Return how many seeds and problems there are."""
    seeds = sorted({one.seeds for one in contests}) or [0]
    count = plural(seeds[-1], "seed")
    if seeds[0] < seeds[-1]:
        count = f"{seeds[0]} to {count}"
    blocks = len({one.block for one in contests})
    several = blocks < len(contests)
    alike = f" (variants of {'one' if blocks == 1 else blocks})" if several else ""
    return f"{count}, {plural(len(contests), 'problem')}{alike}."

"""Sentences about pairs of solvers, one problem and mean ranks; none claims an unshown difference.

A difference is shown where its test rejects, after correction for all tests made with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from orthobench.report.formatting import clean, listed, number, plural, probability
from orthobench.report.ranking import Ranked
from orthobench.stats.paired import LEVEL, Comparison, Decision
from orthobench.stats.ranks import Ranks
from orthobench.tools.collections import grouped

TEST = "paired Wilcoxon tests"
"""The tests of one problem."""

HOLM = f"{TEST}, p < {LEVEL} after Holm"
"""The tests by which solvers are shown not to be the best."""

LARGEST = f"the largest p of {TEST} is below {LEVEL}"
"""The test by which the best is shown to end lower than every other solver."""

NEAR = 5e-3
"""Sentences give no factor that differs from 1 by less than this."""

INTERVAL = "95 % interval"

FAR = 1e6
"""Larger factors are written as "more than a million": their denominator is near rounding level."""


def wins_text(wins: Mapping[str, int], problems: int, most: int = 5) -> str:
    """Return who is best on how many problems; solvers that are on as many stand together.

    Parameters
    ----------
    wins : mapping
        The number of problems of each solver that is best on any.
    problems : int
    most : int
        About so many names stand together, and so many such groups.

    Examples
    --------
    "a on 3 of 6 problems and b on 2"; "a on 3 of 6 problems; b, c and d on 1 each"
    """
    order = sorted(wins, key=lambda name: -wins[name])
    groups = list(grouped(order, lambda name: wins[name]).values())
    shown = groups if len(groups) <= most + 1 else groups[:most]
    parts = [
        f"{listed([clean(name) for name in names], most)} on {wins[names[0]]}"
        + f" of {plural(problems, 'problem')}" * (names is shown[0])
        + " each" * (len(names) > 1)
        for names in shown
    ]
    others = sum(map(len, groups[len(shown) :]))
    parts += [f"{others} others on fewer"] if others else []
    return listed(parts, len(parts)) if len(order) == len(groups) else "; ".join(parts)


def sentence(comparison: Comparison, metric: str) -> str:
    """Return a comparison as a sentence.

    Where no difference is shown, it begins with ``"no difference shown"``. Where so few seeds
    could not have shown one, it begins with ``"undecidable"``, and says how many could.

    Parameters
    ----------
    comparison : Comparison
    metric : str
        The compared metric: ``"suboptimality"``.

    Examples
    --------
    "oja is shown not to be the best: capped-msg ends with lower suboptimality on 9 of 10 seeds,
    oja 1.4 times as high in the median (95 % interval 1.1 to 1.9; p = 0.0039 after Holm)"
    """
    c, best, other = comparison, clean(comparison.best), clean(comparison.other)
    decision = c.decision
    if decision is Decision.EQUAL:
        return f"{best} and {other} end equal, or both fail, on {_seeds(c.n, c.n)}"
    if decision is Decision.UNDECIDABLE:
        return f"undecidable between {best} and {other}: {too_few(c)}"
    if decision is Decision.BEHIND:
        return f"{other} is shown not to be the best: {best} {_result(c, metric)}"
    if decision is Decision.AHEAD:
        return f"{other} is shown to end lower where it does not fail: {best} {_result(c, metric)}"
    nothing = f"no difference shown between {best} and {other}"
    if not c.agrees and c.adjusted < LEVEL:
        return f"{nothing}: one of them ends lower more often, the other by more ({_p(c)})"
    return f"{nothing}: {best} {_result(c, metric)}"


def too_few(comparison: Comparison) -> str:
    """Return that so few seeds could not have shown a difference, and how many could."""
    c = comparison
    if not c.n:
        return "no seed was run on both"
    ties = f", {c.equal} of them ties," if c.equal else ""
    return (
        f"{plural(c.n, 'seed')}{ties} cannot show a difference over "
        f"{plural(c.together, 'comparison')}, {c.needed} could"
    )


def nearest(comparisons: Sequence[Comparison]) -> Comparison | None:
    """Return the comparison with the solver that comes next; none with one that fails and is lower.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Those of the best solver.
    """
    behind = [c for c in comparisons if c.effect >= c.ratio]
    return min(behind, key=lambda c: c.effect, default=None)


def _result(c: Comparison, metric: str) -> str:
    """Return on how many seeds the best ends lower, and by how much."""
    tied = f" and equal on {c.equal}" if c.equal else ""
    counts = f"ends with lower {_in_words(metric)} on {_seeds(c.lower, c.n)}{tied}"
    if math.isinf(c.effect):
        return f"{counts}; on half of the seeds or more only {clean(c.other)} failed ({_p(c)})"
    return f"{counts}, {clean(c.other)} {effect_text(c)} in the median ({_interval(c)}; {_p(c)})"


def _seeds(count: int, n: int) -> str:
    if count == n:
        return "the one seed" if n == 1 else f"all {n} seeds"
    return f"{count} of {plural(n, 'seed')}"


def _p(c: Comparison) -> str:
    return probability(c.adjusted) + " after Holm" * (c.together > 1)


def effect_text(c: Comparison) -> str:
    """Return an effect as sentences have it: ``1.05 times as high``, ``0.0123 higher``."""
    if not c.ratio:
        return f"{number(abs(c.effect))} {'higher' if c.effect >= 0 else 'lower'}"
    return _within(c.effect) or f"{factor_text(c.effect)} times as high"


def factor_phrase(phrase: str, *factors: float) -> str:
    """Return factors in a phrase such as ``"takes {} times as long"``, from least to largest.

    Infinite ones are those of a solver that fails, or does not get there.
    """
    finite = [factor for factor in factors if math.isfinite(factor)]
    if not finite:
        return f"{lost(phrase)} on half of the seeds or more"
    low, high = min(finite), max(finite)
    span = list(dict.fromkeys(map(factor_text, (low, high))))
    if len(span) > 1 and _within(low):
        span = ["up to", span[1]]
    elif len(span) > 1:
        span.insert(1, "to")
    near = _within(low) and _within(high)
    text = f"is {near}" if near else phrase.format(" ".join(span))
    return text if len(finite) == len(factors) else f"{text}, or {lost(phrase)}"


def lost(phrase: str) -> str:
    """Return what an infinite factor means in a phrase such as ``"takes {} times as long"``."""
    return "fails" if phrase.startswith("ends") else "does not get there"


def _within(factor: float) -> str:
    """Return how near to 1 a factor is; empty where it is not."""
    return f"within {100 * NEAR:g} % of it" if abs(factor - 1) < NEAR else ""


def interval_text(c: Comparison) -> str:
    """Return the interval of an effect: ``1.1 to 1.9``."""
    low, high = (factor_text(end) if c.ratio else number(end) for end in c.interval)
    return high if low == high and c.ratio and c.interval[0] > FAR else f"{low} to {high}"


def factor_text(factor: float) -> str:
    """Return a factor as sentences have it: ``1.05``, ``more than a million``, ``∞``."""
    if math.isinf(factor):
        return "∞"
    return number(float(f"{factor:.3g}")) if not factor > FAR else "more than a million"


def _interval(c: Comparison) -> str:
    return f"{INTERVAL} {interval_text(c)}"


def _in_words(metric: str) -> str:
    return clean(metric.replace("_", " "))


def verdict(ranked: Sequence[Ranked]) -> str:
    """Return which solver is best on one problem, by how much, and how sure that is.

    Parameters
    ----------
    ranked : sequence of Ranked
        The solvers that take part in the problem, as `orthobench.report.ranking.rank` sorts them.
    """
    if not ranked:
        return "No solver takes part."
    best = next((r for r in ranked if r.best), None)
    if best is None:
        return _no_best(ranked)
    if len(ranked) == 1:
        return f"{_name(best)} alone takes part; its median {_metric(best)} is {_median(best)}."
    first = f"{_name(best)} has the smallest median {_metric(best)}, {_median(best)}"
    if 0 < abs(best.summary.median) <= best.rounding:
        first += ", which is at rounding level"
    ahead = ranked[: ranked.index(best)]
    if ahead:
        first += ", of those of which no run failed"
    failing = [f"{_name(r)} has a smaller one, but {_failed(r)}." for r in ahead]
    second = ranked[len(ahead) + 1 : len(ahead) + 2]
    return " ".join([f"{first}.", *failing, *_margin(second), *_how_sure(ranked)])


def _no_best(ranked: Sequence[Ranked]) -> str:
    first = ranked[0]
    if not first.summary.n_failed:
        on = _seeds(len(first.entry.finished), len(first.entry.finished))
        return f"Trivial: all {len(ranked)} solvers end equal, up to rounding, on {on}."
    if math.isinf(first.summary.median):
        return "Nobody is best: every solver failed on half of its runs or more."
    smallest = f"the smallest median {_metric(first)}, {_median(first)}, is that of {_name(first)}"
    return f"Nobody is best, since every solver has failed runs; {smallest}: {_failed(first)}."


def _margin(second: Sequence[Ranked]) -> list[str]:
    """Return by how much the second ends higher than the best."""
    if not second or second[0].comparison is None:
        return []
    c, name = second[0].comparison, f"The second, {_name(second[0])},"
    if not c.n or c.equal == c.n:
        return []
    if math.isinf(c.effect):
        return [f"{name} failed on half of its runs or more."]
    told = c.n > 1 and math.isfinite(c.interval[1]) and not (c.ratio and c.effect > FAR)
    interval = f" ({_interval(c)})" if told else ""
    median = " in the median over the seeds" if c.n > 1 else ""
    return [f"{name} ends {effect_text(c)}{median}{interval}."]


def _how_sure(ranked: Sequence[Ranked]) -> list[str]:
    """Return which solvers are shown not to be the best, and which may be it as well."""
    found: dict[Decision, list[Comparison]] = {decision: [] for decision in Decision}
    for r in ranked:
        if r.comparison:
            found[r.comparison.decision].append(r.comparison)
    names = {kind: listed([clean(c.other) for c in own]) for kind, own in found.items() if own}
    said = []
    if beats_all(ranked):
        said.append(f"It is shown to end lower than {_every_other(ranked)} ({LARGEST}).")
    elif Decision.BEHIND in names:
        said.append(f"Shown not to be the best: {names[Decision.BEHIND]} ({HOLM}).")
    if near := found[Decision.OPEN]:
        high = max(near, key=lambda c: c.interval[1])
        bounded = high.ratio and math.isfinite(high.interval[1])
        most = f": at most {factor_text(high.interval[1])} times as high" if bounded else ""
        said.append(f"No difference is shown from {names[Decision.OPEN]}{most}.")
    if Decision.EQUAL in names:
        said.append(f"Equal to it, up to rounding, on every seed: {names[Decision.EQUAL]}.")
    if Decision.AHEAD in names:
        said.append(f"Shown to end lower where they do not fail: {names[Decision.AHEAD]}.")
    if undecidable := found[Decision.UNDECIDABLE]:
        c = max(undecidable, key=lambda c: c.needed)
        said.append(f"Undecidable: {names[Decision.UNDECIDABLE]}, since {too_few(c)}.")
    return said


def beats_all(ranked: Sequence[Ranked]) -> bool:
    """Return whether the best is shown to end lower than every other solver, but for equal ones."""
    decisions = {r.comparison.decision for r in ranked if r.comparison}
    return Decision.BEHIND in decisions <= {Decision.BEHIND, Decision.EQUAL}


def _every_other(ranked: Sequence[Ranked]) -> str:
    if any(r.decision is Decision.EQUAL for r in ranked):
        return "every other solver that is not equal to it"
    return "the other" if len(ranked) == 2 else f"each of the {len(ranked) - 1} others"


def ranks_sentence(ranks: Ranks) -> str:
    """Return the result of Friedman's test, and of Nemenyi's for the solver that ranks first."""
    first, *others = ranks.mean
    friedman = f"Friedman's test, {probability(ranks.p)}"
    over = f"over {plural(ranks.problems, 'problem')}"
    if not ranks.p < LEVEL:
        return f"No difference of mean ranks is shown {over} ({friedman})."
    limit = ranks.mean[first] + ranks.critical_difference
    behind = [_with_rank(name, ranks) for name in others if ranks.mean[name] > limit]
    near = [_with_rank(name, ranks) for name in others if ranks.mean[name] <= limit]
    tests = f"Nemenyi's critical difference {number(ranks.critical_difference)}; {friedman}"
    if not behind:
        lead = f"no solver is shown to come after {_with_rank(first, ranks)}"
        return f"Mean ranks differ {over}, but {lead} ({tests})."
    lead = f"{_with_rank(first, ranks)} is shown to come before {listed(behind)} ({tests})"
    rest = f"; no difference is shown from {listed(near)}" if near else ""
    return f"By mean ranks {over}, {lead}{rest}."


def _with_rank(solver: str, ranks: Ranks) -> str:
    return f"{clean(solver)} ({ranks.mean[solver]:.2f})"


def _name(ranked: Ranked) -> str:
    return clean(ranked.entry.solver)


def _metric(ranked: Ranked) -> str:
    return _in_words(ranked.entry.problem_info.primary)


def _median(ranked: Ranked) -> str:
    s = ranked.summary
    several = s.n_ok + s.n_failed > 1
    interval = f" (95 % interval {' to '.join(map(ranked.text, s.interval))})" if several else ""
    return f"{ranked.median}{interval}"


def _failed(ranked: Ranked) -> str:
    s = ranked.summary
    return f"{s.n_failed} of its {plural(s.n_ok + s.n_failed, 'run')} failed"

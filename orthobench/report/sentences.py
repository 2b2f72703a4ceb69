"""Sentences about pairs of solvers, one problem and mean ranks; none claims an unshown difference.

A difference is shown where its test rejects, after correction for all tests made with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from orthobench.report.formatting import clean, listed, number, plural, probability
from orthobench.report.ranking import Ranked, rounding_level
from orthobench.stats.bootstrap import contrast
from orthobench.stats.paired import LEVEL, Comparison, seeds_needed
from orthobench.stats.ranks import Ranks

HOLM = f"paired Wilcoxon tests, p < {LEVEL} after Holm"
"""The test by which a difference is shown where several solvers are compared."""

NEAR = 1e-3
"""Sentences give no factor of medians that differ by less than this fraction."""

FAR = 1e6
"""Larger factors are written as "more than a million": their denominator is near rounding level."""

Contrast = tuple[float, tuple[float, float]]
"""A function of the medians of two solvers, with its 95 % interval."""


def sentence(comparison: Comparison, metric: str) -> str:
    """Return a comparison as a sentence.

    Where no difference is shown, it begins with ``"no difference shown"``. Where so few seeds
    could not have shown one, it says so, and how many could.

    Parameters
    ----------
    comparison : Comparison
    metric : str
        The compared metric: ``"suboptimality"``.

    Examples
    --------
    "capped-msg ends with lower suboptimality than oja on 9 of 10 seeds, by 0.0123 in the median
    (95 % interval 0.01 to 0.02; p = 0.0039 after Holm)"
    """
    favours_b = comparison.statistic < 0 if comparison.shown else comparison.difference < 0
    c = comparison.swapped() if favours_b else comparison
    if c.shown:
        return f"{clean(c.a)} {_result(c, metric)}"
    nothing = f"no difference shown between {clean(c.a)} and {clean(c.b)}"
    if c.equal == c.n:
        return f"{nothing}: they end equal, or both fail, on {_seeds(c.n, c.n)}"
    if c.attainable >= LEVEL:
        return f"{nothing}: {too_few(c)}"
    if c.adjusted < LEVEL:
        return f"{nothing}: one of them ends lower more often, the other by more ({_p(c)})"
    return f"{nothing}: {clean(c.a)} {_result(c, metric)}"


def too_few(comparison: Comparison) -> str:
    """Return that so few seeds could not have shown a difference, and how many could."""
    pairs = comparison.together
    return (
        f"{plural(comparison.n, 'seed')} cannot show one over {plural(pairs, 'comparison')}, "
        f"{seeds_needed(pairs)} could"
    )


def _result(c: Comparison, metric: str) -> str:
    """Return on how many seeds a ended lower than b, and by how much."""
    tied = f" and equal on {c.equal}" if c.equal else ""
    name = _in_words(metric)
    counts = f"ends with lower {name} than {clean(c.b)} on {_seeds(c.lower, c.n)}{tied}"
    if math.isinf(c.difference):
        return f"{counts}; on half of the seeds or more only {clean(c.b)} failed ({_p(c)})"
    by = f"by {number(c.difference)} in the median"
    return f"{counts}, {by} ({_interval(c.interval)}; {_p(c)})"


def _seeds(count: int, n: int) -> str:
    if count == n:
        return "the one seed" if n == 1 else f"all {n} seeds"
    return f"{count} of {plural(n, 'seed')}"


def _p(c: Comparison) -> str:
    return probability(c.adjusted) + " after Holm" * (c.together > 1)


def _interval(ends: Iterable[float]) -> str:
    return f"95 % interval {' to '.join(map(number, ends))}"


def _three_digits(value: float) -> float:
    """Return a value to three significant digits, so that 1.0001 is written as 1."""
    return float(f"{value:.3g}")


def _in_words(metric: str) -> str:
    return clean(metric.replace("_", " "))


def against(comparisons: Iterable[Comparison], solver: str) -> dict[str, Comparison]:
    """Return the comparisons of one solver, which is ``a`` in each, by the name of the other."""
    of_solver = (c if c.a == solver else c.swapped() for c in comparisons if solver in (c.a, c.b))
    return {c.b: c for c in of_solver}


def beats_all(comparisons: Iterable[Comparison], solver: str) -> bool:
    """Return whether a solver is shown to end lower than every other one."""
    others = against(comparisons, solver)
    return bool(others) and all(c.lead == solver for c in others.values())


def factor(ranked: Sequence[Ranked]) -> Contrast | None:
    """Return the second's median divided by that of the best.

    Parameters
    ----------
    ranked : sequence of Ranked
        The ranked entries of one problem, sorted.

    Returns
    -------
    (float, (float, float)) or None
        The factor with its 95 % interval. None where there is no best or no second solver, only
        one seed, or a value that is not above rounding level.
    """
    _, best, rest = _split(ranked)
    if best is None or not rest:
        return None
    a, b = best.summary.values, rest[0].summary.values
    if len(a) == 1 or min(*a, *b) <= rounding_level([r.entry for r in ranked]):
        return None
    return contrast(b, a, np.divide)


def factor_text(factor: float) -> str:
    """Return a factor as sentences have it: ``1.05``, ``more than a million``."""
    return number(_three_digits(factor)) if factor <= FAR else "more than a million"


def _split(ranked: Sequence[Ranked]) -> tuple[Sequence[Ranked], Ranked | None, Sequence[Ranked]]:
    """Return the solvers before the best, which have failed runs, the best, and those after it."""
    place = next((i for i, r in enumerate(ranked) if r.best), None)
    if place is None:
        return ranked, None, ()
    return ranked[:place], ranked[place], ranked[place + 1 :]


def verdict(ranked: Sequence[Ranked], comparisons: Sequence[Comparison]) -> str:
    """Return which solver is best on one problem, by how much, and how sure that is.

    Parameters
    ----------
    ranked : sequence of Ranked
        The solvers that take part in the problem, as `orthobench.report.ranking.rank` sorts them.
    comparisons : sequence of Comparison
        Those of all their pairs.
    """
    if not ranked:
        return "No solver takes part."
    ahead, best, rest = _split(ranked)
    if best is None:
        return _no_best(ranked)
    if len(ranked) == 1:
        return f"{_name(best)} alone takes part; its median {_metric(best)} is {_median(best)}."
    first = f"{_name(best)} has the smallest median {_metric(best)}, {_median(best)}"
    rounding = rounding_level([r.entry for r in ranked])
    if 0 < abs(best.summary.median) <= rounding:
        first += ", which is at rounding level"
    if ahead:
        first += ", of those of which no run failed"
    margin = _margin(best, rest[0], rounding, factor(ranked)) if rest else ""
    failing = [f"{_name(r)} has a smaller one, but {_failed(r)}." for r in ahead]
    return " ".join([f"{first}{margin}.", *failing, _how_sure(best, comparisons)])


def _no_best(ranked: Sequence[Ranked]) -> str:
    first = ranked[0]
    if math.isinf(first.summary.median):
        return "Nobody is best: every solver failed on half of its runs or more."
    smallest = f"the smallest median {_metric(first)}, {_median(first)}, is that of {_name(first)}"
    return f"Nobody is best, since every solver has failed runs; {smallest}: {_failed(first)}."


def _margin(best: Ranked, second: Ranked, rounding: float, ratio: Contrast | None) -> str:
    """Return by how much the median of the second is higher than that of the best."""
    difference = second.summary.median - best.summary.median
    if math.isinf(difference):
        return f"; the second, {_name(second)}, failed on half of its runs or more"
    that = f"; that of the second, {_name(second)}, is"
    if difference <= rounding:
        return f"{that} equal up to rounding"
    if len(best.summary.values) == 1:
        return f"{that} {number(difference)} higher"
    if ratio is None:
        _, ends = contrast(second.summary.values, best.summary.values, np.subtract)
        return f"{that} {number(difference)} higher ({_interval(ends)})"
    factor, ends = ratio
    if max(abs(1 - value) for value in (factor, *ends)) < NEAR:
        return f"{that} less than {100 * NEAR:g} % higher"
    interval = "" if factor > FAR else f" ({_interval(map(_three_digits, ends))})"
    return f"{that} {factor_text(factor)} times as high{interval}"


def _how_sure(best: Ranked, comparisons: Sequence[Comparison]) -> str:
    """Return which solvers the best is shown to end lower than, and which not."""
    others = against(comparisons, best.entry.solver)
    behind = [clean(name) for name, c in others.items() if c.lead == best.entry.solver]
    near = [clean(name) for name, c in others.items() if c.lead != best.entry.solver]
    if not near:
        who = "the other" if len(behind) == 1 else f"each of the {len(behind)} others"
        return f"It is shown to end lower than {who} ({HOLM})."
    first = next(iter(others.values()))
    if first.attainable >= LEVEL:
        return f"No difference is shown: {too_few(first)}."
    if not behind:
        return f"No difference is shown from {listed(near)} ({HOLM})."
    return (
        f"It is shown to end lower than {listed(behind)} ({HOLM}); no difference is shown from "
        f"{listed(near)}."
    )


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
    return _in_words(ranked.entry.facts.primary)


def _median(ranked: Ranked) -> str:
    s = ranked.summary
    interval = f" ({_interval(s.interval)})" if len(s.values) > 1 else ""
    return f"{number(s.median)}{interval}"


def _failed(ranked: Ranked) -> str:
    s = ranked.summary
    return f"{s.n_failed} of its {plural(len(s.values), 'run')} failed"

"""Comparisons in plain sentences, which claim no difference that is not shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from orthobench.report.ranking import Ranked, rounding
from orthobench.report.words import clean, listed, number, plural, probability
from orthobench.stats.paired import LEVEL, Comparison, seeds_needed
from orthobench.stats.ranks import Ranks
from orthobench.stats.seeds import contrast

HOLM = f"paired Wilcoxon tests, p < {LEVEL} after Holm"
"""How a difference is shown, where several solvers are compared."""

NEAR = 1e-3
"""Medians that differ by a smaller part than this are not told as a factor."""

FAR = 1e6
"""Larger factors are told as more than this: a median near rounding says nothing of its own."""

Contrast = tuple[float, tuple[float, float]]
"""A function of the medians of two solvers, with its 95 % interval."""


def sentence(comparison: Comparison, metric: str) -> str:
    """Return a comparison as a plain sentence.

    ``"no difference shown"`` where there is none; where so few seeds could not have shown one, it
    says so, and how many would.

    Parameters
    ----------
    comparison : Comparison
    metric : str
        What was compared: ``"suboptimality"``.

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
    """Say that so few seeds could not have shown a difference, and how many could."""
    made = comparison.together
    return (
        f"{plural(comparison.n, 'seed')} cannot show one over {plural(made, 'comparison')}, "
        f"{seeds_needed(made)} could"
    )


def _result(c: Comparison, metric: str) -> str:
    """Return what a did against b, as it was measured."""
    tied = f" and equal on {c.equal}" if c.equal else ""
    counts = f"ends with lower {_spoken(metric)} than {clean(c.b)} on {_seeds(c.lower, c.n)}{tied}"
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


def _within(ends: tuple[float, float], n: int) -> str:
    return f" ({_interval(ends)})" if n > 1 else ""


def _three(value: float) -> float:
    """Return three significant digits, so that 1.0001 is told as 1."""
    return float(f"{value:.3g}")


def _spoken(metric: str) -> str:
    return clean(metric.replace("_", " "))


def against(comparisons: Iterable[Comparison], solver: str) -> dict[str, Comparison]:
    """Return the comparisons of one solver, by the other's name and with the solver as ``a``."""
    of_solver = (c if c.a == solver else c.swapped() for c in comparisons if solver in (c.a, c.b))
    return {c.b: c for c in of_solver}


def beats_all(comparisons: Iterable[Comparison], solver: str) -> bool:
    """Return whether a solver is shown to end lower than every other one."""
    others = against(comparisons, solver)
    return bool(others) and all(c.lead == solver for c in others.values())


def factor(ranked: Sequence[Ranked]) -> Contrast | None:
    """Return how many times as high the second's median is as that of the best.

    Parameters
    ----------
    ranked : sequence of Ranked
        Of one problem, sorted.

    Returns
    -------
    (float, (float, float)) or None
        With its 95 % interval; None where there are not both, only one seed, or a value that is
        not above rounding.
    """
    _, best, rest = _split(ranked)
    if best is None or not rest:
        return None
    a, b = best.summary.values, rest[0].summary.values
    told = len(a) > 1 and min(*a, *b) > rounding([r.entry for r in ranked])
    return contrast(b, a, np.divide) if told else None


def multiple(factor: float) -> str:
    """Return a factor as sentences tell it: ``1.05``, ``more than a million``."""
    return number(_three(factor)) if factor <= FAR else "more than a million"


def _split(ranked: Sequence[Ranked]) -> tuple[Sequence[Ranked], Ranked | None, Sequence[Ranked]]:
    """Return who comes before the best, with failed runs, the best, and who comes after."""
    place = next((i for i, r in enumerate(ranked) if r.best), None)
    if place is None:
        return ranked, None, ()
    return ranked[:place], ranked[place], ranked[place + 1 :]


def verdict(ranked: Sequence[Ranked], comparisons: Sequence[Comparison]) -> str:
    """Return who is best on one problem, by how much, and how sure that is.

    Parameters
    ----------
    ranked : sequence of Ranked
        Of one problem, those who take part, as `orthobench.report.ranking.rank` sorts them.
    comparisons : sequence of Comparison
        Of all their pairs.
    """
    if not ranked:
        return "No solver takes part."
    ahead, best, rest = _split(ranked)
    if best is None:
        return _nobody(ranked)
    if len(ranked) == 1:
        return f"{_name(best)} alone takes part; its median {_metric(best)} is {_median(best)}."
    first = f"{_name(best)} has the smallest median {_metric(best)}, {_median(best)}"
    smallest = rounding([r.entry for r in ranked])
    if 0 < abs(best.summary.median) <= smallest:
        first += ", which is at rounding level"
    if ahead:
        first += ", of those of which no run failed"
    margin = _margin(best, rest[0], smallest, factor(ranked)) if rest else ""
    told = [f"{first}{margin}."]
    told += [f"{_name(r)} has a smaller one, but {_failed(r)}." for r in ahead]
    return " ".join([*told, _sure(best, comparisons)])


def _nobody(ranked: Sequence[Ranked]) -> str:
    first = ranked[0]
    if math.isinf(first.summary.median):
        return "Nobody is best: every solver failed on half of its runs or more."
    smallest = f"the smallest median {_metric(first)}, {_median(first)}, is that of {_name(first)}"
    return f"Nobody is best, since every solver has failed runs; {smallest}: {_failed(first)}."


def _margin(best: Ranked, other: Ranked, smallest: float, times: Contrast | None) -> str:
    """Return by how much the median of the second is higher than that of the best."""
    apart = other.summary.median - best.summary.median
    if math.isinf(apart):
        return f"; the second, {_name(other)}, failed on half of its runs or more"
    that = f"; that of the second, {_name(other)}, is"
    if apart <= smallest:
        return f"{that} equal but for rounding"
    if len(best.summary.values) == 1:
        return f"{that} {number(apart)} higher"
    if times is None:
        _, ends = contrast(other.summary.values, best.summary.values, np.subtract)
        return f"{that} {number(apart)} higher ({_interval(ends)})"
    if max(abs(1 - ratio) for ratio in (times[0], *times[1])) < NEAR:
        return f"{that} less than {100 * NEAR:g} % higher"
    interval = "" if times[0] > FAR else f" ({_interval(map(_three, times[1]))})"
    return f"{that} {multiple(times[0])} times as high{interval}"


def _sure(best: Ranked, comparisons: Sequence[Comparison]) -> str:
    """Return against whom the best is shown to end lower."""
    others = against(comparisons, best.entry.solver)
    told = [clean(name) for name, c in others.items() if c.lead == best.entry.solver]
    untold = [clean(name) for name, c in others.items() if c.lead != best.entry.solver]
    if not untold:
        who = "the other" if len(told) == 1 else f"each of the {len(told)} others"
        return f"It is shown to end lower than {who} ({HOLM})."
    first = next(iter(others.values()))
    if first.attainable >= LEVEL:
        return f"No difference is shown: {too_few(first)}."
    if not told:
        return f"No difference is shown from {listed(untold)} ({HOLM})."
    return (
        f"It is shown to end lower than {listed(told)} ({HOLM}); no difference is shown from "
        f"{listed(untold)}."
    )


def of_ranks(ranks: Ranks) -> str:
    """Return what Friedman's test shows, and Nemenyi's of the solver that ranks first."""
    first, *others = ranks.mean
    friedman = f"Friedman's test, {probability(ranks.p)}"
    over = f"over {plural(ranks.problems, 'problem')}"
    if not ranks.p < LEVEL:
        return f"No difference of mean ranks is shown {over} ({friedman})."
    limit = ranks.mean[first] + ranks.critical_difference
    behind = [_ranked(name, ranks) for name in others if ranks.mean[name] > limit]
    near = [_ranked(name, ranks) for name in others if ranks.mean[name] <= limit]
    tests = f"Nemenyi's critical difference {number(ranks.critical_difference)}; {friedman}"
    if not behind:
        lead = f"no solver is shown to come after {_ranked(first, ranks)}"
        return f"Mean ranks differ {over}, but {lead} ({tests})."
    lead = f"{_ranked(first, ranks)} is shown to come before {listed(behind)} ({tests})"
    rest = f"; no difference is shown from {listed(near)}" if near else ""
    return f"By mean ranks {over}, {lead}{rest}."


def _ranked(solver: str, ranks: Ranks) -> str:
    return f"{clean(solver)} ({ranks.mean[solver]:.2f})"


def _name(ranked: Ranked) -> str:
    return clean(ranked.entry.solver)


def _metric(ranked: Ranked) -> str:
    return _spoken(ranked.entry.facts.primary)


def _median(ranked: Ranked) -> str:
    s = ranked.summary
    return f"{number(s.median)}{_within(s.interval, len(s.values))}"


def _failed(ranked: Ranked) -> str:
    s = ranked.summary
    return f"{s.n_failed} of its {plural(len(s.values), 'run')} failed"

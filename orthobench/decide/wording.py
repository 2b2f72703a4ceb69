"""Sentences about decisions: which solver to use, what that rests on, and what to run."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence

from orthobench.decide.rule import FEWEST, Comparison, Decision, Verdict
from orthobench.harness.suite import COMMAND_LINE, PYTHON
from orthobench.stats.costs import ALL_COSTS
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean, listed, number, plural

ALIKE = 1.05
"""Costs whose ratio is below this are called alike."""

MOST_ASKED = 100
"""No more seeds than this are asked for."""

FAR = 1e6
"""Larger factors are written as "more than a million"."""

MARKS: Mapping[str, tuple[str, str, str]] = {
    "star": ("★", "*", "as good as the best, at the least cost"),
    "good": ("●", "o", "as good as the best"),
    "undecided": ("?", "?", "undecided: more seeds would tell"),
    "failed": ("✗", "x", "runs failed"),
}
"""The marks of solvers on a problem: symbol, the same in ASCII, and meaning. Worse ones have none,
and those that take no part neither."""


def mark(comparison: Comparison, solver: str) -> str:
    """Return the mark of a solver on a problem, one of `MARKS`; empty where it is worse."""
    if solver == comparison.cheapest:
        return "star"
    names = {Verdict.AS_GOOD: "good", Verdict.UNDECIDED: "undecided", Verdict.FAILED: "failed"}
    return names.get(comparison.of(solver).verdict, "")


def verdict_text(decision: Decision) -> str:
    """Return what is decided in a few words: ``"undecided, +4 seeds"``."""
    if decision.as_good and decision.restarts:
        return f"{decision.verdict.value}, {decision.misses} short"
    if decision.verdict is Verdict.FAILED:
        return f"{decision.n_failed} failed"
    if decision.verdict is Verdict.UNDECIDED and decision.more_seeds:
        return f"undecided, +{plural(decision.more_seeds, 'seed')}"
    return str(decision.verdict.value)


def factor_text(factor: float) -> str:
    """Return a factor as sentences have it: ``1.3``, ``22``, ``more than a million``."""
    if math.isinf(factor):
        return "∞"
    if factor > FAR:
        return "more than a million"
    return f"{float(f'{factor:.2g}'):g}"


def span_text(factors: Sequence[float]) -> str:
    """Return factors from the least to the largest: ``"6 to 22"``."""
    return " to ".join(dict.fromkeys(factor_text(f) for f in (min(factors), max(factors))))


def use_sentence(solvers: Sequence[str], comparisons: Sequence[Comparison], suite: str = "") -> str:
    """Return what to use on the problems of a family, or what to run to find out.

    Parameters
    ----------
    solvers : sequence of str
        The labels of the one to use, and of those to use in turn where the ones before are not as
        good as the best; empty where nobody is anywhere.
    comparisons : sequence of Comparison
    suite : str
        What to run more seeds of.
    """
    if not solvers:
        return _nobody(comparisons, suite)
    solver, *others = solvers
    good, missed = _parted(solver, comparisons)
    alone = others and not _parted(others[0], missed)[1]
    if alone and (separated := _separation(solver, others[0], good, missed)):
        return separated
    what = f"as good as the best{_where(len(good), len(comparisons))}"
    first = f"Use {clean(solver)}: {what}{_price(solver, good)}{_restarts(solver, good)}"
    return f"{first}.{_misses(others, comparisons, missed, suite)}"


def _parted(
    solver: str, comparisons: Sequence[Comparison]
) -> tuple[list[Comparison], list[Comparison]]:
    """Return where a solver is as good as the best, and where it is not."""
    good = [c for c in comparisons if c.of(solver).as_good]
    return good, [c for c in comparisons if not c.of(solver).as_good]


def _where(good: int, problems: int) -> str:
    if problems == 1:
        return ""
    if good == problems:
        return " on both problems" if problems == 2 else f" on all {problems} problems"
    return f" on {good} of {problems} problems"


def _price(solver: str, good: Sequence[Comparison]) -> str:
    """Return what it costs against the others that are as good."""
    cost = ALL_COSTS[good[0].cost]
    others = [(c, d) for c in good for d in c.as_good if d.solver != solver]
    if not others:
        rest = {d.verdict for c in good for d in c.decisions if d.solver != solver}
        if rest == {Verdict.FAILED}:
            return ", and the only one without a failed run"
        shown = " shown to be" if Verdict.UNDECIDED in rest else ""
        return f", and the only one that is{shown}" if rest - {Verdict.ABSENT} else ""
    if all(c.cheapest == solver for c in good):
        return _lead(solver, good)
    factors = [c.of(solver).factor for c in good]
    if not all(map(math.isfinite, factors)):
        return ""
    stars = Counter(c.cheapest for c in good if c.cheapest != solver)
    star, times = stars.most_common(1)[0]
    if len(good) == 1:
        return f", at {factor_text(factors[0])} times the {cost.title} of {clean(str(star))}"
    logs = grouped(
        ((c.block, math.log(f)) for c, f in zip(good, factors, strict=True)), lambda p: p[0]
    ).values()
    average = math.exp(sum(sum(f for _, f in own) / len(own) for own in logs) / len(logs))
    if max(factors) < ALIKE:
        return f", at about the least {cost.title}"
    text = factor_text(average)
    return (
        f", {'about' if text == '1' else f'{text} times'} the cheapest on average, at most "
        f"{factor_text(max(factors))}; {clean(str(star))} is the cheapest on {times}"
    )


def _restarts(solver: str, good: Sequence[Comparison]) -> str:
    """Return for how many runs the cost counts a restart; nothing where it counts none."""
    own = [c.of(solver) for c in good]
    short, runs = sum(d.misses for d in own), sum(d.seeds + d.copies for d in own)
    return f"; restarts are counted for {short} of {runs} runs" if short else ""


def _lead(solver: str, good: Sequence[Comparison]) -> str:
    """Return how far ahead the cheapest is of the next that is as good."""
    cost = ALL_COSTS[good[0].cost]
    leads = []
    for c in good:
        costs = [d.cost for d in c.as_good if d.solver != solver]
        if costs and c.of(solver).cost > 0:
            leads.append(min(costs) / c.of(solver).cost)
    finite = [lead for lead in leads if math.isfinite(lead)]
    if not finite:
        return ", and the only one that gets there"
    which = "the other that is" if _one_other(solver, good) else "the others that are"
    if max(finite) < ALIKE:
        return f", at about the {cost.title} of {which}"
    if cost.name == "seconds":
        return f", {span_text(finite)} times faster than {which}"
    return f"; the next that is {cost.dearer.format(span_text(finite))}"


def _one_other(solver: str, good: Sequence[Comparison]) -> bool:
    return len({d.solver for c in good for d in c.as_good if d.solver != solver}) == 1


def _misses(
    others: Sequence[str], everywhere: Sequence[Comparison], missed: Sequence[Comparison],
    suite: str,
) -> str:  # fmt: skip
    """Return where it is not as good, and what is there."""
    parts = []
    for other in others:
        good, missed = _parted(other, missed)
        parts.append(f"{clean(other)} on {_names(good, everywhere)}")
    text = f" Else use {listed(parts, 3)}." if parts else ""
    begun = [c for c in missed if any(d.seeds for d in c.decisions)]
    if begun:
        text += (f" Nobody is shown to be as good as the best on {_names(begun, everywhere)}"
                 f"{_remedy(begun, suite)}.")  # fmt: skip
    if waiting := [c for c in missed if c not in begun]:
        text += f" No run has ended yet on {_names(waiting, everywhere)}."
    return text


def _names(own: Sequence[Comparison], everywhere: Sequence[Comparison]) -> str:
    """Return the names of problems, and one name for all of those that have it."""
    kinds = Counter(c.problem.split()[0] for c in everywhere)
    parts = list[str]()
    for kind, some in grouped(own, lambda c: c.problem.split()[0]).items():
        whole = 1 < len(some) == kinds[kind]
        parts += [f"every {clean(kind)}"] if whole else [clean(c.problem) for c in some]
    return listed(parts, 3)


def _separation(
    solver: str, other: str, good: Sequence[Comparison], missed: Sequence[Comparison]
) -> str | None:
    """Return a sentence where a parameter of the problems separates two solvers."""
    if len(missed) < 2:
        return None
    everywhere = [*good, *missed]
    for name in missed[0].parameters:
        values = [c.parameters.get(name) for c in everywhere]
        if not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
            continue
        a = [float(c.parameters[name]) for c in good]
        b = [float(c.parameters[name]) for c in missed]
        for sign, low, high in ((">=", b, a), ("<=", a, b)):
            if max(low) < min(high):
                bound = min(high) if sign == ">=" else max(low)
                where = f"{clean(name)} {sign} {number(bound)}"
                return f"Use {clean(solver)} where {where}, {clean(other)} else."
    return None


def _nobody(comparisons: Sequence[Comparison], suite: str) -> str:
    """Return why no solver is named, and what to run."""
    everyone = [d for c in comparisons for d in c.decisions]
    if not everyone or all(d.verdict is Verdict.ABSENT for d in everyone):
        return "No run is finished yet."
    if all(d.verdict in (Verdict.FAILED, Verdict.ABSENT) for d in everyone):
        return f"No solver: all have failed runs.{_least_with_restarts(comparisons)}"
    seeds = max(c.distinct for c in comparisons)
    solvers = max(sum(d.verdict is not Verdict.ABSENT for d in c.decisions) for c in comparisons)
    if seeds < FEWEST:
        can = "" if _copied(comparisons) else f"; {FEWEST} can"
        text = too_few(seeds, solvers) + can
    else:
        text = f"{plural(seeds, 'seed')} do not show which of {solvers} is as good as the best"
    return f"{text}{_remedy(comparisons, suite)}."


def _least_with_restarts(comparisons: Sequence[Comparison]) -> str:
    """Return who costs least with restarts; nothing where no run gets there."""
    able = [[d for d in c.decisions if d.restarts] for c in comparisons]
    least = [min(own, key=lambda d: (d.cost, d.solver)) for own in able if own]
    if not least:
        return ""
    (solver, where), *_ = Counter(d.solver for d in least).most_common(1)
    own = [d for d in least if d.solver == solver]
    short, runs = sum(d.misses for d in own), sum(d.seeds + d.copies for d in own)
    cost = ALL_COSTS[comparisons[0].cost].title + _where(where, len(comparisons))
    return f" With restarts {clean(solver)} needs the least {cost}: {short} of {runs} runs miss."


def _copied(comparisons: Sequence[Comparison]) -> bool:
    """Return whether runs on some seeds are copies of others."""
    return any(d.copies for c in comparisons for d in c.decisions)


def too_few(seeds: int, solvers: int) -> str:
    """Return that so many seeds decide nothing."""
    return f"{plural(seeds, 'seed')} cannot decide among {plural(solvers, 'solver')}"


def _remedy(comparisons: Sequence[Comparison], suite: str) -> str:
    """Return what to run where seeds do not suffice; nothing without a suite."""
    open_ = [c for c in comparisons if c.best and not c.as_good]
    more = [max(FEWEST - c.distinct, c.of(str(c.best)).more_seeds or 0) for c in open_]
    if not suite or not 0 < max(more, default=0) <= MOST_ASKED:
        return ""
    there = [max(d.seeds + d.copies for d in c.decisions) for c in open_]
    seeds = max(map(sum, zip(there, more, strict=True)))
    command = f"orthobench run {shlex.quote(clean(suite))}"
    unnamed = {COMMAND_LINE: f"add --seeds {seeds}", PYTHON: f"pass seeds={seeds}"}
    if seeds <= max(c.seeds for c in comparisons):  # some runs are still to come
        return ": run it again" if suite in unnamed else f": {command}"
    return f": {unnamed.get(suite, f'{command} --seeds {seeds}')}"


def evidence(comparisons: Sequence[Comparison]) -> str:
    """Return in one line what was tested."""
    if not comparisons:
        return ""
    first = comparisons[0]
    seeds = sorted({c.distinct for c in comparisons})
    count = " to ".join(map(str, dict.fromkeys((seeds[0], seeds[-1]))))
    plural_seeds = "seed" if count == "1" else "seeds"
    repeated = " (copies of a run count once)" if _copied(comparisons) else ""
    blocks = len({c.block for c in comparisons})
    restarted = any(d.restarts for c in comparisons for d in c.as_good)
    restarts = ", with restarts for runs that do not" if restarted else ""
    several = f", variants of {blocks}" if blocks < len(comparisons) else ""
    return (
        f"As good: at most {100 * first.tolerance:g} % of the gap above the best, shown on "
        f"{count} {plural_seeds}{repeated}, {plural(len(comparisons), 'problem')}{several}; "
        f"5 % error a problem. Least {ALL_COSTS[first.cost].title} to get there{restarts}."
    )


def together(sentences: Mapping[str, str]) -> str:
    """Return the sentences of several families as one text."""
    return " ".join(f"{clean(family)}: {text}" for family, text in sentences.items())

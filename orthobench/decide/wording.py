"""Sentences about decisions: which solver to use, what that rests on, and what to run."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence

from orthobench.decide.rule import Comparison, Decision, Verdict
from orthobench.harness.suite import COMMAND_LINE, PYTHON
from orthobench.registry.plugins import catalogue
from orthobench.stats.calls import Call
from orthobench.stats.costs import cost_of
from orthobench.stats.noninferiority import FEWEST
from orthobench.stats.values import geometric_mean
from orthobench.tools.collections import grouped
from orthobench.tools.formatting import clean, listed, number, plural

ALIKE = 1.05
"""Costs whose ratio is below this are called alike."""

MOST_ASKED = 100
"""No more seeds than this are asked for."""

FAR = 1e6
"""Larger factors are written as "more than a million"."""

MARKS: Mapping[str, tuple[str, str, str]] = {
    "star": ("★", "*", "the call to make: as good as the best, at the lowest cost"),
    "good": ("●", "o", "as good as the best"),
    "undecided": ("?", "?", "undecided with these seeds"),
    "untested": ("-", "-", f"untested: fewer than {FEWEST} seeds"),
    "worse": ("✗", "x", "worse than the best"),
    "failed": ("!", "!", "half of the runs or more failed"),
}
"""The marks of solvers on a problem: symbol, the same in ASCII, and meaning. Solvers that take no
part have none."""


def mark(comparison: Comparison, solver: str) -> str:
    """Return the mark of a solver on a problem, one of `MARKS`; empty if it takes no part."""
    if solver == comparison.cheapest:
        return "star"
    decision = comparison.of(solver)
    kind = "good" if decision.as_good else decision.verdict.value
    return kind if kind in MARKS else ""


def verdict_text(decision: Decision) -> str:
    """Return what is decided in a few words: ``"exact"``, ``"as good"``, ``"3 failed"``."""
    if decision.verdict is Verdict.FAILED:
        return f"{decision.n_failed} failed"
    if decision.as_good and decision.exact is not None and decision.call is decision.exact:
        return "exact"
    return str(decision.verdict.value)


def seeds_text(decision: Decision) -> str:
    """Return on how many seeds a call got to the tolerance: ``"10/12"``; empty without a call."""
    return f"{decision.call.reached}/{decision.call.seeds}" if decision.call else ""


def factor_text(factor: float) -> str:
    """Return a factor as sentences have it: ``1.3``, ``22``, ``more than a million``."""
    if math.isinf(factor):
        return "∞"
    if factor > FAR:
        return "more than a million"
    return f"{float(f'{factor:.2g}'):g}"


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
    if len(comparisons) > 1:
        runs = [call for c in good if (call := c.of(solver).call)]
        reached, seeds = sum(call.reached for call in runs), sum(call.seeds for call in runs)
        where = _where(len(good), len(comparisons))
        text = f"{_quality(solver, good)}{where}, in {reached} of {seeds} runs"
        text = f"Use {clean(solver)}: {text}{_price(solver, good)}."
    else:
        (one,) = good
        text = f"Use {clean(solver)}{_stop(one.of(solver).call)}: {_quality(solver, good)}"
        text += f"{_cost_and_seeds(one, solver)}{_price(solver, good)}.{_other(one)}"
    return f"{text}{_misses(others, comparisons, missed, suite)}"


def _quality(solver: str, good: Sequence[Comparison]) -> str:
    """Return how good the calls of a solver are that are named."""
    own = [c.of(solver) for c in good]
    if all(d.exact is not None and d.call is d.exact for d in own):
        return "exact"
    within = f"within {100 * good[0].tolerance:g} % of the gap above"
    if len(good) > 1:
        return f"{within} the best value seen"
    ran = [d for d in good[0].decisions if d.verdict is not Verdict.ABSENT]
    return f"{within} the best value seen by {plural(len(ran), 'solver')}"


def _stop(call: Call | None) -> str:
    return "" if call is None or call.stop.own else f" with {call.stop}"


def _cost_and_seeds(comparison: Comparison, solver: str) -> str:
    call = comparison.of(solver).call
    if call is None:
        return ""
    return f", {_amount(comparison, call)}, on {call.reached} of {plural(call.seeds, 'seed')}"


def _amount(comparison: Comparison, call: Call) -> str:
    """Return what a call costs; it is infinite if that was not measured."""
    cost = cost_of(comparison.cost)
    if not math.isfinite(call.cost):
        return f"unknown {cost.title}"
    unit = "" if cost.name in ("seconds", "memory") else f" {cost.title}"
    return f"{cost.text(call.cost)}{unit}"


def _other(comparison: Comparison) -> str:
    """Return the other call of one problem: a cheaper one beside an exact one, or the exact one."""
    other = comparison.alternative
    if other is None or other.call is None:
        return ""
    text = f" {clean(other.solver)}{_stop(other.call)}"
    amount = _amount(comparison, other.call)
    if other.exact is not None and other.call is other.exact:
        return f"{text} is exact and takes {amount}."
    lacks = _lack(comparison, other.call.metrics)
    return f"{text} takes {amount}{f': {lacks}' * bool(lacks)}."


def _lack(comparison: Comparison, metrics: Mapping[str, float]) -> str:
    """Return in the unit of a family what a solution with some metrics lacks.

    It is empty if no problem of this family is installed that has the metric that is compared.
    """
    for problem in (entry.item for entry in catalogue().problems.values()):
        if (problem.family, problem.primary) == (comparison.family, comparison.metric):
            return problem.lack(metrics)
    return ""


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
    cost = cost_of(good[0].cost)
    others = [(c, d) for c in good for d in c.as_good if d.solver != solver]
    if not others:
        return ""
    if all(c.cheapest == solver for c in good):
        return _lead(solver, good)
    factors = [c.of(solver).factor for c in good]
    if not all(map(math.isfinite, factors)):
        return ""
    stars = Counter(c.cheapest for c in good if c.cheapest != solver)
    star, times = stars.most_common(1)[0]
    if len(good) == 1:
        return f", at {factor_text(factors[0])} times the {cost.title} of {clean(str(star))}"
    if max(factors) < ALIKE:
        return f", at about the least {cost.title}"
    text = factor_text(geometric_mean(factors, [c.block for c in good]))
    return (
        f", {'about' if text == '1' else f'{text} times'} the cheapest on average, at most "
        f"{factor_text(max(factors))}; {clean(str(star))} is the cheapest on {times}"
    )


def _lead(solver: str, good: Sequence[Comparison]) -> str:
    """Return how far ahead the cheapest is of the next that is as good."""
    cost = cost_of(good[0].cost)
    leads = [lead for c in good if not math.isnan(lead := c.lead(solver))]
    finite = [lead for lead in leads if math.isfinite(lead)]
    if not finite:
        return ""
    proven = "" if len(leads) == len(good) else f" on the {len(leads)} with another as good"
    if max(finite) < ALIKE:
        return f"; the next takes about the same {cost.title}{proven}"
    span = " to ".join(dict.fromkeys(map(factor_text, (min(finite), max(finite)))))
    return f"; the next {cost.dearer.format(span)}{proven}"


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
    kinds = Counter(c.name for c in everywhere)
    parts = list[str]()
    for kind, some in grouped(own, lambda c: c.name).items():
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
        return "No solver: half of the runs of each failed, or more."
    seeds = max(c.distinct for c in comparisons)
    solvers = max(sum(d.verdict is not Verdict.ABSENT for d in c.decisions) for c in comparisons)
    if seeds < FEWEST:
        can = "" if _copied(comparisons) else f"; {FEWEST} can"
        text = too_few(seeds, solvers) + can
    else:
        text = f"{plural(seeds, 'seed')} do not show which of {solvers} is as good as the best"
    return f"{text}{_remedy(comparisons, suite)}."


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
    if not suite.endswith(".toml") and suite not in {COMMAND_LINE, *catalogue().suites}:
        suite = PYTHON  # tables, which only their caller can change
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
    decisions = [d for c in comparisons for d in c.decisions]
    solvers = {d.solver for d in decisions}
    ran = {d.solver for d in decisions if d.verdict not in (Verdict.ABSENT, Verdict.UNTESTED)}
    return (
        f"Good enough: within {100 * first.tolerance:g} % of the way from the start to the best "
        f"value seen. {len(ran)} of {plural(len(solvers), 'solver')} tested on {count} "
        f"{plural_seeds}{repeated}, {plural(len(comparisons), 'problem')}; a verdict on a problem "
        "is wrong with a probability below 5 %."
    )


def together(sentences: Mapping[str, str]) -> str:
    """Return the sentences of several families as one text."""
    return " ".join(f"{clean(family)}: {text}" for family, text in sentences.items())

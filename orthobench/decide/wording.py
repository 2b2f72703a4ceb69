"""Sentences about decisions: which solver to use, the evidence, and the next command."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence

from orthobench.decide.rule import Comparison, Decision, Verdict
from orthobench.harness.suite import COMMAND_LINE, PYTHON
from orthobench.registry.plugins import catalogue
from orthobench.stats.calls import Call, Stop
from orthobench.stats.costs import cost_of
from orthobench.stats.noninferiority import FEWEST
from orthobench.stats.values import geometric_mean
from orthobench.tools.formatting import clean, listed, plural

ALIKE = 1.05
"""Maximum ratio of costs that are about the same."""

MOST_ASKED = 100
"""Maximum number of seeds that are asked for."""

FAR = 1e6
"""Maximum factor that is written in digits."""

MARKS: Mapping[str, tuple[str, str, str]] = {
    "star": ("★", "*", "the call to make: as good as the best, at the lowest cost"),
    "good": ("●", "o", "as good as the best"),
    "undecided": ("?", "?", "undecided with these seeds"),
    "untested": ("-", "-", f"untested: fewer than {FEWEST} seeds (2 do if they repeat one run)"),
    "worse": ("✗", "x", "worse than the best"),
    "failed": ("!", "!", "half of the runs or more failed"),
}
"""The marks of solvers on a problem: symbol, the same in ASCII, and meaning."""


def mark(comparison: Comparison, solver: str) -> str:
    """Return the mark of a solver on a problem, one of `MARKS`; empty if it was not run."""
    if solver == comparison.cheapest:
        return "star"
    decision = comparison.of(solver)
    kind = "good" if decision.as_good else decision.verdict.value
    return kind if kind in MARKS else ""


def verdict_text(decision: Decision) -> str:
    """Return a decision in few words: ``"exact"``, ``"as good"``, ``"3 failed"``."""
    if decision.verdict is Verdict.FAILED:
        return f"{decision.n_failed} failed"
    if decision.as_good and decision.is_exact:
        return "exact"
    return str(decision.verdict.value)


def seeds_text(decision: Decision) -> str:
    """Return the seeds on which a call reached the tolerance, ``"10/12"``; empty without a call."""
    return f"{decision.call.reached}/{decision.call.seeds}" if decision.call else ""


def factor_text(factor: float) -> str:
    """Return a factor as sentences have it: ``1.3``, ``22``, ``more than a million``."""
    if math.isinf(factor):
        return "∞"
    if factor > FAR:
        return "more than a million"
    return f"{float(f'{factor:.2g}'):g}"


def use_sentence(solvers: Sequence[str], comparisons: Sequence[Comparison], suite: str = "") -> str:
    """Return which solver to use on the problems of a family, or the run that would tell.

    Parameters
    ----------
    solvers : sequence of str
        The label of the one to use, then those for the problems on which the ones before are not as
        good as the best; empty if none is on any problem.
    comparisons : sequence of Comparison
    suite : str
        The suite to run on more seeds.
    """
    if not solvers:
        return _nobody(comparisons, suite)
    solver, *others = solvers
    good = [c for c in comparisons if c.of(solver).as_good]
    calls = [call for c in good if (call := c.of(solver).call)]
    reached, seeds = sum(call.reached for call in calls), sum(call.seeds for call in calls)
    named, other = clean(solver), ""
    if len(comparisons) > 1:
        shown = f"{_where(len(good), len(comparisons))}, in {reached} of {seeds} runs"
    else:
        shown = f", {_amount(good[0], calls[0])}, on {reached} of {plural(seeds, 'seed')}"
        named, other = named + stop_text(calls[0].stop), _other(good[0])
    text = f"Use {named}: {_quality(solver, good)}{shown}{_price(solver, good)}.{other}"
    missed = [c for c in comparisons if c not in good]
    return f"{text}{_misses(others, missed, suite)}"


def _quality(solver: str, good: Sequence[Comparison]) -> str:
    if all(c.of(solver).is_exact for c in good):
        return "exact"
    within = within_text(good[0].tolerance)
    if len(good) > 1:
        return within
    ran = [d for d in good[0].decisions if d.verdict is not Verdict.ABSENT]
    return f"{within} by {plural(len(ran), 'solver')}"


def within_text(tolerance: float) -> str:
    """Return the quality of a call that ends within a tolerance."""
    return f"within {100 * tolerance:g} % of the gap above the best value seen"


def stop_text(stop: Stop | None) -> str:
    """Return a stop after its solver: `` with 12 steps``, or nothing."""
    return "" if stop is None or stop.own else f" with {stop}"


def _amount(comparison: Comparison, call: Call) -> str:
    cost = cost_of(comparison.cost)
    if not math.isfinite(call.cost):
        return f"unknown {cost.title}"
    unit = "" if cost.name in ("seconds", "memory") else f" {cost.title}"
    return f"{cost.text(call.cost)}{unit}"


def _other(comparison: Comparison) -> str:
    """Return the cheaper call beside an exact one, or the exact one beside a cheaper one."""
    other = comparison.alternative
    if other is None or other.call is None:
        return ""
    text = f" {clean(other.solver)}{stop_text(other.call.stop)}"
    amount = _amount(comparison, other.call)
    if other.is_exact:
        return f"{text} is exact and takes {amount}."
    compared = comparison.family, comparison.metric
    problems = (entry.item for entry in catalogue().problems.values())
    own = (p for p in problems if (p.family, p.primary) == compared)
    lacks = next((problem.lack(other.call.metrics) for problem in own), "")
    return f"{text} takes {amount}{f': {lacks}' * bool(lacks)}."


def _where(good: int, problems: int) -> str:
    if good == problems:
        return " on both problems" if problems == 2 else f" on all {problems} problems"
    return f" on {good} of {problems} problems"


def _price(solver: str, good: Sequence[Comparison]) -> str:
    """Return the cost of a solver beside that of the others that are as good."""
    cost = cost_of(good[0].cost)
    if all(c.cheapest == solver for c in good):
        return _lead(solver, good)
    factors = [c.of(solver).factor for c in good]
    stars = Counter(c.cheapest for c in good if c.cheapest not in (None, solver))
    if not stars or not all(map(math.isfinite, factors)):
        return ""
    star, times = stars.most_common(1)[0]
    if len(good) == 1:
        return f", at {factor_text(factors[0])} times the {cost.title} of {clean(str(star))}"
    # the exact call that is named there may cost more
    factors = [max(1.0, factor) for factor in factors]
    if max(factors) < ALIKE:
        return f", at about the least {cost.title}"
    text = factor_text(geometric_mean(factors, [c.block for c in good]))
    return (
        f", {'about' if text == '1' else f'{text} times'} the cheapest on average, at most "
        f"{factor_text(max(factors))}; {clean(str(star))} is the cheapest on {times}"
    )


def _lead(solver: str, good: Sequence[Comparison]) -> str:
    cost = cost_of(good[0].cost)
    leads = [lead for c in good if math.isfinite(lead := c.lead(solver))]
    if not leads:
        return ""
    proven = "" if len(leads) == len(good) else f" on the {len(leads)} with another as good"
    if max(leads) < ALIKE:
        return f"; the next takes about the same {cost.title}{proven}"
    span = " to ".join(dict.fromkeys(map(factor_text, (min(leads), max(leads)))))
    return f"; the next {cost.dearer.format(span)}{proven}"


def _misses(others: Sequence[str], missed: Sequence[Comparison], suite: str) -> str:
    parts = []
    for other in others:
        parts.append(f"{clean(other)} on {_names([c for c in missed if c.of(other).as_good])}")
        missed = [c for c in missed if not c.of(other).as_good]
    text = f" Else use {listed(parts, 3)}." if parts else ""
    if begun := [c for c in missed if any(d.seeds for d in c.decisions)]:
        text += f" No solver is shown to be as good as the best on {_names(begun)}"
        text += f"{_remedy(begun, suite)}."
    if waiting := [c for c in missed if c not in begun]:
        text += f" No run has ended yet on {_names(waiting)}."
    return text


def _names(comparisons: Sequence[Comparison]) -> str:
    return listed([clean(c.problem) for c in comparisons], 3)


def _nobody(comparisons: Sequence[Comparison], suite: str) -> str:
    everyone = [d for c in comparisons for d in c.decisions]
    if not everyone or all(d.verdict is Verdict.ABSENT for d in everyone):
        return "No run is finished yet."
    if all(d.verdict in (Verdict.FAILED, Verdict.ABSENT) for d in everyone):
        return "No solver: half of the runs of each failed, or more."
    seeds = max(c.distinct for c in comparisons)
    solvers = max(sum(d.verdict is not Verdict.ABSENT for d in c.decisions) for c in comparisons)
    text = f"{plural(seeds, 'seed')} do not show which of {solvers} is as good as the best"
    if seeds < FEWEST:
        text = too_few(seeds) + ("" if _copied(comparisons) else f"; {FEWEST} can")
    return f"{text}{_remedy(comparisons, suite)}."


def _copied(comparisons: Sequence[Comparison]) -> bool:
    return any(d.copies for c in comparisons for d in c.decisions)


def too_few(seeds: int) -> str:
    """Return the sentence that this number of seeds decides nothing."""
    return f"{plural(seeds, 'seed')} cannot decide among the solvers"


def _remedy(comparisons: Sequence[Comparison], suite: str) -> str:
    """Return the command that adds seeds; nothing without a suite."""
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
    count = plural(seeds[-1], "seed")
    count = count if seeds[0] == seeds[-1] else f"{seeds[0]} to {count}"
    repeated = " (copies of a run count once)" if _copied(comparisons) else ""
    decisions = [d for c in comparisons for d in c.decisions]
    solvers = {d.solver for d in decisions}
    ran = {d.solver for d in decisions if d.verdict not in (Verdict.ABSENT, Verdict.UNTESTED)}
    return (
        f"Good enough: within {100 * first.tolerance:g} % of the way from the start to the best "
        f"value seen. {len(ran)} of {plural(len(solvers), 'solver')} tested on {count}"
        f"{repeated}, {plural(len(comparisons), 'problem')}; a verdict on a problem "
        "is wrong with a probability below 5 %."
    )


def together(sentences: Mapping[str, str]) -> str:
    """Return the sentences of several families as one text."""
    return " ".join(f"{clean(family)}: {text}" for family, text in sentences.items())

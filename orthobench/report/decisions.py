"""What to use in each family, under each cost and tolerance that a reader can choose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orthobench.report.formatting import clean, plural
from orthobench.report.ranking import Ranked
from orthobench.report.sentences import factor_text
from orthobench.stats.bootstrap import quantiles
from orthobench.stats.targets import RunMatrix

TOLERANCES: Mapping[str, float] = {"1 %": 1e-2, "0.0001 %": 1e-6}
"""The parts of the gap from the start to the best value that may be left; the first is shown."""

MISS = 10.0
"""What a problem counts, in the mean factor of a solver that is not good enough there."""

MARKS: Mapping[str, tuple[str, str]] = {
    "star": ("★", "as good as the best, at the least cost"),
    "good": ("●", "as good as the best"),
    "undecided": ("?", "undecided: more seeds would tell"),
    "failed": ("✗", "runs failed"),
}
"""The marks of solvers on a problem: symbol and meaning. Worse ones have none."""

THAN: Mapping[str, str] = {
    "seconds": "the time", "flops": "the flops", "samples": "the samples", "steps": "the steps",
}  # fmt: skip


@dataclass(frozen=True)
class Decision:
    """What is decided of a solver on a problem: its verdict, and its cost over the least."""

    solver: str
    verdict: str
    factor: float = math.nan


@dataclass(frozen=True)
class Comparison:
    """What is decided of all solvers of a problem."""

    problem: str
    decisions: Mapping[str, Decision]
    cheapest: str | None

    def of(self, solver: str) -> Decision:
        """Return what is decided of a solver; absent where it takes no part."""
        return self.decisions.get(solver) or Decision(solver, "absent")


def mark(comparison: Comparison, solver: str) -> str:
    """Return the mark of a solver on a problem, one of `MARKS`; empty where it is worse."""
    if solver == comparison.cheapest:
        return "star"
    verdict = comparison.of(solver).verdict
    return {"as good": "good"}.get(verdict, verdict if verdict in MARKS else "")


@dataclass(frozen=True)
class Answer:
    """What to use in a family; the solver is empty where none is good enough anywhere."""

    solver: str
    sentence: str
    comparisons: tuple[Comparison, ...]


Answers = Mapping[tuple[str, str], Answer]
"""The answers of a family, by cost and tolerance."""


def family_answers(
    runs: RunMatrix, ranked: Sequence[Ranked], costs: Sequence[str]
) -> dict[tuple[str, str], Answer]:
    """Return the answer of one family under each cost and tolerance, the first shown first.

    Parameters
    ----------
    runs : RunMatrix
        The runs of the family.
    ranked : sequence of Ranked
        Its entries that take part.
    costs : sequence of str
        Those that its solvers can be compared by.
    """
    failing = {(r.entry.solver, r.entry.problem) for r in ranked if r.summary.n_failed}
    return {
        (cost, tolerance): _answer(runs, failing, cost, TOLERANCES[tolerance])
        for cost in costs
        for tolerance in TOLERANCES
    }


def _answer(runs: RunMatrix, failing: set[tuple[str, str]], cost: str, tolerance: float) -> Answer:
    problems = dict.fromkeys(problem for problem, _ in runs.instances)
    comparisons = tuple(_compare(runs, p, failing, cost, tolerance) for p in problems)
    factors = {
        solver: [_counted(c.of(solver).factor) for c in comparisons] for solver in runs.solvers
    }
    order = sorted(factors, key=lambda solver: math.prod(factors[solver]))
    use = next((s for s in order if any(math.isfinite(c.of(s).factor) for c in comparisons)), "")
    return Answer(use, _sentence(use, cost, comparisons), comparisons)


def _compare(
    runs: RunMatrix, problem: str, failing: set[tuple[str, str]], cost: str, tolerance: float
) -> Comparison:
    at = [i for i, (name, _) in enumerate(runs.instances) if name == problem]
    rows = dict(zip(runs.solvers, runs.costs(cost, tolerance)[:, at], strict=True))
    rows = {s: row for s, row in rows.items() if (s, problem) not in set(runs.absent)}
    good = {
        s: float(quantiles(row, 0.5))
        for s, row in rows.items()
        if np.isfinite(row).all() and (s, problem) not in failing
    }
    first = min(good, key=lambda s: good[s]) if good else None
    decided = {s: Decision(s, "as good", good[s] / good[first or s]) for s in good}
    for solver, row in rows.items():
        if solver not in good:
            some = "undecided" if np.isfinite(row).any() else "worse"
            decided[solver] = Decision(solver, "failed" if (solver, problem) in failing else some)
    return Comparison(problem, decided, first)


def _counted(factor: float) -> float:
    """Return what a problem counts in the mean factor of a solver."""
    return factor if math.isfinite(factor) else MISS


def _sentence(use: str, cost: str, comparisons: Sequence[Comparison]) -> str:
    if not use:
        return "No method is good enough on every seed of any problem."
    own = [c for c in comparisons if math.isfinite(c.of(use).factor)]
    factors = [c.of(use).factor for c in own]
    count = plural(len(comparisons), "problem")
    where = f" on {len(own)} of {count}" if len(own) < len(comparisons) else f" on all {count}"
    text = f"Use {clean(use)}: as good as the best{where if len(comparisons) > 1 else ''}"
    if max(factors) > 1.0:
        mean = factor_text(math.exp(sum(map(math.log, factors)) / len(factors)))
        most = f", at most {factor_text(max(factors))}" if len(factors) > 1 else ""
        return f"{text}, at {mean} times {THAN[cost]} of the cheapest{most}."
    others = [
        d.factor
        for c in own
        for d in c.decisions.values()
        if d.solver != use and math.isfinite(d.factor)
    ]
    if not others:
        return f"{text}; no other method is."
    span = " to ".join(dict.fromkeys(map(factor_text, (min(others), max(others)))))
    return f"{text}; the others that are take {span} times {THAN[cost]}."

"""Parts that profiles and ECDFs share: panels of step functions, costs, and captions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from orthobench.contract.panel import Axis, Panel, Series
from orthobench.report.formatting import budget_text, clean, plural
from orthobench.results.tuning import SolverResult
from orthobench.stats.profiles import Distribution
from orthobench.stats.targets import RunMatrix
from orthobench.tools.arrays import Array

LONGEST = 150
"""The most steps of a line that are drawn; a plot is not high enough to show more."""

NARROWEST = 2.0
"""The smallest ratio of the ends of an axis."""

MARGIN = 0.05
"""The fraction of the span of all steps, in the logarithm, by which lines continue beyond them."""

NAMED = 3
"""The most problems that a caption names."""


def costs(entries: Sequence[SolverResult]) -> tuple[str, ...]:
    """Return the costs that solvers can be compared by; samples where all of them draw some.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of one family.
    """
    marks = [r.trace[-1] for e in entries if not e.refused for r in e.records if len(r.trace) > 1]
    sampled = bool(marks) and all(mark.work.samples > 0 for mark in marks)
    return ("seconds", "flops", *(["samples"] if sampled else []), "steps")


def distribution_panel(
    runs: RunMatrix, found: Sequence[Distribution], x: Axis, y: Axis, begin: float | None = None
) -> Panel:
    """Return a panel of step functions, all from the first step of any to beyond the last.

    Parameters
    ----------
    runs : RunMatrix
    found : sequence of Distribution
        One for each solver.
    x, y : Axis
    begin : float, optional
        The left end of the lines, instead of the first step of any.
    """
    steps = np.concatenate([[begin] if begin else [], *(one.x for one in found)])
    first, last = (float(steps.min()), float(steps.max())) if len(steps) else (1.0, 1.0)
    end = max(NARROWEST * first, last * (last / first) ** MARGIN)
    labels = (
        clean(f"{solver} ({failed} failed)" if failed else solver)
        for solver, failed in zip(runs.solvers, runs.failed, strict=True)
    )
    series = tuple(
        Series(label, *_stepped(one, first, end), solver=solver)
        for label, solver, one in zip(labels, runs.solvers, found, strict=True)
    )
    return Panel(x, y, series, stepped=True)


def caption(entries: Sequence[SolverResult], runs: RunMatrix, explanation: str) -> tuple[str, ...]:
    """Return the caption: budget, number of instances, and which count as unsolved, and why.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of one family.
    runs : RunMatrix
        Their runs.
    explanation : str
        A sentence about the plot itself.
    """
    problems = len({problem for problem, _ in runs.instances})
    planned = {(entry.problem, seed) for entry in entries for seed in entry.seeds}
    waiting = len(planned) - len(runs.instances)
    parts = (
        entries[0].problem_info.family,
        _budget(entries),
        _size(runs),
        explanation,
        "failed runs solve nothing" if any(runs.failed) else "",
        f"{plural(waiting, 'instance')} not counted: not run yet with all solvers"
        if waiting
        else "",
        *_absences(runs, problems),
        f"on {plural(runs.unfinished, 'instance')} no run finished: solved by nobody"
        if runs.unfinished
        else "",
        f"on {plural(runs.unimproved, 'instance')} no run got below the start: solved by nobody"
        if runs.unimproved
        else "",
    )
    return tuple(part for part in parts if part)


def _size(runs: RunMatrix) -> str:
    """Return how many instances there are: ``10 instances: 2 problems × 5 seeds``."""
    seeds = Counter(problem for problem, _ in runs.instances)
    each = set(seeds.values())
    of_each = f" × {plural(each.pop(), 'seed')}" if len(each) == 1 else ", each with its seeds"
    return f"{plural(len(runs.instances), 'instance')}: {plural(len(seeds), 'problem')}{of_each}"


def _absences(runs: RunMatrix, problems: int) -> list[str]:
    """Return a sentence about each solver that does not take part in some problems."""
    absent: dict[str, list[str]] = {}
    for solver, problem in runs.absent:
        absent.setdefault(solver, []).append(problem)
    return [
        f"{clean(solver)} takes no part in {len(names)} of {plural(problems, 'problem')}, "
        f"which count as not solved: {_first_names(names)}"
        for solver, names in absent.items()
    ]


def _first_names(names: Sequence[str]) -> str:
    more = [f"and {len(names) - NAMED} more"] if len(names) > NAMED else []
    return ", ".join([*map(clean, names[:NAMED]), *more])


def _budget(entries: Sequence[SolverResult]) -> str:
    budgets = {budget_text(record.budget) for entry in entries for record in entry.records}
    return budgets.pop() if len(budgets) == 1 else "problems have budgets of their own"


def _stepped(one: Distribution, begin: float, end: float) -> tuple[Array, Array]:
    """Return the points of a step function from begin to end, at most about `LONGEST` of them.

    Where steps are left out, the line is exact at all others, never above the true one, and less
    than 1 / `LONGEST` of its height below it.
    """
    x, share = one.x, one.share
    if len(x) > LONGEST:
        heights = np.linspace(share[0], share[-1], LONGEST + 1)
        kept = np.unique(np.searchsorted(share, heights))
        x, share = x[kept], share[kept]
    x = np.concatenate([[begin], x, [end]])
    share = np.concatenate([one.at([begin]), share, one.at([end])])
    ascending = np.diff(x, prepend=0.0) > 0
    return x[ascending], share[ascending]

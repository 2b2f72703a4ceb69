"""What profiles and ECDFs share: step functions as series, costs, and the small print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from orthobench.contract.panel import Axis, Panel, Series
from orthobench.report.words import clean, limits
from orthobench.results.tuning import Entry
from orthobench.stats.profiles import Distribution, Runs
from orthobench.tools.arrays import Array

LONGEST = 150
"""Most steps of a line that are drawn; the height of a plot shows no more."""

NARROWEST = 2.0
"""Least factor that an axis spans."""

MARGIN = 0.05
"""The part of an axis, on its logarithmic scale, that lines go on for after the last step."""

NAMED = 3
"""Most problems that the small print names."""


def costs(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return the costs that solvers can be compared by; samples where all of them draw some.

    Parameters
    ----------
    entries : sequence of Entry
        Of one family.
    """
    marks = [r.trace[-1] for e in entries if not e.refused for r in e.records if len(r.trace) > 1]
    drawn = bool(marks) and all(mark.work.samples > 0 for mark in marks)
    return ("seconds", "flops", *(["samples"] if drawn else []), "steps")


def distribution_panel(
    runs: Runs, found: Sequence[Distribution], x: Axis, y: Axis, begin: float | None = None
) -> Panel:
    """Return a panel of step functions, all from where the first begins to beyond the last step.

    Parameters
    ----------
    runs : Runs
    found : sequence of Distribution
        One for each solver.
    x, y : Axis
    begin : float, optional
        Where x begins; at the first step of all where it is not given.
    """
    steps = np.concatenate([[begin] if begin else [], *(one.x for one in found)])
    first, last = (float(steps.min()), float(steps.max())) if len(steps) else (1.0, 1.0)
    end = max(NARROWEST * first, last * (last / first) ** MARGIN)
    series = tuple(
        Series(_label(solver, failed), *_stepped(one, first, end), solver=solver)
        for solver, failed, one in zip(runs.solvers, runs.failed, found, strict=True)
    )
    return Panel(x, y, series, stepped=True)


def small_print(entries: Sequence[Entry], runs: Runs, *more: str) -> tuple[str, ...]:
    """Return what a reader must know of all instances: how many, and who solves none of which.

    Parameters
    ----------
    entries : sequence of Entry
        Of one family.
    runs : Runs
        Of these.
    more : str
        What the plot itself has to say.
    """
    problems = len({problem for problem, _ in runs.instances})
    parts = (
        entries[0].facts.family,
        _budget(entries),
        _size(runs),
        *more,
        "failed and missing runs solve nothing" if any(runs.failed) else "",
        *_absences(runs, problems),
        f"on {_number(runs.unfinished, 'instance')} no run finished: solved by nobody"
        if runs.unfinished
        else "",
        f"on {_number(runs.unimproved, 'instance')} no run got below the start: solved by nobody"
        if runs.unimproved
        else "",
    )
    return tuple(part for part in parts if part)


def _size(runs: Runs) -> str:
    """Return how many instances there are: ``10 instances: 2 problems × 5 seeds``."""
    seeds = Counter(problem for problem, _ in runs.instances)
    each = set(seeds.values())
    of_each = f" × {_number(each.pop(), 'seed')}" if len(each) == 1 else ", each with its seeds"
    return f"{_number(len(runs.instances), 'instance')}: {_number(len(seeds), 'problem')}{of_each}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _absences(runs: Runs, problems: int) -> list[str]:
    lacking: dict[str, list[str]] = {}
    for solver, problem in runs.absent:
        lacking.setdefault(solver, []).append(problem)
    return [
        f"{clean(solver)} takes no part in {len(of_it)} of {_number(problems, 'problem')}, "
        f"which count as not solved: {_listed(of_it)}"
        for solver, of_it in lacking.items()
    ]


def _listed(names: Sequence[str]) -> str:
    more = [f"and {len(names) - NAMED} more"] if len(names) > NAMED else []
    return ", ".join([*map(clean, names[:NAMED]), *more])


def _budget(entries: Sequence[Entry]) -> str:
    budgets = {limits(record.budget) for entry in entries for record in entry.records}
    return budgets.pop() if len(budgets) == 1 else "problems have budgets of their own"


def _label(solver: str, failed: int) -> str:
    return clean(f"{solver} ({failed} failed)" if failed else solver)


def _stepped(one: Distribution, begin: float, end: float) -> tuple[Array, Array]:
    """Return the points of a step function from begin to end, at most about `LONGEST` of them.

    Where some are left out, the line is at most one part in `LONGEST` below the true one, never
    above it, and meets it at every point that is left.
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

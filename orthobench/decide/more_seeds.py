"""More seeds for undecided comparisons.

At each look the number of seeds doubles, of undecided and untested solvers and of those that are as
good as the best. The verdicts of the last look count; `docs/decision.md` has the error rates.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from orthobench.decide.comparisons import compare
from orthobench.decide.rule import Comparison, Verdict
from orthobench.harness.cell import Cell
from orthobench.harness.identity import canonical
from orthobench.results.results import Results

LIMIT = 48
"""Maximum number of seeds of a pair by default."""

FIRST = 12
"""Minimum number of seeds of a suite to which more are added by default."""


def default_limit(seeds: int) -> int:
    """Return the maximum number of seeds for a suite with some; 0 if none are added."""
    return LIMIT if seeds >= FIRST else 0


def contenders(comparison: Comparison, limit: int = LIMIT) -> tuple[str, ...]:
    """Return the solvers that run on more seeds; none if all is decided, or at the limit."""
    undecided = [
        d.solver for d in comparison.decisions
        if d.verdict in (Verdict.UNDECIDED, Verdict.UNTESTED) and d.more_seeds is not None
    ]  # fmt: skip
    if not undecided or comparison.seeds >= limit:
        return ()
    return (*(d.solver for d in comparison.as_good), *undecided)


def next_look(seeds: int, limit: int = LIMIT) -> int:
    """Return the number of seeds at which to look again; the same number at the limit."""
    return max(seeds, min(2 * seeds, limit))


def more_cells(results: Results, cells: Sequence[Cell], limit: int = LIMIT) -> list[Cell]:
    """Return the cells on more seeds that may decide what is undecided.

    ``cells`` are those that ran; if a solver has several trials, only the chosen one runs on more
    seeds, up to the ``limit``.
    """
    one = {(c.problem_label, c.solver_label, canonical(c.tuned)): c for c in cells}
    entries = {(entry.problem, entry.solver): entry for entry in results.entries}
    place = itertools.count(1 + max((c.position for c in cells), default=0))
    more: dict[str, Cell] = {}
    for comparison in compare(results.entries):
        for solver in contenders(comparison, limit):
            entry = entries[comparison.problem, solver]
            label = entry.problem_info.label, solver, canonical(entry.best_parameters)
            first = max(entry.seeds) + 1
            added = next_look(comparison.seeds, limit) - comparison.seeds
            for seed in range(first, first + added):
                cell = replace(one[label], seed=seed, position=next(place))
                more.setdefault(cell.key, cell)
    return list(more.values())

"""Labels of axes and legends, and the captions of plots."""

from __future__ import annotations

import math
from collections.abc import Sequence

from orthobench.results.tuning import SolverResult
from orthobench.stats.costs import COSTS
from orthobench.stats.values import final, metric_of
from orthobench.tools.formatting import assignments, budget_text, clean


def axis_label(key: str) -> str:
    """Return the label of a cost or metric, with its unit."""
    return COSTS[key].label if key in COSTS else clean(key.replace("_", " "))


def legend_label(entry: SolverResult) -> str:
    """Return a solver's label in a legend, with its chosen parameters and its failures."""
    chosen = assignments(entry.best_parameters)
    finals = [final(record, metric_of(record.problem.primary)) for record in entry.finished]
    failed = len(finals) - sum(map(math.isfinite, finals))
    name = f"{entry.solver} ({chosen})" if chosen else entry.solver
    return clean(f"{name} (failed {failed} of {len(finals)})" if failed else name)


def about(entries: Sequence[SolverResult], *more: str) -> tuple[str, ...]:
    """Return the caption: families, the budget, and further parts."""
    families = sorted({entry.problem_info.family for entry in entries})
    budgets = {budget_text(run.budget) for entry in entries for run in entry.records}
    budget = "problems have budgets of their own" if len(budgets) > 1 else "".join(budgets)
    return tuple(part for part in (*map(clean, families), budget, *more) if part)

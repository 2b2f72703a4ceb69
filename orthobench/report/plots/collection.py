"""All plots of a comparison, in the order in which reports show them."""

from __future__ import annotations

from collections.abc import Sequence

from orthobench.contract.panel import Plot
from orthobench.report.plots.exhibits import Load, curves, exhibitions
from orthobench.report.plots.families import target_plots
from orthobench.report.plots.problems import problem_plots
from orthobench.results.tuning import SolverResult
from orthobench.tools.collections import grouped


def family_plots(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return profiles and expected costs of the families with two solvers."""
    groups = grouped(entries, lambda entry: entry.problem_info.family).values()
    several = [g for g in groups if len({e.solver for e in g if not e.refused}) > 1]
    return [plot for group in several for plot in target_plots(group)]


def all_plots(entries: Sequence[SolverResult], exhibits: Load | None = None) -> list[Plot]:
    """Return all plots of a comparison."""
    taking_part = [entry for entry in entries if not entry.refused]
    groups = grouped(taking_part, lambda entry: entry.problem).values()
    shown = exhibitions(entries, exhibits) if exhibits else []
    return [
        *(plot for group in groups for plot in problem_plots(group)),
        *family_plots(entries),
        *(plot for one in shown for plot in curves(one)),
    ]

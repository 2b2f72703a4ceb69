"""All plots of a comparison, in the order in which reports show them."""

from __future__ import annotations

from collections.abc import Sequence

from orthobench.contract.panel import Plot
from orthobench.report.plots.convergence import convergence
from orthobench.report.plots.exhibits import Exhibition, Load, curves, exhibitions
from orthobench.report.plots.families import target_plots
from orthobench.report.plots.sweeps import sweeps
from orthobench.report.plots.tuning import tuning
from orthobench.results.tuning import SolverResult
from orthobench.tools.collections import grouped


def problem_plots(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return the plots of one problem: convergence and tuning."""
    return [plot for plot in (convergence(entries), tuning(entries)) if plot is not None]


def comparison_plots(entries: Sequence[SolverResult]) -> list[Plot]:
    """Return profiles and expected costs of families, and sweeps."""
    plots: list[Plot] = []
    for group in grouped(entries, lambda entry: entry.problem_info.family).values():
        if len({entry.solver for entry in group if not entry.refused}) > 1:
            plots += target_plots(group)
    return [*plots, *sweeps(entries)]


def exhibit_plots(exhibitions: Sequence[Exhibition]) -> list[Plot]:
    """Return the plots of the curves that solutions exhibit."""
    plots = (curves(exhibition) for exhibition in exhibitions)
    return [plot for plot in plots if plot is not None]


def all_plots(entries: Sequence[SolverResult], exhibits: Load | None = None) -> list[Plot]:
    """Return all plots of a comparison."""
    taking_part = [entry for entry in entries if not entry.refused]
    groups = grouped(taking_part, lambda entry: entry.problem).values()
    return [
        *(plot for group in groups for plot in problem_plots(group)),
        *comparison_plots(entries),
        *(exhibit_plots(exhibitions(entries, exhibits)) if exhibits else []),
    ]

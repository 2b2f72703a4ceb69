"""Performance profiles: how often each solver is among the cheapest, over all problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orthobench.contract.panel import Axis, Panel, Plot
from orthobench.errors import unknown
from orthobench.report.formatting import clean
from orthobench.report.plots.distributions import caption, costs, distribution_panel
from orthobench.results.tuning import SolverResult
from orthobench.stats.profiles import performance_profile
from orthobench.stats.targets import RunMatrix, run_matrix

ACCURACIES: Mapping[str, float] = {"10 %": 1e-1, "1 %": 1e-2, "0.1 %": 1e-3, "0.001 %": 1e-5}
"""The fraction of the gap from the start to the best value that is left in a solved instance."""

COST_NAMES: Mapping[str, str] = {
    "seconds": "time",
    "flops": "floating-point operations",
    "samples": "samples",
    "steps": "steps",
}


def profile(entries: Sequence[SolverResult], runs: RunMatrix | None = None) -> Plot:
    """Return the performance profiles of one family: a panel for each cost and accuracy.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of all problems of the family, at least one of which takes part.
    runs : RunMatrix, optional
        Their runs, if they are collected already.
    """
    runs, offered = runs or run_matrix(entries), costs(entries)
    explanation = (
        "solved to 10 %, say: at most 10 % of the gap between the start and the best value that "
        "any solver reached is left (Moré and Wild 2009); the cost is that of the first such "
        "checkpoint"
    )
    return Plot(
        name=f"{clean(entries[0].problem_info.family)}: performance profiles",
        kind="profile",
        choices={"cost": offered, "accuracy": tuple(ACCURACIES)},
        draw=lambda key: profile_panel(runs, *key),
        sheet=[(offered[0], accuracy) for accuracy in list(ACCURACIES)[:3]],
        about=caption(entries, runs, explanation),
    )


def profile_panel(runs: RunMatrix, cost: str, accuracy: str) -> Panel:
    """Return the share of instances that each solver solves within a factor of the least cost.

    Parameters
    ----------
    runs : RunMatrix
    cost : str
        One of `orthobench.stats.values.COSTS`.
    accuracy : str
        One of `ACCURACIES`.

    Raises
    ------
    UsageError
        On an unknown cost or accuracy.
    """
    if accuracy not in ACCURACIES:
        raise unknown("accuracy", accuracy, ACCURACIES)
    profiles = performance_profile(runs.costs(cost, ACCURACIES[accuracy]))
    x = Axis("ratio", f"{COST_NAMES[cost]}, as a multiple of the least of any solver")
    y = Axis("share", f"share of instances solved to {accuracy}", log=False)
    return distribution_panel(runs, profiles, x, y, begin=1.0)

"""Expected costs: what each solver takes to reach a target on each problem, restarts included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.errors import unknown
from orthobench.report.formatting import clean
from orthobench.report.plots.distributions import caption, costs
from orthobench.report.plots.labels import axis_label
from orthobench.report.plots.profiles import ACCURACIES
from orthobench.results.tuning import SolverResult
from orthobench.stats.expected import expected_costs
from orthobench.stats.targets import RunMatrix, run_matrix

BAND = "95 % interval over seeds"


def expected(entries: Sequence[SolverResult], runs: RunMatrix | None = None) -> Plot:
    """Return the expected costs on the problems of one family: a panel for each cost and accuracy.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of all problems of the family, at least one of which takes part.
    runs : RunMatrix, optional
        Their runs, if they are collected already.
    """
    runs, offered = runs or run_matrix(entries), costs(entries)
    explanation = (
        "what all runs took, to the target or else to their end, for each run that reached it: the "
        "cost with restarts, as COCO's average runtime; the target is that part of the gap between "
        "the start and the best value that any solver reached; no point: no run reached it; no "
        "bar: so few did that the interval has no upper end"
    )
    return Plot(
        name=f"{clean(entries[0].problem_info.family)}: expected cost to a target",
        kind="expected",
        choices={"cost": offered, "accuracy": tuple(ACCURACIES)},
        draw=lambda key: expected_panel(runs, *key),
        sheet=[(offered[0], "10 %"), (offered[0], "1 %")],
        about=caption(entries, runs, explanation),
    )


def expected_panel(runs: RunMatrix, cost: str, accuracy: str) -> Panel:
    """Return the expected cost of each solver on each problem, with its interval.

    Parameters
    ----------
    runs : RunMatrix
    cost : str
        One of `orthobench.stats.values.COSTS`.
    accuracy : str
        One of `orthobench.report.plots.profiles.ACCURACIES`.

    Raises
    ------
    UsageError
        On an unknown cost or accuracy.
    """
    if accuracy not in ACCURACIES:
        raise unknown("accuracy", accuracy, ACCURACIES)
    found = expected_costs(runs, cost, ACCURACIES[accuracy])
    series = []
    for row, solver in enumerate(runs.solvers):
        ran = np.flatnonzero(found.runs[row])
        counts = zip(found.reached[row, ran], found.runs[row, ran], strict=True)
        notes = tuple(f"{reached} of {all_runs} runs reached it" for reached, all_runs in counts)
        mean, low, high = (each[row, ran] for each in (found.cost, found.low, found.high))
        at = ran.astype(np.float64)
        series.append(Series(clean(solver), at, mean, low, high, solver=solver, notes=notes))
    x = Axis("problem", "", log=False, categories=tuple(map(clean, found.problems)))
    return Panel(x, Axis(cost, f"expected {axis_label(cost)}"), tuple(series), band=BAND)

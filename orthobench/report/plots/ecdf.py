"""ECDFs: the share of all targets that each solver reaches within a cost, over all problems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot
from orthobench.report.formatting import clean
from orthobench.report.plots.distributions import caption, costs, distribution_panel
from orthobench.report.plots.labels import axis_label
from orthobench.results.tuning import Entry
from orthobench.stats.profiles import LADDER, ecdf
from orthobench.stats.targets import RunMatrix, run_matrix


def targets_reached(entries: Sequence[Entry], runs: RunMatrix | None = None) -> Plot:
    """Return the ECDFs of one family: a panel for each cost.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of all problems of the family, at least one of which takes part.
    runs : RunMatrix, optional
        Their runs, if they are collected already.
    """
    runs, offered = runs or run_matrix(entries), costs(entries)
    explanation = (
        f"{len(LADDER)} targets for each: at most {100 * LADDER[0]:.3g} % down to "
        f"{100 * LADDER[-1]:.3g} % of the gap between the start and the best value that any "
        "solver reached is left; the cost is that of the first such checkpoint"
    )
    return Plot(
        name=f"{clean(entries[0].facts.family)}: targets reached",
        kind="ecdf",
        choices={"cost": offered},
        draw=lambda key: ecdf_panel(runs, *key),
        sheet=[(cost,) for cost in offered[:2]],
        about=caption(entries, runs, explanation),
    )


def ecdf_panel(runs: RunMatrix, cost: str) -> Panel:
    """Return the share of the targets of all instances that each solver reaches within a cost.

    Parameters
    ----------
    runs : RunMatrix
    cost : str
        One of `orthobench.stats.values.COSTS`.

    Raises
    ------
    UsageError
        On an unknown cost.
    """
    found = ecdf(np.stack([runs.costs(cost, tau) for tau in LADDER], axis=-1))
    y = Axis("share", "share of targets reached", log=False)
    return distribution_panel(runs, found, Axis(cost, axis_label(cost)), y)

"""ECDFs: the share of all targets that each solver reaches within a cost, over all problems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot
from orthobench.errors import unknown
from orthobench.report.formatting import clean
from orthobench.report.plots.distributions import caption, costs, distribution_panel
from orthobench.report.plots.labels import axis_label
from orthobench.results.tuning import SolverResult
from orthobench.stats.profiles import LADDER, PRECISIONS, ecdf
from orthobench.stats.targets import RunMatrix, run_matrix

RELATIVE, ABSOLUTE = "of the gap", "as in COCO"
TARGETS = (RELATIVE, ABSOLUTE)
"""The targets on offer: parts of the gap of each instance, and absolute precisions."""


def targets_reached(entries: Sequence[SolverResult], runs: RunMatrix | None = None) -> Plot:
    """Return the ECDFs of one family: a panel for each cost.

    Parameters
    ----------
    entries : sequence of SolverResult
        The entries of all problems of the family, at least one of which takes part.
    runs : RunMatrix, optional
        Their runs, if they are collected already.
    """
    runs, offered = runs or run_matrix(entries), costs(entries)
    explanation = (
        f"{len(LADDER)} targets for each: at most {100 * LADDER[0]:.3g} % down to "
        f"{100 * LADDER[-1]:.3g} % of the gap between the start and the best value that any "
        f"solver reached is left; as in COCO {len(PRECISIONS)}: {PRECISIONS[0]:g} down to "
        f"{PRECISIONS[-1]:g} above that best value; the cost is that of the first such checkpoint"
    )
    return Plot(
        name=f"{clean(entries[0].problem_info.family)}: targets reached",
        kind="ecdf",
        choices={"cost": offered, "targets": TARGETS},
        draw=lambda key: ecdf_panel(runs, *key),
        sheet=[(cost, RELATIVE) for cost in offered[:2]],
        about=caption(entries, runs, explanation),
    )


def ecdf_panel(runs: RunMatrix, cost: str, targets: str = RELATIVE) -> Panel:
    """Return the share of the targets of all instances that each solver reaches within a cost.

    Parameters
    ----------
    runs : RunMatrix
    cost : str
        One of `orthobench.stats.values.COSTS`.
    targets : str
        One of `TARGETS`.

    Raises
    ------
    UsageError
        On an unknown cost or unknown targets.
    """
    if targets not in TARGETS:
        raise unknown("targets", targets, TARGETS)
    relative = targets == RELATIVE
    ladder = map(runs.targets, LADDER) if relative else map(runs.values_within, PRECISIONS)
    found = ecdf(np.stack([runs.cheapest(cost, values) for values in ladder], axis=-1))
    y = Axis("share", "share of targets reached", log=False)
    return distribution_panel(runs, found, Axis(cost, axis_label(cost)), y)

"""ECDFs: the share of all targets that each solver reaches within a cost, over all problems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orthobench.contract.panel import Axis, Key, Panel, Plot
from orthobench.report.plots.distributions import costs, distribution_panel, small_print
from orthobench.report.plots.labels import axis_label
from orthobench.report.words import clean
from orthobench.results.tuning import Entry
from orthobench.stats.profiles import LADDER, Runs, ecdf, gather


def targets_reached(entries: Sequence[Entry]) -> Plot:
    """Return the ECDFs of one family: a panel for each cost.

    Parameters
    ----------
    entries : sequence of Entry
        Of all problems of the family, at least one of which takes part.
    """
    runs, offered = gather(entries), costs(entries)

    def draw(key: Key) -> Panel:
        return ecdf_panel(runs, key[0])

    return Plot(
        name=f"{clean(entries[0].facts.family)}: targets reached",
        kind="ecdf",
        choices={"cost": offered},
        draw=draw,
        sheet=[(cost,) for cost in offered[:2]],
        about=small_print(
            entries,
            runs,
            f"{len(LADDER)} targets for each: at most {100 * LADDER[0]:.3g} % down to "
            f"{100 * LADDER[-1]:.3g} % of the gap between the start and the best value that any "
            "solver reached is left, at the first checkpoint where it is so",
        ),
    )


def ecdf_panel(runs: Runs, cost: str) -> Panel:
    """Return the share of the targets of all instances that each solver reaches within a cost.

    Parameters
    ----------
    runs : Runs
    cost : str
        One of `orthobench.stats.curves.AXES`.

    Raises
    ------
    UsageError
        On an unknown cost.
    """
    found = ecdf(np.stack([runs.costs(cost, tau) for tau in LADDER], axis=-1))
    y = Axis("share", "share of targets reached", log=False)
    return distribution_panel(runs, found, Axis(cost, axis_label(cost)), y)

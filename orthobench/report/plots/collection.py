"""All plots of a comparison, in the order in which reports show them."""

from __future__ import annotations

from collections.abc import Sequence

from orthobench.report.plots.convergence import convergence
from orthobench.report.plots.exhibits import Exhibition
from orthobench.report.plots.overlays import curves
from orthobench.report.plots.panel import Plot
from orthobench.report.plots.sweeps import sweep, sweeps
from orthobench.report.plots.tradeoffs import tradeoffs
from orthobench.tuning import Entry


def of_problem(entries: Sequence[Entry]) -> list[Plot]:
    """Return the plots of one problem: convergence, and what else its runs allow.

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem, at least one that takes part.
    """
    return [convergence(entries)]


def across(entries: Sequence[Entry]) -> list[Plot]:
    """Return the plots that compare solvers over all problems of a suite.

    Parameters
    ----------
    entries : sequence of Entry
    """
    return [*tradeoffs(entries), *map(sweep, sweeps(entries))]


def exhibited(shown: Sequence[Exhibition]) -> list[Plot]:
    """Return the plots of what solutions look like, where these are curves.

    Parameters
    ----------
    shown : sequence of Exhibition
        What the solvers show of each problem: `orthobench.report.plots.exhibits.exhibitions`.
    """
    plots = (curves(one) for one in shown)
    return [plot for plot in plots if plot is not None]

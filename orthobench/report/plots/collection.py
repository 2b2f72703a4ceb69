"""All plots of a comparison, in the order in which reports show them."""

from __future__ import annotations

from collections.abc import Sequence

from orthobench.panel import Plot
from orthobench.report.plots.convergence import convergence
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
    del entries
    return []

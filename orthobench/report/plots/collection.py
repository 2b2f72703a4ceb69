"""All plots of a comparison, in the order in which reports show them."""

from __future__ import annotations

from collections.abc import Sequence

from orthobench.contract.panel import Plot
from orthobench.report.findings import Family, families
from orthobench.report.plots.convergence import convergence
from orthobench.report.plots.ecdf import targets_reached
from orthobench.report.plots.exhibits import Exhibition
from orthobench.report.plots.overlays import curves
from orthobench.report.plots.profiles import profile
from orthobench.report.plots.ranks import ranks
from orthobench.report.plots.sweeps import sweep, sweeps
from orthobench.report.plots.tradeoffs import tradeoffs
from orthobench.report.plots.tuning import tuning, tunings
from orthobench.report.ranking import rank
from orthobench.results.tuning import Entry


def of_problem(entries: Sequence[Entry]) -> list[Plot]:
    """Return the plots of one problem: convergence, and tuning where there was any.

    Parameters
    ----------
    entries : sequence of Entry
        Of one problem, at least one that takes part.
    """
    tuned = [tuning(entries)] if tunings(entries) else []
    return [convergence(entries), *tuned]


def across(entries: Sequence[Entry], found: Sequence[Family] | None = None) -> list[Plot]:
    """Return the plots that compare solvers over all problems of a suite.

    For each family in which at least two solvers take part: their mean ranks, where there are
    enough problems, performance profiles and ECDFs. Then trade-offs, where problems are compared
    at levels, and sweeps, where they differ in one number.

    Parameters
    ----------
    entries : sequence of Entry
    found : sequence of Family, optional
        What was found in each family, where that is known already: it takes a while to find.
    """
    known = families(rank(entries)) if found is None else found
    ranks_of = {family.name: family for family in known if family.ranks is not None}
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.facts.family, []).append(entry)
    plots: list[Plot] = []
    for name, group in groups.items():
        if len({entry.solver for entry in group if not entry.refused}) < 2:
            continue
        plots += [ranks(ranks_of[name])] if name in ranks_of else []
        plots += [profile(group), targets_reached(group)]
    return [*plots, *tradeoffs(entries), *map(sweep, sweeps(entries))]


def exhibited(shown: Sequence[Exhibition]) -> list[Plot]:
    """Return the plots of what solutions look like, where these are curves.

    Parameters
    ----------
    shown : sequence of Exhibition
        What the solvers show of each problem: `orthobench.report.plots.exhibits.exhibitions`.
    """
    plots = (curves(one) for one in shown)
    return [plot for plot in plots if plot is not None]

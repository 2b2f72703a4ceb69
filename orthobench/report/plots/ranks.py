"""Ranks: the mean rank of each solver over the problems of a family, with critical difference."""

from __future__ import annotations

import math

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.findings import Family
from orthobench.report.words import clean, number
from orthobench.stats.paired import LEVEL
from orthobench.stats.ranks import Ranks


def ranks(family: Family) -> Plot:
    """Return the mean ranks of one family's solvers, best first.

    Parameters
    ----------
    family : Family
        With ranks.

    Raises
    ------
    ValueError
        Where it has none: too few problems.
    """
    if family.ranks is None:
        raise ValueError(f"{family.name}: solvers are not ranked over so few problems")
    found = family.ranks
    return Plot(
        name=f"{clean(family.name)}: mean ranks",
        kind="ranks",
        choices={},
        draw=lambda _: ranks_panel(found),
        sheet=[()],
        about=(clean(family.name), f"{found.problems} problems", *_about(found)),
    )


def ranks_panel(found: Ranks) -> Panel:
    """Return the mean ranks, each with a bar of one critical difference.

    Two solvers differ where their bars do not overlap: their mean ranks are then further apart
    than the critical difference.

    Parameters
    ----------
    found : Ranks
    """
    half = found.critical_difference / 2
    series = []
    for at, (solver, mean) in enumerate(found.mean.items()):
        x, y = np.array([float(at)]), np.array([mean])
        series.append(Series(clean(solver), x, y, y - half, y + half, solver=solver))
    x_axis = Axis("solver", "", log=False, categories=tuple(map(clean, found.mean)))
    y_axis = Axis("rank", "mean rank (1 is best)", log=False)
    return Panel(x_axis, y_axis, tuple(series), band="critical difference")


def _about(found: Ranks) -> tuple[str, ...]:
    p = "no p value" if math.isnan(found.p) else f"p = {number(found.p)}"
    if not found.p < LEVEL:
        return (f"no difference shown between any of them (Friedman's test, {p})",)
    difference = number(found.critical_difference)
    return (
        f"they are not all equal (Friedman's test, {p})",
        "two differ at the 5 % level where their bars do not overlap",
        f"Nemenyi's critical difference {difference}",
    )

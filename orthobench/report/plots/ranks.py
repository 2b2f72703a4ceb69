"""Critical-difference diagrams: mean ranks over the problems of a family, and what they show."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from orthobench.contract.panel import Axis, Panel, Plot, Series
from orthobench.report.families import Family
from orthobench.report.formatting import clean, number
from orthobench.stats.paired import LEVEL
from orthobench.stats.ranks import Ranks


def ranks(family: Family) -> Plot:
    """Return the critical-difference diagram of one family's solvers.

    Parameters
    ----------
    family : Family
        With ranks.

    Raises
    ------
    ValueError
        If it has none, since there are too few problems.
    """
    if family.ranks is None:
        raise ValueError(f"{family.name} has too few problems for mean ranks")
    ranks = family.ranks
    return Plot(
        name=f"{clean(family.name)}: mean ranks",
        kind="ranks",
        choices={},
        draw=lambda _: ranks_panel(ranks),
        sheet=[()],
        about=(clean(family.name), f"{ranks.problems} problems", *_about(ranks)),
    )


def ranks_panel(ranks: Ranks) -> Panel:
    """Return a row for each solver, best on top, with a point at its mean rank.

    A line joins the first and the last of each group whose solvers are not shown to differ: the
    bars of a critical-difference diagram (Demšar 2006, figure 1).

    Parameters
    ----------
    ranks : Ranks
    """
    rows = {name: float(at) for at, name in enumerate(reversed(list(ranks.mean)))}
    series = [
        Series(clean(name), np.array([mean]), np.array([rows[name]]), solver=name)
        for name, mean in ranks.mean.items()
    ]
    series += [_lines(ranks, rows)] if ranks.alike else []
    x_axis = Axis("rank", "mean rank (1 is best)", log=False)
    y_axis = Axis("solver", "", log=False, categories=tuple(map(clean, rows)))
    return Panel(x_axis, y_axis, tuple(series), stepped=True)


def _lines(ranks: Ranks, rows: Mapping[str, float]) -> Series:
    """Return the lines of all groups as one series, with a gap after each."""
    ends = [(group[0], group[-1]) for group in ranks.alike]
    x, y = (
        np.array([place for a, b in ends for place in (of[a], of[b], math.nan)])
        for of in (ranks.mean, rows)
    )
    notes = tuple(f"{clean(a)} to {clean(b)}" for a, b in ends for _ in range(3))
    return Series("not shown to differ", x, y, notes=notes)


def _about(ranks: Ranks) -> tuple[str, ...]:
    p = "no p value" if math.isnan(ranks.p) else f"p = {number(ranks.p)}"
    if not ranks.p < LEVEL:
        return (f"no difference shown between any of them (Friedman's test, {p})",)
    lines = "a line joins the first and the last of those not shown to differ at the 5 % level"
    return (
        f"they are not all equal (Friedman's test, {p})",
        lines if ranks.alike else "each differs from each at the 5 % level",
        f"Nemenyi's critical difference {number(ranks.critical_difference)}",
    )

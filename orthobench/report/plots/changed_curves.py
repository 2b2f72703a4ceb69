"""Curves of a solver in two stores, over each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from orthobench.contract.panel import Key, Panel, Plot
from orthobench.report.formatting import clean
from orthobench.report.plots.convergence import convergence
from orthobench.report.style import LINES, Style, solver_styles
from orthobench.results.tuning import SolverResult

SIDES = ("A", "B")
"""The names of the two stores."""


def changed_curves(pairs: Sequence[tuple[SolverResult, SolverResult]]) -> Plot:
    """Return the convergence plot of one problem in two stores, of one solver after the other.

    Parameters
    ----------
    pairs : sequence of (SolverResult, SolverResult)
        The entries of a solver in A and in B, in the order in which solvers are offered.
    """
    plots = {clean(pair[0].solver): convergence(sided(pair)) for pair in pairs}
    costs, metrics = (
        tuple(dict.fromkeys(option for plot in plots.values() for option in plot.choices[choice]))
        for choice in ("x", "metric")
    )

    def draw(key: Key) -> Panel:
        return plots[key[0]].draw(key[1:])

    first = next(iter(plots.values()))
    return Plot(
        name=first.name,
        kind="convergence",
        choices={"solver": tuple(plots), "x": costs, "metric": metrics},
        draw=draw,
        about=(f"solid: {SIDES[0]}, dashed: {SIDES[1]}", *first.about),
    )


def sided(pair: tuple[SolverResult, SolverResult]) -> tuple[SolverResult, SolverResult]:
    """Return the entries of a solver in A and in B, with names that say so."""
    one, other = (
        replace(entry, solver=f"{entry.solver} in {side}")
        for entry, side in zip(pair, SIDES, strict=True)
    )
    return one, other


def sided_styles(solvers: Iterable[str]) -> dict[str, Style]:
    """Return the styles of solvers in A and in B: in one colour, solid and dashed."""
    return {
        f"{name} in {side}": replace(style, line=LINES[at], number=len(SIDES) * style.number + at)
        for name, style in solver_styles(solvers).items()
        for at, side in enumerate(SIDES)
    }

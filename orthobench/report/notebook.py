"""Drawing of one plot of some results into an axis of matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from orthobench.contract.panel import Panel, Plot
from orthobench.errors import UsageError, unknown
from orthobench.report.plots.collection import all_plots
from orthobench.report.style import solver_styles
from orthobench.results.results import Results
from orthobench.tools.formatting import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(
    ax: Axes, results: Results, kind: str, of: str | None, options: Mapping[str, str]
) -> Panel:
    """Draw a plot of a kind, and return its numbers; see `Results.plot`."""
    from orthobench.report.figures.panels import draw_panel

    plot = _plot(kind, results, of)
    for name, option in options.items():
        if name not in plot.choices:
            raise unknown(f"option of {plot.name}", name, plot.choices)
        if option not in plot.choices[name]:
            raise unknown(f"{name} of {plot.name}", option, plot.choices[name])
    panel = plot.panel(*(options.get(name, own[0]) for name, own in plot.choices.items()))
    draw_panel(ax, panel, solver_styles(entry.solver for entry in results.entries))
    return panel


def _plot(kind: str, results: Results, of: str | None) -> Plot:
    every = all_plots(results.entries, results.exhibits if kind == "curves" else None)
    plots = {
        plot.name if kind == "convergence" else plot.name.rpartition(": ")[0]: plot
        for plot in every
        if plot.kind == kind
    }
    if not plots:
        known = listed(sorted({plot.kind for plot in every}))
        raise UsageError(f"there is no {kind} plot of {results.suite}: its runs allow {known}")
    if of is None and len(plots) > 1:
        raise UsageError(f"name one of the plots: {', '.join(plots)}")
    if of is not None and of not in plots:
        raise unknown(f"{kind} plot", of, plots)
    return plots[next(iter(plots)) if of is None else of]

"""Plots for notebooks and papers: functions that draw into an axis of matplotlib.

``ob.plots.KIND(ax, results, of, **options)`` draws a plot and returns its `Panel` of numbers. `of`
names the problem or family, unless there is only one. The options are those of the page; the
first one is the default.

Problems have `convergence` (`x`, `metric`), `tuning` (`parameter`) and `curves` (`curve`). Families
have `profile` and `expected` (`cost`, `accuracy`).

Examples
--------
>>> import matplotlib.pyplot as plt, orthobench as ob
>>> results = ob.run("quickstart")  # doctest: +SKIP
>>> fig, ax = plt.subplots()  # doctest: +SKIP
>>> panel = ob.plots.convergence(ax, results, "digits k=4", x="flops")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from orthobench.contract.panel import Panel, Plot
from orthobench.errors import UsageError, unknown
from orthobench.report.plots.collection import all_plots
from orthobench.report.style import solver_styles
from orthobench.results.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _drawing_function(kind: str) -> Callable[..., Panel]:

    def draw(
        ax: Axes, results: Results, of: str | None = None, *chosen: str, **options: str | None
    ) -> Panel:
        from orthobench.report.figures.panels import draw_panel

        plot = _plot(kind, results, of)
        named = {**dict(zip(plot.choices, chosen, strict=False)), **options}
        for name, option in named.items():
            if name not in plot.choices:
                raise unknown(f"option of {plot.name}", name, plot.choices)
            if option is not None and option not in plot.choices[name]:
                raise unknown(f"{name} of {plot.name}", option, plot.choices[name])
        key = tuple(named.get(name) or first[0] for name, first in plot.choices.items())
        panel = plot.draw(key)
        draw_panel(ax, panel, solver_styles(entry.solver for entry in results.entries))
        return panel

    draw.__name__ = draw.__qualname__ = kind
    draw.__doc__ = f"Draw a {kind} plot, and return its numbers; see `orthobench.plots`."
    return draw


def _plot(kind: str, results: Results, of: str | None) -> Plot:
    exhibits = results.exhibits if kind == "curves" else None
    own = [plot for plot in all_plots(results.entries, exhibits) if plot.kind == kind]
    plots = {
        plot.name if kind == "convergence" else plot.name.rpartition(": ")[0]: plot for plot in own
    }
    if not plots:
        raise UsageError(f"there is no {kind} plot of {results.suite}: its runs do not allow one")
    if of is None and len(plots) > 1:
        raise UsageError(f"name one of the plots: {', '.join(plots)}")
    if of is not None and of not in plots:
        raise unknown(f"{kind} plot", of, plots)
    return plots[next(iter(plots)) if of is None else of]


convergence = _drawing_function("convergence")
tuning = _drawing_function("tuning")
curves = _drawing_function("curves")
profile = _drawing_function("profile")
expected = _drawing_function("expected")

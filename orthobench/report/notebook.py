"""Plots for notebooks and papers: each draws what a report shows into an axis of matplotlib.

``ob.plots.KIND(ax, results, of, **options)`` draws one of the plots below and returns the `Panel`
that it drew, as numbers. `of` names the problem, sweep or family, and can be left out where there
is only one. The options are those that the page offers for the same plot, such as ``x="flops"``;
the first one is the default. An unknown name or option is refused with a list of the known ones.

=============== ================== ==========================================================
plot            `of`               options
=============== ================== ==========================================================
`convergence`   problem            `x` (seconds, flops, steps, samples; total flops), `metric`
`tuning`        problem            `parameter`, `y` (the tuning score, or the primary metric)
`tradeoff`      problem            `y` (the primary metric, flops, seconds)
`curves`        problem            `curve`
`sweep`         name of the sweep  `y` (the primary metric, another one, flops, seconds)
`profile`       family             `cost` (seconds, flops, steps, samples), `accuracy`
`expected`      family             `cost` (seconds, flops, steps, samples), `accuracy`
=============== ================== ==========================================================

The axis may be one of pyplot's, of a subfigure or of a grid. Fonts and line widths are those of
matplotlib's settings; colour, dashes and marker belong to a solver and are the same in all plots of
the same results. ``ax.legend()`` adds a legend.

Examples
--------
>>> import matplotlib.pyplot as plt, orthobench as ob
>>> results = ob.run("quickstart")  # doctest: +SKIP
>>> fig, ax = plt.subplots()  # doctest: +SKIP
>>> panel = ob.plots.convergence(ax, results, "digits k=4", x="flops")  # doctest: +SKIP
>>> ax.legend()  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from orthobench.contract.panel import Panel, Plot
from orthobench.errors import UsageError, unknown
from orthobench.report.plots.collection import comparison_plots, exhibit_plots, problem_plots
from orthobench.report.plots.exhibits import exhibitions
from orthobench.report.style import solver_styles
from orthobench.results.results import Results
from orthobench.results.tuning import SolverResult
from orthobench.tools.collections import grouped

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _drawing_function(kind: str) -> Callable[..., Panel]:
    """Return the function that draws a kind of plot."""

    def draw(
        ax: Axes, results: Results, of: str | None = None, *chosen: str, **options: str | None
    ) -> Panel:
        from orthobench.report.figures.panels import draw_panel

        plots = [plot for plot in _plots(kind, results, of) if plot.kind == kind]
        if not plots:
            what = of or results.suite
            raise UsageError(f"there is no {kind} plot of {what}: its runs do not allow one")
        if len(plots) > 1:
            raise UsageError(f"name one of the plots: {', '.join(one.name for one in plots)}")
        plot = plots[0]
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


def _plots(kind: str, results: Results, of: str | None) -> Sequence[Plot]:
    """Return the plots of a problem, sweep or family by its name, of all kinds."""
    entries = results.entries
    if kind in ("convergence", "tuning", "curves"):
        own = _named(entries, lambda e: e.problem, "problem", of)
        if all(entry.refused for entry in own):
            raise UsageError(f"no solver takes part in {own[0].problem}")
        if kind == "curves":
            return exhibit_plots(exhibitions(own, results.exhibits))
        return problem_plots(own)
    if kind == "tradeoff":  # over all levels of a problem; its name may include one
        labels = {entry.problem: entry.problem_info.label for entry in entries}
        name = None if of is None else labels.get(of, of)
        return comparison_plots(_named(entries, lambda e: e.problem_info.label, "problem", name))
    if kind == "sweep":
        plots = {plot.name: plot for plot in comparison_plots(entries) if plot.kind == kind}
        if of is not None and plots and of not in plots:
            raise unknown("sweep", of, plots)
        return [plot for name, plot in plots.items() if of in (None, name)]
    return comparison_plots(_named(entries, lambda e: e.problem_info.family, "family", of))


def _named(
    entries: Sequence[SolverResult],
    name_of: Callable[[SolverResult], Hashable],
    kind: str,
    name: str | None,
) -> list[SolverResult]:
    """Return the entries of this name, or all of them where they have only one."""
    groups = {str(key): own for key, own in grouped(entries, name_of).items()}
    if name is None and len(groups) == 1:
        return next(iter(groups.values()))
    if name is None:
        kinds = f"{kind}s".replace("ys", "ies")
        raise UsageError(f"name one of the {kinds}: {', '.join(sorted(groups))}")
    if name not in groups:
        raise unknown(kind, name, groups)
    return groups[name]


convergence = _drawing_function("convergence")
tuning = _drawing_function("tuning")
tradeoff = _drawing_function("tradeoff")
curves = _drawing_function("curves")
sweep = _drawing_function("sweep")
profile = _drawing_function("profile")
expected = _drawing_function("expected")

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
`break_even`    name of the sweep  `time` (clock, clock + moving data)
`scaling`       name of the plot   `y` (efficiency, seconds)
`pareto`        family             `cost` (seconds, flops, steps, samples)
`profile`       family             `cost` (seconds, flops, steps, samples), `accuracy`
`ecdf`          family             `cost`, `targets` (of the gap, as in COCO)
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

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from orthobench.contract.panel import Panel, Plot
from orthobench.errors import UsageError, unknown
from orthobench.report.plots import collection
from orthobench.report.plots.exhibits import exhibitions
from orthobench.report.style import solver_styles
from orthobench.results.results import Results
from orthobench.results.tuning import SolverResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Find = Callable[[Results, "str | None"], Sequence[Plot]]
"""A function that returns the plots of a problem, sweep or family by its name, of all kinds."""


class Draw(Protocol):
    """A function that draws one kind of plot: see `orthobench.plots`."""

    def __call__(
        self, ax: Axes, results: Results, of: str | None = None, *chosen: str, **options: str | None
    ) -> Panel:
        """Draw into an axis, and return what was drawn."""


def _drawing_function(kind: str, find: Find, summary: str) -> Draw:
    """Return the function that draws a kind of plot."""

    def draw(
        ax: Axes, results: Results, of: str | None = None, *chosen: str, **options: str | None
    ) -> Panel:
        plot = _only_plot(kind, find(results, of), of or results.suite)
        by_position = dict(zip(plot.choices, chosen, strict=False))
        return _draw(ax, results, plot, {**by_position, **options})

    draw.__name__ = draw.__qualname__ = kind.replace("-", "_")
    draw.__doc__ = f"""{summary}

    Parameters
    ----------
    ax : matplotlib Axes
    results : Results
    of : str, optional
        The name of the problem, sweep or family; not needed where there is only one.
    **options : str
        Those of the table in `orthobench.plots`.

    Returns
    -------
    Panel
        What was drawn, as numbers.

    Raises
    ------
    UsageError
        On an unknown name or option, or where the runs do not allow such a plot.
    """
    return draw


def _of_problem(results: Results, problem: str | None) -> Sequence[Plot]:
    return collection.problem_plots(_entries(results, problem))


def _exhibited(results: Results, problem: str | None) -> Sequence[Plot]:
    return collection.exhibit_plots(exhibitions(_entries(results, problem), results.exhibits))


def _at_levels(results: Results, problem: str | None) -> Sequence[Plot]:
    """Return the plots over all levels of a problem; its name may include a level."""
    name = _known_name("problem", {entry.problem_info.label for entry in results.entries},
    problem, {
        entry.problem: entry.problem_info.label for entry in results.entries
    })  # fmt: skip
    return collection.comparison_plots([e for e in results.entries if e.problem_info.label == name])


def _of_suite(results: Results, name: str | None) -> Sequence[Plot]:
    over_problems = collection.comparison_plots(results.entries)
    plots = [plot for plot in over_problems if plot.kind in ("sweep", "break-even", "scaling")]
    if name is None or not plots:
        return plots
    meant = _known_name("sweep", {plot.name for plot in plots}, name)
    return [plot for plot in plots if plot.name == meant]


def _of_family(results: Results, family: str | None) -> Sequence[Plot]:
    known = {entry.problem_info.family for entry in results.entries}
    name = _known_name("family", known, family, plural="families")
    return collection.comparison_plots(
        [e for e in results.entries if e.problem_info.family == name]
    )


def _entries(results: Results, problem: str | None) -> list[SolverResult]:
    name = _known_name("problem", {entry.problem for entry in results.entries}, problem)
    found = [entry for entry in results.entries if entry.problem == name]
    if all(entry.refused for entry in found):
        raise UsageError(f"no solver takes part in {name}")
    return found


def _known_name(
    kind: str,
    known: Mapping[str, object] | set[str],
    name: str | None,
    aliases: Mapping[str, str] | None = None,
    plural: str = "",
) -> str:
    """Return the known name that a name or alias stands for; the only one, where None is given."""
    if name is None and len(known) == 1:
        return next(iter(known))
    if name is None:
        raise UsageError(f"name one of the {plural or f'{kind}s'}: {', '.join(sorted(known))}")
    meant = (aliases or {}).get(name, name)
    if meant not in known:
        raise unknown(kind, name, known)
    return meant


def _only_plot(kind: str, plots: Sequence[Plot], of: str) -> Plot:
    found = [plot for plot in plots if plot.kind == kind]
    if not found:
        raise UsageError(f"there is no {kind} plot of {of}: its runs do not allow one")
    if len(found) > 1:
        raise UsageError(f"name one of the plots: {', '.join(plot.name for plot in found)}")
    return found[0]


def _draw(ax: Axes, results: Results, plot: Plot, options: Mapping[str, str | None]) -> Panel:
    """Draw the panel of some options; None stands for the first option."""
    from orthobench.report.figures.panels import draw_panel

    for name, option in options.items():
        if name not in plot.choices:
            raise unknown(f"option of {plot.name}", name, plot.choices)
        if option is not None and option not in plot.choices[name]:
            raise unknown(f"{name} of {plot.name}", option, plot.choices[name])
    key = tuple(options.get(name) or first[0] for name, first in plot.choices.items())
    panel = plot.draw(key)
    styles = solver_styles(entry.solver for entry in results.entries)
    draw_panel(ax, panel, styles)
    return panel


convergence = _drawing_function(
    "convergence", _of_problem, "Draw a metric along the runs of a problem, with bands over seeds."
)
tuning = _drawing_function(
    "tuning", _of_problem, "Draw the results of each value of a tuned parameter."
)
tradeoff = _drawing_function(
    "tradeoff", _at_levels, "Draw the results of all trials against the metric that has levels."
)
curves = _drawing_function(
    "curves", _exhibited, "Draw curves that solutions exhibit, such as a ROC."
)
sweep = _drawing_function(
    "sweep", _of_suite, "Draw final values against a parameter in which problems differ."
)
break_even = _drawing_function(
    "break-even", _of_suite, "Draw how many times as fast one place to compute is as another."
)
scaling = _drawing_function(
    "scaling", _of_suite, "Draw how much of more workers runs over blocks make use of."
)
pareto = _drawing_function(
    "pareto", _of_family, "Draw what is left of the gap to the best value against what it cost."
)
profile = _drawing_function(
    "profile", _of_family, "Draw how often each solver is within a factor of the cheapest."
)
ecdf = _drawing_function("ecdf", _of_family, "Draw the share of targets reached within a cost.")
expected = _drawing_function(
    "expected", _of_family, "Draw what a solver takes to reach a target, with restarts."
)

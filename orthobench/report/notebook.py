"""Plots for notebooks and papers: each draws what a report shows into an axis of matplotlib.

Any axis will do: one of pyplot's, of a subfigure, of a grid. Fonts and the widths of lines are
those that matplotlib is set to; colours, dashes and markers are a solver's own, the same in all
plots of the same results. A legend is a call away: ``ax.legend()``.

Examples
--------
>>> import matplotlib.pyplot as plt, orthobench as ob
>>> results = ob.run("quickstart")  # doctest: +SKIP
>>> fig, ax = plt.subplots()  # doctest: +SKIP
>>> panel = ob.plots.convergence(ax, results, "digits k=4", x="flops")  # doctest: +SKIP
>>> ax.legend()  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orthobench.contract.panel import Panel, Plot
from orthobench.errors import UsageError, unknown
from orthobench.report.plots import collection
from orthobench.report.plots.exhibits import exhibitions
from orthobench.report.style import styles
from orthobench.results.results import Results
from orthobench.results.tuning import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def convergence(
    ax: Axes, results: Results, problem: str, x: str = "seconds", metric: str | None = None
) -> Panel:
    """Draw a metric along the runs of a problem: medians, with bands over the seeds.

    A cross marks where a failed run ended. What is numerically zero stands on the lower edge.

    Parameters
    ----------
    ax : matplotlib Axes
    results : Results
    problem : str
        Its label, as ``"digits k=4"``; with the level, where it is compared at some.
    x : str
        ``"seconds"`` (clock + reading), ``"flops"``, ``"steps"``, or ``"samples"`` where any are
        drawn.
    metric : str, optional
        By default that of the runs' target, or the problem's primary one.

    Returns
    -------
    Panel
        What was drawn, as numbers.

    Raises
    ------
    UsageError
        On an unknown problem, axis or metric.

    Examples
    --------
    >>> ob.plots.convergence(ax, results, "digits k=4", metric="explained_variance")
    ... # doctest: +SKIP
    """
    plots = collection.of_problem(_entries(results, problem))
    return _drawn(ax, results, _one(plots, "convergence", problem), x=x, metric=metric)


def tuning(
    ax: Axes, results: Results, problem: str, parameter: str | None = None, y: str | None = None
) -> Panel:
    """Draw what each value of a tuned parameter gave, with a ring around the chosen one.

    Parameters
    ----------
    ax : matplotlib Axes
    results : Results
    problem : str
        Its label.
    parameter : str, optional
        By default the first that was tuned.
    y : str, optional
        ``"tuning score"``, by default, or the primary metric.

    Returns
    -------
    Panel

    Raises
    ------
    UsageError
        On an unknown problem, parameter or y, or where nothing was tuned.

    Examples
    --------
    >>> ob.plots.tuning(ax, results, "digits k=4", "step")  # doctest: +SKIP
    """
    plots = collection.of_problem(_entries(results, problem))
    return _drawn(ax, results, _one(plots, "tuning", problem), parameter=parameter, y=y)


def tradeoff(ax: Axes, results: Results, problem: str, y: str | None = None) -> Panel:
    """Draw what all trials of each solver reach against the metric that levels are set for.

    Parameters
    ----------
    ax : matplotlib Axes
    results : Results
    problem : str
        Its label, with a level or without.
    y : str, optional
        ``"flops"``, ``"seconds"`` or, by default, the primary metric.

    Returns
    -------
    Panel

    Raises
    ------
    UsageError
        On an unknown problem or y, or where the problem is compared at no level.

    Examples
    --------
    >>> ob.plots.tradeoff(ax, results, "prostate m=5", y="flops")  # doctest: +SKIP
    """
    every = [e for e in results.entries if problem in (e.problem, e.facts.label)]
    known = [entry.facts.label for entry in every or results.entries]
    if not every:
        raise unknown("problem", problem, set(known))
    entries = [entry for entry in results.entries if entry.facts.label == known[0]]
    return _drawn(ax, results, _one(collection.across(entries, ()), "tradeoff", problem), y=y)


def sweep(ax: Axes, results: Results, name: str | None = None, y: str | None = None) -> Panel:
    """Draw final values against a parameter in which problems differ.

    Parameters
    ----------
    ax : matplotlib Axes
    results : Results
    name : str, optional
        What the sweep is called, as ``"digits against k"``; not needed where there is one only.
    y : str, optional
        ``"flops"``, ``"seconds"``, a metric or, by default, the primary one.

    Returns
    -------
    Panel

    Raises
    ------
    UsageError
        On an unknown sweep or y.

    Examples
    --------
    >>> ob.plots.sweep(ax, results, "digits against k", y="seconds")  # doctest: +SKIP
    """
    plots = _of_kind(collection.across(results.entries, ()), "sweep", results.suite)
    return _drawn(ax, results, _named(plots, "sweep", name), y=y)


def profile(
    ax: Axes,
    results: Results,
    family: str | None = None,
    cost: str = "seconds",
    accuracy: str | None = None,
) -> Panel:
    """Draw performance profiles: how often each solver is within a factor of the cheapest.

    Parameters
    ----------
    ax : matplotlib Axes
    results : Results
    family : str, optional
        Not needed where there is one only.
    cost : str
        ``"seconds"``, ``"flops"``, ``"steps"``, or ``"samples"`` where all solvers draw some.
    accuracy : str, optional
        When an instance is solved, as ``"1 %"`` of the gap from the start to the best value.

    Returns
    -------
    Panel

    Raises
    ------
    UsageError
        On an unknown family, cost or accuracy, or where fewer than two solvers take part.

    Examples
    --------
    >>> ob.plots.profile(ax, results, "sparse PCA", cost="flops", accuracy="0.1 %")
    ... # doctest: +SKIP
    """
    plot = _of_family(results, "profile", family)
    return _drawn(ax, results, plot, cost=cost, accuracy=accuracy)


def ecdf(ax: Axes, results: Results, family: str | None = None, cost: str = "seconds") -> Panel:
    """Draw the share of all targets that each solver reaches within a cost.

    Parameters
    ----------
    ax : matplotlib Axes
    results : Results
    family : str, optional
        Not needed where there is one only.
    cost : str
        ``"seconds"``, ``"flops"``, ``"steps"``, or ``"samples"`` where all solvers draw some.

    Returns
    -------
    Panel

    Raises
    ------
    UsageError
        On an unknown family or cost, or where fewer than two solvers take part.

    Examples
    --------
    >>> ob.plots.ecdf(ax, results, "stochastic PCA", cost="samples")  # doctest: +SKIP
    """
    return _drawn(ax, results, _of_family(results, "ecdf", family), cost=cost)


def ranks(ax: Axes, results: Results, family: str | None = None) -> Panel:
    """Draw the mean rank of each solver over the problems, with bars of a critical difference.

    Parameters
    ----------
    ax : matplotlib Axes
    results : Results
    family : str, optional
        Not needed where there is one only.

    Returns
    -------
    Panel

    Raises
    ------
    UsageError
        On an unknown family, or where there are too few problems.

    Examples
    --------
    >>> ob.plots.ranks(ax, results, "symmetric Tucker")  # doctest: +SKIP
    """
    return _drawn(ax, results, _of_family(results, "ranks", family))


def curves(ax: Axes, results: Results, problem: str, curve: str | None = None) -> Panel:
    """Draw curves that the solutions of a problem exhibit, such as its ROC.

    Parameters
    ----------
    ax : matplotlib Axes
    results : Results
    problem : str
        Its label.
    curve : str, optional
        Its name; by default the first.

    Returns
    -------
    Panel

    Raises
    ------
    UsageError
        On an unknown problem or curve, or where solutions exhibit none.

    Examples
    --------
    >>> ob.plots.curves(ax, results, "hsi-anomaly", "ROC")  # doctest: +SKIP
    """
    plots = collection.exhibited(exhibitions(_entries(results, problem), results.exhibits))
    return _drawn(ax, results, _one(plots, "curves", problem), curve=curve)


def _entries(results: Results, problem: str) -> list[Entry]:
    found = [entry for entry in results.entries if entry.problem == problem]
    if not found:
        raise unknown("problem", problem, {entry.problem for entry in results.entries})
    if all(entry.refused for entry in found):
        raise UsageError(f"no solver takes part in {problem}")
    return found


def _of_family(results: Results, kind: str, family: str | None) -> Plot:
    """Return the plot of this kind of a family."""
    families = {entry.facts.family for entry in results.entries}
    if family is not None and family not in families:
        raise unknown("family", family, families)
    if family is None and len(families) > 1:
        raise UsageError(f"name one of the families: {', '.join(sorted(families))}")
    own = [e for e in results.entries if family in (None, e.facts.family)]
    plots = collection.across(own, None if kind == "ranks" else ())
    return _one(plots, kind, family or results.suite)


def _of_kind(plots: Sequence[Plot], kind: str, where: str) -> list[Plot]:
    found = [plot for plot in plots if plot.kind == kind]
    if not found:
        raise UsageError(f"there is no {kind} plot of {where}: its runs do not allow one")
    return found


def _one(plots: Sequence[Plot], kind: str, where: str) -> Plot:
    return _of_kind(plots, kind, where)[0]


def _named(plots: Sequence[Plot], kind: str, name: str | None) -> Plot:
    by_name = {plot.name: plot for plot in plots}
    if name is None and len(by_name) > 1:
        raise UsageError(f"name one of the plots: {', '.join(by_name)}")
    if name is not None and name not in by_name:
        raise unknown(kind, name, by_name)
    return plots[0] if name is None else by_name[name]


def _drawn(ax: Axes, results: Results, plot: Plot, **chosen: str | None) -> Panel:
    """Draw the panel of some options, the first ones where they are None."""
    from orthobench.report.figures.drawing import draw

    for name, option in chosen.items():
        if option is not None and option not in plot.choices[name]:
            raise unknown(f"{name} of {plot.name}", option, plot.choices[name])
    key = tuple(chosen.get(name) or options[0] for name, options in plot.choices.items())
    panel = plot.draw(key)
    draw(ax, panel, styles(entry.solver for entry in results.entries))
    return panel

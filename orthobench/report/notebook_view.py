"""Results as Python callers and notebooks see them: what to use, tables, plots, and the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orthobench.contract.exhibits import Exhibit
from orthobench.contract.panel import Panel, Plot, Series
from orthobench.contract.result import Result
from orthobench.contract.solver import Work
from orthobench.decide.answer import Answer
from orthobench.decide.comparisons import answer_of, compare
from orthobench.errors import UsageError, unknown
from orthobench.harness.judging import LateJudgement
from orthobench.harness.stopping import Termination
from orthobench.harness.trace import Checkpoint
from orthobench.harness.trace import Outcome as JudgedOutcome
from orthobench.report.plots.collection import all_plots
from orthobench.report.style import COLOURS, solver_styles
from orthobench.report.terminal import table
from orthobench.results import results as stored
from orthobench.tools.arrays import Array
from orthobench.tools.files import safe_join
from orthobench.tools.formatting import clean, count, duration, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_FACTS = 11
"""The maximum number of lines about an outcome, after the first."""


class Results(stored.Results):
    """The results of a suite, with `answer` and `table`."""

    def answer(self, cost: str = "", tolerance: float | None = None) -> Answer:
        """Return which solver to use: as good as the best, at the lowest cost.

        Parameters
        ----------
        cost : str
            One of `orthobench.stats.costs.ALL_COSTS`; by default seconds, or the unit of imports.
        tolerance : float, optional
            The part of the gap by which a solver that is as good may end above the best value; by
            default the suite's, or else 0.01.

        Raises
        ------
        UsageError
            On an unknown cost.
        """
        return answer_of(self, cost, tolerance)

    def table(self, cost: str = "", tolerance: float | None = None) -> list[dict[str, Any]]:
        """Return a row for each problem and solver, as plain values; see `answer`."""
        return table.rows(self.entries, compare(self.entries, cost, tolerance))

    def plot(
        self, ax: Axes, kind: str = "convergence", of: str | None = None, **options: str
    ) -> Panel:
        """Draw a plot into an axis of matplotlib, and return its numbers.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
        kind : str
            Problems have ``"convergence"``, ``"tuning"`` and ``"curves"``, families ``"profile"``
            and ``"expected"``.
        of : str, optional
            The problem or family; needed if several have such a plot.
        **options : str
            One option for each choice on the page, by default the first: `x` and `metric`;
            `parameter`; `curve`; `cost` and `accuracy`.

        Returns
        -------
        Panel

        Raises
        ------
        UsageError
            On an unknown name, and if the runs do not allow such a plot.

        Examples
        --------
        >>> results.plot(ax, "convergence", "digits k=4", x="flops")  # doctest: +SKIP
        """
        from orthobench.report.figures.panels import draw_panel
        from orthobench.report.figures.save import add_legend

        plot = _plot(self, kind, of)
        for name, option in options.items():
            if name not in plot.choices:
                raise unknown(f"option of {plot.name}", name, plot.choices)
            if option not in plot.choices[name]:
                raise unknown(f"{name} of {plot.name}", option, plot.choices[name])
        panel = plot.panel(*(options.get(name, own[0]) for name, own in plot.choices.items()))
        draw_panel(ax, panel, solver_styles(entry.solver for entry in self.entries))
        add_legend(ax, panel, [clean(series.label) for series in panel.series])
        return panel

    def _repr_html_(self) -> str:
        """Return the counts of runs, and the output of the terminal, as HTML."""
        return f"<p>{escape(clean(repr(self)))}</p>{table.html(self.answer())}"


def _plot(results: Results, kind: str, of: str | None) -> Plot:
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


class Outcome:
    """The outcome of `ob.solve`: the solution, how the run ended, its cost, its metrics.

    Metrics and exhibits are computed when they are read; an error of the judge is raised there.
    For that an outcome holds the data of its problem, until it is pickled.

    Attributes
    ----------
    trace : tuple of Checkpoint
        Start and end, or with ``curve=True`` or `until` all checkpoints.
    work : Work
        Steps, samples and flops at the last checkpoint.
    final : Solution, optional
        The last solution.
    solution : ndarray, shape (n, k), optional
        Its point.
    weights : ndarray, optional
        Its weights, if it has any.
    error : BaseException, optional
        The error of a run that failed.
    """

    def __init__(
        self,
        ran: LateJudgement | JudgedOutcome,
        result: Callable[[], Result | None] = lambda: None,
    ) -> None:
        self._ran, self._result = ran, result
        self.trace: tuple[Checkpoint, ...] = ran.trace
        self.work = ran.trace[-1].work if ran.trace else Work()
        self.final, self.error = ran.final, ran.error
        self.solution = None if ran.final is None else ran.final.point
        self.weights = None if ran.final is None else ran.final.weights

    @property
    def stop(self) -> Termination:
        """How the run ended; reading the last metrics may refute a claim of convergence."""
        return self._ran.stop

    @cached_property
    def result(self) -> Result | None:
        """The solution in the words of its family, computed when it is read; None without any."""
        return self._result()

    @property
    def core(self) -> Array | None:
        """The core tensor of the last solution, if it has one; computed when it is read."""
        return None if self.final is None else self.final.core

    @property
    def exhibits(self) -> Mapping[str, Exhibit]:
        """Pictures of the last solution by name."""
        return self._ran.exhibits

    def __reduce__(self) -> tuple[type[Outcome], tuple[JudgedOutcome], dict[str, Any]]:
        """Judge it, since the judge and the data cannot go along."""
        for point in self.trace:
            _ = point.metrics  # may change how the run ended
        judged = JudgedOutcome(self.stop, self.trace, self.exhibits, self.final, self.error)
        return Outcome, (judged,), {"result": self.result}

    def plot(self, ax: Axes, metric: str = "") -> Series:
        """Draw a metric over the seconds into an axis, by default the first; return its points.

        It has as many points as `trace`: two unless the run was to record its curve.

        Raises
        ------
        UsageError
            On an unknown metric.
        """
        known = self.trace[-1].metrics if self.trace else {}
        name = metric or next(iter(known), "")
        if name not in known:
            raise unknown("metric", name, known)
        y = np.array([mark.metrics.get(name, np.nan) for mark in self.trace])
        x = np.array([mark.seconds + mark.readout_seconds for mark in self.trace])
        ax.plot(x, y, marker="o", color=COLOURS[0])
        scale = "log" if (y > 0).all() else "linear"
        ax.set(xlabel="seconds", ylabel=name.replace("_", " "), yscale=scale)
        return Series(name, x, y)

    def __repr__(self) -> str:
        facts = self._facts()
        width = max(map(len, facts), default=0)
        told = f"{self.stop.status.value}: {clean(self.stop.reason)}"
        return "\n".join([told, *(f"  {name:{width}}  {text}" for name, text in facts.items())])

    def _facts(self) -> dict[str, str]:
        """Return what is known without the judge, and the first metrics if they were read."""
        if not self.trace:
            return {}
        last = self.trace[-1]
        facts = {
            "time": duration(last.seconds), "reading": duration(last.readout_seconds),
            **{name: count(n) for name, n in asdict(last.work).items() if n},
        }  # fmt: skip
        if not last.is_judged:
            return {**facts, "metrics": "computed when they are read: .trace[-1].metrics"}
        shown = list(last.metrics.items())[: MOST_FACTS - len(facts)]
        return facts | {name.replace("_", " "): f"{value:.4g}" for name, value in shown}


@dataclass(frozen=True)
class Report:
    """The page about some results, in the file `path`; a notebook shows it in a frame."""

    path: Path

    def _repr_html_(self) -> str:
        """Return a frame with the page: its scripts run, and reach nothing of the notebook."""
        page = escape(self.path.read_text(encoding="utf-8"))
        allowed = "allow-scripts allow-downloads"
        style = "width:100%;height:50em;border:1px solid #d8dee4;background:#fff"
        return f'<iframe sandbox="{allowed}" style="{style}" srcdoc="{page}"></iframe>'


def report(results: stored.Results, folder: Path | str | None = None) -> Report:
    """Write the interactive page about results, by default to ``report`` beside the store.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    from orthobench.report.page import write_page

    place = Path(folder) if folder is not None else safe_join(results.path.parent, "report")
    return Report(write_page(results.without_home(), place))

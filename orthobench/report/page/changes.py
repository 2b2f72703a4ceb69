"""Page about what changed between two stores: tables, drawings, and curves of both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orthobench._version import __version__
from orthobench.contract.panel import Plot
from orthobench.report.change_texts import SYMBOLS, about, effect_text, legend, medians
from orthobench.report.changes import Changes, Pair, ProblemChange, paired
from orthobench.report.formatting import number
from orthobench.report.page.plot_data import plot_data
from orthobench.report.page.runs import EntryRuns, entry_runs
from orthobench.report.page.write import SCRIPTS, environment, resource, scripted
from orthobench.report.plots.changed_curves import changed_curves, sided, sided_styles
from orthobench.report.sentences import factor_text
from orthobench.report.style import REFERENCES
from orthobench.results.results import Results
from orthobench.stats.changes import Change
from orthobench.tools.arrays import Array
from orthobench.tools.collections import grouped
from orthobench.tools.files import make_folder, replacing

HALF = 90
"""Half of the width of a drawing, in pixels."""

WIDEST = 1e3
"""The largest factor that is drawn to scale."""

NARROWEST = 1.1
"""The smallest factor at the end of a drawing."""


@dataclass(frozen=True)
class Text:
    """A change as text, and the class of its cell."""

    text: str
    way: str


@dataclass(frozen=True)
class Drawn:
    """Where a drawing has an effect and the ends of its interval, in pixels."""

    at: int
    low: int
    high: int


@dataclass(frozen=True)
class Row:
    """A row of the table of a problem: a solver.

    Attributes
    ----------
    solver, parameters : str
    medians : (str, str)
    metric : Text
    mark : Drawn, optional
        None where there is no change to draw.
    others : tuple of Text
        The changes of flops and, on the same machine, time.
    """

    solver: str
    parameters: str
    medians: tuple[str, str]
    metric: Text
    mark: Drawn | None
    others: tuple[Text, ...]


def write_changes(changes: Changes, a: Results, b: Results, folder: Path) -> Path:
    """Write the page about what changed between two stores.

    Parameters
    ----------
    changes : Changes
        `compare_stores` of them.
    a, b : Results
    folder : Path
        Created if it does not exist.

    Returns
    -------
    Path
        ``folder/index.html``, which needs no other file and no network.

    Raises
    ------
    UsageError
        If jinja2 is missing, or the file cannot be written.
    """
    pairs, _ = paired(a.entries, b.entries)
    styles = sided_styles({pair[0].solver for pair in pairs})
    plots = _plots(changes, pairs)
    suites = [str(side.session()["text"]) for side in (a, b)]
    runs = {at: _runs(own, suites) for at, (own, _) in enumerate(plots.values())}
    data = plot_data([plot for _, plot in plots.values()], styles, runs)
    text = environment().get_template("changes.html").render(
        changes=changes, style=resource("page.css") + resource("changes.css"), version=__version__,
        about=about, legend=tuple(legend(SYMBOLS)), rows=_rows, axis=_axis, titles=_titles,
        plots={name: (at, plot) for at, (name, (_, plot)) in enumerate(plots.items())},
        styles=styles, references=REFERENCES, data=data.data,
        **scripted(map(resource, (*SCRIPTS, "changes.js"))),
    )  # fmt: skip
    path = make_folder(folder, "the page") / "index.html"
    with replacing(path) as file:
        file.write(text.encode())
    return path


def _plots(changes: Changes, pairs: Sequence[Pair]) -> dict[str, tuple[Sequence[Pair], Plot]]:
    """Return the curves of each problem on which a solver changed, those that did first."""
    by_problem = grouped(pairs, lambda pair: pair[0].problem).values()
    found: dict[str, tuple[Sequence[Pair], Plot]] = {}
    for problem, own in zip(changes.problems, by_problem, strict=True):
        same = [not solver.changed for solver in problem.solvers]
        if not all(same):
            ordered = [own[i] for i in np.argsort(same, kind="stable")]
            found[problem.problem] = ordered, changed_curves(ordered)
    return found


def _runs(pairs: Sequence[Pair], suites: Sequence[str]) -> dict[str, EntryRuns]:
    """Return the runs behind the curves of a problem."""
    return {
        entry.solver: entry_runs(entry, suite)
        for pair in pairs
        for entry, suite in zip(sided(pair), suites, strict=True)
    }


def _rows(problem: ProblemChange) -> Iterator[Row]:
    limit = _limit(problem)
    for solver in problem.solvers:
        metric = solver.quantities["metric"]
        others = (q.change for name, q in solver.quantities.items() if name != "metric")
        yield Row(
            solver.solver, solver.parameters, medians(metric, problem.rounding),
            _text(metric.change), _drawn(metric.change, limit), tuple(map(_text, others)),
        )  # fmt: skip


def _titles(problem: ProblemChange) -> list[str]:
    names = [name for name in problem.solvers[0].quantities if name != "metric"]
    return [{"seconds": "time"}.get(name, name) for name in names]


def _axis(problem: ProblemChange) -> str:
    """Return what the ends of the drawings of a problem stand for."""
    limit = _limit(problem)
    if _is_ratio(problem):
        return f"{number(math.exp(-limit))} to {factor_text(math.exp(limit))} times"
    return f"{number(-limit)} to {number(limit)}"


def _limit(problem: ProblemChange) -> float:
    """Return the value at the right end of the drawings of a problem, a logarithm for ratios."""
    changes = [solver.quantities["metric"].change for solver in problem.solvers]
    values = np.abs(np.concatenate([_positions(change) for change in changes]))
    largest = float(np.max(values, where=np.isfinite(values), initial=0.0))
    if not _is_ratio(problem):
        return largest or 1.0
    return min(max(largest, math.log(NARROWEST)), math.log(WIDEST))


def _is_ratio(problem: ProblemChange) -> bool:
    return problem.solvers[0].quantities["metric"].change.ratio


def _positions(change: Change) -> Array:
    """Return effect, low and high as they are drawn: ratios by their logarithms."""
    values = np.array([change.effect, *change.interval])
    with np.errstate(divide="ignore"):
        return np.log(values) if change.ratio else values


def _drawn(change: Change, limit: float) -> Drawn | None:
    if not effect_text(change):
        return None
    share = np.clip(_positions(change) / limit, -1, 1)
    return Drawn(*(round(HALF * (1 + float(x))) for x in share))


def _text(change: Change) -> Text:
    way = change.direction
    return Text(f"{effect_text(change)} {SYMBOLS[way]}".strip(), way.value)

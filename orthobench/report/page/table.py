"""The table of a page: a row for each solver on each problem, with all its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from orthobench.report.formatting import assignments, clean, count, metric_text, number, si
from orthobench.report.ranking import Ranked
from orthobench.stats.values import COSTS, others_cost


@dataclass(frozen=True)
class Column:
    """A column of the table.

    Attributes
    ----------
    title : str
    key : str
        Its name in a CSV file.
    numeric : bool
    """

    title: str
    key: str
    numeric: bool = True


@dataclass(frozen=True)
class Cell:
    """A cell of the table.

    Attributes
    ----------
    text : str
        As shown.
    value : str
        As sorted and as written to CSV; empty where that is the text.
    """

    text: str
    value: str = ""


@dataclass(frozen=True)
class Table:
    """The table of all entries.

    Attributes
    ----------
    columns : tuple of Column
    rows : tuple of tuple of Cell
        The first cells are family, problem and solver.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def filters(self) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
        """For each column that rows can be filtered by: its title, its index, and its texts."""
        found = []
        for i, column in enumerate(self.columns[:3]):
            names = tuple(dict.fromkeys(row[i].text for row in self.rows))
            found.append((column.title, i, names))
        return tuple(found)


HEAD = (
    Column("family", "family", numeric=False),
    Column("problem", "problem", numeric=False),
    Column("solver", "solver", numeric=False),
    Column("chosen", "chosen", numeric=False),
    Column("", "mark", numeric=False),
    Column("median", "median"),
    Column("low", "low"),
    Column("high", "high"),
    Column("95 % from", "interval_low"),
    Column("95 % to", "interval_high"),
    Column("runs", "runs"),
    Column("failed", "failed"),
    Column("trials", "trials"),
    Column("steps", "steps"),
    Column("samples", "samples"),
    Column("flops", "flops"),
    Column("seconds", "seconds"),
    Column("flops, all trials", "total_flops"),
)

COST_FORMATS: Mapping[str, Callable[[float], str]] = {
    "steps": count, "samples": count, "flops": si, "seconds": number,
}  # fmt: skip
"""The columns of costs, and the functions that format them."""

MARKS = {
    "best": "★ best", "equal": "= equal", "close": "≈ close", "undecided": "? undecided",
    "failed": "✗ failed", "": "",
}  # fmt: skip


def table(ranked: Sequence[Ranked]) -> Table:
    """Return the table of all entries that take part.

    Parameters
    ----------
    ranked : sequence of Ranked
    """
    values = [r.metrics for r in ranked]
    metrics = list(dict.fromkeys(name for own in values for name in own))
    columns = (
        *HEAD,
        *(Column(clean(name.replace("_", " ")), clean(name)) for name in metrics),
        Column("all parameters", "parameters", numeric=False),
    )
    rows = (
        _row(r, {name: own.get(name, math.nan) for name in metrics})
        for r, own in zip(ranked, values, strict=True)
    )
    return Table(columns, tuple(rows))


def _row(ranked: Ranked, metrics: Mapping[str, float]) -> tuple[Cell, ...]:
    entry, summary = ranked.entry, ranked.summary
    first = entry.records[0]
    names = (first.problem.family, entry.problem, entry.solver, assignments(entry.best_parameters))
    values = (
        summary.median, summary.low, summary.high, *summary.interval,
        len(entry.seeds), summary.n_failed, len(entry.trials),
    )  # fmt: skip
    return (
        *(Cell(clean(name)) for name in names),
        Cell(MARKS[ranked.mark]),
        *map(_number, values),
        *(_number(ranked.median_of(COSTS[name]), text) for name, text in COST_FORMATS.items()),
        _number(ranked.median_of(COSTS["flops"]) + others_cost(entry, COSTS["flops"]), si),
        *(_number(value, partial(metric_text, name)) for name, value in metrics.items()),
        Cell(assignments(first.solver.parameters)),
    )


def _number(value: float, text: Callable[[float], str] = number) -> Cell:
    if math.isnan(value):
        return Cell("")
    shown, exact = text(value), f"{value:.6g}"
    return Cell(shown, "" if shown == exact else exact)

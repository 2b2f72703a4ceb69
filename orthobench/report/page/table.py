"""The table of a page: a row for each solver on each problem, with all its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from orthobench.decide.wording import MARKS
from orthobench.report.rows import Row
from orthobench.stats.values import COSTS, others_cost
from orthobench.tools.formatting import assignments, clean, count, metric_text, number, si

HEAD = {
    "family": "family", "problem": "problem", "solver": "solver", "chosen": "chosen",
    "mark": "mark", "median": "median", "low": "low", "high": "high",
    "interval_low": "95 % from", "interval_high": "95 % to", "runs": "runs", "failed": "failed",
    "success": "success",
    "trials": "trials", "steps": "steps", "samples": "samples", "flops": "flops",
    "seconds": "seconds", "total_flops": "flops, all trials",
}  # fmt: skip
"""The first columns: names in a CSV file, and titles."""

FEW = ("problem", "solver", "mark", "median", "interval_low", "interval_high", "seconds", "failed")
"""The columns that are shown at first, and the family where there are several."""

TEXTS = 5
"""So many of the first columns are no numbers."""

COST_FORMATS: Mapping[str, Callable[[float], str]] = {
    "steps": count, "samples": count, "flops": si, "seconds": number,
}  # fmt: skip
"""The columns of costs, and the functions that format them."""


class Table(NamedTuple):
    """The table of all entries: titles by the names of columns, and rows of text and exact value.

    The value, as sorted and as written to CSV, is empty where it is the text.
    """

    columns: Mapping[str, str]
    rows: Sequence[Sequence[tuple[str, str]]]

    def filters(self) -> list[tuple[str, int, list[str]]]:
        """Return the columns that rows can be filtered by: title, index, and texts."""
        names = list(self.columns.values())[:3]
        return [
            (name, i, list(dict.fromkeys(row[i][0] for row in self.rows)))
            for i, name in enumerate(names)
        ]


def table(rows: Sequence[Row]) -> Table:
    """Return the table of all solvers that take part, problem by problem."""
    values = [row.metrics for row in rows]
    metrics = dict.fromkeys(name for own in values for name in own)
    titles = {clean(name): clean(name.replace("_", " ")) for name in metrics}
    cells = [
        _cells(row, {name: own.get(name, math.nan) for name in metrics})
        for row, own in zip(rows, values, strict=True)
    ]
    return Table({**HEAD, **titles, "parameters": "all parameters"}, cells)


def _cells(row: Row, metrics: Mapping[str, float]) -> list[tuple[str, str]]:
    entry, summary = row.result, row.summary
    first = entry.records[0]
    names = (first.problem.family, entry.problem, entry.solver, assignments(entry.best_parameters))
    values = (
        summary.median, summary.low, summary.high, *summary.interval,
        len(entry.seeds), summary.n_failed, row.decision.success, len(entry.trials),
    )  # fmt: skip
    return [
        *((clean(name), "") for name in names),
        (f"{MARKS[row.mark][0]} {row.mark}" if row.mark else "", ""),
        *map(_number, values),
        *(_number(row.median_of(COSTS[name]), text) for name, text in COST_FORMATS.items()),
        _number(row.median_of(COSTS["flops"]) + others_cost(entry, COSTS["flops"]), si),
        *(_number(value, partial(metric_text, name)) for name, value in metrics.items()),
        (assignments(first.solver.parameters), ""),
    ]


def _number(value: float, text: Callable[[float], str] = number) -> tuple[str, str]:
    if math.isnan(value):
        return "", ""
    shown, exact = text(value), f"{value:.6g}"
    return shown, "" if shown == exact else exact

"""The table of all entries: a row for each solver on each problem, with all that is known of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from orthobench.report.ranking import Ranked
from orthobench.report.words import assigned, clean, count, number, si
from orthobench.stats.curves import AXES


@dataclass(frozen=True)
class Column:
    """A column of the table.

    Attributes
    ----------
    title : str
    key : str
        The same as a CSV file has it.
    numeric : bool
    """

    title: str
    key: str
    numeric: bool = True


@dataclass(frozen=True)
class Field:
    """A field of the table.

    Attributes
    ----------
    text : str
        As shown.
    value : str
        As sorted and as written to CSV, where that is not the text.
    """

    text: str
    value: str = ""


@dataclass(frozen=True)
class Table:
    """All entries.

    Attributes
    ----------
    columns : tuple of Column
    rows : tuple of tuple of Field
        The first fields are family, problem and solver.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Field, ...], ...]

    @property
    def filters(self) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
        """Title, column and names of what rows can be filtered by."""
        found = []
        for place, column in enumerate(self.columns[:3]):
            names = tuple(dict.fromkeys(row[place].text for row in self.rows))
            found.append((column.title, place, names))
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
    Column("steps", "steps"),
    Column("samples", "samples"),
    Column("flops", "flops"),
    Column("seconds", "seconds"),
)

COSTS: Mapping[str, Callable[[float], str]] = {
    "steps": count, "samples": count, "flops": si, "seconds": number,
}  # fmt: skip
"""The columns of costs, and how their values are written."""

MARKS = {"best": "★ best", "close": "≈ close", "failed": "✗ failed", "": ""}


def table(ranked: Sequence[Ranked]) -> Table:
    """Return the table of all entries that take part.

    Parameters
    ----------
    ranked : sequence of Ranked
    """
    values = [r.metrics for r in ranked]
    metrics = list(dict.fromkeys(name for of_one in values for name in of_one))
    columns = (
        *HEAD,
        *(Column(clean(name.replace("_", " ")), clean(name)) for name in metrics),
        Column("all parameters", "parameters", numeric=False),
    )
    rows = (
        _row(r, [of_one.get(name, math.nan) for name in metrics])
        for r, of_one in zip(ranked, values, strict=True)
    )
    return Table(columns, tuple(rows))


def _row(ranked: Ranked, metrics: Sequence[float]) -> tuple[Field, ...]:
    entry, summary = ranked.entry, ranked.summary
    first = entry.records[0]
    names = (first.problem.family, entry.problem, entry.solver, assigned(entry.chosen))
    values = (
        summary.median, summary.low, summary.high, *summary.interval,
        len(entry.seeds), summary.n_failed,
    )  # fmt: skip
    return (
        *(Field(clean(name)) for name in names),
        Field(MARKS[ranked.mark]),
        *map(_number, values),
        *(_number(ranked.typical(AXES[axis]), written) for axis, written in COSTS.items()),
        *map(_number, metrics),
        Field(assigned(first.solver.parameters)),
    )


def _number(value: float, written: Callable[[float], str] = number) -> Field:
    if math.isnan(value):
        return Field("")
    shown, exact = written(value), f"{value:.6g}"
    return Field(shown, "" if shown == exact else exact)

"""The columns of a table: which there are, what stands in them, and which go first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from orthobench.harness.judging import VIOLATION
from orthobench.report.ranking import Ranked
from orthobench.report.terminal.sparkline import Sparklines
from orthobench.report.words import count, duration, number, si
from orthobench.stats.curves import AXES
from orthobench.stats.seeds import metric_of, spread_name

CURVE = "curve"
"""Title of the column of curves."""

FOLD = 5
"""Columns of at least this rank go before solver names are folded onto two lines."""

BETWEEN = 2
"""Characters between two columns."""

FIRST = ("rank", "density", "explained_variance_ratio")
"""Secondary metrics that a table shows before others."""

EXTRAS = 3
"""Most secondary metrics in a table; the rows have all."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title : str
    texts : tuple of str
        One for each solver.
    rank : int
        A narrow terminal has no room for those of the highest rank; rank 0 always stays.
    justify : str
    """

    title: str
    texts: tuple[str, ...]
    rank: int = 0
    justify: Literal["left", "right"] = "right"

    @property
    def width(self) -> int:
        """How many characters wide it is."""
        from rich.cells import cell_len

        return max(map(cell_len, (*self.title.split("\n"), *self.texts)))


def columns(ranked: Sequence[Ranked], ascii_only: bool) -> list[Column]:
    """Return the columns of numbers of one problem.

    Parameters
    ----------
    ranked : sequence of Ranked
        Of one problem, at least one.
    ascii_only : bool
        Whether the console has ASCII characters only.
    """

    def column(title: str, text: Callable[[Ranked], str], rank: int = 0) -> Column:
        return Column(title, tuple(text(r) for r in ranked), rank)

    def cost(name: str, text: Callable[[float], str], rank: int) -> Column:
        return Column(name, tuple(text(value) for value in costs[name]), rank)

    costs = {name: [r.typical(value) for r in ranked] for name, value in AXES.items()}
    costs["time"] = costs["seconds"]
    streaming = 0 not in costs["samples"]
    drawn = any(samples > 0 for samples in costs["samples"])
    telling = streaming and len({n for n in costs["samples"] if math.isfinite(n)}) > 1
    runs = len(ranked[0].entry.seeds)
    return [
        column("median" if runs > 1 else "value", lambda r: number(r.summary.median)),
        *([column(f"[{spread_name(runs)}]", _spread, rank=3)] if runs > 1 else []),
        cost("samples" if drawn else "steps", count, rank=2 if telling else 5),
        cost("time", lambda seconds: duration(seconds, ascii_only), rank=1),
        column("runs", lambda r: r.ok),
        cost("flops", si, rank=5 if streaming else 2),
        *(
            column(name.replace("_", "\n"), _typical(name), rank=6 + i)
            for i, name in enumerate(_extras(ranked))
        ),
    ]


def curve_column(
    ranked: Sequence[Ranked], curves: Sparklines, width: int, ascii_only: bool
) -> Column:
    """Return the column of curves, so many characters wide."""
    lines = (curves.line(r.entry.solver, width, ascii_only) for r in ranked)
    return Column(CURVE, tuple(lines), rank=4, justify="left")


def _spread(ranked: Ranked) -> str:
    return f"[{number(ranked.summary.low)}, {number(ranked.summary.high)}]"


def _typical(name: str) -> Callable[[Ranked], str]:
    return lambda ranked: number(ranked.typical(metric_of(name)))


def _extras(ranked: Sequence[Ranked]) -> list[str]:
    first = ranked[0].entry.records[0]
    records = [record for r in ranked for record in r.entry.records if not record.failed]
    names = dict.fromkeys(name for r in records for mark in r.trace[-1:] for name in mark.metrics)
    rest = [
        n
        for n in names
        if n not in {first.problem.primary, first.problem.tuned_by, VIOLATION, *FIRST}
    ]
    return [*(name for name in FIRST if name in names), *rest][:EXTRAS]

"""Columns of a table in the terminal, with the order in which a narrow one leaves them out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from orthobench.harness.execution import PEAK
from orthobench.harness.judging import TOLERANCE, VIOLATION
from orthobench.harness.placement import TRANSFER, WARM_UP
from orthobench.harness.reducing.costs import WORKER_METRICS
from orthobench.report.formatting import count, duration, metric_text, si
from orthobench.report.ranking import Ranked
from orthobench.report.terminal.sparkline import Sparklines
from orthobench.stats.bootstrap import spread_name
from orthobench.stats.values import COSTS, metric_of

CURVE = "curve"
"""Title of the column of curves."""

BETWEEN = 2
"""Characters between two columns."""

FIRST = (
    PEAK, TRANSFER, WARM_UP, *WORKER_METRICS, "rank", "density", "explained_variance_ratio"
)  # fmt: skip
"""Secondary metrics that a table shows before others."""

EXTRAS = 3
"""The most secondary metrics in a table; ``--json`` has all."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title : str
    texts : tuple of str
        One for each solver.
    rank : int
        In a narrow terminal, the columns of the highest rank are left out first; those of rank 0
        never are.
    justify : str
    """

    title: str
    texts: tuple[str, ...]
    rank: int = 0
    justify: Literal["left", "right"] = "right"

    @property
    def width(self) -> int:
        """Its width in characters."""
        from rich.cells import cell_len

        return max(map(cell_len, (*self.title.split("\n"), *self.texts)))


def columns(ranked: Sequence[Ranked], ascii_only: bool) -> list[Column]:
    """Return the columns of numbers of one problem.

    Parameters
    ----------
    ranked : sequence of Ranked
        The ranked entries of one problem, at least one.
    ascii_only : bool
        Whether the console has ASCII characters only.
    """

    def column(title: str, text: Callable[[Ranked], str], rank: int = 0) -> Column:
        return Column(title, tuple(text(r) for r in ranked), rank)

    def cost(name: str, text: Callable[[float], str], rank: int) -> Column:
        return Column(name, tuple(text(value) for value in costs[name]), rank)

    costs = {name: [r.median_of(value) for r in ranked] for name, value in COSTS.items()}
    costs["time"] = costs["seconds"]
    streaming = 0 not in costs["samples"]
    sampled = any(samples > 0 for samples in costs["samples"])
    samples_differ = streaming and len({n for n in costs["samples"] if math.isfinite(n)}) > 1
    tuned = any(len(r.entry.trials) > 1 for r in ranked)
    runs = len(ranked[0].entry.seeds)
    measured = ranked[0].entry.records[0].measure
    return [
        column("median" if runs > 1 else "value", lambda r: r.median),
        *([column(f"[{spread_name(runs)}]", _spread, rank=3)] if runs > 1 else []),
        cost("samples" if sampled else "steps", count, rank=2 if samples_differ else 5),
        *([] if measured else [cost("time", lambda s: duration(s, ascii_only), rank=1)]),
        column("runs", lambda r: r.ok),
        *([column("trials", lambda r: str(len(r.entry.trials)), rank=4)] if tuned else []),
        cost("flops", si, rank=5 if streaming else 2),
        *(
            column(name.replace("_", "\n"), _median_metric(name, ascii_only), rank)
            for name, rank in _secondary_metrics(ranked)
        ),
    ]


def curve_column(
    ranked: Sequence[Ranked], curves: Sparklines, width: int, ascii_only: bool
) -> Column:
    """Return the column of curves, each so many characters wide."""
    lines = (curves.line(r.entry.solver, width, ascii_only) for r in ranked)
    return Column(CURVE, tuple(lines), rank=4, justify="left")


def _spread(ranked: Ranked) -> str:
    return f"[{ranked.text(ranked.summary.low)}, {ranked.text(ranked.summary.high)}]"


def _median_metric(name: str, ascii_only: bool) -> Callable[[Ranked], str]:
    return lambda ranked: metric_text(name, ranked.median_of(metric_of(name)), ascii_only)


def _secondary_metrics(ranked: Sequence[Ranked]) -> list[tuple[str, int]]:
    """Return the names of secondary metrics, each with the rank of its column."""
    problem = ranked[0].entry.records[0].problem
    records = [record for r in ranked for record in r.entry.records if not record.failed]
    names = dict.fromkeys(name for r in records for mark in r.trace[-1:] for name in mark.metrics)
    others = {problem.primary, problem.tuned_by, VIOLATION, TOLERANCE, *FIRST}
    rest = [name for name in names if name not in others]
    shown = [*(name for name in FIRST if name in names), *rest][:EXTRAS]
    return [(name, 1 if name == PEAK else 6 + i) for i, name in enumerate(shown)]

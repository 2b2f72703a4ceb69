"""The comparison as numbers: plain rows for machines, a table for the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orthobench.harness import VIOLATION
from orthobench.report.ranking import Ranked, rank
from orthobench.report.terminal import notes
from orthobench.report.words import clean, count, duration, limits, number, short, si
from orthobench.stats.curves import AXES
from orthobench.stats.seeds import (
    spread_name,
)
from orthobench.tuning import Entry, Trial

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

FOLD = 4
"""Columns of at least this rank go before solver names are folded onto two lines."""

FIRST = ("rank", "density", "explained_variance_ratio")
"""Secondary metrics that a table shows before others."""

EXTRAS = 3
"""Most secondary metrics in a table; the rows have all."""


def rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the comparison as plain rows that `json.dumps` takes, best first in each problem.

    Parameters
    ----------
    entries : sequence of Entry

    Returns
    -------
    list of dict
        One for each problem and solver. ``median``, ``low`` and ``high`` are those of the
        primary metric's final value, ``interval`` is the 95 % bootstrap interval of the
        median; None stands for infinity, which is what a failed run counts as. ``samples``,
        ``steps``, ``flops``, ``seconds`` (clock and reading) and ``metrics`` are medians over
        the runs that did not fail. ``best`` marks the smallest median among the solvers of
        which no run failed, and ``close`` those of which the 95 % interval of the median
        difference from it, seed by seed, contains zero; rounding makes no difference.
    """
    return [_row(ranked) for ranked in rank(entries)]


def show(entries: Sequence[Entry], console: Console | None = None) -> None:
    """Print a table for each problem, with what failed and how parameters were tuned.

    Columns that do not fit the console's width are left out, and named below the table.

    Parameters
    ----------
    entries : sequence of Entry
    console : rich Console, optional
        Standard output by default.
    """
    from rich.console import Console

    console = console or Console()
    for problem in dict.fromkeys(entry.problem for entry in entries):
        group = [entry for entry in entries if entry.problem == problem]
        console.print()
        for part in _parts(group, console):
            console.print(part)


@dataclass(frozen=True)
class _Column:
    """A column of the table.

    A narrow terminal has no room for those of the highest `rank`; rank 0 always stays.
    """

    title: str
    cell: Callable[[Ranked], str]
    rank: int = 0


def _row(ranked: Ranked) -> dict[str, Any]:
    entry, summary = ranked.entry, ranked.summary
    first = entry.records[0]
    return {
        "problem": entry.problem,
        "family": first.family,
        "solver": entry.solver,
        "chosen": dict(entry.chosen),
        "metric": first.primary,
        "median": _finite(summary.median),
        "low": _finite(summary.low),
        "high": _finite(summary.high),
        "spread": spread_name(len(entry.seeds)),
        "interval": [_finite(end) for end in summary.interval],
        **{name: _finite(ranked.typical(value)) for name, value in AXES.items()},
        "metrics": {name: _finite(value) for name, value in ranked.metrics.items()},
        "runs": {"planned": len(entry.seeds), "ok": summary.n_ok, "failed": summary.n_failed},
        "failures": [vars(failure) for failure in summary.failures],
        "best": ranked.best,
        "close": ranked.close,
        "tuned_by": first.tuned_by if len(entry.trials) > 1 else None,
        "trials": [_trial(trial) for trial in entry.trials],
    }


def _trial(trial: Trial) -> dict[str, Any]:
    failed = sum(record.status.failed for record in trial.records)
    return {"tuned": dict(trial.tuned), "score": _finite(trial.score), "failed": failed}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _parts(entries: Sequence[Entry], console: Console) -> list[RenderableType]:
    """Return title, table and notes of one problem."""
    from rich.padding import Padding
    from rich.text import Text

    ranked = rank([entry for entry in entries if not entry.refused])
    entry, first = entries[0], entries[0].records[0]
    seeds = f"{len(entry.seeds)} seed{'s' * (len(entry.seeds) > 1)}"
    parts = (first.family, f"final {first.primary.replace('_', ' ')}", seeds, limits(first.budget))
    about = "  " + ", ".join(part for part in parts if part)
    columns, left_out = _fitting(ranked, console)
    told = [*notes.legend(ranked, console.options.ascii_only), *notes.tuning(ranked)]
    told += [notes.refusal(entry) for entry in entries if entry.refused]
    if left_out:
        names = ", ".join(column.title.replace("\n", " ") for column in left_out)
        told.append(f"no room for {names}: a wider terminal or --json has them")
    failed = [*notes.failures(ranked), *notes.failures_before_refusal(entries)]
    below = [(note, "dim") for note in told] + [(line, "red") for line in failed]
    return [
        Text.assemble((clean(entry.problem), "bold"), (about, "dim")),
        *([_table(columns, ranked, console)] if ranked else []),
        *(Padding(Text(text, style=style), (0, 0, 0, 2), expand=False) for text, style in below),
    ]


def _fitting(ranked: Sequence[Ranked], console: Console) -> tuple[list[_Column], list[_Column]]:
    """Return the columns that fit the console's width, and those that do not."""
    from rich.measure import Measurement

    if not ranked:
        return [], []
    columns, left_out = _columns(ranked, console.options.ascii_only), list[_Column]()
    unlimited = console.options.update(max_width=10_000)
    while True:
        table = _table(columns, ranked, console)
        last = max(columns, key=lambda column: column.rank)
        width = Measurement.get(console, unlimited, table)
        needed = width.maximum if last.rank >= FOLD else width.minimum
        if needed <= console.width or not last.rank:
            return columns, left_out
        left_out.insert(0, last)
        columns.remove(last)


def _columns(ranked: Sequence[Ranked], ascii_only: bool) -> list[_Column]:
    def typical(name: str) -> Callable[[Ranked], float]:
        return lambda r: r.typical(AXES[name])

    samples, steps, seconds, flops = map(typical, ("samples", "steps", "seconds", "flops"))
    streaming = not any(samples(r) == 0 for r in ranked)
    runs = len(ranked[0].entry.seeds)
    columns = [
        _Column("median" if runs > 1 else "value", lambda r: number(r.summary.median)),
        _Column(f"[{spread_name(runs)}]", _spread, rank=3),
        _Column("samples", lambda r: count(samples(r)), rank=2 if streaming else 4),
        _Column("time", lambda r: duration(seconds(r), ascii_only), rank=1),
        _Column("runs", lambda r: r.ok),
        _Column("flops", lambda r: si(flops(r)), rank=4 if streaming else 2),
    ]
    if not any(samples(r) > 0 for r in ranked):
        columns[2] = _Column("steps", lambda r: count(steps(r)), rank=4)
    if runs == 1:
        del columns[1]
    return columns + [_extra(name, 5 + i) for i, name in enumerate(_extras(ranked))]


def _extra(name: str, rank: int) -> _Column:
    def cell(ranked: Ranked) -> str:
        return number(ranked.metrics.get(name, math.nan))

    return _Column(name.replace("_", "\n"), cell, rank)


def _extras(ranked: Sequence[Ranked]) -> list[str]:
    first = ranked[0].entry.records[0]
    names = dict.fromkeys(name for r in ranked for name in r.metrics)
    rest = [n for n in names if n not in {first.primary, first.tuned_by, VIOLATION, *FIRST}]
    return [*(name for name in FIRST if name in names), *rest][:EXTRAS]


def _spread(ranked: Ranked) -> str:
    return f"[{number(ranked.summary.low)}, {number(ranked.summary.high)}]"


def _table(columns: Sequence[_Column], ranked: Sequence[Ranked], console: Console) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False, header_style="bold"
    )
    table.add_column("", no_wrap=True)
    table.add_column("solver", overflow="fold", vertical="bottom")
    for column in columns:
        title = Text(column.title, justify="right")
        table.add_column(title, justify="right", no_wrap=True, vertical="bottom")
    for r in ranked:
        style = "bold" if r.best else "dim" if not r.summary.n_ok else ""
        cells = [Text(column.cell(r)) for column in columns]
        table.add_row(
            notes.symbols(console.options.ascii_only)[notes.mark(r)],
            _name(r.entry),
            *cells,
            style=style,
        )
    return table


def _name(entry: Entry) -> RenderableType:
    from rich.text import Text

    chosen = "".join(f" {clean(name)}={clean(short(v))}" for name, v in entry.chosen.items())
    return Text.assemble(clean(entry.solver), (chosen, "cyan"))

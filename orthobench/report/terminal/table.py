"""The comparison as numbers: plain rows for machines, a table for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from orthobench.report import remarks
from orthobench.report.ranking import Ranked, rank
from orthobench.report.terminal import notes
from orthobench.report.terminal.columns import (
    BETWEEN,
    CURVE,
    FOLD,
    Column,
    columns,
    curve_column,
)
from orthobench.report.terminal.sparkline import NARROW, WIDE, Sparklines, sparklines
from orthobench.report.words import assigned, clean, limits, plural
from orthobench.results.tuning import Entry, Trial
from orthobench.stats.curves import AXES
from orthobench.stats.seeds import spread_name

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text


def rows(entries: Sequence[Entry], ranked: Sequence[Ranked] | None = None) -> list[dict[str, Any]]:
    """Return the comparison as plain rows that `json.dumps` takes, best first in each problem.

    Parameters
    ----------
    entries : sequence of Entry
    ranked : sequence of Ranked, optional
        What `rank` returned of them, where that is at hand.

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
    return [_row(one) for one in (rank(entries) if ranked is None else ranked)]


def show(
    entries: Sequence[Entry],
    console: Console | None = None,
    ranked: Sequence[Ranked] | None = None,
) -> None:
    """Print a table for each problem, with what failed and how parameters were tuned.

    A small curve shows the median of the metric along the run. Columns that do not fit the
    console's width are left out, and named below the table.

    Parameters
    ----------
    entries : sequence of Entry
    console : rich Console, optional
        Standard output by default.
    ranked : sequence of Ranked, optional
        What `rank` returned of them, where that is at hand.
    """
    from rich.console import Console

    console = console or Console()
    groups: dict[str, list[Ranked]] = {}
    for one in rank(entries) if ranked is None else ranked:
        groups.setdefault(one.entry.problem, []).append(one)
    for group in groups.values():
        console.print()
        for part in _parts(group, console):
            console.print(part)


def _row(ranked: Ranked) -> dict[str, Any]:
    entry, summary = ranked.entry, ranked.summary
    first = entry.records[0]
    return {
        "problem": entry.problem,
        "family": first.problem.family,
        "solver": entry.solver,
        "chosen": dict(entry.chosen),
        "metric": first.problem.primary,
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
        "tuned_by": first.problem.tuned_by if len(entry.trials) > 1 else None,
        "trials": [_trial(trial) for trial in entry.trials],
    }


def _trial(trial: Trial) -> dict[str, Any]:
    failed = sum(record.failed for record in trial.records)
    return {"tuned": dict(trial.tuned), "score": _finite(trial.score), "failed": failed}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _parts(group: Sequence[Ranked], console: Console) -> list[RenderableType]:
    """Return title, table and notes of one problem."""
    from rich.padding import Padding
    from rich.text import Text

    entries = [r.entry for r in group]
    ranked = [r for r in group if not r.entry.refused]
    entry, first = entries[0], entries[0].records[0]
    seeds = plural(len(entry.seeds), "seed")
    parts = (
        first.problem.family,
        f"final {first.problem.primary.replace('_', ' ')}",
        seeds,
        limits(first.budget),
    )
    about = "  " + ", ".join(part for part in parts if part)
    ascii_only = console.options.ascii_only
    curves = sparklines([r.entry for r in ranked]) if ranked else None
    shown, left_out = _fitting(ranked, curves, console)
    told = notes.legend(ranked, ascii_only)
    if curves and any(column.title == CURVE for column in shown):
        told.append(curves.note(ascii_only))
    told += remarks.tuning(ranked)
    told += remarks.reruns(ranked)
    told += notes.refusals(entries)
    if left_out:
        names = ", ".join(column.title.replace("\n", " ") for column in left_out)
        told.append(f"no room for {names}: a wider terminal or --json has them")
    failed = [*notes.failures(ranked), *notes.failures_before_refusal(entries)]
    below = [(note, "dim") for note in told] + [(line, "red") for line in failed]
    return [
        Text.assemble((clean(entry.problem), "bold"), (about, "dim")),
        *([_table(shown, ranked, console)] if ranked else []),
        *(Padding(Text(text, style=style), (0, 0, 0, 2), expand=False) for text, style in below),
    ]


def _fitting(
    ranked: Sequence[Ranked], curves: Sparklines | None, console: Console
) -> tuple[list[Column], list[Column]]:
    """Return the columns that fit the console's width, and those that do not.

    What room is left the curves have.
    """
    from rich.measure import Measurement

    if not ranked:
        return [], []
    ascii_only = console.options.ascii_only
    shown, left_out = columns(ranked, ascii_only), list[Column]()
    if curves:
        shown.insert(0, curve_column(ranked, curves, NARROW, ascii_only))
    unlimited = console.options.update(max_width=10_000)
    width = Measurement.get(console, unlimited, _table(shown, ranked, console)).maximum
    while True:
        last = max(shown, key=lambda column: column.rank)
        needed = width - (0 if last.rank >= FOLD else _foldable(ranked))
        if needed <= console.width or not last.rank:
            break
        left_out.insert(0, last)
        shown.remove(last)
        width -= last.width + BETWEEN  # measuring the table again takes a while
    if curves and shown[0].title == CURVE:
        room = min(WIDE, NARROW + max(0, console.width - width))
        shown[0] = curve_column(ranked, curves, room, ascii_only)
    return shown, left_out


def _foldable(ranked: Sequence[Ranked]) -> int:
    """Return by how many characters names get narrower where they are folded between words."""
    from rich.cells import cell_len

    names = [_name(r.entry).plain for r in ranked]
    words = (word for name in names for word in name.split())
    return max(map(cell_len, names)) - max(map(cell_len, words))


def _table(shown: Sequence[Column], ranked: Sequence[Ranked], console: Console) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False, header_style="bold"
    )
    table.add_column("", no_wrap=True)
    table.add_column("solver", overflow="fold", vertical="bottom")
    for column in shown:
        title = Text(column.title, justify=column.justify)
        table.add_column(title, justify=column.justify, no_wrap=True, vertical="bottom")
    symbols = notes.symbols(console.options.ascii_only)
    for i, r in enumerate(ranked):
        style = "bold" if r.best else "dim" if not r.summary.n_ok else ""
        cells = [Text(column.texts[i]) for column in shown]
        table.add_row(symbols[r.mark], _name(r.entry), *cells, style=style)
    return table


def _name(entry: Entry) -> Text:
    from rich.text import Text

    chosen = assigned(entry.chosen, " ")
    return Text.assemble(clean(entry.solver), (f" {chosen}" if chosen else "", "cyan"))

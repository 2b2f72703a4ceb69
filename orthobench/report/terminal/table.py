"""Tables of a comparison: printed in the terminal, and as plain rows for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from orthobench.report import caveats
from orthobench.report.formatting import assignments, budget_text, clean, plural
from orthobench.report.ranking import Ranked, rank
from orthobench.report.terminal import footnotes
from orthobench.report.terminal.columns import (
    BETWEEN,
    CURVE,
    Column,
    columns,
    curve_column,
)
from orthobench.report.terminal.sparkline import NARROW, WIDE, Sparklines, sparklines
from orthobench.results.tuning import SolverResult, Trial
from orthobench.stats.bootstrap import spread_name
from orthobench.stats.paired import Comparison
from orthobench.stats.values import COSTS, others_cost
from orthobench.tools.collections import finite_or_none, grouped

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

CURVED = 20_000
"""The most runs of tables with curves: for these, all traces are read."""

NAME = "solver"
"""Title of the column of solvers."""


def rows(
    entries: Sequence[SolverResult], ranked: Sequence[Ranked] | None = None
) -> list[dict[str, Any]]:
    """Return the comparison as plain rows for `json.dumps`, best first on each problem.

    Parameters
    ----------
    entries : sequence of SolverResult
    ranked : sequence of Ranked, optional
        The result of `rank` for them, if it is there already.

    Returns
    -------
    list of dict
        One for each problem and solver. ``median``, ``low`` and ``high`` are those of the primary
        metric's final value, and ``interval`` is the 95 % bootstrap interval of the median; None
        stands for infinity, the value of a failed run, and for what was not run yet. ``samples``,
        ``steps``, ``flops``, ``seconds`` (clock and reading) and ``metrics`` are medians over the
        runs that did not fail. ``best`` marks the smallest median of the solvers without a failed
        run, and ``close`` the solvers that may be the best as well. ``mark`` is the mark of the
        tables, and ``against_best`` the comparison that it comes from, with its ``decision``
        (`orthobench.stats.paired`). Differences at rounding level count as zero. ``others`` is what
        the trials cost that tuning did not choose, each run once.
    """
    return [_row(one) for one in (rank(entries) if ranked is None else ranked)]


def show(
    entries: Sequence[SolverResult],
    console: Console | None = None,
    ranked: Sequence[Ranked] | None = None,
) -> None:
    """Print a table for each problem, with footnotes about tuning and failures.

    A sparkline shows the median of the metric along the run, unless there are more than `CURVED`
    runs. Columns that do not fit the width of the console are left out, and named below the table.

    Parameters
    ----------
    entries : sequence of SolverResult
    console : rich Console, optional
        Standard output by default.
    ranked : sequence of Ranked, optional
        The result of `rank` for them, if it is there already.
    """
    from rich.console import Console

    console = console or Console()
    known = rank(entries) if ranked is None else ranked
    curved = sum(len(r.entry.records) for r in known) <= CURVED
    for group in grouped(known, lambda r: r.entry.problem).values():
        console.print()
        for part in _parts(group, console, curved):
            console.print(part)


def _row(ranked: Ranked) -> dict[str, Any]:
    entry, summary = ranked.entry, ranked.summary
    first = entry.records[0]
    return {
        "problem": entry.problem,
        "family": first.problem.family,
        "solver": entry.solver,
        "chosen": dict(entry.best_parameters),
        "metric": first.problem.primary,
        "median": finite_or_none(summary.median),
        "low": finite_or_none(summary.low),
        "high": finite_or_none(summary.high),
        "spread": spread_name(len(entry.seeds)),
        "interval": [finite_or_none(end) for end in summary.interval],
        **{name: finite_or_none(ranked.median_of(value)) for name, value in COSTS.items()},
        "metrics": {name: finite_or_none(value) for name, value in ranked.metrics.items()},
        "runs": {
            "planned": len(entry.seeds),
            "ok": summary.n_ok,
            "failed": summary.n_failed,
            "missing": summary.n_missing,
        },
        "refusal": entry.refusal or None,
        "failures": [vars(failure) for failure in summary.failures],
        "best": ranked.best,
        "close": ranked.close,
        "mark": ranked.mark,
        "against_best": ranked.comparison and _comparison(ranked.comparison),
        "tuned_by": first.problem.tuned_by if len(entry.trials) > 1 else None,
        "tuned_on": list(entry.tuned_on),
        "trials": [_trial(trial) for trial in entry.trials],
        "others": {name: others_cost(entry, value) for name, value in COSTS.items()},
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    values = {name: value for name, value in vars(comparison).items() if name != "interval"}
    numbers = {k: finite_or_none(v) if isinstance(v, float) else v for k, v in values.items()}
    interval = [finite_or_none(end) for end in comparison.interval]
    return {**numbers, "interval": interval, "decision": comparison.decision.value}


def _trial(trial: Trial) -> dict[str, Any]:
    failed = sum(record.failed for record in trial.records)
    return {"tuned": dict(trial.tuned), "score": finite_or_none(trial.score), "failed": failed}


def _parts(group: Sequence[Ranked], console: Console, curved: bool) -> list[RenderableType]:
    """Return title, table and footnotes of one problem."""
    from rich.padding import Padding
    from rich.text import Text

    entries = [r.entry for r in group]
    ranked = [r for r in group if r.entry.takes_part]
    entry, first = entries[0], entries[0].records[0]
    seeds = plural(len(entry.seeds), "seed")
    parts = (
        first.problem.family,
        f"final {first.problem.primary.replace('_', ' ')}",
        seeds,
        budget_text(first.budget),
    )
    about = "  " + ", ".join(part for part in parts if part)
    ascii_only = console.options.ascii_only
    curves = sparklines([r.entry for r in ranked]) if ranked and curved else None
    shown, left_out = _fitting(ranked, curves, console)
    notes = footnotes.legend(ranked, ascii_only)
    if curves and any(column.title == CURVE for column in shown):
        notes.append(curves.note(ascii_only))
    if not curved:
        notes.append(f"no curves of more than {CURVED:,} runs: the page has them")
    notes += caveats.tuning(ranked)
    notes += caveats.reruns(ranked)
    notes += caveats.stationarity(ranked)
    notes += caveats.missing(entries)
    notes += caveats.busy(entries)
    notes += caveats.measured(entries)
    notes += footnotes.refusals(entries)
    if left_out:
        titles = [column.title.replace("\n", " ") for column in left_out]
        notes.append(footnotes.hidden(titles, console.width))
    failed = [*footnotes.failures(ranked), *footnotes.failures_before_refusal(entries)]
    indent = (0, 0, 0, footnotes.INDENT)
    below = [(note, "dim") for note in notes] + [(line, "red") for line in failed]
    return [
        Text.assemble((clean(entry.problem), "bold"), (about, "dim")),
        *([_table(shown, ranked, console)] if ranked else []),
        *(Padding(Text(text, style=style), indent, expand=False) for text, style in below),
    ]


def _fitting(
    ranked: Sequence[Ranked], curves: Sparklines | None, console: Console
) -> tuple[list[Column], list[Column]]:
    """Return the columns that fit the width of the console, and those that do not.

    The curves are as wide as the remaining room allows. Where not even the most important columns
    fit, parameters go below the name of their solver.
    """
    if not ranked:
        return [], []
    ascii_only = console.options.ascii_only
    shown, left_out = columns(ranked, ascii_only), list[Column]()
    if curves:
        shown.insert(0, curve_column(ranked, curves, NARROW, ascii_only))
    width = _width(shown, ranked, ascii_only)
    while width > console.width:
        last = max(shown, key=lambda column: column.rank)
        if not last.rank:
            break
        left_out.insert(0, last)
        shown.remove(last)
        width -= last.width + BETWEEN
    if curves and shown[0].title == CURVE:
        room = min(WIDE, NARROW + max(0, console.width - width))
        shown[0] = curve_column(ranked, curves, room, ascii_only)
    return shown, left_out


def _width(shown: Sequence[Column], ranked: Sequence[Ranked], ascii_only: bool) -> int:
    """Return the width of a table; to have rich measure it takes as long as to print it."""
    from rich.cells import cell_len

    symbols = footnotes.symbols(ascii_only)
    names = max(max(cell_len(_name(r.entry).plain) for r in ranked), len(NAME))
    parts = [max(len(symbols[r.mark]) for r in ranked), names, *(column.width for column in shown)]
    return sum(parts) + BETWEEN * (len(parts) - 1)


def _table(shown: Sequence[Column], ranked: Sequence[Ranked], console: Console) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False, header_style="bold"
    )
    table.add_column("", no_wrap=True)
    table.add_column(NAME, overflow="fold", vertical="bottom")
    for column in shown:
        title = Text(column.title, justify=column.justify)
        table.add_column(
            title, justify=column.justify, no_wrap=True, vertical="bottom", width=column.width
        )
    symbols = footnotes.symbols(console.options.ascii_only)
    for i, r in enumerate(ranked):
        style = "bold" if r.best else "dim" if not r.summary.n_ok else ""
        cells = [Text(column.texts[i]) for column in shown]
        table.add_row(symbols[r.mark], _name(r.entry), *cells, style=style)
    return table


def _name(entry: SolverResult) -> Text:
    from rich.text import Text

    chosen = assignments(entry.best_parameters, " ")
    return Text.assemble(clean(entry.solver), (f" {chosen}" if chosen else "", "cyan"))

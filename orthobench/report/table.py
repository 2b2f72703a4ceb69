"""The comparison as numbers: plain rows for machines, a table for the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orthobench.curves import AXES
from orthobench.harness import VIOLATION, Mark
from orthobench.record import Record
from orthobench.report.words import clean, count, duration, limits, number, short, si
from orthobench.stats import (
    Summary,
    final,
    paired_interval,
    quantiles,
    spread_name,
    summarize,
)
from orthobench.tuning import Entry, Trial

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

FOLD = 4
"""Columns of at least this rank go before solver names are folded onto two lines."""

ROUNDING = 1e-14
"""Medians that differ by less than this part of where the runs started are equal."""

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
        which no run failed, and ``close`` those that cannot be told from it: the 95 % interval
        of the median difference, seed by seed, contains zero, or only rounding tells them apart.
    """
    return [_row(ranked) for ranked in _ranked(entries)]


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
class _Ranked:
    """An entry with its summary and its place."""

    entry: Entry
    summary: Summary
    best: bool
    close: bool

    @property
    def ok(self) -> str:
        return f"{self.summary.n_ok}/{len(self.entry.seeds)}"

    def typical(self, value: Callable[[Mark], float]) -> float:
        """Return the median of a value over the runs that did not fail; NaN without any."""
        values = [final(record, value) for record in self.entry.records]
        finite = [v for v in values if math.isfinite(v)]
        return float(quantiles(finite, 0.5)) if finite else math.nan

    @property
    def metrics(self) -> dict[str, float]:
        """The medians of all metrics, by name."""
        marks = [r.trace[-1] for r in self.entry.records if r.trace and not r.status.failed]
        names = dict.fromkeys(name for mark in marks for name in mark.metrics)
        return {name: self.typical(_metric(name)) for name in names}


@dataclass(frozen=True)
class _Column:
    """A column of the table.

    A narrow terminal has no room for those of the highest `rank`; rank 0 always stays.
    """

    title: str
    cell: Callable[[_Ranked], str]
    rank: int = 0


def _ranked(entries: Sequence[Entry]) -> list[_Ranked]:
    """Summarize and sort: problems in their order, solvers by median, failures last."""
    found: list[_Ranked] = []
    for problem in dict.fromkeys(entry.problem for entry in entries):
        group = [entry for entry in entries if entry.problem == problem]
        pairs = [(e, summarize(e.records, e.records[0].primary, e.seeds)) for e in group]
        pairs.sort(key=lambda pair: (pair[1].median, pair[1].n_failed, pair[0].solver))
        best = next((s for _, s in pairs if not s.n_failed), None)
        rounding = ROUNDING * _largest_start(group)
        found += [_Ranked(e, s, s is best, _close(best, s, rounding)) for e, s in pairs]
    return found


def _largest_start(entries: Sequence[Entry]) -> float:
    """Return the largest finite primary metric that a run started from."""
    traces = [record.trace for entry in entries for record in entry.records if record.trace]
    starts = [abs(trace[0].metrics.get(entries[0].records[0].primary, 0.0)) for trace in traces]
    return max((value for value in starts if math.isfinite(value)), default=0.0)


def _close(best: Summary | None, other: Summary, rounding: float) -> bool:
    """Return whether a solver cannot be told from the best, over the seeds or but by rounding."""
    if best is None or other is best:
        return False
    if other.median - best.median <= rounding:
        return True
    if len(best.values) < 2:
        return False
    low, high = paired_interval(best.values, other.values)
    return low <= 0 <= high


def _row(ranked: _Ranked) -> dict[str, Any]:
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

    ranked = _ranked([entry for entry in entries if not entry.refused])
    entry, first = entries[0], entries[0].records[0]
    seeds = f"{len(entry.seeds)} seed{'s' * (len(entry.seeds) > 1)}"
    parts = (first.family, f"final {first.primary.replace('_', ' ')}", seeds, limits(first.budget))
    about = "  " + ", ".join(part for part in parts if part)
    columns, left_out = _fitting(ranked, console)
    notes = [*_legend(ranked, console.options.ascii_only), *_tuning(ranked)]
    notes += [_refusal(entry) for entry in entries if entry.refused]
    if left_out:
        names = ", ".join(column.title.replace("\n", " ") for column in left_out)
        notes.append(f"no room for {names}: a wider terminal or --json has them")
    below = [(note, "dim") for note in notes] + [(line, "red") for line in _failures(ranked)]
    return [
        Text.assemble((clean(entry.problem), "bold"), (about, "dim")),
        *([_table(columns, ranked, console)] if ranked else []),
        *(Padding(Text(text, style=style), (0, 0, 0, 2), expand=False) for text, style in below),
    ]


def _refusal(entry: Entry) -> str:
    return f"{clean(entry.solver)} takes no part: {clean(entry.records[0].reason)}"


def _fitting(ranked: Sequence[_Ranked], console: Console) -> tuple[list[_Column], list[_Column]]:
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


def _columns(ranked: Sequence[_Ranked], ascii_only: bool) -> list[_Column]:
    def typical(name: str) -> Callable[[_Ranked], float]:
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
    def cell(ranked: _Ranked) -> str:
        return number(ranked.metrics.get(name, math.nan))

    return _Column(name.replace("_", "\n"), cell, rank)


def _metric(name: str) -> Callable[[Mark], float]:
    return lambda mark: mark.metrics.get(name, math.nan)


def _extras(ranked: Sequence[_Ranked]) -> list[str]:
    first = ranked[0].entry.records[0]
    names = dict.fromkeys(name for r in ranked for name in r.metrics)
    rest = [n for n in names if n not in {first.primary, first.tuned_by, VIOLATION, *FIRST}]
    return [*(name for name in FIRST if name in names), *rest][:EXTRAS]


def _spread(ranked: _Ranked) -> str:
    return f"[{number(ranked.summary.low)}, {number(ranked.summary.high)}]"


def _table(columns: Sequence[_Column], ranked: Sequence[_Ranked], console: Console) -> Table:
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
            _symbols(console.options.ascii_only)[_mark(r)], _name(r.entry), *cells, style=style
        )
    return table


def _name(entry: Entry) -> RenderableType:
    from rich.text import Text

    chosen = "".join(f" {clean(name)}={clean(short(v))}" for name, v in entry.chosen.items())
    return Text.assemble(clean(entry.solver), (chosen, "cyan"))


def _mark(ranked: _Ranked) -> str:
    if ranked.best:
        return "best"
    return "failed" if ranked.summary.n_failed else "close" if ranked.close else ""


def _symbols(ascii_only: bool) -> Mapping[str, str]:
    symbols = ("*", "~", "x") if ascii_only else ("★", "≈", "✗")
    return {"": "", **dict(zip(("best", "close", "failed"), symbols, strict=True))}


def _legend(ranked: Sequence[_Ranked], ascii_only: bool) -> list[str]:
    """Return what the marks of a table mean, those that it has."""
    seen, symbols = {_mark(r) for r in ranked}, _symbols(ascii_only)
    meanings = {
        "best": "smallest median, no run failed",
        "close": "no clear difference from it over these seeds",
        "failed": "runs failed; each counts as infinite",
    }
    told = [f"{symbols[mark]} {text}" for mark, text in meanings.items() if mark in seen]
    return ["   ".join(told)] if told else []


def _tuning(ranked: Sequence[_Ranked]) -> list[str]:
    """Return how parameters were chosen, and which ended at the edge of their grid."""
    tuned = [r.entry for r in ranked if len(r.entry.trials) > 1]
    if not tuned:
        return []
    sizes = sorted({len(entry.trials) for entry in tuned})
    trials = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    notes = [f"tuned on {tuned[0].records[0].tuned_by}, {trials} trials for each solver"]
    return notes + [text for entry in tuned for text in _edges(entry)]


def _edges(entry: Entry) -> list[str]:
    notes: list[str] = []
    for name, value in entry.chosen.items():
        values = {trial.tuned[name] for trial in entry.trials}
        if len(values) < 2 or not all(isinstance(v, (int, float)) for v in values):
            continue
        which = {min(values): "smallest", max(values): "largest"}.get(value)
        if which:
            notes.append(
                f"{clean(entry.solver)}: {name}={short(value)} is the {which} tried; "
                "a better one may lie beyond"
            )
    return notes


def _failures(ranked: Sequence[_Ranked]) -> list[str]:
    lines: list[str] = []
    for r in ranked:
        for reason, seeds in r.summary.reasons.items():
            listed = ("seed " if len(seeds) == 1 else "seeds ") + ", ".join(map(str, seeds))
            which = "all seeds" if 1 < len(seeds) == len(r.entry.seeds) else listed
            lines.append(f"{clean(r.entry.solver)}: {clean(reason)} ({which})")
        lines += _failures_not_chosen(r.entry)
    return lines


def _failures_not_chosen(entry: Entry) -> list[str]:
    """Return what failed in trials that tuning did not choose, a line for each status."""
    by_status: dict[str, list[Record]] = {}
    for trial in entry.trials:
        for record in trial.records if trial.tuned != entry.chosen else ():
            if record.status.failed:
                by_status.setdefault(record.status.value, []).append(record)
    lines: list[str] = []
    for status, records in by_status.items():
        runs = f"{len(records)} run{'s' * (len(records) > 1)}"
        values = dict.fromkeys(f"{n}={short(v)}" for r in records for n, v in r.tuned.items())
        lines.append(
            f"{clean(entry.solver)}, not chosen {clean(' '.join(values))}: {status}: "
            f"{clean(records[0].reason)} ({runs})"
        )
    return lines

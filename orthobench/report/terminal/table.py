"""Tables of decisions: printed in the terminal within 80 columns, and as plain rows for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from orthobench.decide.comparisons import compare
from orthobench.decide.rule import Comparison
from orthobench.decide.wording import MARKS, factor_text, mark, seeds_text, verdict_text
from orthobench.harness.stopping import RunStatus
from orthobench.report import caveats
from orthobench.report.rows import Row, bare_table, problem_rows
from orthobench.report.terminal.sparkline import NARROW, WIDE, sparklines
from orthobench.results.runs import Run
from orthobench.results.tuning import SolverResult
from orthobench.stats.bootstrap import spread_name
from orthobench.stats.costs import ALL_COSTS, COSTS
from orthobench.stats.values import others_cost
from orthobench.tools.collections import finite_or_none, grouped
from orthobench.tools.formatting import assignments, budget_text, clean, listed, plural

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod, RenderableType
    from rich.table import Table

CURVED = 20_000
"""The most runs of tables with curves: for these, all traces are read."""

WIDEST = 80
"""The most columns of a table without its curves."""

FIRST_TO_GO = (4, 0, 2, 3)
"""The columns that a narrow terminal leaves out, in this order: factor, verdict, seeds, cost."""


def rows(
    results: Sequence[SolverResult], comparisons: Sequence[Comparison] | None = None
) -> list[dict[str, Any]]:
    """Return the comparison as plain rows for `json.dumps`, in the order of the tables.

    Parameters
    ----------
    results : sequence of SolverResult
    comparisons : sequence of Comparison, optional
        What `orthobench.decide.comparisons.compare` returns for them, if it is there already.

    Returns
    -------
    list of dict
        One for each problem and solver. ``verdict``, ``mark``, ``difference``, ``cost`` and the
        like are those of its `Decision`. ``median``, ``low`` and ``high`` are those of the primary
        metric's final value, and ``interval`` is the 95 % bootstrap interval of the median; None
        stands for infinity, the value of a failed run, and for what was not run yet. ``samples``,
        ``steps``, ``flops``, ``seconds`` (clock and reading) and ``metrics`` are medians over the
        runs that did not fail. ``others`` is what the trials cost that tuning did not choose, each
        run once.
    """
    return [
        _plain(row, comparison)
        for own, comparison in by_problem(results, comparisons)
        for row in problem_rows(own, comparison)
    ]


def by_problem(
    results: Sequence[SolverResult], comparisons: Sequence[Comparison] | None = None
) -> Iterator[tuple[list[SolverResult], Comparison]]:
    """Yield the results of each problem with their comparison, which is made if it is not given."""
    known = {c.problem: c for c in (compare(results) if comparisons is None else comparisons)}
    for problem, own in grouped(results, lambda r: r.problem).items():
        yield own, known[problem]


def show(
    results: Sequence[SolverResult],
    console: Console | None = None,
    comparisons: Sequence[Comparison] | None = None,
) -> None:
    """Print a table for each problem, with footnotes about tuning and failures.

    A sparkline shows the median of the metric along the run where the console is wide enough,
    unless there are more than `CURVED` runs. `legend` says what the marks mean.

    Parameters
    ----------
    results : sequence of SolverResult
    console : rich Console, optional
        Standard output by default.
    comparisons : sequence of Comparison, optional
        What `orthobench.decide.comparisons.compare` returns for them, if it is there already.
    """
    from rich.console import Console

    console = console or Console()
    curved = sum(len(r.records) for r in results) <= CURVED
    for own, comparison in by_problem(results, comparisons):
        console.print()
        for part in _parts(own, comparison, console, curved):
            console.print(part)


def legend(comparisons: Sequence[Comparison], ascii_only: bool = False) -> str:
    """Return what the marks in some tables mean; empty where there are none."""
    used = {mark(c, d.solver) for c in comparisons for d in c.decisions}
    return "\n".join(
        f"{MARKS[name][ascii_only]} {MARKS[name][2]}" for name in MARKS if name in used
    )


def _plain(row: Row, comparison: Comparison) -> dict[str, Any]:
    r, s, d = row.result, row.summary, row.decision
    info = r.problem_info
    return {
        "problem": r.problem,
        "family": info.family,
        "solver": r.solver,
        "name": d.name,
        "chosen": dict(r.best_parameters),
        "metric": info.primary,
        "verdict": d.verdict.value,
        "mark": row.mark,
        "difference": finite_or_none(d.difference),
        "difference_interval": [finite_or_none(d.low), finite_or_none(d.high)],
        "tolerance": comparison.tolerance,
        "cost": comparison.cost,
        "call_cost": finite_or_none(d.cost),
        "stop": str(d.call.stop) if d.call else None,
        "reached": d.reached,
        "seeds": d.call.seeds if d.call else d.seeds,
        "exact": d.exact is not None,
        "factor": finite_or_none(d.factor),
        "factor_interval": [finite_or_none(end) for end in d.factor_interval],
        "success": finite_or_none(d.success),
        "distinct_seeds": d.seeds,
        "more_seeds": d.more_seeds,
        "median": finite_or_none(s.median),
        "low": finite_or_none(s.low),
        "high": finite_or_none(s.high),
        "spread": spread_name(len(r.seeds)),
        "interval": [finite_or_none(end) for end in s.interval],
        **{n: finite_or_none(row.median_of(cost)) for n, cost in COSTS.items()},
        "metrics": {n: finite_or_none(median) for n, median in row.metrics.items()},
        "runs": row.runs,
        "failures": list(s.failures),
        "refusal": r.refusal or None,
        "tuned_by": info.tuned_by if len(r.trials) > 1 else None,
        "tuned_on": list(r.tuned_on),
        "trials": [
            {
                "tuned": dict(trial.tuned),
                "score": finite_or_none(trial.score),
                "failed": sum(record.failed for record in trial.records),
            }
            for trial in r.trials
        ],
        "others": {name: others_cost(r, cost) for name, cost in COSTS.items()},
    }


def _parts(
    results: Sequence[SolverResult], comparison: Comparison, console: Console, curved: bool
) -> Iterator[RenderableType]:
    """Yield title, table and footnotes of one problem."""
    from rich.padding import Padding
    from rich.text import Text

    metric = f"final {comparison.metric.replace('_', ' ')}"
    seeds = plural(len(results[0].seeds), "seed")
    about = (comparison.family, metric, seeds, budget_text(results[0].records[0].budget))
    yield Text.assemble(
        (clean(comparison.problem), "bold"), ("  " + ", ".join(filter(None, about)), "dim")
    )
    part = [row for row in problem_rows(results, comparison) if row.takes_part]
    if part:
        yield _table(part, comparison, console, curved)
    copies = max((row.decision.copies for row in part), default=0)
    notes = [f"{plural(copies, 'seed')} repeat others and do not count"] if copies else []
    notes += [*caveats.notes([row.result for row in part], results), *_refusals(results)]
    failed = [line for row in part for line in _failures(row)]
    failed += [line for r in results if r.refused for line in _failures_not_chosen(r)]
    for text, style in [*((n, "dim") for n in notes), *((line, "red") for line in failed)]:
        yield Padding(Text(text, style=style), (0, 0, 0, 2), expand=False)


def troubles(results: Sequence[SolverResult], comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield a line about solvers that ran on no problem, then one for each reason on each problem.

    The latter say why runs failed, and why solvers take no part in some problems only.
    """
    solvers = grouped(results, lambda r: r.solver)
    absent = {name: own for name, own in solvers.items() if not any(r.takes_part for r in own)}
    why = grouped(absent, lambda name: clean(absent[name][0].refusal) or "not run yet")
    if absent:
        texts = [
            f"{listed([*map(clean, own)], len(own))} ({reason})" for reason, own in why.items()
        ]
        yield f"{plural(len(absent), 'solver')} did not run: {'; '.join(texts)}"
    for own, comparison in by_problem(results, comparisons):
        rows = problem_rows(own, comparison)
        others = [r for r in own if r.solver not in absent]
        lines = [*_refusals(others), *(line for row in rows for line in _failures(row))]
        yield from (f"{clean(comparison.problem)}: {line}" for line in dict.fromkeys(lines))


def texts_of(
    part: Sequence[Row], comparison: Comparison
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return titles and texts of verdict, final value, seeds within the tolerance, cost, factor."""
    cost = ALL_COSTS[comparison.cost]
    final = "median" if any(len(row.result.seeds) > 1 for row in part) else "value"
    return ("", final, f"to {100 * comparison.tolerance:g} %", cost.title, "factor"), [
        (
            verdict_text(row.decision),
            row.text(row.summary.median),
            seeds_text(row.decision),
            cost.text(row.decision.cost) if math.isfinite(row.decision.cost) else "",
            "" if math.isnan(row.decision.factor) else factor_text(row.decision.factor),
        )
        for row in part
    ]


def _table(part: Sequence[Row], comparison: Comparison, console: Console, curved: bool) -> Table:
    from rich.cells import cell_len
    from rich.text import Text

    ascii_only = console.options.ascii_only
    titles, texts = texts_of(part, comparison)
    widths = [2 + max(map(cell_len, column)) for column in zip(titles, *texts, strict=True)]
    names = [
        Text.assemble(
            clean(row.result.solver),
            (f" {assignments(row.result.best_parameters, ' ')}".rstrip(), "cyan"),
        )
        for row in part
    ]
    longest = max(cell_len(name.plain) for name in names)
    word = max(cell_len(word) for name in names for word in name.plain.split())
    shown = list(range(len(titles)))
    for column in FIRST_TO_GO:
        if 3 + word + sum(widths[i] for i in shown) > console.width:
            shown.remove(column)
    used = 3 + longest + sum(widths[i] for i in shown)
    widest = min(console.width, max(WIDEST, used - longest + word))
    table = bare_table()
    table.width = widest if used > widest else None
    table.add_column("", no_wrap=True)
    table.add_column("solver", min_width=longest if used <= console.width else word)
    for i in shown:
        justify: JustifyMethod = "right" if i else "left"
        table.add_column(titles[i], justify=justify, no_wrap=True, min_width=widths[i] - 2)
    room = min(WIDE, console.width - used - 4) if used <= widest else 0
    curves = sparklines([row.result for row in part]) if curved and room >= NARROW else None
    if curves:
        table.add_column("curve", no_wrap=True)
    for row, name, cells in zip(part, names, texts, strict=True):
        style = "bold" if row.mark == "star" else "dim" if not row.summary.n_ok else ""
        symbol = MARKS[row.mark][ascii_only] if row.mark else ""
        line = [curves.line(row.result.solver, room, ascii_only)] if curves else []
        own = [cells[i].replace("µ", "u") if ascii_only else cells[i] for i in shown]
        table.add_row(symbol, name, *map(Text, own + line), style=style)
    return table


def _refusals(entries: Sequence[SolverResult]) -> list[str]:
    """Return which solvers take no part and why, a line for each reason."""
    refused = grouped((e for e in entries if e.refused), lambda e: clean(e.refusal))
    names = {reason: [clean(e.solver) for e in group] for reason, group in refused.items()}
    return [
        f"{listed(solvers, len(solvers))} take{'s' * (len(solvers) == 1)} no part: {reason}"
        for reason, solvers in names.items()
    ]


def _failures(row: Row) -> list[str]:
    """Return the failed runs of a solver, a line for each reason."""
    lines = []
    for reason, seeds in row.summary.reasons.items():
        names = ("seed " if len(seeds) == 1 else "seeds ") + ", ".join(map(str, seeds))
        which = "all seeds" if 1 < len(seeds) == len(row.result.finished) else names
        lines.append(f"{clean(row.result.solver)}: {clean(reason)} ({which})")
    return lines + _failures_not_chosen(row.result)


def _failures_not_chosen(entry: SolverResult) -> list[str]:
    """Return the failed runs of trials that tuning did not choose, a line for each status."""
    by_status: dict[str, list[Run]] = {}
    for trial in entry.trials:
        for record in trial.records if trial.tuned != entry.best_parameters else ():
            ending = record.stop.status
            if record.failed or (ending is RunStatus.REFUSED and not entry.refused):
                by_status.setdefault(ending.value, []).append(record)
    lines: list[str] = []
    for status, records in by_status.items():
        values = dict.fromkeys(
            assignments({n: v}) for r in records for n, v in r.solver.tuned.items()
        )
        lines.append(
            f"{clean(entry.solver)}, not chosen {' '.join(values)}: {status}: "
            f"{clean(records[0].stop.reason)} ({plural(len(records), 'run')})"
        )
    return lines

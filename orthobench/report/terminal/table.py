"""Tables of decisions: printed in the terminal within 80 columns, and as plain rows for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from orthobench.decide.rule import Comparison
from orthobench.decide.wording import MARKS, factor_text, mark, seeds_text, verdict_text
from orthobench.harness.stopping import RunStatus
from orthobench.report import caveats
from orthobench.report.rows import Row, bare_table, problem_rows
from orthobench.results.tuning import SolverResult, Trial
from orthobench.stats.bootstrap import spread_name
from orthobench.stats.costs import COSTS, cost_of
from orthobench.stats.values import others_cost
from orthobench.tools.collections import grouped, plain
from orthobench.tools.formatting import assignments, budget_text, clean, listed, plural

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table


DECIDED = (
    "name", "verdict", "difference", "reached", "factor", "factor_interval", "success",
    "more_seeds",
)  # fmt: skip
SUMMARIZED = ("median", "low", "high", "interval", "failures")
"""What the rows take from decisions and from summaries as it is."""


def rows(
    results: Sequence[SolverResult], comparisons: Sequence[Comparison]
) -> list[dict[str, Any]]:
    """Return the comparison as plain rows for `json.dumps`, in the order of the tables.

    The final primary metric has ``median``, ``low``, ``high`` and the 95 % bootstrap ``interval``
    of the median. None stands for failed and missing values. Costs and ``metrics`` are medians over
    the sound runs. ``others`` is the cost of the trials that tuning did not choose.
    """
    return [_plain(row, c) for c in comparisons for row in problem_rows(results, c)]


def show(
    results: Sequence[SolverResult],
    comparisons: Sequence[Comparison],
    console: Console | None = None,
) -> None:
    """Print a table for each problem, with footnotes; `legend` explains the marks."""
    from rich.console import Console

    console = console or Console()
    for comparison in comparisons:
        console.print()
        rows = problem_rows(results, comparison)
        for part in _parts(rows, comparison, console.options.ascii_only):
            console.print(part)


def legend(comparisons: Sequence[Comparison], ascii_only: bool = False) -> str:
    """Return the meaning of the marks in some tables; empty without any."""
    used = {mark(c, d.solver) for c in comparisons for d in c.decisions}
    return "\n".join(
        f"{MARKS[name][ascii_only]} {MARKS[name][2]}" for name in MARKS if name in used
    )


def _plain(row: Row, comparison: Comparison) -> dict[str, Any]:
    r, s, d = row.result, row.summary, row.decision
    facts = {
        "problem": r.problem, "family": r.problem_info.family, "solver": r.solver,
        "chosen": dict(r.best_parameters), "metric": r.problem_info.primary, "mark": row.mark,
        "tolerance": comparison.tolerance, "cost": comparison.cost, "call_cost": d.cost,
        "stop": str(d.call.stop) if d.call else None, "exact": d.exact is not None,
        "seeds": d.call.seeds if d.call else d.seeds, "distinct_seeds": d.seeds,
        "difference_interval": (d.low, d.high), **{name: getattr(d, name) for name in DECIDED},
        **{name: getattr(s, name) for name in SUMMARIZED}, "spread": spread_name(len(r.seeds)),
        **{name: row.median_of(cost) for name, cost in COSTS.items()},
        "metrics": row.metrics, "runs": row.runs, "refusal": r.refusal or None,
        "tuned_by": r.problem_info.tuned_by if len(r.trials) > 1 else None,
        "tuned_on": r.tuned_on, "trials": [*map(_trial, r.trials)],
        "others": {name: others_cost(r, cost) for name, cost in COSTS.items()},
    }  # fmt: skip
    return dict(plain(facts))


def _trial(trial: Trial) -> dict[str, Any]:
    failed = sum(run.failed for run in trial.records)
    return {"tuned": dict(trial.tuned), "score": trial.score, "failed": failed}


def _parts(
    rows: Sequence[Row], comparison: Comparison, ascii_only: bool
) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    results = [row.result for row in rows]
    metric = f"final {comparison.metric.replace('_', ' ')}"
    seeds = plural(len(results[0].seeds), "seed")
    about = (comparison.family, metric, seeds, budget_text(results[0].records[0].budget))
    yield Text.assemble(
        (clean(comparison.problem), "bold"), ("  " + ", ".join(filter(None, about)), "dim")
    )
    part = [row for row in rows if row.takes_part]
    if part:
        yield _table(part, comparison, ascii_only)
    copies = max((row.decision.copies for row in part), default=0)
    notes = [f"{plural(copies, 'seed')} repeat others and do not count"] if copies else []
    notes += [*caveats.notes([row.result for row in part], results), *_refusals(results)]
    failed = [line for row in rows for line in _failures(row)]
    for text, style in [*((n, "dim") for n in notes), *((line, "red") for line in failed)]:
        yield Padding(Text(text, style=style), (0, 0, 0, 2), expand=False)


def troubles(results: Sequence[SolverResult], comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield a line about solvers that never ran, then one for each reason on each problem."""
    solvers = grouped(results, lambda r: r.solver)
    absent = {name: own for name, own in solvers.items() if not any(r.takes_part for r in own)}
    why = grouped(absent, lambda name: clean(absent[name][0].refusal) or "not run yet")
    if absent:
        texts = [
            f"{listed([*map(clean, own)], len(own))} ({reason})" for reason, own in why.items()
        ]
        yield f"{plural(len(absent), 'solver')} did not run: {'; '.join(texts)}"
    for comparison in comparisons:
        rows = problem_rows(results, comparison)
        own = [row.result for row in rows]
        others = [r for r in own if r.solver not in absent]
        failed = (line for row in rows for line in _failures(row))
        lines = [*_refusals(others), *failed, *caveats.cut(own), *caveats.conduct(own)]
        yield from (f"{clean(comparison.problem)}: {line}" for line in dict.fromkeys(lines))


def _table(part: Sequence[Row], comparison: Comparison, ascii_only: bool) -> Table:
    from rich.text import Text

    cost = cost_of(comparison.cost)
    final = "median" if any(len(row.result.seeds) > 1 for row in part) else "value"
    table = bare_table()
    table.add_column("", no_wrap=True, overflow="crop")
    table.add_column("solver", overflow="fold")
    table.add_column("", no_wrap=True, overflow="crop")
    for title in (final, f"to {100 * comparison.tolerance:g} %", cost.title, "factor"):
        table.add_column(title, justify="right", no_wrap=True, overflow="crop")
    for row in part:
        decision = row.decision
        amount = cost.text(decision.cost) if math.isfinite(decision.cost) else ""
        chosen = assignments(row.result.best_parameters, " ")
        table.add_row(
            MARKS[row.mark][ascii_only] if row.mark else "",
            Text.assemble(clean(row.result.solver), (f" {chosen}".rstrip(), "cyan")),
            verdict_text(decision),
            row.text(row.summary.median),
            seeds_text(decision),
            amount.replace("µ", "u") if ascii_only else amount,
            "" if math.isnan(decision.factor) else factor_text(decision.factor),
            style="bold" if row.mark == "star" else "dim" if not row.summary.n_ok else "",
        )
    return table


def _refusals(entries: Sequence[SolverResult]) -> list[str]:
    refused = grouped((e for e in entries if e.refused), lambda e: clean(e.refusal))
    names = {reason: [clean(e.solver) for e in group] for reason, group in refused.items()}
    return [
        f"{listed(solvers, len(solvers))} take{'s' * (len(solvers) == 1)} no part: {reason}"
        for reason, solvers in names.items()
    ]


def _failures(row: Row) -> Iterator[str]:
    """Yield the failed runs of a solver, a line for each reason; those of other trials last."""
    result, name = row.result, clean(row.result.solver)
    for reason, seeds in row.summary.reasons.items():
        names = ("seed " if len(seeds) == 1 else "seeds ") + ", ".join(map(str, seeds))
        which = "all seeds" if 1 < len(seeds) == len(result.finished) else names
        yield f"{name}: {clean(reason)} ({which})"
    others = (
        run
        for trial in result.trials
        if trial.tuned != result.best_parameters
        for run in trial.records
        if run.failed or (run.stop.status is RunStatus.REFUSED and not result.refused)
    )
    for status, own in grouped(others, lambda run: run.stop.status.value).items():
        reason = clean(own[0].stop.reason)
        yield f"{name}, not chosen: {status}: {reason} ({plural(len(own), 'run')})"

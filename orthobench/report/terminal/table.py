"""Tables of decisions: of each problem, of solvers against problems, and as plain rows for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from orthobench.decide.answer import Answer
from orthobench.decide.rule import Comparison, Verdict
from orthobench.decide.wording import MARKS, factor_text, mark, seeds_text, verdict_text
from orthobench.report import caveats
from orthobench.report.rows import Row, rows_by_problem, solvers_shown
from orthobench.results.tuning import SolverResult, Trial
from orthobench.stats.bootstrap import spread_name
from orthobench.stats.costs import COSTS, cost_of
from orthobench.stats.values import others_cost
from orthobench.tools.collections import plain
from orthobench.tools.formatting import assignments, budget_text, clean, plural

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

OPEN = Verdict.UNDECIDED, Verdict.UNTESTED
"""The verdicts that more seeds may change."""

HTML_WIDTH = 110
"""The number of characters of a line in a notebook."""

NAME = 24
"""Number of characters of a name that stay on one line."""

DECIDED = (
    "name", "verdict", "difference", "reached", "factor", "factor_interval", "success",
    "more_seeds",
)  # fmt: skip
SUMMARIZED = ("median", "low", "high", "interval", "failures")
"""Parts of decisions and of summaries that rows have as they are."""


def rows(
    results: Sequence[SolverResult], comparisons: Sequence[Comparison]
) -> list[dict[str, Any]]:
    """Return the comparison as plain rows for `json.dumps`, in the order of the tables.

    The final primary metric has ``median``, ``low``, ``high`` and the 95 % bootstrap ``interval``
    of the median. None stands for failed and missing values. Costs and ``metrics`` are medians over
    the sound runs. ``others`` is the cost of the trials that tuning did not choose.
    """
    each = rows_by_problem(results, comparisons)
    return [_plain(row, comparison) for comparison, own in each for row in own]


def show(
    results: Sequence[SolverResult],
    comparisons: Sequence[Comparison],
    console: Console | None = None,
) -> None:
    """Print a table for each problem, with footnotes."""
    from rich.console import Console

    console = console or Console()
    for comparison, own in rows_by_problem(results, comparisons):
        console.print()
        for part in _parts(own, comparison, console.options.ascii_only):
            console.print(part)


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
    part = [row for row in rows if row.result.takes_part]
    if part:
        yield _table(part, comparison, ascii_only)
    copies = max((row.decision.copies for row in part), default=0)
    notes = [f"{plural(copies, 'seed')} repeat others and do not count"] if copies else []
    notes += [*caveats.notes([row.result for row in part], results), *caveats.refusals(results)]
    failed = [line for row in rows for line in caveats.failures(row)]
    for text, style in [*((n, "dim") for n in notes), *((line, "red") for line in failed)]:
        yield Padding(Text(text, style=style), (0, 0, 0, 2), expand=False)


def _bare_table() -> Table:
    """Return a table of which only the head is underlined."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(
        box=SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False, header_style="bold"
    )


def _table(part: Sequence[Row], comparison: Comparison, ascii_only: bool) -> Table:
    from rich.text import Text

    cost = cost_of(comparison.cost)
    final = "median" if any(len(row.result.seeds) > 1 for row in part) else "value"
    table = _bare_table()
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


def show_answer(answer: Answer, console: Console | None = None) -> None:
    """Print what to use and, for each family, solvers against problems."""
    from rich.console import Console

    console = console or Console()
    for family in answer.by_family.values() or [answer]:
        text = f"\n{answer.prefix(family)}{family.sentence}"
        if console.options.ascii_only:
            text = text.replace("µ", "u")
        console.print(text, markup=False, highlight=False)
        for part in _tables_of(family, console):
            console.print()
            console.print(part)


def html(answer: Answer) -> str:
    """Return the same as HTML, with its legend and the evidence."""
    from rich.console import Console

    console = Console(file=StringIO(), record=True, width=HTML_WIDTH)
    show_answer(answer, console)
    tested = [family.evidence for family in answer.by_family.values() or [answer]]
    for line in ("", *answer_legend(answer), *tested):
        console.print(line, markup=False, highlight=False, style="dim")
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def answer_legend(answer: Answer, ascii_only: bool = False) -> Iterator[str]:
    """Yield what cells mean, and how many are open."""
    comparisons = answer.comparisons
    decisions = [d for c in comparisons for d in c.decisions if d.verdict is not Verdict.ABSENT]
    undecided = sum(d.verdict in OPEN for d in decisions)
    used = {mark(c, d.solver) for c in comparisons for d in c.decisions}
    marks = ", ".join(f"{MARKS[one][ascii_only]} {MARKS[one][2]}" for one in MARKS if one in used)
    title = cost_of(answer.cost).title
    if marks:
        yield f"Cells: {title} of the call, seeds that end within the tolerance. {marks}."
    if undecided:
        seeds = max((c.seeds for c in comparisons), default=0)
        cells = plural(len(decisions), "cell")
        yield f"{undecided} of {cells} not decided with {plural(seeds, 'seed')}."


def cell(comparison: Comparison, solver: str, ascii_only: bool = False) -> str:
    """Return a solver on a problem: ``"1.2 ms 12/12 ★"``."""
    own, name = comparison.of(solver), mark(comparison, solver)
    if own.verdict is Verdict.ABSENT:
        return ""
    amount = cost_of(comparison.cost).text(own.cost) if own.cost < math.inf else ""
    symbol = MARKS[name][ascii_only] if name else " "
    text = f"{amount} {seeds_text(own)} {symbol}"
    return text.replace("µ", "u") if ascii_only else text


def _tables_of(answer: Answer, console: Console) -> Iterator[Table]:
    """Yield the table of a family, in parts as wide as the console if possible."""
    solvers, ascii_only = solvers_shown(answer.comparisons), console.options.ascii_only
    names = max((len(clean(solver)) for solver in solvers), default=0)
    room = left = console.width - min(names, NAME)
    part: list[tuple[Comparison, list[str]]] = []
    for comparison in answer.comparisons if solvers else ():
        cells = [cell(comparison, solver, ascii_only) for solver in solvers]
        width = max(map(len, cells)) + 1
        if part and left < width:
            yield _table_of(answer, solvers, part, room)
            part, left = [], room
        part.append((comparison, cells))
        left -= width
    if part:
        yield _table_of(answer, solvers, part, room)


def _table_of(
    answer: Answer, solvers: Sequence[str],
    columns: Sequence[tuple[Comparison, Sequence[str]]], room: int,
) -> Table:  # fmt: skip
    from rich.text import Text

    table = _bare_table()
    table.padding = (0, 0)  # the box has a blank between columns
    table.add_column("", overflow="fold")
    titles = [clean(comparison.problem) for comparison, _ in columns]
    widths = [max(map(len, cells)) for _, cells in columns]
    whole = [max(len(title), width) for title, width in zip(titles, widths, strict=True)]
    if sum(whole) + len(whole) <= room:
        widths = whole
    for title, width in zip(titles, widths, strict=True):
        table.add_column(Text(title), justify="right", width=width, overflow="fold")
    for i, solver in enumerate(solvers):
        texts = (Text(cells[i], "" if c.of(solver).as_good else "dim") for c, cells in columns)
        table.add_row(Text(clean(solver)), *texts, style="bold" if solver == answer.solver else "")
    return table

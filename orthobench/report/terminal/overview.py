"""The overview of a comparison: a line for each solver, a column for each problem."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from orthobench.decide.answer import Answer
from orthobench.decide.rule import Comparison, Verdict
from orthobench.decide.wording import MARKS, mark, seeds_text
from orthobench.report.rows import bare_table, solvers_shown
from orthobench.report.terminal import table as tables
from orthobench.stats.costs import cost_of
from orthobench.tools.formatting import clean, plural

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

OPEN = Verdict.UNDECIDED, Verdict.UNTESTED
"""The verdicts that more seeds may change."""

HTML_WIDTH = 110
"""The number of characters of a line in a notebook."""

ANY_WIDTH = 10_000
"""The number of characters that any table has room in."""

NAME = 24
"""The number of characters of a solver's name that stay on one line."""


def show(answer: Answer, console: Console | None = None) -> None:
    """Print what to use and, for each family, solvers against problems."""
    from rich.console import Console

    console = console or Console()
    for family in answer.by_family.values() or [answer]:
        text = f"\n{answer.prefix(family)}{family.sentence}"
        if console.options.ascii_only:
            text = text.replace("µ", "u")
        console.print(text, markup=False, highlight=False)
        for part in _parts(family, console):
            console.print()
            console.print(part)


def html(answer: Answer) -> str:
    """Return the same as HTML, with its legend and the evidence."""
    from rich.console import Console

    console = Console(file=StringIO(), record=True, width=HTML_WIDTH)
    show(answer, console)
    tested = [family.evidence for family in answer.by_family.values() or [answer]]
    for line in ("", *legend(answer), *tested):
        console.print(line, markup=False, highlight=False, style="dim")
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def legend(answer: Answer, ascii_only: bool = False) -> Iterator[str]:
    """Yield what cells mean, and how many are open."""
    comparisons = answer.comparisons
    decisions = [d for c in comparisons for d in c.decisions if d.verdict is not Verdict.ABSENT]
    undecided = sum(d.verdict in OPEN for d in decisions)
    marks = ", ".join(tables.legend(comparisons, ascii_only).splitlines())
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


def _parts(answer: Answer, console: Console) -> Sequence[Table]:
    """Return the table of a family, in parts as wide as the console if possible."""
    comparisons = answer.comparisons
    solvers = solvers_shown(comparisons)
    parts: Sequence[Table] = ()
    wide = console.options.update_width(ANY_WIDTH)
    for size in range(len(comparisons) if solvers else 0, 0, -1):
        parts = [
            _part(answer, solvers, comparisons[i : i + size], console.options.ascii_only)
            for i in range(0, len(comparisons), size)
        ]
        if all(console.measure(p, options=wide).minimum <= console.width for p in parts):
            break
    return parts


def _part(
    answer: Answer, solvers: Sequence[str], comparisons: Sequence[Comparison], ascii_only: bool
) -> Table:
    from rich.text import Text

    table = bare_table()
    longest = max(map(len, map(clean, solvers)))
    table.add_column("", min_width=min(longest, NAME), overflow="fold")
    columns = [[cell(c, solver, ascii_only) for solver in solvers] for c in comparisons]
    for comparison, own in zip(comparisons, columns, strict=True):
        width, title = max(map(len, own)), Text(clean(comparison.problem))
        table.add_column(title, justify="right", min_width=width, overflow="fold")
    for solver, *cells in zip(solvers, *columns, strict=True):
        styles = ("" if c.of(solver).as_good else "dim" for c in comparisons)
        texts = map(Text, cells, styles)
        table.add_row(Text(clean(solver)), *texts, style="bold" if solver == answer.solver else "")
    return table

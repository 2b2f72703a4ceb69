"""The overview of a comparison: a line for each solver, a column for each problem."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from orthobench.decide.answer import Answer, standings
from orthobench.decide.rule import Comparison, Verdict
from orthobench.decide.wording import MARKS, mark, seeds_text
from orthobench.report.rows import bare_table
from orthobench.report.terminal import table as tables
from orthobench.stats.costs import ALL_COSTS
from orthobench.tools.formatting import clean, plural

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

OPEN = Verdict.UNDECIDED, Verdict.UNTESTED
"""The verdicts that more seeds may change."""

GAP = 2
"""Characters between two columns."""


def show(answer: Answer, console: Console | None = None) -> None:
    """Print what to use and, for each family, cost and seeds of each solver on each problem.

    Parameters
    ----------
    answer : Answer
    console : rich Console, optional
        Standard output by default.
    """
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


def counts(comparisons: Sequence[Comparison]) -> tuple[int, int]:
    """Return how many cells of solvers and problems are open, and how many there are."""
    verdicts = [
        d.verdict for c in comparisons for d in c.decisions if d.verdict is not Verdict.ABSENT
    ]
    return sum(verdict in OPEN for verdict in verdicts), len(verdicts)


def legend(answer: Answer, ascii_only: bool = False) -> Iterator[str]:
    """Yield the lines below an overview: what cells say, and what is open."""
    comparisons = answer.comparisons
    open_, cells = counts(comparisons)
    marks = ", ".join(tables.legend(comparisons, ascii_only).splitlines())
    title = ALL_COSTS[answer.cost].title
    if marks:
        yield f"Cells: {title} of the call, seeds that end within the tolerance. {marks}."
    if open_:
        seeds = max((c.seeds for c in comparisons), default=0)
        yield f"{open_} of {plural(cells, 'cell')} not decided with {plural(seeds, 'seed')}."


def cell(comparison: Comparison, solver: str, ascii_only: bool = False) -> str:
    """Return cost, seeds and mark of a solver on a problem: ``"1.2 ms 12/12 ★"``."""
    own, name = comparison.of(solver), mark(comparison, solver)
    if own.verdict is Verdict.ABSENT:
        return ""
    amount = ALL_COSTS[comparison.cost].text(own.cost) if own.cost < math.inf else ""
    symbol = MARKS[name][ascii_only] if name else " "
    text = f"{amount} {seeds_text(own)} {symbol}"
    return text.replace("µ", "u") if ascii_only else text


def _parts(answer: Answer, console: Console) -> Iterator[Table]:
    """Yield the table of a family, in parts that are no wider than the console.

    Solvers that ran on no problem are left out; `orthobench.report.terminal.table.troubles` says
    why.
    """
    from rich.cells import cell_len

    solvers = [
        one.solver
        for one in standings(answer.comparisons)
        if any(c.of(one.solver).verdict is not Verdict.ABSENT for c in answer.comparisons)
    ]
    ascii_only = console.options.ascii_only
    columns = [(c, [cell(c, solver, ascii_only) for solver in solvers]) for c in answer.comparisons]
    widest = max((len(text) for _, own in columns for text in own), default=0)
    longest = max((cell_len(clean(solver)) for solver in solvers), default=0)
    longest = max(1, min(longest, console.width - widest - GAP))
    room = console.width - longest

    def width(comparison: Comparison, own: Sequence[str]) -> int:
        word = max(map(cell_len, clean(comparison.problem).split()), default=0)
        return max([min(word, room - GAP), *map(len, own)])

    while columns and solvers:
        shown = [columns.pop(0)]
        while columns and sum(width(*one) + GAP for one in [*shown, columns[0]]) <= room:
            shown.append(columns.pop(0))
        yield _part(answer, solvers, longest, [(*one, width(*one)) for one in shown])


def _part(
    answer: Answer,
    solvers: Sequence[str],
    longest: int,
    columns: Sequence[tuple[Comparison, Sequence[str], int]],
) -> Table:
    """Return a table of solvers, with a column of some width for each comparison."""
    from rich.text import Text

    table = bare_table()
    table.add_column("", min_width=longest, max_width=longest, overflow="fold")
    for comparison, _, width in columns:
        title = Text(clean(comparison.problem))
        table.add_column(title, justify="right", min_width=width, max_width=width, overflow="fold")
    for i, solver in enumerate(solvers):
        cells = [Text(own[i], "" if c.of(solver).as_good else "dim") for c, own, _ in columns]
        table.add_row(Text(clean(solver)), *cells, style="bold" if solver == answer.solver else "")
    return table

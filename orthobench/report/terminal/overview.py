"""The overview of a comparison: a line for each solver, a column for each problem."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from orthobench.decide.answer import Answer, standings
from orthobench.decide.rule import Comparison, Verdict
from orthobench.decide.wording import MARKS, mark, seeds_text
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
    used = {mark(c, d.solver) for c in comparisons for d in c.decisions}
    marks = ", ".join(
        f"{symbols[ascii_only]} {text}" for name, (*symbols, text) in MARKS.items() if name in used
    )
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
    """Yield the table of a family, in parts that are no wider than the console."""
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    solvers = [one.solver for one in standings(answer.comparisons)]
    names = [clean(solver) for solver in solvers]
    ascii_only = console.options.ascii_only
    columns = [
        (comparison, [cell(comparison, solver, ascii_only) for solver in solvers])
        for comparison in answer.comparisons
    ]
    widest = max((len(text) for _, own in columns for text in own), default=0)
    longest = max(map(cell_len, names), default=0)
    longest = max(1, min(longest, console.width - widest - GAP))
    room = console.width - longest
    while columns:
        table = Table(
            box=SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False,
            header_style="bold",
        )  # fmt: skip
        table.add_column("", min_width=longest, max_width=longest, overflow="fold")
        used, shown = 0, list[tuple[Comparison, list[str]]]()
        while columns:
            comparison, own = columns[0]
            problem = clean(comparison.problem)
            width = min(max(map(cell_len, problem.split()), default=0), room - GAP)
            width = max([width, *map(len, own)])
            if shown and used + width + GAP > room:
                break
            table.add_column(
                Text(problem), justify="right", min_width=width, max_width=width, overflow="fold"
            )
            shown.append(columns.pop(0))
            used += width + GAP
        for i, name in enumerate(names):
            cells = [
                Text(own[i], style="" if c.of(solvers[i]).as_good else "dim") for c, own in shown
            ]
            style = "bold" if solvers[i] == answer.solver else ""
            table.add_row(Text(name), *cells, style=style)
        yield table

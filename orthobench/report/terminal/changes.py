"""Tables of what changed between two stores, in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from orthobench.decide.wording import factor_text
from orthobench.report.changes import Changes, ProblemChange, Quantity, SolverChange
from orthobench.report.formatting import clean, number, plural
from orthobench.report.ranking import rounded
from orthobench.stats.changes import Change, Direction

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SYMBOLS = {
    Direction.LOWER: "↓", Direction.HIGHER: "↑", Direction.OPEN: "≈", Direction.UNDECIDABLE: "?",
    Direction.EQUAL: "=",
}  # fmt: skip
"""The symbols of what is shown."""

ASCII = {**SYMBOLS, Direction.LOWER: "-", Direction.HIGHER: "+", Direction.OPEN: "~"}
MEANINGS = {
    Direction.LOWER: "lower in B, or {} higher (signed ranks after Holm, on each problem)",
    Direction.OPEN: "no change shown",
    Direction.UNDECIDABLE: "so few seeds, or so many ties, cannot show one",
    Direction.EQUAL: "equal, up to rounding, on every seed",
}

STYLES = {Direction.LOWER: "green", Direction.HIGHER: "red"}


def show(changes: Changes, console: Console | None = None) -> None:
    """Print a table for each problem, with what is not compared below them.

    Parameters
    ----------
    changes : Changes
    console : rich Console, optional
        Standard output by default.
    """
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = console or Console()
    symbols = ASCII if console.options.ascii_only else SYMBOLS
    for name, side in zip("AB", changes.sides, strict=True):
        console.print(Text(f"{name}: {side}"))
    for problem in changes.problems:
        console.print()
        console.print(Text.assemble((problem.problem, "bold"), (f"  {_about(problem)}", "dim")))
        console.print(_table(problem, symbols))
        for note in problem.notes:
            console.print(Padding(Text(note, style="dim"), (0, 0, 0, 2), expand=False))
    console.print()
    console.print(Text("   ".join(_legend(symbols)), style="dim"))
    for line in (*changes.sentences, *changes.only, *changes.notes):
        console.print(Text(line))


def _table(problem: ProblemChange, symbols: Mapping[Direction, str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False, header_style="bold"
    )
    others = [name for name in problem.solvers[0].quantities if name != "metric"]
    titles = [{"seconds": "time"}.get(name, name) for name in others]
    table.add_column("solver", overflow="fold")
    for title in ("A", "B", "B against A", *titles):
        table.add_column(title, justify="right", overflow="fold")
    for row in problem.solvers:
        metric = row.quantities["metric"]
        cells = [(text, "") for text in _medians(metric, problem.rounding)]
        cells += [_cell(metric.change, symbols, interval=True)]
        cells += [_cell(row.quantities[n].change, symbols, interval=False) for n in others]
        table.add_row(Text(_name(row)), *(Text(text, style=style) for text, style in cells))
    return table


def _cell(change: Change, symbols: Mapping[Direction, str], interval: bool) -> tuple[str, str]:
    """Return the text of a change and its style."""
    effect = _effect_text(change, interval)
    if symbols is ASCII:
        effect = effect.replace("×", "x")
    way = change.direction
    return f"{effect} {symbols[way]}".strip(), STYLES.get(way, "dim")


def _name(row: SolverChange) -> str:
    return f"{row.solver} {row.parameters}".strip()


def _about(problem: ProblemChange) -> str:
    """Return what stands beside the name of a problem."""
    metric = clean(problem.metric.replace("_", " "))
    return f"{problem.family}, final {metric}, {plural(problem.seeds, 'seed')}"


def _legend(symbols: Mapping[Direction, str]) -> Iterator[str]:
    """Yield what the symbols mean."""
    for way, text in MEANINGS.items():
        yield f"{symbols[way]} {text.format(symbols[Direction.HIGHER])}"


def _effect_text(change: Change, interval: bool = True) -> str:
    """Return by how much a quantity changed: ``×1.05 [0.9, 1.2]``, ``+0.1``; empty for no change.

    Parameters
    ----------
    change : Change
    interval : bool
        Whether to say the interval.
    """
    if not change.n or change.direction is Direction.EQUAL:
        return ""
    text = factor_text if change.ratio else number
    sign = "×" if change.ratio else "+" if change.effect > 0 else ""
    ends = " [{}, {}]".format(*map(text, change.interval)) if interval else ""
    return f"{sign}{text(change.effect)}{ends}".replace("more than a million", ">1e6")


def _medians(quantity: Quantity, rounding: float) -> tuple[str, str]:
    """Return the medians of a metric in both stores as text."""
    first, second = (
        rounded(value, rounding) if math.isfinite(value) else "failed"
        for value in (quantity.first, quantity.second)
    )
    return first, second

"""A comparison as lines for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import click

from orthobench.compare import wording
from orthobench.compare.comparison import Compared, Comparison, Question
from orthobench.stats.run_pairs import Change, Finding
from orthobench.tools.formatting import clean, plural

COLOURS = {Change.WORSE: "red", Change.BETTER: "green", Change.UNDECIDED: "yellow"}

LISTED = {Change.WORSE: 20, Change.UNDECIDED: 5, Change.BETTER: 20}
"""How many cells with each answer are listed at most, unless all are asked for."""

REASONS = 20
"""How many reasons why cells were not compared are listed, unless all are asked for."""

NARROWEST = 30
"""The fewest columns for a cell's label, whatever the width."""


def lines(comparison: Comparison, every: bool = False, width: int = 80) -> Iterator[str]:
    """Yield the verdict first, then for each question the cells that changed, worst first.

    Parameters
    ----------
    comparison : Comparison
    every : bool
        Whether to list every cell, also those that did not change.
    width : int
        Columns of the terminal.
    """
    verdict = wording.verdict(comparison)
    colour = "red" if comparison.regressions() or verdict == wording.NOTHING else "green"
    yield click.style(verdict, fg=colour, bold=True)
    base, head = wording.side(comparison.base), wording.side(comparison.head)
    yield from _wrapped(f"{base} -> {head}, suite {clean(comparison.suite)}", width)
    for asked in Question:
        yield ""
        yield from _question(comparison, asked, every, width)
    remarks = wording.remarks(comparison)
    if remarks:
        yield ""
    for remark in remarks:
        yield from _wrapped(remark, width, "note: ")
    yield ""
    tolerated = f"tolerated: {wording.tolerated(comparison)}"
    measured = wording.measured(comparison)
    yield from _wrapped(f"{measured}; {tolerated}" if measured else tolerated, width)


def _question(comparison: Comparison, asked: Question, every: bool, width: int) -> Iterator[str]:
    changes = wording.tally(comparison, asked)
    title = click.style(asked.value, bold=True)
    yield f"{title}  {wording.ASKED[asked]}"
    yield from _wrapped(wording.counted(changes), width, "  ")
    listed = dict.fromkeys([*LISTED, Change.SAME]) if every else LISTED
    found = [
        (cell, answer)
        for change, most in listed.items()
        for cell, answer in wording.cells_with(comparison, asked, change)[:most]
    ]
    yield from _table(found, width)
    for change, most in listed.items():
        if most and changes[change] > most:
            yield f"  and {changes[change] - most:,} more {change.value}: --all lists them"
    yield from _not_compared(comparison, asked, every, width)


def _table(found: Sequence[tuple[Compared, Finding]], width: int) -> Iterator[str]:
    """Yield lines for each cell: answer, ratio and cell, then the explanation."""
    heads = [
        (answer.change.value, wording.percent(answer.ratio), wording.interval(answer))
        for _, answer in found
    ]
    words, ratios, bounds = (max((len(head[i]) for head in heads), default=0) for i in range(3))
    left = 2 + words + 2 + ratios + 1 + bounds + 2
    room = max(width - left, NARROWEST)
    for (word, ratio, between), (cell, answer) in zip(heads, found, strict=True):
        styled = click.style(f"{word:<{words}}", fg=COLOURS.get(answer.change))
        label, *others = textwrap.wrap(clean(cell.label), room) or [""]
        yield f"  {styled}  {ratio:>{ratios}} {between:<{bounds}}  {label}"
        for line in [*others, *textwrap.wrap(clean(answer.explanation), room)]:
            yield " " * left + line


def _not_compared(
    comparison: Comparison, asked: Question, every: bool, width: int
) -> Iterator[str]:
    found = wording.cells_with(comparison, asked, Change.NONE)
    grouped = wording.reasons(found)
    for reason, cells in grouped if every else grouped[:REASONS]:
        yield from _wrapped(f"{reason}: {cells}", width, "  not compared, ")
    more = 0 if every else len(grouped) - REASONS
    if more > 0:
        yield f"  and {plural(more, 'reason')} more why cells were not compared: --all lists them"


def _wrapped(text: str, width: int, lead: str = "") -> list[str]:
    indent = " " * min(len(lead), 4)
    return textwrap.wrap(text, width, initial_indent=lead, subsequent_indent=indent)

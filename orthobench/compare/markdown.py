"""A comparison as Markdown, for a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from orthobench.compare import wording
from orthobench.compare.comparison import Compared, Comparison, Question
from orthobench.stats.run_pairs import Change, Finding
from orthobench.tools.formatting import clean, plural

LIMIT = 60_000
"""Characters of the text; GitHub refuses comments of more than 65,536."""

ROWS = (1000, 300, 100, 30, 10, 3, 0)
"""The most rows of a table: the first of these that keeps the text within the limit."""

LONGEST = 300
"""Characters of one text in a table, before it is escaped; the rest is cut off."""

TITLES = {Change.WORSE: "Regressions", Change.BETTER: "Improvements", Change.UNDECIDED: "Undecided"}

Row = tuple[Question, Compared, Finding]


def markdown(comparison: Comparison) -> str:
    """Return the verdict, counts for each question, the regressions, and the rest folded.

    Names and messages are shown as they are, whatever they contain: nothing in them is formatted or
    notifies anybody. Tables are cut so that the text stays below GitHub's limit.

    Parameters
    ----------
    comparison : Comparison
    """
    texts = ("\n".join(_text(comparison, rows)) + "\n" for rows in ROWS)
    return next((text for text in texts if len(text) <= LIMIT), f"### {_title(comparison)}\n")


def _text(comparison: Comparison, most: int) -> Iterator[str]:
    base, head = _code(wording.side(comparison.base)), _code(wording.side(comparison.head))
    yield f"### {_title(comparison)}"
    yield f"\n{base} → {head}, suite {_code(comparison.suite)}\n"
    yield from _counts(comparison)
    worse = _rows(comparison, Change.WORSE)
    if worse:
        yield f"\n#### {TITLES[Change.WORSE]}\n"
        yield from _table(worse, most)
    for change in (Change.UNDECIDED, Change.BETTER):
        rows = _rows(comparison, change)
        yield from _folded(f"{TITLES[change]} ({len(rows):,})", list(_table(rows, most)), rows)
    missing = list(_missing(comparison, most))
    yield from _folded("Not compared", missing, missing)
    yield from _folded("How it was measured", list(_measured(comparison, most)), [True])


def _title(comparison: Comparison) -> str:
    return f"orthobench · {wording.verdict(comparison)}"


def _counts(comparison: Comparison) -> Iterator[str]:
    yield "| question | " + " | ".join(change.value for change in Change) + " |"
    yield "|:--|" + "--:|" * len(Change)
    for asked in Question:
        changes = wording.tally(comparison, asked)
        numbers = [
            f"**{changes[change]:,}**" if change is Change.WORSE and changes[change]
            else f"{changes[change]:,}" for change in Change
        ]  # fmt: skip
        yield f"| {asked.value}: {wording.ASKED[asked]} | " + " | ".join(numbers) + " |"


def _rows(comparison: Comparison, change: Change) -> list[Row]:
    return [
        (asked, *found)
        for asked in Question
        for found in wording.cells_with(comparison, asked, change)
    ]


def _table(rows: Sequence[Row], most: int) -> Iterator[str]:
    if most:
        yield "| question | solver | problem | seed | change | |"
        yield "|:--|:--|:--|--:|--:|:--|"
    for asked, cell, answer in rows[:most]:
        names = f"{_code(cell.solver)} | {_code(cell.problem)} | {cell.seed}"
        ratio = _plain(wording.ratio(answer)).replace(" ", "&nbsp;")
        yield f"| {asked.value} | {names} | {ratio} | {_plain(answer.explanation)} |"
    if len(rows) > most:
        yield f"\n… and {len(rows) - most:,} more"


def _missing(comparison: Comparison, most: int) -> Iterator[str]:
    for asked in Question:
        grouped = wording.reasons(wording.cells_with(comparison, asked, Change.NONE))
        for reason, cells in grouped[:most]:
            yield f"- {asked.value}: {_plain(reason)}: {_plain(cells)}"
        if len(grouped) > most:
            yield f"- {asked.value}: … and {plural(len(grouped) - most, 'reason')} more"


def _measured(comparison: Comparison, most: int) -> Iterator[str]:
    yield f"- tolerated: {_plain(wording.tolerated(comparison))}"
    yield from [f"- {_plain(done)}" for done in [wording.measured(comparison)] if done]
    yield from [f"- {_plain(remark)}" for remark in wording.remarks(comparison)[:most]]


def _folded(title: str, content: Sequence[str], there: Sequence[object]) -> Iterator[str]:
    if there:
        yield f"\n<details><summary>{title}</summary>\n"
        yield from content
        yield "\n</details>"


def _code(text: str) -> str:
    """Return a name in fixed width."""
    return f"<code>{_escaped(text)}</code>"


def _plain(text: str) -> str:
    """Return a text in which an invisible space keeps ``@`` and ``#`` from becoming links."""
    return re.sub(r"(&#64;|&#35;)(?=\w)", "\\1\u200b", _escaped(text))


def _escaped(text: str) -> str:
    """Return one line in which every character with a meaning is a character reference."""
    line = clean(text)
    line = f"{line[:LONGEST]}…" if len(line) > LONGEST else line
    return re.sub(r"[^\w\s.,;()+%/→…-]|_", lambda found: f"&#{ord(found[0])};", line)

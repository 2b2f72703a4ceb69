"""The outputs of a comparison: a terminal, Markdown, JUnit XML, JSON, dashboards."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree as ET

import click

from orthobench.compare.comparison import UNTOUCHED, Comparison, Row
from orthobench.compare.options import ASKED, FAILING, TOLERANCE, Options, Question
from orthobench.compare.sides import Side
from orthobench.stats.run_pairs import Change
from orthobench.tools.collections import finite_or_none, grouped, plain
from orthobench.tools.formatting import clean, duration, plural

SHOWN = {  # the answers that are listed: title, colour, maximum number in a terminal
    Change.WORSE: ("Regressions", "red", 20),
    Change.MIXED: ("Mixed", "red", 20),
    Change.PROBABLE: ("Probably slower", "red", 20),
    Change.UNDECIDED: ("Undecided", "yellow", 5),
    Change.BETTER: ("Improvements", "green", 20),
    Change.NONE: ("Not compared", "yellow", 5),
    Change.NEW: ("New", None, 5),
}
MARKER = "<!-- orthobench compare -->"  # invisible; the CI recipe finds its comment by it
LIMIT = 60_000  # characters of Markdown; GitHub refuses comments of more than 65,536
ROWS = (1000, 100, 10, 0)  # of a table: the first of these that keeps the limit
LONGEST = 300  # characters of one text in Markdown, before it is escaped
# characters that XML 1.0 cannot contain
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def lines(comparison: Comparison, every: bool = False, width: int = 80) -> Iterator[str]:
    """Yield the verdict first, then for each question the cells that changed, worst first.

    With `every`, unchanged cells are listed too; `width` is the columns of the terminal.
    """
    good = comparison.exit_code == 0
    yield click.style(comparison.verdict(), fg="green" if good else "red", bold=True)
    base, head = _side(comparison.base), _side(comparison.head)
    yield from _wrapped(f"{base} -> {head}, suite {comparison.suite}", width)
    for text in comparison.changes.lines():
        yield from _wrapped(text, width, "  ")
    for asked in comparison.asked:
        yield f"\n{click.style(asked, bold=True)}  {ASKED[asked]}"
        found = comparison.answers(asked)
        counts = [f"{len(rows):,} {change}" for change, rows in found.items()]
        noun = "project" if asked is Question.IMPORT else "cell"
        yield f"  {plural(sum(map(len, found.values())), noun)}: {', '.join(counts)}"
        for change, rows in found.items():
            _, colour, most = SHOWN.get(change, ("", None, 0))
            groups = _grouped(rows)
            for label, said, _ in groups if every else groups[:most]:
                first, *rest = _wrapped(f"{change}: {label}: {said}", width, "  ")
                yield first.replace(change, click.style(change, fg=colour), 1)
                yield from rest
            if change in SHOWN and not every and len(groups) > most:
                yield f"  and {len(groups) - most:,} more {change}: --all lists them"
    yield ""
    notes = (f"note: {note}" for note in comparison.notes)
    for text in (*notes, _measured(comparison), f"next: {comparison.next_step()}"):
        yield from _wrapped(text, width)


def markdown(comparison: Comparison) -> str:
    """Return a marker, the verdict, counts for each question, the regressions, the rest folded.

    Escaped names and messages format nothing and notify no user. Tables are cut at GitHub's limit.
    """
    texts = ("\n".join(_markdown(comparison, most)) + "\n" for most in ROWS)
    short = f"{MARKER}\n### orthobench · {comparison.verdict()}\n"
    return next((text for text in texts if len(text) <= LIMIT), short)


def junit(comparison: Comparison) -> str:
    """Return a test suite for each question, with a test case for each cell.

    A regression is a failure, an answer with which no gate may pass an error. Equal and new cells
    are skipped. GitLab and Jenkins read it.
    """
    root = ET.Element("testsuites", name="orthobench compare", time=f"{comparison.seconds:.3f}")
    if comparison.reason:
        case = _case("orthobench", "compare", "error", "comparison", comparison.reason)
        _add_suite(root, "", [case])
    for asked in comparison.asked:
        rows = (row for row in comparison.rows if row.question is asked)
        suite = _add_suite(root, f": {asked}", (_case_of(row, comparison.options) for row in rows))
        if differences := [*comparison.changes.lines()]:
            ET.SubElement(suite, "system-out").text = _xml("\n".join(differences))
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for parent in (root, *root):
        for name, tag in tags.items():
            parent.set(name, str(sum(1 for _ in parent.iter(tag))))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, "unicode")}\n'


def dashboard(comparison: Comparison) -> str:
    """Return the ratio of each cell to BASE as JSON for dashboards.

    github-action-benchmark reads it as ``customSmallerIsBetter``.
    """
    entries = []
    for row in comparison.rows:
        low, high = (finite_or_none(end) for end in (row.finding.low, row.finding.high))
        if (ratio := finite_or_none(row.finding.ratio)) is not None:
            name = f"{row.question.value}: {clean(row.label)}"
            spread = {"range": f"{low:g} to {high:g}"} if low is not None and high else {}
            entries.append({"name": name, "unit": "of BASE", "value": ratio, **spread})
    return json.dumps(entries, indent=1)


def facts(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON values, with None for numbers that are not finite.

    ``schema`` is raised if a key is dropped or changes its meaning.
    """
    base, head = ({name: getattr(side, name) for name in ("name", "kind", "detail")}
                  for side in (comparison.base, comparison.head))  # fmt: skip
    found: dict[str, Any] = plain({
        "schema": 2, "verdict": comparison.verdict(), "next": comparison.next_step(),
        "exit_code": comparison.exit_code, "reason": comparison.reason,
        "regressions": len(comparison.regressions), "cells": len(comparison.cells),
        "compared": len(comparison.compared), "base": base, "head": head,
        "changes": comparison.changes,
        "suite": comparison.suite, "tolerance": comparison.options.tolerance,
        "findings": [
            {
                "question": row.question, "problem": row.problem, "solver": row.solver,
                "seed": row.seed, "change": row.finding.change, "ratio": row.finding.ratio,
                "low": row.finding.low, "high": row.finding.high, "said": row.finding.explanation,
            }
            for row in comparison.rows
        ],
        "rounds": comparison.rounds, "seconds": comparison.seconds,
        "machine": comparison.machine, "notes": comparison.notes,
    })  # fmt: skip
    return found


def _side(side: Side) -> str:
    """Return the name of a side with its path or its short commit."""
    detail = side.detail[:12] if side.kind == "revision" else side.detail
    return side.name if detail in side.name else f"{side.name} ({detail})"


def _measured(comparison: Comparison) -> str:
    """Return rounds, time, processor and tolerances."""
    tolerated = {**TOLERANCE, **comparison.options.tolerance}.items()
    parts = ", ".join(f"{asked} {100 * value:g} %" for asked, value in tolerated)
    rounds = f"{plural(comparison.rounds, 'round')} in {duration(comparison.seconds)}"
    return f"{rounds} on {comparison.machine.get('cpu')}; tolerated: {parts}"


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(clean(text), width, initial_indent=indent, subsequent_indent=f"{indent}  ")


def _markdown(comparison: Comparison, most: int) -> Iterator[str]:
    texts = _side(comparison.base), _side(comparison.head), comparison.suite
    base, head, suite = (f"<code>{_escaped(text)}</code>" for text in texts)
    yield f"{MARKER}\n### orthobench · {comparison.verdict()}\n\n{base} → {head}, suite {suite}\n"
    if comparison.reason:
        yield f"Not compared: {_plain(comparison.reason)}"
        return
    yield from (f"- {_plain(text)}" for text in comparison.changes.lines())
    found = comparison.answers()
    yield f"\n| question | {' | '.join(found)} |"
    yield "|:--|" + "--:|" * len(found)
    for asked in comparison.asked:
        counts = (f"{len(comparison.found(change, asked)):,}" for change in found)
        yield f"| {asked}: {ASKED[asked]} | {' | '.join(counts)} |"
    for change in (one for one in SHOWN if one in found):
        title, table = SHOWN[change][0], _table(found[change], most)
        if change in (*FAILING, Change.PROBABLE):
            yield f"\n#### {title}\n"
            yield from table
        else:
            yield from _folded(f"{title} ({len(found[change]):,})", table)
    notes = [_measured(comparison), *comparison.notes[:most]]
    yield from _folded("How it was measured", (f"- {_plain(note)}" for note in notes))
    yield f"\nNext: {_plain(comparison.next_step())}"


def _table(rows: list[Row], most: int) -> Iterator[str]:
    if most:
        yield "| question | cell | change | |"
        yield "|:--|:--|--:|:--|"
    groups = _grouped(rows)
    for label, _, row in groups[:most]:
        said, fails = _plain(row.finding.explanation), row.finding.change is Change.WORSE
        shown = _plain(row.ratio or "fails" * fails).replace(" ", "&nbsp;")
        yield f"| {row.question} | <code>{_escaped(label)}</code> | {shown} | {said} |"
    if len(groups) > most:
        yield f"\n… and {len(groups) - most:,} more"


def _grouped(rows: list[Row]) -> list[tuple[str, str, Row]]:
    """Return a label, a text and a row; cells with the same text are one entry."""
    found = []
    for group in grouped(rows, lambda row: (row.question, row.said or row.label)).values():
        more = f" and {len(group) - 1:,} more" if len(group) > 1 else ""
        found.append((f"{group[0].label}{more}", group[0].said or group[0].label, group[0]))
    return found


def _folded(title: str, content: Iterator[str]) -> Iterator[str]:
    yield f"\n<details><summary>{title}</summary>\n"
    yield from content
    yield "\n</details>"


def _plain(text: str) -> str:
    """Return an escaped text with invisible spaces that keep ``@`` and ``#`` from being links."""
    return re.sub(r"(&#64;|&#35;)(?=\w)", "\\1\u200b", _escaped(text))


def _escaped(text: str) -> str:
    """Return one line with character references for all characters with a meaning."""
    line = clean(text)
    line = f"{line[:LONGEST]}…" if len(line) > LONGEST else line
    return re.sub(r"[^\w\s.,;()+%/→…-]|_", lambda found: f"&#{ord(found[0])};", line)


def _add_suite(root: ET.Element, name: str, cases: Iterable[ET.Element]) -> ET.Element:
    suite = ET.SubElement(root, "testsuite", name=f"orthobench compare{name}", time="0.000")
    suite.extend(cases)
    return suite


def _case_of(row: Row, options: Options) -> ET.Element:
    change, said = row.finding.change, f"{row.finding.change}: {row.said}"
    place, name = f"orthobench.{row.question}", row.label
    if change in FAILING:
        said = row.said if change is Change.WORSE else said
        return _case(place, name, "failure", row.question, said, f"{name}\n{ASKED[row.question]}")
    if not options.settled(row.finding):
        return _case(place, name, "error", row.question, said)
    skipped = change is Change.NEW or row.finding == UNTOUCHED
    return _case(place, name, "skipped" * skipped, row.question, said)


def _case(place: str, name: str, tag: str, kind: str, message: str, text: str = "") -> ET.Element:
    """Return a test case, which readers identify by place and name; without a tag, it passed."""
    case = ET.Element("testcase", classname=place, name=_xml(name), time="0")
    if tag:
        found = ET.SubElement(case, tag, type=kind, message=_xml(message))
        found.text = _xml(f"{text}\n{message}") if text else None
    return case


def _xml(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)

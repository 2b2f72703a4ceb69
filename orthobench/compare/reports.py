"""The outputs of a comparison: a terminal, Markdown, JUnit XML, JSON, dashboards."""

from __future__ import annotations

import html
import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

import click

from orthobench.compare.comparison import UNTOUCHED, Comparison, Row
from orthobench.compare.options import ASKED, FAILING, TOLERANCE, Options, Question
from orthobench.compare.sides import Side
from orthobench.stats.run_pairs import Change, Finding
from orthobench.tools.collections import finite_or_none, grouped, plain
from orthobench.tools.formatting import clean, duration, plural

NAME = "orthobench compare"
MOST = 20  # cells with the same answer that are listed
COLOURS = {Change.WORSE: "red", Change.MIXED: "red", Change.PROBABLE: "red", Change.BETTER: "green"}
MARKER = "<!-- orthobench compare -->"  # invisible; the CI recipe finds its comment by it
LIMIT = 60_000  # characters of Markdown; GitHub refuses comments of more than 65,536
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
    if comparison.reason:
        yield from _wrapped(f"Not compared: {comparison.reason}", width)
        return
    for text in comparison.changes.lines():
        yield from _wrapped(text, width, "  ")
    for asked in comparison.asked:
        yield f"\n{click.style(asked, bold=True)}  {ASKED[asked]}"
        found = comparison.answers(asked)
        counts = [f"{len(rows):,} {change}" for change, rows in found.items()]
        noun = "project" if asked is Question.IMPORT else "cell"
        yield f"  {plural(sum(map(len, found.values())), noun)}: {', '.join(counts)}"
        for change, rows in found.items():
            groups = _grouped(rows) if every or change is not Change.SAME else []
            for label, said in groups if every else groups[:MOST]:
                first, *rest = _wrapped(f"{change}: {label}: {said}", width, "  ")
                yield first.replace(change, click.style(change, fg=COLOURS.get(change)), 1)
                yield from rest
            if len(groups) > MOST and not every:
                yield f"  and {len(groups) - MOST:,} more {change}: --all lists them"
    yield ""
    notes = (f"note: {note}" for note in comparison.notes)
    for text in (*notes, _measured(comparison), f"next: {comparison.next_step()}"):
        yield from _wrapped(text, width)


def markdown(comparison: Comparison) -> str:
    """Return a marker, the verdict, and the lines of text as they are.

    GitHub and GitLab make no links in preformatted text, so that names in it notify no user.
    """
    verdict, *rest = map(click.unstyle, lines(comparison, width=100))
    text = html.escape("\n".join(rest))[:LIMIT]
    return f"{MARKER}\n### orthobench · {verdict}\n\n<pre>\n{text}\n</pre>\n"


def junit(comparison: Comparison) -> str:
    """Return a test suite for each question, with a test case for each cell.

    A regression is a failure, an answer with which no gate may pass an error. Equal and new cells
    are skipped. GitLab and Jenkins read it.
    """
    root = ET.Element("testsuites", name=NAME, time=f"{comparison.seconds:.3f}")
    if comparison.reason:
        suite = ET.SubElement(root, "testsuite", name=NAME, time="0.000")
        _add_case(suite, "comparison", "comparison", "error", comparison.reason)
    for asked in comparison.asked:
        suite = ET.SubElement(root, "testsuite", name=f"{NAME}: {asked}", time="0.000")
        for row in (row for row in comparison.rows if row.question is asked):
            tag = _tag(row.finding, comparison.options)
            _add_case(suite, asked, row.label, tag, f"{row.finding.change}: {row.said}")
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


def _grouped(rows: list[Row]) -> list[tuple[str, str]]:
    """Return labels and texts; cells with the same text are one entry."""
    found = []
    for group in grouped(rows, lambda row: (row.question, row.said or row.label)).values():
        more = f" and {len(group) - 1:,} more" if len(group) > 1 else ""
        found.append((f"{group[0].label}{more}", group[0].said or group[0].label))
    return found


def _tag(finding: Finding, options: Options) -> str:
    """Return the element of a test case that did not pass; empty if it did."""
    if finding.change in FAILING:
        return "failure"
    if not options.settled(finding):
        return "error"
    return "skipped" if finding.change is Change.NEW or finding == UNTOUCHED else ""


def _add_case(suite: ET.Element, kind: str, name: str, tag: str, message: str) -> None:
    """Add a test case, which readers identify by class and name."""
    place = f"orthobench.{kind}"
    case = ET.SubElement(suite, "testcase", classname=place, name=_xml(name), time="0")
    if tag:
        ET.SubElement(case, tag, type=kind, message=_xml(message)).text = _xml(message)


def _xml(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)

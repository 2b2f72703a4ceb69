"""A comparison as JUnit XML, in the form that GitLab and Jenkins read.

There is no standard; this is what their readers have in common: ``testsuites`` of ``testsuite`` of
``testcase``, with at most one ``failure`` or ``skipped`` each.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from orthobench.compare import wording
from orthobench.compare.comparison import Compared, Comparison, Question
from orthobench.stats.run_pairs import Change, Finding

NAME = "orthobench compare"

FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain."""

SKIPPED = {Change.UNDECIDED: "undecided", Change.NONE: "not compared"}


def junit(comparison: Comparison) -> str:
    """Return a test suite for each question, in which each cell is a test case.

    A regression is a failure; a cell that is undecided or was not compared is skipped, with the
    reason. Cells have no durations, only the comparison as a whole has one.

    Parameters
    ----------
    comparison : Comparison
    """
    suites = [_suite(comparison, asked) for asked in Question]
    counts = {
        name: str(sum(int(suite.get(name, 0)) for suite in suites))
        for name in ("tests", "failures", "errors", "skipped")
    }
    named = {"name": NAME, "time": f"{comparison.seconds:.3f}"}
    root = ET.Element("testsuites", named | counts)
    root.extend(suites)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, "unicode")}\n'


def _suite(comparison: Comparison, asked: Question) -> ET.Element:
    changes = wording.tally(comparison, asked)
    suite = ET.Element(
        "testsuite",
        name=f"{NAME}: {asked.value}",
        tests=str(changes.total()),
        failures=str(changes[Change.WORSE]),
        errors="0",
        skipped=str(sum(changes[change] for change in SKIPPED)),
        time="0.000",
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(comparison).items():
        ET.SubElement(properties, "property", name=name, value=_valid(value))
    for cell in comparison.compared:
        if asked in cell.answers:
            suite.append(_case(cell, asked, cell.answers[asked]))
    return suite


def _properties(comparison: Comparison) -> dict[str, str]:
    return {
        "base": wording.side(comparison.base),
        "head": wording.side(comparison.head),
        "suite": comparison.suite,
        "tolerance": wording.tolerated(comparison),
        "measured": wording.measured(comparison),
        "notes": "; ".join(wording.remarks(comparison)),
    }


def _case(cell: Compared, asked: Question, answer: Finding) -> ET.Element:
    # both readers identify a case by class name and name, which must be unique over all suites
    case = ET.Element(
        "testcase", classname=f"orthobench.{asked.value}", name=_valid(cell.label), time="0.000"
    )
    text = "; ".join(part for part in (wording.ratio(answer), answer.explanation) if part)
    if answer.change is Change.WORSE:
        failure = ET.SubElement(case, "failure", type=asked.value, message=_valid(text))
        failure.text = _valid(f"{cell.label}\n{wording.ASKED[asked]}\n{text}")
    elif answer.change in SKIPPED:
        reason = ": ".join(part for part in (SKIPPED[answer.change], text) if part)
        ET.SubElement(case, "skipped", message=_valid(reason))
    return case


def _valid(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)

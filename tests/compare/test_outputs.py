"""Reports of a comparison: nothing is lost and nothing is garbled, whatever names contain."""

import html
import json
import re
from dataclasses import replace
from math import inf
from xml.etree import ElementTree as ET

import click
import pytest
from hypothesis import example, given
from texts import texts

from orthobench.compare.changes import Changes, File
from orthobench.compare.comparison import UNTOUCHED, Comparison, Row
from orthobench.compare.options import TOLERANCE, Options, Question
from orthobench.compare.reports import LIMIT, MARKER, facts, junit, lines, markdown
from orthobench.compare.sides import Side
from orthobench.stats.run_pairs import Change, Finding

RESULT, WORK, TIME, MEMORY, IMPORT, FIRST = Question
WORSE, _MIXED, PROBABLE, BETTER, SAME, UNDECIDED, NONE, NEW = Change
EXACT = Finding(SAME, 1.0, 1.0, 1.0, "gap 1 -> 1")
FAILED = Finding(NONE, explanation="a run failed")


def timed(change, ratio, spread=0.01):
    return Finding(change, ratio, ratio - spread, ratio + spread, "12 ms -> 13 ms")


def cell(solver, time, result=EXACT, work=EXACT, problem="digits k=4"):
    answers = {RESULT: result, WORK: work, TIME: time}
    return [Row(asked, problem, solver, 0, found) for asked, found in answers.items()]


def comparison(*cells, **changes):
    base = Side("main", "revision", "642aba48443c1446da5d893580ba678f9015a3bf")
    head = Side(".", "folder", "/home/me/toy")
    rows = tuple(row for cell in cells for row in cell)
    whole = Comparison(base, head, "regression", Options(), rows, 30, 118.2, {"cpu": "Xeon"})
    return replace(whole, **changes)


MIXED = comparison(
    cell("slower", timed(WORSE, 1.052)),
    cell("slowest", timed(WORSE, 1.5)),
    cell("faster", timed(BETTER, 0.8)),
    cell("unsure", timed(UNDECIDED, 1.01)),
    cell("steady", timed(SAME, 1.0)),
    cell("fails", FAILED, Finding(WORSE, explanation="HEAD fails: ZeroDivisionError"), FAILED),
    cell("worse", timed(SAME, 1.0), Finding(WORSE, 1.17, 1.17, 1.17, "gap 0.12 -> 0.14"),
         Finding(WORSE, inf, inf, inf, "HEAD never gets there")),
    notes=("fails took no part",),
)  # fmt: skip
CALM = comparison(cell("steady", timed(SAME, 1.0)))


def text_of(whole, **options):
    return "\n".join(click.unstyle(line) for line in lines(whole, **options))


def test_verdict_counts_regressions_and_open_cells():
    nothing = Finding(NONE, explanation="no")
    # as where BASE is too old for the suite, or its environment lacks something
    base_fails = Finding(BETTER, explanation="BASE fails: error: TypeError")
    for whole, verdict in (
        (MIXED, "5 regressions: 2 of result, 1 of work, 2 of time (6 of 7 cells compared, 1 und"),
        (CALM, "no regression (1 of 1 cell compared)"),
        (comparison(cell("s", timed(WORSE, 2.0), work=timed(_MIXED, 1.2))),
         "2 regressions: 1 of work, 1 of time (1 of 1 cell compared, 1 mixed)"),
        (comparison(cell("s", nothing, nothing, nothing)), "nothing was compared"),
        (comparison(), "nothing was compared"),
        (comparison(cell("s", nothing, base_fails, nothing)), "nothing was compared"),
    ):  # fmt: skip
        assert whole.verdict().startswith(verdict)


def test_the_terminal_shows_what_changed_and_counts_the_rest():
    text = text_of(MIXED)
    assert text.splitlines()[0] == MIXED.verdict()
    assert "main (642aba48443c) -> . (/home/me/toy), suite regression" in text
    assert "steady" not in text
    assert "7 cells: 2 worse, 1 better, 2 same, 1 undecided, 1 not compared" in text
    assert "worse: slowest on digits k=4, seed 0: +50.0 % [+49.0, +51.0]; 12 ms" in text
    assert "not compared: fails on digits k=4, seed 0: a run failed" in text
    assert "note: fails took no part" in text
    words = " ".join(text.split())
    assert "30 rounds in 1 min 58 s on Xeon; tolerated: result 0 %, work 0 %, time 3 %" in words
    assert "steady" in text_of(MIXED, every=True)
    long = cell("s " + "parameter=1 " * 20, timed(WORSE, 1.2), problem="p " * 60)
    narrow = text_of(comparison(long, MIXED.rows), width=40).splitlines()[1:]
    assert max(map(len, narrow)) <= 70


LIKELY = comparison(
    cell("likely", timed(PROBABLE, 1.3)), cell("unsure", timed(UNDECIDED, 1.01)),
    cell("faster", timed(BETTER, 0.8)),
)  # fmt: skip


def test_probably_slower_comes_first_and_passes_no_gate():
    counts = "1 probably slower, 1 undecided"
    assert LIKELY.verdict() == f"no verdict (2 of 3 cells compared, {counts})"
    assert LIKELY.exit_code == 2
    listed = [
        line.split(":")[1].split()[0]
        for line in text_of(LIKELY).splitlines()
        if " on digits" in line
    ]
    assert listed == ["likely", "faster", "unsure"]
    said = [one.get("message") for one in check_junit(junit(LIKELY)).iter("error")]
    assert sum(text.startswith("probably slower: +30.0 %") for text in said) == 1


def test_facts_are_strict_json_with_null_for_what_is_not_finite():
    found = json.loads(json.dumps(facts(MIXED), allow_nan=False))
    assert (found["exit_code"], found["cells"], found["compared"]) == (1, 7, 6)
    assert found["base"]["detail"] == MIXED.base.detail
    answers = {(row["solver"], row["question"]): row for row in found["findings"]}
    assert len(answers) == len(found["findings"]) == 21
    assert answers["slower", "time"] == {
        "question": "time", "problem": "digits k=4", "solver": "slower", "seed": 0,
        "change": "worse", "ratio": 1.052, "low": pytest.approx(1.042),
        "high": pytest.approx(1.062), "said": "12 ms -> 13 ms",
    }  # fmt: skip
    assert answers["worse", "work"]["ratio"] is None


ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors", "skipped", "disabled"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "skipped"},
    "testcase": {"name", "classname", "time", "assertions", "status"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "system-out": set(),
    "skipped": {"type", "message"},
}  # fmt: skip
"""Elements and attributes of jenkins-junit.xsd, which GitLab's reader is content with too."""

CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase", "system-out"},
    "testcase": {"failure", "skipped", "error"},
}


def check_junit(text):
    root = ET.fromstring(text)  # noqa: S314 - written here
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) <= ALLOWED[element.tag]
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for parent in (root, *root):
        assert {name: int(parent.get(name)) for name in tags} == {
            name: len([*parent.iter(tag)]) for name, tag in tags.items()
        }
    assert all(len(case) <= 1 for case in root.iter("testcase"))
    return root


def test_junit_has_a_case_for_each_cell_and_question():
    root = check_junit(junit(MIXED))
    failures = [
        (case.get("classname"), case.get("name").split()[0], case[0].get("message"))
        for case in root.iter("testcase") if case.find("failure") is not None
    ]  # fmt: skip
    assert failures == [
        ("orthobench.result", "fails", "worse: HEAD fails: ZeroDivisionError"),
        ("orthobench.result", "worse", "worse: +17.0 %; gap 0.12 -> 0.14"),
        ("orthobench.work", "worse", "worse: never; HEAD never gets there"),
        ("orthobench.time", "slower", "worse: +5.2 % [+4.2, +6.2]; 12 ms -> 13 ms"),
        ("orthobench.time", "slowest", "worse: +50.0 % [+49.0, +51.0]; 12 ms -> 13 ms"),
    ]
    errors = [element.get("message") for element in root.iter("error")]
    assert errors == ["not compared: a run failed"] * 2
    assert not [*root.iter("skipped")]
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(names) == 21


HOSTILE = texts(30, surrogates=True)


@given(HOSTILE, HOSTILE, HOSTILE)
@example("\x1b[2J<&]]>\0", "\u202e\ud800'\"", " \n\x85")
def test_no_text_breaks_the_xml_or_a_terminal(solver, said, note):
    whole = comparison(
        cell(solver, replace(timed(WORSE, 1.2), explanation=said), problem=said), suite=solver,
        notes=(note,), base=Side(said, "folder", note),
    )  # fmt: skip
    check_junit(junit(whole))
    assert all(line.isprintable() for line in text_of(whole).splitlines())


@given(HOSTILE, HOSTILE)
def test_no_text_breaks_the_markdown(solver, said):
    whole = comparison(
        cell(solver, replace(timed(WORSE, 1.2), explanation=said), problem=said), suite=solver
    )
    text = markdown(whole)
    assert re.findall(r"<[^>]*>", text) == [MARKER, "<pre>", "</pre>"]
    _, _, shown = html.unescape(text).partition("<pre>\n")
    assert shown.split("\n</pre>")[0].splitlines() == text_of(whole, width=100).splitlines()[1:]


CHANGED = Changes(
    packages={"scipy": ("1.14.1", "1.17.1"), "gone": ("1", None)},
    dependencies=True, requirements={"base": ["numpy>=2.1"], "head": ["numpy>=2.3"]},
    parameters={"msg step": ("8", "4")},
    files=(
        File("toy/solver.py", "changed", 6, False, solvers=("msg", "oja")),
        File("toy/__init__.py", "changed", 0, True),
        File("toy/other.py", "added", 0, False), File("toy/said.py", "comments", 2, False),
    ),
    commits=("abc Speed it up", "def Tidy"), outside=("lib/code.py",),
    cells=6,
)  # fmt: skip


def test_every_output_says_how_the_sides_differ():
    whole = comparison(cell("steady", timed(SAME, 1.0)), changes=CHANGED)
    xml = "".join(ET.fromstring(junit(whole)).itertext())  # noqa: S314 - written here
    for shown in (text_of(whole, width=400), html.unescape(markdown(whole)), xml):
        text = " ".join(shown.split())
        for said in (
            "scipy 1.14.1 -> 1.17.1", "gone 1 -> none", "numpy>=2.1 -> numpy>=2.3",
            "msg step 8 -> 4", "toy/solver.py (reached by 6 of 6 cells: msg and oja)",
            "toy/__init__.py (runs at import, so all cells reach it)",
            "toy/other.py (added, not reached)", "toy/said.py (its code is the same)",
            "abc Speed it up", "not compared: lib/code.py",
        ):  # fmt: skip
            assert said in text, said
    check_junit(junit(whole))
    told = facts(whole)["changes"]
    assert told["packages"]["scipy"] == ["1.14.1", "1.17.1"]
    same = replace(CHANGED, dependencies=False)
    for changes, said in ((same, True), (CHANGED, False)):
        lines_of = [*changes.lines()]
        assert any("what was installed is the same" in line for line in lines_of) is said


def test_failed_comparison_is_in_every_output():
    whole = comparison(reason="BASE 'main' does not build: <no compiler>")
    assert (whole.exit_code, whole.verdict()) == (2, "not compared")
    assert "Not compared: BASE 'main' does not build" in html.unescape(markdown(whole))
    assert markdown(whole).startswith(MARKER)
    (case,) = check_junit(junit(whole)).iter("testcase")
    assert case.find("error").get("message") == whole.reason
    assert (facts(whole)["reason"], facts(whole)["exit_code"]) == (whole.reason, 2)
    assert "BASE 'main' does not build" in text_of(whole)


def test_cells_with_the_same_text_are_one_entry():
    whole = comparison(*(cell(f"s{i}", FAILED) for i in range(9)))
    assert "s0 on digits k=4, seed 0 and 8 more: a run failed" in text_of(whole)
    assert text_of(whole).count("a run failed") == markdown(whole).count("a run failed") == 1


def test_equal_and_new_cells_are_skipped_in_junit():
    new = Finding(NEW, explanation="new in HEAD")
    whole = comparison(cell("s", UNTOUCHED, UNTOUCHED, UNTOUCHED), [Row(RESULT, "p", "t", 0, new)])
    assert (whole.exit_code, whole.cells, whole.compared) == (
        0, {("digits k=4", "s", 0)}, {("digits k=4", "s", 0)},
    )  # fmt: skip
    said = [element.get("message") for element in check_junit(junit(whole)).iter("skipped")]
    assert len(said) == 4
    assert "new: new in HEAD" in said


def test_the_last_tolerance_that_matches_a_cell_counts():
    options = Options(tolerance={"time": 0.05, "time@digits*": 0.1, "time@oja on *": 0.2})
    for (problem, solver), part in (
        (("blobs", "msg"), 0.05), (("digits k=4", "msg"), 0.1), (("digits k=4", "oja"), 0.2),
    ):  # fmt: skip
        assert options.tolerated(problem, solver)["time"] == part
    assert options.tolerated("blobs", "msg")["memory"] == TOLERANCE["memory"]


def test_import_is_about_a_project_and_no_cell():
    slow = Finding(WORSE, 30.0, 30.0, 30.0, "0.1 s -> 3 s")
    whole = comparison(cell("steady", timed(SAME, 1.0)), [Row(IMPORT, "", "toy", 0, slow)])
    assert whole.verdict() == "1 regression: 1 of import (1 of 1 cell compared)"
    assert "worse: toy: x 30; 0.1 s -> 3 s" in text_of(whole)


@pytest.mark.parametrize("name", ["solver", "&" * 200])
def test_markdown_keeps_below_what_github_takes(name):
    many = [cell(f"{name} {i}", timed(WORSE, 2 + i), problem=name) for i in range(400)]
    text = markdown(comparison(*many, notes=(name,) * 100))
    assert LIMIT / 20 < len(text) <= LIMIT + 200
    assert text.endswith("</pre>\n")

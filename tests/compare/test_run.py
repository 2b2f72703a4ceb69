"""What a comparison says of the runs that both sides have, without any process."""

from dataclasses import replace

import pytest

from orthobench.compare import run as comparing
from orthobench.compare.cells import SideCells
from orthobench.compare.comparison import UNTOUCHED
from orthobench.compare.options import Options, Question
from orthobench.compare.process import run_of
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
from orthobench.stats.run_pairs import Change, Finding

from .conftest import UNTOLD

KEY = ("p", "s", 0)
SIDES = Side("v1", "revision", "1"), Side("v2", "revision", "2")


def cells(last=0.5, code="1", keys=(KEY,), side=SIDES[0], **reply):
    reply = {"status": "budget", "reason": "", "primary": "gap"} | reply
    reply["trace"] = [[0, 0, 0, 1.0], [3, 4, 5, last]]
    runs = {key: run_of(key, reply) for key in keys}
    absent = (("p", "t", "it is unknown"),)
    return SideCells(side, {"name": "toys"}, dict.fromkeys(keys, code), absent, UNTOLD, runs=runs)


@pytest.fixture
def compared(monkeypatch):
    def call(base, head, sides=SIDES, every=True, repeated=None):
        both = [replace(cells, side=side) for cells, side in zip((base, head), sides, strict=True)]
        again = {cells.side.name: cells for cells in both}
        monkeypatch.setattr(comparing, "collect", lambda *_: both)
        monkeypatch.setattr(
            comparing, "run_again", lambda side, *_: (repeated or again)[side.side.name].runs
        )
        monkeypatch.setattr(comparing.timing, "measure", lambda *_: (0, False))
        return comparing.compare(*sides, Options(every=every), lambda _: None)

    return call


@pytest.mark.parametrize("code", ["1", "2"])
@pytest.mark.parametrize(("last", "change"), [(0.5, Change.SAME), (0.9, Change.WORSE)])
def test_all_cells_are_compared_whatever_their_code(compared, last, change, code):
    found = compared(cells(), cells(last, code))
    assert [row.finding.change for row in found.rows[:1]] == [change]
    assert found.notes == ()
    assert found.exit_code == (1 if change is Change.WORSE else 2)  # nothing was timed


def test_what_is_the_same_on_both_sides_needs_no_run_and_is_told_in_a_line(compared):
    other = ("p", "t", 0)
    base, head = cells(keys=(KEY, other)), cells(code="2", keys=(other,))
    for side in (base, head):
        side.runs.pop(KEY, None)
    head.content[KEY] = base.content[KEY]
    found = compared(base, head, every=False)
    assert {row.solver: row.finding.change for row in found.rows} == {
        "s": Change.SAME, "t": Change.UNDECIDED
    }  # fmt: skip
    assert [row.solver for row in found.rows] == ["s"] * 5 + ["t"] * 3
    assert [note[:40] for note in found.notes] == ["1 of 2 cells were neither run nor timed,"]


def test_a_cell_that_head_lost_is_a_regression_and_a_new_one_is_not(compared):
    more = cells(keys=(KEY, ("p", "t", 0)))
    lost, new = compared(more, cells()), compared(cells(), more)
    assert [row.finding.explanation for row in lost.found(Change.WORSE)] == [
        "HEAD does not have it: it is unknown"
    ]
    assert not new.found(Change.WORSE)
    assert new.found(Change.NEW)[0].finding.explanation == "new in HEAD; BASE: it is unknown"
    assert (lost.exit_code, len(new.cells)) == (1, 1)


def test_what_head_does_not_repeat_is_a_regression_if_base_repeats_it(compared):
    base, head = cells(), cells(0.9)
    other = {"v1": cells(), "v2": cells(0.8)}
    found = compared(base, head, repeated=other)
    assert found.exit_code == 1
    assert "v" not in found.regressions[0].finding.explanation.split(";")[0]
    assert found.regressions[0].finding.explanation.startswith("two runs of HEAD with the same")
    assert [row.question for row in found.found(Change.WORSE)] == [Question.RESULT]
    both = compared(base, head, repeated={"v1": cells(0.6), "v2": cells(0.8)})
    assert both.exit_code == 2
    assert both.found(Change.NONE)[0].finding.explanation.startswith("two runs of BASE and HEAD")


def test_a_failure_that_head_mends_lets_a_gate_pass_and_one_of_both_does_not(compared):
    broken = cells(status="error", reason="it broke")
    mended = compared(broken, cells())
    assert [row.question for row in mended.rows] == [Question.RESULT]
    assert mended.compared == {KEY}
    both = compared(broken, broken)
    assert (both.exit_code, both.compared) == (2, set())
    assert compared(cells(), broken).exit_code == 1


def test_a_cell_that_was_not_run_is_not_compared(compared):
    late = cells(status="missing", reason="too late")
    assert compared(late, late).exit_code == 2


def test_results_of_a_budget_in_seconds_are_not_compared(compared):
    found = compared(*(cells(last, budget={"seconds": 1.0}) for last in (0.5, 0.9)))
    assert found.exit_code == 2
    assert [row.question for row in found.found(Change.NONE)] == [Question.RESULT, Question.WORK]


def test_nothing_to_compare_is_an_error_with_the_reasons(compared):
    with pytest.raises(UsageError, match="nothing to compare: it is unknown"):
        compared(cells(keys=()), cells(keys=()))


def imported(monkeypatch, seconds):
    """The answers about importing a plugin, a library that runs import, and another library."""
    facts = {
        **UNTOLD, "libraries": ["lib", "idle"],
        "modules": {"plug": ["plug"], "lib": ["lib", "tests"], "idle": ["idle"]},
    }  # fmt: skip
    asked = []

    def importing(cells, project, options):
        one = cells.side.name, tuple(cells.importable[project])
        asked.append(one)
        return seconds[cells.side.name][asked.count(one) - 1]

    monkeypatch.setattr(comparing, "_seconds_to_import", importing)
    both = [replace(cells(side=side), facts=facts, imported={"lib.code": "/x"}) for side in SIDES]
    found = {one: comparing._import(both, one, Options()).change for one in both[0].importable}
    return found, asked


def test_imports_are_timed_until_they_are_no_slower_or_five_times(monkeypatch):
    found, asked = imported(monkeypatch, {"v1": [1.0] * 5, "v2": [1.1] * 5})
    assert found == {"plug": Change.SAME, "lib": Change.SAME}
    assert asked == [
        ("v1", ("plug",)), ("v2", ("plug",)), ("v1", ("lib",)), ("v2", ("lib",)),
    ]  # fmt: skip
    found, asked = imported(monkeypatch, {"v1": [1.0] * 5, "v2": [4.0] * 5})
    assert found == {"plug": Change.WORSE, "lib": Change.WORSE}
    assert len(asked) == 2 * 2 * 5
    found, _ = imported(monkeypatch, {"v1": [1.0] * 5, "v2": [4.0, 4.0, 1.0, 4.0, 4.0]})
    assert found["plug"] is Change.SAME


@pytest.mark.parametrize(("code", "asked"), [("2", True), ("1", False)])
def test_imports_are_timed_only_if_code_differs(compared, monkeypatch, code, asked):
    both = [replace(cells(), facts={**UNTOLD, "modules": {"plug": ["plug"]}},
                    kinds={"plug.py": (digest, "")}) for digest in ("1", code)]  # fmt: skip
    slow = Finding(Change.WORSE, 2.0)
    monkeypatch.setattr(comparing, "_import", lambda *_: slow)
    found = compared(*both, every=False)
    (answer,) = [row.finding for row in found.rows if row.question is Question.IMPORT]
    assert answer == (slow if asked else UNTOUCHED)


def test_a_better_result_by_more_work_is_mixed(monkeypatch):
    base, head = (run_of(KEY, {
        "status": "budget", "reason": "", "primary": "gap", "trace": trace
    }) for trace in (
        [[0, 0, 0, 1.0], [10, 10, 10, 0.05], [20, 20, 20, 0.01]],
        [[0, 0, 0, 1.0], [15, 15, 15, 0.05], [20, 20, 20, 0.005]],
    ))  # fmt: skip
    both = (cells(), cells())
    for side, run in zip(both, (base, head), strict=True):
        side.runs[KEY] = run
    answers = comparing._exact(*both, KEY, Options())
    assert answers[Question.RESULT].change is Change.BETTER
    assert answers[Question.WORK].change is Change.MIXED

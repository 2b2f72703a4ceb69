"""The answers of a comparison about runs, without processes."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

from orthobench.compare import run as comparing
from orthobench.compare.cells import SideCells, run_of
from orthobench.compare.comparison import UNTOUCHED
from orthobench.compare.options import Options, Question
from orthobench.compare.sides import Side
from orthobench.errors import UsageError
from orthobench.stats.run_pairs import Change

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
        monkeypatch.setattr(comparing.timing, "measure", lambda *_: 0)
        return comparing.compare(*sides, Options(every=every), lambda _: None)

    return call


@pytest.mark.parametrize("code", ["1", "2"])
@pytest.mark.parametrize(("last", "change"), [(0.5, Change.SAME), (0.9, Change.WORSE)])
def test_all_cells_are_compared_with_any_code(compared, last, change, code):
    found = compared(cells(), cells(last, code))
    assert [row.finding.change for row in found.rows[:1]] == [change]
    assert found.notes == ()
    assert found.exit_code == (1 if change is Change.WORSE else 2)  # nothing was timed


def test_equal_cells_need_no_run_and_are_noted(compared):
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


def test_lost_cell_is_a_regression_and_a_new_one_is_not(compared):
    more = cells(keys=(KEY, ("p", "t", 0)))
    lost, new = compared(more, cells()), compared(cells(), more)
    assert [row.finding.explanation for row in lost.found(Change.WORSE)] == [
        "HEAD does not have it: it is unknown"
    ]
    assert not new.found(Change.WORSE)
    assert new.found(Change.NEW)[0].finding.explanation == "new in HEAD; BASE: it is unknown"
    assert (lost.exit_code, len(new.cells)) == (1, 1)


def test_head_alone_without_equal_bits_is_a_regression(compared):
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


def test_gate_passes_failures_of_base_alone(compared):
    broken = cells(status="error", reason="it broke")
    mended = compared(broken, cells())
    assert [row.question for row in mended.rows] == [Question.RESULT]
    assert mended.compared == {KEY}
    both = compared(broken, broken)
    assert (both.exit_code, both.compared) == (2, set())
    assert compared(cells(), broken).exit_code == 1


def test_results_of_a_budget_in_seconds_are_not_compared(compared):
    found = compared(*(cells(last, budget={"seconds": 1.0}) for last in (0.5, 0.9)))
    assert found.exit_code == 2
    assert [row.question for row in found.found(Change.NONE)] == [Question.RESULT, Question.WORK]


def test_nothing_to_compare_is_an_error_with_the_reasons(compared):
    with pytest.raises(UsageError, match="nothing to compare: it is unknown"):
        compared(cells(keys=()), cells(keys=()))


@pytest.fixture
def importing(compared, monkeypatch):
    """Compare two sides with these seconds of imports; return the answers by project."""

    def call(*heads, every=True, kinds=("1", "2")):
        seconds = {"v1": iter([1.0] * 10), "v2": iter([*heads] * 2)}

        def process(side, options):
            reply = lambda do, modules: {"seconds": next(seconds[side.name])}  # noqa: E731
            return nullcontext(SimpleNamespace(ask=reply))

        monkeypatch.setattr(comparing.timing, "SideProcess", process)
        facts = {
            **UNTOLD, "libraries": ["lib", "idle"],
            "modules": {"plug": ["plug"], "lib": ["lib", "tests"], "idle": ["idle"]},
        }  # fmt: skip
        both = [replace(cells(), facts=facts, imported={"lib.code"},
                        kinds={"plug.py": (kind, "")}) for kind in kinds]  # fmt: skip
        rows = compared(*both, every=every).rows
        return {row.solver: row.finding for row in rows if row.question is Question.IMPORT}

    return call


@pytest.mark.parametrize(("heads", "change"), [
    ((1.1,), Change.SAME), ((4.0,) * 5, Change.WORSE), ((4.0, 4.0, 1.0), Change.SAME),
])  # fmt: skip
def test_import_is_slower_only_if_all_of_five_are(importing, heads, change):
    found = importing(*heads)
    assert {name: one.change for name, one in found.items()} == {"plug": change, "lib": change}


def test_import_of_equal_code_is_not_timed(importing):
    assert {*importing(every=False, kinds=("1", "1")).values()} == {UNTOUCHED}


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

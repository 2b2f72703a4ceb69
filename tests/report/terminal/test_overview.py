"""The overview: cost, seeds and mark of each solver on each problem, at any width."""

import io
import re

import pytest
from records import altered
from rich.console import Console

from orthobench.decide.answer import answer
from orthobench.decide.comparisons import compare
from orthobench.harness.stopping import RunStatus
from orthobench.report.terminal.table import answer_legend as legend
from orthobench.report.terminal.table import cell
from orthobench.report.terminal.table import show_answer as show
from orthobench.results.tuning import choose


def text(found, width=80, encoding="utf-8"):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show(found, Console(file=file, width=width, color_system=None))
    file.flush()
    return file.buffer.getvalue().decode(encoding)


def found(records):
    return answer(compare(choose(records)))


@pytest.fixture
def three(runs):
    """Return the runs of three solvers on a problem: two are as good, and one is worse."""
    levels = {"a": 0.001, "bb": 9, "ccc": 0.001}

    def make(problem):
        return [r for s, at in levels.items() for r in runs(s, at, 8, problem=problem)]

    return make


def test_a_cell_has_cost_seeds_and_mark_of_a_call(runs, three):
    (comparison,) = compare(choose([*three("p"), *runs("bad", 0.3, 8, failed=8, problem="p")]))
    cells = {d.solver: cell(comparison, d.solver) for d in comparison.decisions}
    star, *others = [comparison.cheapest, *({"a", "ccc"} - {comparison.cheapest})]
    assert cells == {
        star: "120 µs 8/8 ★", **dict.fromkeys(others, "120 µs 8/8 ●"), "bb": "400 ms 0/8 ✗",
        "bad": "  !",
    }  # fmt: skip
    assert cell(comparison, star, ascii_only=True) == "120 us 8/8 *"
    assert cell(comparison, "bb", ascii_only=True) == "400 ms 0/8 x"
    assert cell(comparison, "nobody") == ""


def test_the_sentence_stands_above_a_row_for_each_solver(three):
    told = found([*three("p"), *three("q")])
    lines = text(told).splitlines()
    assert " ".join(lines[1:3]).replace("  ", " ") == told.sentence
    head, _, first, *rest = lines[4:]
    assert head.split() == ["p", "q"]
    assert first.split()[0] == told.solver
    assert [row.split()[0] for row in rest] == [one.solver for one in told.alternatives]
    assert all(len(re.findall(r" \d/8 ", row)) == 2 for row in (first, *rest))


LABELS = ["p", "digits k=4", "a long name k=4 n=20 spread=0.001 and more", "q" * 100, "z y x"]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_parts_fit_the_terminal_and_show_every_cell(three, width, encoding):
    lines = text(found([r for p in LABELS for r in three(p)]), width, encoding).splitlines()
    assert max(map(len, lines)) <= width
    cells = re.findall(r"\d+ [muµ]s \d/8 [★●✗*ox]", "\n".join(lines))
    assert len(cells) == 3 * len(LABELS)
    assert "".join(re.findall("q+", "".join(lines))) == "q" * 100


def test_no_width_of_the_terminal_cuts_a_cell(three):
    told = found([r for p in "pqrs" for r in three(p)])
    for width in range(20, 80):
        shown = text(told, width)
        assert max(map(len, shown.splitlines())) <= width
        assert len(re.findall(r"\d+ [mµ]s \d/8 [★●✗]", shown)) == 3 * 4


def test_names_with_markup_are_text(runs):
    shown = text(
        found([*runs("[/]", 1.0, problem="[red]p"), *runs("b\x1b", 1.0, problem="[red]p")])
    )
    assert "[/]" in shown
    assert "[red]p" in shown
    assert "\x1b" not in shown


def test_each_family_has_its_sentence_and_table(runs, three):
    tucker = [altered(r, problem="t", family="Tucker") for s in "xy" for r in runs(s, 1.0)]
    told = found([*three("p"), *tucker])
    first, second = text(told).split("Tucker: ")
    assert first.startswith("\nPCA: Use ")
    assert second.startswith("Use ")
    assert {line.split()[0] for line in first.splitlines() if "/8 " in line} == {"a", "bb", "ccc"}
    assert {line.split()[0] for line in second.splitlines() if "/5 " in line} == {"x", "y"}


def test_a_solver_that_ran_on_no_problem_has_no_row(runs, three):
    refused = [altered(r, status=RunStatus.REFUSED, trace=()) for r in runs("none", 9, 8)]
    told = found([*three("digits k=4"), *refused])
    assert [one.solver for one in told.alternatives][-1] == "none"
    assert "none" not in text(told)


def test_without_solvers_and_without_runs_only_the_sentence_is_shown(runs):
    waiting = [altered(r, status=RunStatus.MISSING, trace=()) for r in runs("late", 0.1)]
    for told in (answer([]), found(waiting)):
        assert list(legend(told)) == []
        assert " ".join(text(told).split()) == told.sentence


def test_the_legend_names_the_marks_shown_and_counts_what_is_open(runs, three):
    told = found([*three("p"), *three("q")])
    (line,) = legend(told)
    assert {mark for mark in "★●?-✗!" if f"{mark} " in line} == {"★", "●", "✗"}
    few = found([*runs("a", 1.0, 2), *runs("b", 9.0, 2)])
    line, last = legend(few)
    assert "- untested" in line
    assert last.startswith("2 of 2 cells ")

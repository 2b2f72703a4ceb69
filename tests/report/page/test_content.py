"""Small parts of the page's content: cells, counts, where results come from, and its tables."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from decisions import good, other
from records import altered

from orthobench.decide.rule import Comparison, Verdict
from orthobench.harness.stopping import RunStatus
from orthobench.report.page.content import (
    _blas,
    _command,
    _counts,
    _family_section,
    _git,
    _suite_of,
    cell,
)
from orthobench.report.page.content import page_content as content_of
from orthobench.report.page.problems import (
    TEXTS,
    _literal,
    _number,
    all_numbers,
    failures,
    problem_section,
    ranges,
)
from orthobench.stats.calls import Call, Stop
from orthobench.tools.machine import Load

GOOD = good("a", 1.0)
CALL = Call(Stop.at(steps=9), 3.0, 4, 6)


def decided(*decisions):
    return Comparison("p", "p", "f", "gap", "a", decisions)


@pytest.mark.parametrize(
    ("decision", "kind", "symbol", "cost", "seeds", "said"),
    [
        (good("b", 2.0, 2.0, misses=1), "good", "●", "2.00 s", "5/6", "as good"),
        (other("b", Verdict.UNDECIDED, call=CALL, more_seeds=4), "undecided", "?", "3.00 s", "4/6",
         "undecided; stops after 9 steps; about 4 more seeds"),
        (other("b", Verdict.UNTESTED, more_seeds=4), "untested", "-", "", "", "untested"),
        (other("b", Verdict.FAILED, n_failed=2), "failed", "!", "", "", "2 failed"),
        (other("b", Verdict.WORSE, difference=0.3, low=0.2, high=0.4), "worse", "✗", "", "",
         "worse: ends 30 [20, 40] % of the gap above"),
        (other("b", Verdict.ABSENT), "absent", "–", "", "", "takes no part, or was not run yet"),
    ],
)  # fmt: skip
def test_a_cell_has_mark_cost_and_seeds_and_their_meaning(
    decision, kind, symbol, cost, seeds, said
):
    *found, _, meaning = cell(decided(GOOD, decision), "b")
    assert found == [kind, symbol, cost, seeds]
    assert meaning.startswith(said)


def test_the_star_has_its_cost_and_a_solver_that_is_not_there_is_absent():
    assert cell(decided(GOOD), "a")[:4] == ("star", "★", "1.00 s", "6/6")
    assert cell(decided(GOOD), "c")[0] == "absent"


def test_bars_are_logarithms_of_costs_from_the_lowest_to_the_highest_of_a_problem():
    found = decided(GOOD, good("b", 10.0, 10.0), good("c", 100.0, 100.0), good("d", math.inf))
    assert [cell(found, solver)[4] for solver in "abcd"] == [0.0, 0.5, 1.0, 0.0]
    assert cell(decided(GOOD), "a")[4] == 0.0


def test_runs_are_counted_without_those_that_were_refused(runs, made):
    refused = [altered(r, status=RunStatus.REFUSED, trace=()) for r in runs("c", 1.0)]
    results = made([*runs("a", 1.0), *runs("b", 2.0), *refused])
    assert _counts(results, 2) == ("2 problems", "3 solvers", "5 seeds", "10 runs")
    missing = [altered(r, status=RunStatus.MISSING, trace=()) for r in runs("b", 1.0)]
    partial = made([*runs("a", 1.0), *missing[:2], *refused])
    assert _counts(partial, 1)[-2:] == ("5 of 7 runs", "2 not run yet")


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("", ""), ("orthobench run 'a b'", "orthobench run 'a b'"), ("it's", "it's"),
        ("/x/__main__.py", "python -m orthobench"), ("/x/y.py --z", "y.py --z"),
    ],
)  # fmt: skip
def test_a_command_is_without_the_folder_of_its_program(command, shown):
    assert _command(command) == shown


@pytest.mark.parametrize(
    ("pool", "shown"),
    [
        ({"internal_api": "openblas", "version": "0.3", "architecture": "Zen", "num_threads": 2},
         "openblas 0.3 Zen, 2 threads"),
        ({"internal_api": "mkl", "num_threads": 1}, "mkl, 1 thread"),
        ({"internal_api": "mkl", "num_threads": 0}, "mkl"),
        ({"internal_api": "mkl", "num_threads": "many"}, "mkl"), ({}, ""),
    ],
)  # fmt: skip
def test_a_library_is_named_with_its_threads(pool, shown):
    assert _blas(pool) == shown


def test_commits_are_named_with_what_is_not_in_them():
    assert (_git(None), _git({})) == ("", "")
    assert _git({"commit": "abc", "dirty": False}) == "abc"
    assert _git({"commit": "abc", "dirty": True}) == "abc, with changes not committed"


def test_where_results_come_from_is_told_as_far_as_it_is_known(runs, made):
    environment = {
        "orthobench": "0.1", "cpu": "Zen", "cores": 4, "python": "3.12.1", "platform": "Linux",
        "run": {"executor": "local", "workers": 2, "limits": None}, "packages": {"numpy": "2.1"},
        "blas": [{"internal_api": "a"}, {"internal_api": "b"}],
    }  # fmt: skip
    versions = {"alpha": "1", "orthobench": "9", "zeta": "2"}
    records = [replace(r, versions=versions) for r in runs("a", 1.0)]
    found = content_of(made(records, environment=environment))
    told = found["provenance"]
    assert (told["alpha"], told["zeta"]) == ("1", "2")
    assert found["file"] == "suite.toml"
    assert told["processor"] == "Zen, 4 cores"
    assert told["executor"] == "executor local, workers 2"
    assert told["BLAS"] == "a; b"
    assert (told["numpy"], told["Python"], told["orthobench"]) == ("2.1", "3.12.1", "0.1")
    assert told["ended"] == "cut off before its end"
    assert "git" not in told
    assert found["date"] == "2026-01-02 03:04 UTC"
    ended = made(runs("a", 1.0), environment={}, ended="2026-01-03", started=None)
    told = content_of(ended)["provenance"]
    assert told == {
        "command": "orthobench run it", "ended": "2026-01-03", "store": "results.sqlite",
        **{name: told[name] for name in told.keys() & {"BLAS"}},
    }  # fmt: skip


def test_behind_the_solver_to_use_stand_those_that_are_as_good_the_most_often():
    others = [
        SimpleNamespace(solver=solver, as_good_on=count, factor=factor)
        for solver, count, factor in (("b", 1, 2.0), ("c", 3, 9.0), ("d", 1, 1.5), ("e", 2, 9.0))
    ]
    for use, solvers in (("a", [*"acedb"]), ("", [*"cedb"])):
        found = SimpleNamespace(solver=use, alternatives=others, comparisons=(), use=None)
        keys = [(cost, part) for cost in ("seconds", "flops") for part in ("1 %", "2 %")]
        section = _family_section("PCA", dict.fromkeys(keys, found))
        assert section["solvers"] == solvers
        assert section["answer"] is found
        assert section["costs"] == ["seconds", "flops"]
        assert section["tolerances"] == ["1 %", "2 %"]
    assert _family_section("PCA", {})["solvers"] == []


def test_a_suite_of_python_objects_has_no_tables():
    assert _suite_of("not = = toml") == {}
    assert _suite_of("seeds = 3") == {"seeds": 3}


def test_seeds_are_written_as_ranges():
    assert ranges([]) == ""
    assert ranges([3]) == "3"
    assert ranges([7, 0, 1, 2, 9, 10, 1]) == "0-2, 7, 9-10"


def test_a_number_has_its_exact_value_where_it_is_another_text():
    assert _number(math.nan) == ("", "")
    assert _number(0.5) == ("0.500", "0.5")
    assert _number(3.0) == ("3", "")
    assert _number(0.123456789) == ("0.123", "0.123457")
    assert _number(2e9, lambda value: "2 G") == ("2 G", "2e+09")


def test_values_are_literals_of_python_with_double_quotes():
    value = {"a": [1, 2.5, True, None, "it's"], "b": ("x",)}
    assert _literal(value) == '{"a": [1, 2.5, True, None, "it\'s"], "b": ["x"]}'


def test_a_section_says_what_was_run_and_what_is_counted(runs, made):
    rows = content_of(made([*runs("a", 1.0), *runs("b", 2.0)]))["problems"][0]["rows"]
    entries = [row.result for row in rows]
    section = problem_section("p-0", entries, rows, range(2))
    assert section["facts"] == ("PCA", "final gap, smaller is better", "5 seeds")
    assert (section["effort"], section["waiting"], section["partial"]) == ("samples", False, False)
    none = [altered_samples(runs, made)]
    assert none[0]["effort"] == "steps"
    waiting = problem_section("p-0", entries, [], range(0))
    assert waiting["waiting"]


def altered_samples(runs, made):
    (section,) = content_of(made([*runs("a", 1.0, samples=False)]))["problems"]
    return section


def test_all_numbers_have_a_column_for_each_metric_of_any_solver(runs, made):
    found = content_of(made([*runs("a", 1.0), *runs("b", 2.0, tuned={"step": 2.0})]))["table"]
    columns = [*found["columns"].values()]
    assert {"rank", "constraint violation", "all parameters"} <= set(columns)
    assert len(found["rows"]) == 2
    assert {len(row) for row in found["rows"]} == {len(columns)}
    by_solver = {row[2][0]: dict(zip(columns, row, strict=True)) for row in found["rows"]}
    assert by_solver["a"]["rank"] == ("9", "")
    assert columns[TEXTS] == "median"  # the first that is a number
    assert by_solver["b"]["all parameters"] == ("step=2", "")
    assert [title for title, *_ in found["filters"]] == columns[:3]
    assert found["filters"][2][2] == [row[2][0] for row in found["rows"]]
    assert all_numbers([])["rows"] == []


def test_failures_share_a_line_where_they_share_a_cause(runs, made):
    results = made([*runs("a", 1.0), *runs("b", 1.0, failed=2)])
    (one,) = failures(results, [])
    assert one["seeds"] == [0, 1]
    assert one["status"] == "diverged"


def test_the_load_of_each_core_is_told_where_it_is_known_before_and_after():
    from orthobench.report.page.problems import _load

    assert _load(SimpleNamespace(load=(Load(4, 2.0), Load(2, 3.0)))) == "0.50, 1.50"
    assert _load(SimpleNamespace(load=(Load(4, None), Load(2, 3.0)))) == ""
    assert _load(SimpleNamespace(load=None)) == ""

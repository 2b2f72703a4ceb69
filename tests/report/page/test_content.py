"""The content of a page: cells, counts, provenance, sections and failures."""

import math
from dataclasses import replace

import pytest
from decisions import good, other
from records import altered

from orthobench.decide.rule import Comparison, Verdict
from orthobench.harness.stopping import RunStatus
from orthobench.report.page.content import (
    _counts,
    cell,
    problem_runs,
)
from orthobench.report.page.content import page_content as content_of
from orthobench.results.tuning import choose
from orthobench.stats.calls import Call, Stop

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


def test_bars_are_logarithms_of_costs():
    found = decided(GOOD, good("b", 10.0, 10.0), good("c", 100.0, 100.0), good("d", math.inf))
    assert [cell(found, solver)[4] for solver in "abcd"] == [0.0, 0.5, 1.0, 0.0]
    assert cell(decided(GOOD), "a")[4] == 0.0


def test_runs_are_counted_without_those_that_were_refused(runs, made):
    refused = [altered(r, status=RunStatus.REFUSED, trace=()) for r in runs("c", 1.0)]
    results = made([*runs("a", 1.0), *runs("b", 2.0), *refused])
    assert _counts(results, 2) == ("2 problems", "3 solvers", "5 seeds", "10 runs")
    missing = [altered(r, status=RunStatus.MISSING, trace=()) for r in runs("b", 1.0)]
    partial = made([*runs("a", 1.0), *missing[:2], *refused])
    assert _counts(partial, 1)[-2:] == ("5 runs", "2 not run yet")


def test_provenance_has_the_known_facts(runs, made):
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
    assert told["processor"] == "Zen, 4 cores"
    assert told["executor"] == "executor local, workers 2"
    assert told["BLAS"] == "internal api a; internal api b"
    assert (told["numpy"], told["Python"], told["orthobench"]) == ("2.1", "3.12.1", "0.1")
    assert told["ended"] == "cut off before its end"
    assert "git" not in told
    assert found["date"] == "2026-01-02 03:04 UTC"
    foreign = made(runs("a", 1.0), environment={"git": {"commit": 5, "dirty": True}})
    assert content_of(foreign)["provenance"]["git"] == "5, with changes not committed"
    ended = made(runs("a", 1.0), environment={}, ended="2026-01-03", started=None)
    told = content_of(ended)["provenance"]
    assert told == {
        "command": "orthobench run it", "ended": "2026-01-03", "store": "results.sqlite",
        **{name: told[name] for name in told.keys() & {"BLAS"}},
    }  # fmt: skip


def test_solvers_have_one_order_in_cells_tables_and_plots(runs, made):
    levels = {"a": 9.0, "b": 1.0, "c": 1.0001, "d": 30.0}
    records = [r for p in "pq" for s, level in levels.items()
               for r in runs(s, level * (p == "p" or 2), seeds=8, problem=p)]  # fmt: skip
    found = content_of(made(records))
    (family,) = found["families"]
    order = family["solvers"]
    assert order[0] == family["answer"].solver
    for problem in found["problems"]:
        assert [row.result.solver for row in problem["rows"]] == order
    for plot in found["plots"]:
        assert [series.solver for series in plot.panel().series] == order, plot.kind


def test_runs_of_a_cell_end_above_the_best_of_their_seed(runs):
    entries = choose([*runs("a", 1.0, seeds=3), *runs("b", 3.0, seeds=3, failed=1)])
    found = problem_runs(entries)
    for entry in entries:
        for (seed, above, *_), run in zip(found[entry.solver]["runs"], entry.records, strict=True):
            sound = [r for e in entries for r in e.records if r.seed == seed and r.ok]
            values = [[mark.metrics["gap"] for mark in r.trace] for r in sound]
            low, start = min(map(min, values)), max(own[0] for own in values)
            end = run.trace[-1].metrics["gap"] if run.ok else math.inf
            assert float(above) == pytest.approx(100 * (end - low) / (start - low), rel=6e-3)
    assert found["b"]["runs"][0][4] == "diverged: the solution at step 7 is not finite"

"""Answers of an atlas: those of the rule of decision, on its rows."""

from dataclasses import replace

import pytest

import orthobench as ob
from orthobench.atlas.answers import (
    changed,
    code_digest,
    compare,
    find,
    portfolio,
    views,
    with_records,
)
from orthobench.atlas.collect import collect
from orthobench.atlas.table import SHARES, Atlas
from orthobench.decide.answer import answer
from orthobench.decide.comparisons import compare as compare_results
from orthobench.decide.rule import Comparison, Decision, Verdict
from orthobench.errors import UsageError
from orthobench.harness.source_digests import digests
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table

SUITE = {
    "seeds": 8,
    "budget": {"samples": 400},
    "problem": [{"name": "spiked-covariance", "n": [10, 20], "k": 2, "noise": 0.1}],
    "solver": [{"name": "batch-pca"}, {"name": "oja"}, {"name": "incremental-pca"}],
}


@pytest.mark.wide
def test_rows_are_decided_as_the_results_that_they_come_from(tmp_path):
    suite = from_table(SUITE, "pca", catalogue())
    results = ob.run(suite, tmp_path / "r.sqlite", executor="inline", quiet=True)
    of_rows = compare(collect([tmp_path / "r.sqlite"]).rows, "samples")
    of_results = compare_results(results.entries, "samples")
    for ours, theirs in zip(of_rows, of_results, strict=True):
        assert (ours.best, ours.cheapest) == (theirs.best, theirs.cheapest)
        verdicts = {d.solver: d.verdict for d in theirs.decisions}
        assert {d.solver: d.verdict for d in ours.decisions} == verdicts
    assert answer(of_rows).use == results.answer("samples").use


def test_the_cheapest_that_is_as_good_is_named(rows):
    made = rows(problems=3, solvers=3, seeds=8)
    found = views([replace(r, value=1e-3) for r in made])["Least time"]
    assert found.use == "solver-0"
    assert found.as_good_on == found.problems == 3
    assert found.mean_factor == pytest.approx(1)


def test_a_solver_has_its_record_in_words(rows):
    atlas = Atlas(tuple(replace(r, value=1e-3) for r in rows(problems=3, solvers=3, seeds=8)))
    records = with_records(atlas).about["records"]
    among = "In the atlas, as good as the best on 3 of 3 problems of PCA"
    assert records == {
        "solver-0": f"{among} (cheapest on 3).",
        "solver-1": f"{among} (cheapest on none).",
        "solver-2": f"{among} (cheapest on none).",
    }


def test_the_first_to_try_is_the_cheapest_and_the_next_what_it_misses():
    def decided(problem, **factors):
        found = tuple(
            Decision(name, Verdict.AS_GOOD if f < 10 else Verdict.WORSE, cost=f, factor=f)
            for name, f in factors.items()
        )
        return Comparison(problem, problem, "f", "m", found[0].solver, found)

    comparisons = [
        decided("p", a=1.0, b=1.1, c=10.0),
        decided("q", a=1.0, b=1.1, c=10.0),
        decided("r", a=10.0, b=10.0, c=1.0),
    ]
    assert portfolio(comparisons) == ["a", "c", "b"]
    assert portfolio([]) == []


def test_times_are_compared_on_one_machine(rows):
    made = [replace(r, value=1e-3) for r in rows(problems=1, solvers=2, seeds=8)]
    other = [
        replace(r, seed=r.seed + 8, machine="another", seconds_to=(1e-9,) * len(SHARES))
        for r in made[:8]
    ]
    assert {c.seeds for c in compare([*made, *other[:4]])} == {8}


def test_a_tolerance_without_costs_is_refused(rows):
    with pytest.raises(UsageError, match=r"not to 0\.02"):
        compare(rows(), tolerance=0.02)


def test_families_and_problems_are_found_as_people_type_them(rows):
    atlas = Atlas(tuple(rows(family="stochastic PCA")))
    assert find(atlas, "Stochastic-PCA") == (["stochastic PCA"], "")
    assert find(atlas, "p1") == (["stochastic PCA"], "p1")
    with pytest.raises(UsageError, match="did you mean 'stochastic PCA'"):
        find(atlas, "stochastic-pcb")


def test_solvers_that_changed_since_they_were_measured_are_named(rows):
    registry = catalogue()
    problem = registry.problems["digits"].item
    own = [replace(row, problem="digits", name="digits") for row in rows(problems=1, solvers=2)]
    names = {"solver-0": "oja", "solver-1": "meg"}
    today = {n: code_digest(digests(problem, registry.solvers[n].item)) for n in names.values()}
    own = [replace(r, solver=names[r.solver], code=today[names[r.solver]]) for r in own]
    assert changed(own) == ""
    assert changed([replace(row, code="") for row in own]) == ""
    other = [replace(row, code="0" * 10) if row.solver == "meg" else row for row in own]
    assert changed(other) == "Changed since it was measured: meg."
    every = [replace(row, code="0" * 10) for row in own]
    assert changed(every) == "Changed since it was measured: what all solvers share."

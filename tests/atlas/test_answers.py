"""Answers of an atlas: those of the rule of decision, on its rows."""

from dataclasses import replace

import pytest

import orthobench as ob
from orthobench.atlas import answers as module
from orthobench.atlas.answers import (
    changed,
    code_digest,
    compare,
    expected_order,
    find,
    of_family,
    opened,
    views,
)
from orthobench.atlas.collect import collect, with_records
from orthobench.atlas.table import Atlas, write
from orthobench.decide.comparisons import compare as compare_results
from orthobench.decide.rule import Verdict
from orthobench.errors import DataError, UsageError
from orthobench.harness.source_digests import digests
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table

SUITE = {
    "seeds": 8,
    "budget": {"samples": 4000},
    "problem": [{"name": "digits", "k": [1, 2]}],
    "solver": [{"name": "batch-pca"}, {"name": "oja"}, {"name": "incremental-pca"}],
}


def test_few_seeds_and_cut_runs_are_never_as_good(rows):
    own = rows(problems=1, solvers=3, seeds=8)
    made = [replace(r, value=1e-3 * (1 + 1e-3 * r.seed)) for r in own]
    few = [r for r in made if r.solver != "solver-0" or r.seed < 4]
    cut = [replace(r, ending="budget") if r.solver == "solver-1" else r for r in few]
    (found,) = compare(cut)
    verdicts = [found.of(f"solver-{i}").verdict for i in range(3)]
    assert verdicts == [Verdict.UNTESTED, Verdict.ABSENT, Verdict.AS_GOOD]


@pytest.mark.wide
def test_rows_are_decided_as_the_results_that_they_come_from(tmp_path):
    suite = from_table(SUITE, "pca", catalogue())
    results = ob.run(suite, tmp_path / "r.sqlite", executor="inline", quiet=True)
    of_rows = compare(collect([tmp_path / "r.sqlite"]).rows, "samples")
    of_results = compare_results(results.entries, "samples")
    for ours, theirs in zip(of_rows, of_results, strict=True):
        assert ours.best == theirs.best
        verdicts = {d.solver: d.verdict for d in theirs.decisions}
        assert {d.solver: d.verdict for d in ours.decisions} == verdicts
    assert any(c.as_good for c in of_rows)


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


def test_times_are_compared_on_one_machine(rows):
    made = [replace(r, value=1e-3) for r in rows(problems=1, solvers=2, seeds=8)]
    other = [replace(r, seed=r.seed + 8, machine="another", seconds=1e-9) for r in made[:8]]
    assert {c.seeds for c in compare([*made, *other[:4]])} == {8}


def test_families_and_problems_are_found_as_people_type_them(rows):
    atlas = Atlas(tuple(rows(family="stochastic PCA")))
    assert find(atlas, "Stochastic-PCA") == ["stochastic PCA"]
    assert find(atlas, "digits") == ["stochastic PCA"]
    for named in ("polar factor", "polar-factor", "gaussian-polar"):  # installed, and not mapped
        with pytest.raises(UsageError, match=r"'polar factor'.*: orthobench map 'polar factor';"):
            find(atlas, named)
    with pytest.raises(UsageError, match=r"did you mean .*'stochastic PCA'"):
        find(atlas, "stochastic-pcb")


def test_solvers_changed_since_the_atlas_are_named(rows):
    registry = catalogue()
    problem = registry.problems["digits"].item
    own = [replace(row, problem="digits", name="digits") for row in rows(problems=1, solvers=2)]
    names = {"solver-0": "oja", "solver-1": "meg"}
    today = {n: code_digest(digests(problem, registry.solvers[n].item)) for n in names.values()}
    own = [replace(r, solver_name=names[r.solver], code=today[names[r.solver]]) for r in own]
    assert changed(own) == ""
    assert changed([replace(row, code="") for row in own]) == ""
    other = [replace(row, code="0" * 10) if row.solver_name == "meg" else row for row in own]
    assert changed(other) == "Changed since it was measured: meg."
    alone = [row for row in other if row.solver_name == "meg"]
    assert changed(alone) == "Changed since it was measured: meg."
    told = [*of_family(Atlas(tuple(alone)), ["PCA"])]
    assert told[-1] == "  Changed since it was measured: meg."
    every = [replace(row, code="0" * 10) for row in own]
    assert changed(every) == "Changed since it was measured: code that all solvers share."


def test_views_without_counted_cost_are_left_out(rows):
    made = [replace(r, samples=0.0) if r.seed == 0 else r for r in rows()]
    assert [*views(made)] == ["Least time", "High accuracy"]
    failed = [replace(r, failed=True) if r.seed == 0 else r for r in made]
    assert "Fewest samples" in views(failed)
    assert views([replace(r, failed=True) for r in made]) == {}


def test_without_an_atlas_there_is_no_order_and_no_answer(rows, tmp_path, monkeypatch):
    problem = catalogue().problem("digits")
    monkeypatch.setattr(module, "SHIPPED", tmp_path / "atlas.parquet")
    with pytest.raises(DataError, match="cannot read the atlas"):
        opened(None)
    write(Atlas(()), tmp_path / "atlas.parquet")
    assert expected_order(problem) == []
    made = [replace(r, value=1e-3) for r in rows(solvers=2, seeds=8, family=problem.family)]
    write(with_records(Atlas(tuple(made))), tmp_path / "atlas.parquet")
    assert expected_order(problem) == [(f"solver-{i}", {"step": 0.5}) for i in (0, 1)]
    assert len(opened(None).rows) == len(made)

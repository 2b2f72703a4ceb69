"""Stores as rows of an atlas: a real run of two suites, in one store and in two."""

import math

import pytest

import orthobench as ob
from orthobench.atlas.collect import collect
from orthobench.errors import StoreError, UsageError
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table
from orthobench.results.results import Results
from orthobench.results.store import Store
from orthobench.stats.targets import run_matrix

SUITE = {
    "seeds": 3,
    "budget": {"samples": 300},
    "problem": [{"name": "spiked-covariance", "n": [10, 20], "k": 2, "noise": 0.1}],
    "solver": [
        {"name": "batch-pca"},
        {"name": "oja", "step": {"tune": [0.5, 2.0]}},
        {"name": "tensor-power"},
    ],
}


def run(path, name="pca", **changes):
    suite = from_table({**SUITE, **changes}, name, catalogue())
    return ob.run(suite, path, executor="inline", quiet=True)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("atlas") / "results.sqlite"
    run(path)
    return path


def test_a_row_is_a_run_with_chosen_parameters(store):
    atlas, results = collect([store]), Results.read(store)
    assert len(atlas.rows) == 2 * 2 * 3  # tensor-power is refused
    assert {row.solver for row in atlas.rows} == {"batch-pca", "oja"}
    session = results.session()
    assert {row.machine for row in atlas.rows} == {session["environment"]["cpu"]}
    assert atlas.about["date"] == session["ended"][:10]
    assert len(atlas.about["date"]) == len("2026-01-02")
    records = {
        (r.problem.label, r.solver.label, r.seed): r for e in results.entries for r in e.records
    }
    for row in atlas.rows:
        record = records[row.problem, row.solver, row.seed]
        last = record.trace[-1]
        assert row.value == last.metrics["suboptimality"]
        assert (row.samples, row.flops) == (last.work.samples, last.work.flops)
        assert row.seconds == last.seconds + last.readout_seconds
    assert (
        '"step":0.5' in atlas.rows[3].solver_parameters or "2.0" in atlas.rows[3].solver_parameters
    )


def test_calls_that_a_race_timed_on_each_seed_count(store, monkeypatch):
    session = Results.read(store).session()
    timed = {"race": {"timed_on_all": [["batch-pca", 1, 123.0]]}}
    changed = {**session, "environment": {**session["environment"], **timed}}
    before = {(r.problem, r.solver, r.seed): r.seconds for r in collect([store]).rows}
    monkeypatch.setattr(Results, "session", lambda self: changed)
    for row in collect([store]).rows:
        own = (row.solver, row.seed) == ("batch-pca", 1)
        expected = 123.0 if own else before[row.problem, row.solver, row.seed]
        assert row.seconds == expected


def test_steps_that_are_enough_keep_the_tolerance_to_the_end(store):
    results, found = Results.read(store), 0
    runs = {(e.problem, r.solver.label, r.seed): r for e in results.entries for r in e.records}
    for row in collect([store]).rows:
        target = row.lowest + 0.01 * (row.start - row.lowest)
        trace = [mark for mark in runs[row.problem, row.solver, row.seed].trace if mark.work.steps]
        last = max((m.work.steps for m in trace if m.metrics["suboptimality"] > target), default=0)
        later = [mark for mark in trace if mark.work.steps > last]
        assert row.steps == trace[-1].work.steps
        assert row.enough == (later[0].work.steps if later else 0)
        assert math.isnan(row.spent) is (not later)
        if later:
            found += 1
            assert row.spent == later[0].seconds + later[0].readout_seconds
    assert found == 6


def test_runs_that_measured_memory_have_no_rows(store, tmp_path):
    run(tmp_path / "memory.sqlite", "pca-memory", seeds=1, measure="memory")
    assert repr(collect([store, tmp_path / "memory.sqlite"]).rows) == repr(collect([store]).rows)
    with pytest.raises(UsageError, match="measured memory alone"):
        collect([tmp_path / "memory.sqlite"])


def test_starts_and_lowest_ends_are_those_of_all_solvers_on_a_seed(store):
    atlas, runs = collect([store]), run_matrix(Results.read(store).entries)
    at = {instance: i for i, instance in enumerate(runs.instances)}
    for row in atlas.rows:
        i = at[row.problem, row.seed]
        ends = [curve.end for (_, instance), curve in runs.curves.items() if instance == i]
        assert (row.start, row.lowest) == (runs.start[i], min(ends))


def test_solvers_of_other_stores_join_those_of_a_suite(store, tmp_path):
    more = tmp_path / "more.sqlite"
    run(more, solver=[{"name": "history-pca"}, {"name": "batch-pca"}])
    atlas = collect([store, more])
    assert len(atlas.rows) == 3 * 2 * 3  # batch-pca counts once
    assert {row.suite for row in atlas.rows} == {"pca"}


def test_an_empty_store_is_refused(tmp_path):
    with Store(tmp_path / "new.sqlite", write=True):
        pass
    with pytest.raises(StoreError, match="nothing was run"):
        collect([tmp_path / "new.sqlite"])


def test_a_solver_that_lacks_a_seed_takes_it_from_no_other(store, tmp_path):
    run(tmp_path / "theirs.sqlite", solver=[{"name": "ccipca"}], seeds=1)
    alone, found = collect([store]), collect([store, tmp_path / "theirs.sqlite"])
    later = [[row for row in one.rows if row.seed > 0] for one in (alone, found)]
    assert [r.lowest for r in later[0]] == [r.lowest for r in later[1] if r.solver != "ccipca"]
    assert {row.seed for row in found.rows if row.solver == "ccipca"} == {0}

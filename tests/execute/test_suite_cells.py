"""Trials on the first seeds, the chosen one on all: whatever the order, however often killed."""

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from cases import case

import orthobench as ob
from orthobench import api
from orthobench.errors import UsageError
from orthobench.execute.suite_cells import complete, rest_of, undecided
from orthobench.harness.cell import execute
from orthobench.harness.executors import Event, Executor, Limits, run_inline
from orthobench.harness.stopping import Target, Termination
from orthobench.harness.trace import Outcome
from orthobench.registry.suite_file import from_table
from orthobench.results.store import Store

TABLE = {
    "seeds": 4,
    "tuning": {"seeds": 2},
    "budget": {"steps": 9},
    "problem": [{"name": "leading-subspace", "n": [5, 6]}],
    "solver": [
        {"name": "power", "step": {"tune": [0.1, 0.5, 4.0]}},
        {"name": "power", "step": 0.5, "label": "fixed"},
    ],
}


run = partial(ob.run, quiet=True, executor="inline")
"""The order of runs and the choice of trials need no processes of workers."""


@pytest.fixture(scope="module")
def suite(toys):
    return from_table(TABLE, "toys", toys.registry)


@pytest.fixture(scope="module")
def of_a_whole_run(suite, tmp_path_factory):
    """A store that one run wrote from its beginning to its end."""
    path = tmp_path_factory.mktemp("whole") / "s.sqlite"
    run(suite, path)
    return path.read_bytes()


@pytest.fixture
def whole(of_a_whole_run, tmp_path):
    """Its rows."""
    path = tmp_path / "whole.sqlite"
    path.write_bytes(of_a_whole_run)
    return rows(path)


def rows(path):
    """All that a store has of a suite and that does not depend on time."""
    with Store(path) as store:
        return [
            (r.key, r.problem.label, r.solver.label, dict(r.solver.tuned), r.seed, r.stop,
             [(mark.work, dict(mark.metrics)) for mark in r.trace])
            for r in store.records("toys")
        ]  # fmt: skip


def test_trials_run_on_the_tuning_seeds_and_the_chosen_one_on_all(suite, tmp_path):
    results = run(suite, tmp_path / "s.sqlite")
    runs = Counter((r.problem.label, r.solver.label, str(dict(r.solver.tuned))) for r in
                   results.records)  # fmt: skip
    for problem in ("leading-subspace n=5", "leading-subspace n=6"):
        of_power = [count for (p, s, _), count in runs.items() if (p, s) == (problem, "power")]
        assert sorted(of_power) == [2, 2, 4]
    for entry in results.entries:
        assert [r.seed for r in entry.records] == [0, 1, 2, 3]
        assert entry.tuned_on == ((0, 1) if entry.solver == "power" else (0, 1, 2, 3))
    assert [r.key for r in results.records] == [r[0] for r in rows(tmp_path / "s.sqlite")]


@pytest.mark.parametrize("cells", [1, 11, 20])
def test_resumed_run_leaves_the_same_store(suite, whole, tmp_path, monkeypatch, cells):
    def cut_off(executor, waiting):
        finished = 0
        for event in run_inline(waiting):
            yield event
            finished += event.outcome is not None
            if finished == cells:
                raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Executor, "run", cut_off)
        with pytest.raises(KeyboardInterrupt):
            run(suite, tmp_path / "cut.sqlite")
    run(suite, tmp_path / "cut.sqlite")
    assert rows(tmp_path / "cut.sqlite") == whole


def test_a_second_run_writes_no_session(suite, tmp_path):
    path = tmp_path / "s.sqlite"
    for _ in range(2):
        results = run(suite, path)
        with Store(path) as store:
            assert store._read("SELECT count(*) FROM session") == [(1,)]
    assert len(results.records) == 24


def test_a_solver_that_fails_on_a_later_seed_keeps_its_choice(suite, tmp_path, toys):
    results = run(suite, tmp_path / "s.sqlite")
    before = {(e.problem, e.solver): e.best_parameters for e in results.entries}
    keys = {r.key for r in results.records if r.seed == 3}
    with Store(tmp_path / "s.sqlite", write=True) as store:
        store.discard(keys)
    again = ob.Results.read(tmp_path / "s.sqlite")
    assert {(e.problem, e.solver): e.best_parameters for e in again.entries} == before
    assert len(again.missing) == len(keys)
    assert not again.failures


def test_explain_counts_the_cells_that_wait_for_a_choice(suite, tmp_path):
    path = tmp_path / "s.sqlite"
    before = api.explained(suite, path)
    assert Counter(fact["action"] for fact in before) == {"runs": 24}
    waiting = [f["cell"] for f in before if "chosen" in f["reason"]]
    assert waiting[:2] == [f"power on leading-subspace n=5, seed {seed}" for seed in (2, 3)]
    run(suite, path)
    assert Counter(fact["action"] for fact in api.explained(suite, path)) == {"stored": 24}


def test_a_suite_without_tuning_seeds_runs_every_trial_on_every_seed(toys, tmp_path):
    suite = from_table({**TABLE, "tuning": {}}, "toys", toys.registry)
    results = run(suite, tmp_path / "s.sqlite")
    assert len(results.records) == 2 * 4 * 4
    assert {entry.tuned_on for entry in results.entries} == {(0, 1, 2, 3)}


def test_only_what_matches_runs_and_the_rest_stays(suite, whole, tmp_path):
    path = tmp_path / "s.sqlite"
    results = run(suite, path, only="*n=5 power")
    missing = {(r.problem.label, r.solver.label) for r in results.missing}
    assert ("leading-subspace n=5", "power") not in missing
    assert len(missing) == 3
    run(suite, path)
    assert rows(path) == whole
    changed = replace(suite, text="seeds = 4")  # so that the store does not count as complete
    run(changed, path, only="* fixed")
    assert rows(path) == whole


def test_cut_cell_runs_again_under_a_longer_limit(suite, whole, tmp_path, monkeypatch):
    limits = []

    def cut(executor, waiting):
        for cell in iter(waiting.take, None):
            if cell.seed == 3 and cell.solver_label == "power":
                limits.append(Limits().limit(cell).seconds)
                yield Event(cell, "1", Outcome(Termination.cut(limits[-1])))
            else:
                yield Event(cell, "1", execute(cell))

    path = tmp_path / "s.sqlite"
    with monkeypatch.context() as patched:
        patched.setattr(Executor, "run", cut)
        assert sum(one.absent for one in run(suite, path).records) == 2
        facts = [fact for fact in api.explained(suite, path) if fact["action"] == "runs"]
        assert [fact["reason"] for fact in facts] == 2 * [
            "it ended with timeout, and is tried again"
        ]
        facts = api.explained(suite, path, timeout=60.0)
        assert {fact["action"] for fact in facts} == {"stored"}
        run(suite, path)
    assert limits == [60.0, 60.0, 120.0, 120.0]
    run(suite, path)
    assert rows(path) == whole


def test_a_pattern_that_matches_nothing_names_the_nearest(suite, tmp_path):
    with pytest.raises(UsageError) as refused:
        run(suite, tmp_path / "s.sqlite", only="power")
    assert "no cell matches 'power': cells are called PROBLEM SOLVER" in str(refused.value)
    near = str(refused.value).partition("such as ")[2].partition(", and *")[0]
    assert near.split(" or ")[0] == "'leading-subspace n=6 power'"
    assert len(near.split(" or ")) == 3
    assert not (tmp_path / "s.sqlite").exists()


@pytest.fixture
def finished(suite, tmp_path, of_a_whole_run):
    """A store in which a suite is done."""
    path = tmp_path / "s.sqlite"
    path.write_bytes(of_a_whole_run)
    return path


def is_complete(path, suite):
    with Store(path) as store:
        return bool(complete(store, suite, suite.cells()))


def test_a_suite_with_another_text_is_not_complete(suite, finished):
    assert not is_complete(finished, replace(suite, text="!"))
    with Store(finished, write=True) as store:
        store.end(store.begin(replace(suite, text="!"), suite.cells(), "", {}))
    assert not is_complete(finished, suite)


def test_a_suite_with_another_label_or_level_is_not_complete(suite, finished):
    first, level = suite.problems[0], Target("violation", 1e-3)
    others = {
        "solver": {"solvers": (replace(suite.solvers[0], label="!"), *suite.solvers[1:])},
        "problem": {"problems": (replace(first, label="!"), *suite.problems[1:])},
        "level": {"problems": (replace(first, levels=(level,)), *suite.problems[1:])},
    }
    for name, changed in others.items():
        with case(name):
            assert not is_complete(finished, replace(suite, **changed))


def test_a_suite_after_which_another_ran_is_not_complete(suite, finished):
    with Store(finished, write=True) as store:
        store.end(store.begin(replace(suite, name="a"), [], "", {}))
    assert not is_complete(finished, suite)
    assert not is_complete(finished, replace(suite, name="never run"))


def test_interrupted_suite_is_not_complete(suite, finished):
    assert not is_complete(finished, replace(suite, seeds=(0, 1, 2)))
    assert not is_complete(finished, replace(suite, solvers=suite.solvers[1:]))
    with Store(finished, write=True) as store:
        records = store.records("toys")
        store.discard([records[-1].key])
    assert not is_complete(finished, suite)
    with Store(finished, write=True) as store:
        store.begin(suite, suite.cells(), "", {})
    assert not is_complete(finished, suite)


def test_choice_waits_for_all_trials(suite, finished):
    trials = next(iter(undecided(suite, suite.cells()).values()))
    with Store(finished, write=True) as store:
        rest = rest_of(suite, store, trials)
        assert [cell.seed for cell in rest] == [2, 3]
        assert len({str(cell.tuned) for cell in rest}) == 1
        store.discard([trials[-1].key])
        assert rest_of(suite, store, trials) is None

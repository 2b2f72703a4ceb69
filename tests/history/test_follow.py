"""A history runs each identity once, goes on after an interruption, and shows gaps."""

import math

import pytest

from orthobench.errors import StoreError, UsageError
from orthobench.history import curves as module
from orthobench.history.curves import curves
from orthobench.history.follow import Record


def facts(history):
    return module.facts(history, *curves(history, []), ["HEAD"])


def test_cells_that_did_not_change_are_not_run_again(repository, fake):
    for subject, final in (("begin", 0.1), ("words", 0.1), ("worse", 0.2), ("back", 0.1)):
        repository.commit(subject, final=final)
    history = fake("HEAD~3..HEAD")
    assert history.made == len(fake.ran) == 6
    steps = facts(history)["steps"]
    changes = [(s["subject"], s["change"], s["ratio"]) for s in steps if s["question"] == "result"]
    assert changes == [("back", "better", pytest.approx(0.5)), ("worse", "worse", pytest.approx(2))]


def test_second_call_runs_nothing(repository, fake):
    for final in (0.1, 0.2):
        repository.commit(final=final)
    first = facts(fake("HEAD~1..HEAD"))
    assert facts(fake("HEAD~1..HEAD")) == {**first, "runs": 0}


def test_an_interrupted_call_goes_on_at_the_next_cell(repository, fake):
    repository.commit(interrupted=2)
    with pytest.raises(KeyboardInterrupt):
        fake("HEAD")
    history = fake("HEAD")
    assert fake.ran == [("problem", "solver", seed) for seed in (0, 1, 1, 2)]
    assert len(history.commits[0].runs) == 3


def test_a_commit_that_does_not_build_is_a_gap_with_its_reason(repository, fake):
    repository.commit("begin")
    bad = repository.commit("bad", broken="no compiler")
    repository.commit("worse", final=0.2)
    found = facts(fake("HEAD~2..HEAD"))
    assert [one["failed"] for one in found["commits"]] == [
        "", "cannot build it; it said: no compiler", "",
    ]  # fmt: skip
    (curve,) = found["curves"]
    assert [value is None for value in curve["result"]] == [False, True, False]
    assert {(s["subject"], s["gap"]) for s in found["steps"]} == {("worse", 1)}
    said = "\n".join(module.lines(found))
    assert f"{bad[:10]} has no results: cannot build it" in said
    assert "or one of 1 before it" in said


def test_a_worker_that_dies_costs_its_cell_and_is_tried_again_later(repository, fake):
    repository.commit(dies=1)
    history = fake("HEAD")
    assert [run.failed for run in history.commits[0].runs.values()] == [False, True, False]
    found = facts(history)
    (curve,) = found["curves"]
    assert curve["result"] == [None]
    assert curve["reasons"] == {"0": "seed 1: error: it was killed"}
    assert "1 value of curves missing" in "\n".join(module.lines(found, 200))
    fake("HEAD")
    assert fake.ran[-1] == ("problem", "solver", 1)


def test_a_commit_without_the_cells_is_a_gap(repository, fake):
    repository.commit(cells=0)
    repository.commit()
    (curve,) = facts(fake("HEAD~1..HEAD"))["curves"]
    assert curve["result"][0] is None
    assert curve["reasons"] == {"0": "no such solver"}


def test_the_suite_is_that_of_the_newest_commit_that_builds(repository, fake):
    repository.commit("begin")
    repository.commit("bad", broken="no")
    assert fake("HEAD~1..HEAD").request["name"] == "toy"


def test_a_range_in_which_nothing_runs_is_refused_with_the_reason(repository, fake):
    repository.commit("bad", broken="no compiler")
    with pytest.raises(UsageError, match=r"no commit has a cell .* no compiler"):
        fake("HEAD")
    repository.commit("empty", cells=0)
    with pytest.raises(UsageError, match="no such solver"):
        fake("HEAD")


def test_work_is_counted_to_what_the_oldest_commit_reaches(repository, fake):
    repository.commit(final=0.1)
    repository.commit(final=0.1, work=1.5)
    repository.commit(final=0.3, work=1.5)
    history = fake("HEAD~2..HEAD")
    (curve,), steps = curves(history, [])
    assert curve.unit == "flops"
    assert curve.work[1] == pytest.approx(1.5 * curve.work[0])
    assert math.isinf(curve.work[2])
    assert [(s["place"], s["change"]) for s in steps if s["question"] == "work"] == [
        (2, "worse"), (1, "worse"),
    ]  # fmt: skip


def test_a_commit_whose_cells_do_not_import_its_library_is_a_gap(repository, fake):
    repository.commit(libraries=["library"], loaded=["library"])
    repository.commit(libraries=["library"], loaded=[])
    for _ in range(2):
        good, bad = facts(fake("HEAD~1..HEAD"))["commits"]
        assert good["failed"] == ""
        assert "no cell imports library" in bad["failed"]


def test_another_file_is_no_record(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes, which are no database\n" * 50)
    with pytest.raises(StoreError, match=r"notes\.txt.*--out"):
        Record(path)
    assert path.read_text().startswith("my notes")

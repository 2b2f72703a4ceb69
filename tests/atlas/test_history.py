"""The history of answers: what changed, and why."""

from dataclasses import replace

from orthobench.atlas.answers import answers
from orthobench.atlas.history import as_values, history, kept
from orthobench.atlas.table import Atlas, read, write


def atlas(rows, **about):
    return Atlas(tuple(rows), {"date": "2026-02-01", "versions": {"orthobench": "1"}, **about})


def changes(new, old):
    return history(new, answers(new), old)


def test_the_same_results_change_nothing(rows):
    one = atlas(rows(seeds=8))
    assert changes(one, one) == []
    assert changes(one, None) == []


def test_a_new_winner_is_the_reason(rows):
    own = rows(seeds=8)
    old = atlas([row for row in own if row.solver != "solver-0"])
    found = {one.situation: one for one in changes(atlas(own), old)}
    change = found["best in the end"]
    assert (change.kind, change.was[:8], change.now[:8]) == ("changed", "solver-1", "solver-0")
    assert change.why == "New: solver-0."


def test_problems_seeds_and_versions_are_reasons(rows):
    worse = [replace(r, value=1.0) if r.solver == "solver-0" else r for r in rows(seeds=8)]
    old = atlas(rows(problems=2, seeds=7), versions={"orthobench": "0"})
    (change, *_) = changes(atlas(worse), old)
    assert change.why == (
        "1 problem more, 0 fewer. 8 seeds instead of 7. Other versions: orthobench 0 to 1."
    )


def test_other_numbers_alone_are_said_to_be_the_reason(rows):
    worse = [replace(r, value=1.0) if r.solver == "solver-0" else r for r in rows(seeds=8)]
    (change, *_) = changes(atlas(worse), atlas(rows(seeds=8)))
    assert change.why == "The same solvers, problems and versions: the numbers changed."


def test_what_is_new_and_what_is_gone(rows):
    old, new = atlas(rows(family="A")), atlas(rows(family="B"))
    kinds = {one.family: one.kind for one in changes(new, old)}
    assert kinds == {"A": "gone", "B": "new"}


def test_the_history_goes_on_in_the_file(rows, tmp_path):
    old, new = atlas(rows(family="A")), atlas(rows(family="B"))
    first = changes(new, old)
    path = tmp_path / "a.parquet"
    write(replace(new, about={**new.about, "history": as_values(first)}), path)
    assert kept(read(path)) == first
    again = changes(new, read(path))
    assert again == first


def test_a_history_that_is_none_is_passed_over():
    assert kept(Atlas((), {"history": 3})) == []
    assert kept(Atlas((), {"history": [3, {"date": "x"}]})) == []

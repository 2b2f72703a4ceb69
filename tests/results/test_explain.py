"""Why a cell runs or not; what a key depends on; stores that are united."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from orthobench.harness import cell, source_digests
from orthobench.harness.cell import execute
from orthobench.harness.identity import canonical
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table
from orthobench.results.explain import RUNS, STORED, explain
from orthobench.results.store import Store

TABLE = {
    "seeds": 2,
    "budget": {"steps": 6},
    "problem": [{"name": "leading-subspace"}],
    "solver": [{"name": "power", "step": [0.5, 1]}],
}


@pytest.fixture
def suite(toys):
    return from_table(TABLE, "toys", toys.registry)


def contents(planned):
    return {p.key: p.identity for p in planned}


def reasons(planned, stored, failed=()):
    found = list(explain(planned, stored, dict(failed)))
    assert [e["cell"] for e in found] == [p.label for p in planned]
    return [(e["action"], e["reason"]) for e in found]


def test_cells_that_are_there_and_unchanged_are_stored(suite):
    planned = suite.cells()
    found = reasons(planned, contents(planned[:2]))
    assert [action for action, _ in found] == [STORED, STORED, RUNS, RUNS]
    assert "it is new" in found[2][1]


def test_failed_cell_is_tried_again_on_request(suite):
    planned = suite.cells()
    found = reasons(planned, contents(planned), {planned[1].key: "timeout"})
    assert found[1] == (RUNS, "it ended with timeout, and is tried again")
    assert found[0][0] == STORED


def test_changes_are_listed_with_both_values(suite):
    planned = suite.cells()
    for change, reason in (
        ({"threads": 2}, "threads 1 -> 2"),
        ({"data": "abc"}, "data none -> abc"),
        ({"data": "0123456789abcdef"}, "data none -> 0123456789ab"),
        ({"versions": (("orthobench", "0"),)}, "versions of orthobench"),
    ):
        now = [replace(p, **change) for p in planned]
        found = reasons(now, contents(planned))
        assert all(action == RUNS for action, _ in found)
        assert all(text.startswith("changed since: ") and reason in text for _, text in found)
        assert all(text.endswith(reason) for _, text in found if change.keys() != {"versions"})


def test_files_of_changed_code_are_named():
    table = {"problem": [{"name": "spiked-covariance"}], "solver": [{"name": "oja"}]}
    suite = from_table({**table, "seeds": 1, "budget": {"samples": 6}}, "s", catalogue())
    (now,) = suite.cells()

    def said(role, old):
        settings = {k: v for k, v in now.content.items() if k not in ("problem", "solver", "seed")}
        code = {**settings["code"], role: old}
        before = replace(now.identity, settings=canonical({**settings, "code": code}))
        return reasons([now], {before.key: before})[0][1]

    for role, one in (("problem", now.problem), ("solver", now.solver)):
        file = source_digests.file_of(type(one).__module__)
        digests = source_digests.parts(type(one))
        others = " ".join(d for name, d in digests.items() if name != str(file))
        assert said(role, others) == f"changed since: code of {role} ({file.name})"
        gone = " ".join([*digests.values(), "0123456789"])
        assert said(role, gone) == f"changed since: code of {role} (something is gone)"
        assert said(role, 5).startswith(f"changed since: code of {role} 5 -> ")


def test_changed_code_makes_another_key(suite, monkeypatch):
    old = suite.cells()
    known = contents(old)
    assert len({p.key for p in old}) == 4
    found = {**old[0].content["code"], "orthobench": "new"}
    monkeypatch.setattr("orthobench.harness.cell.digests", lambda *_: found)
    cell._settings.cache_clear()
    now = suite.cells()
    assert not known.keys() & {p.key for p in now}
    assert "code of orthobench " in reasons(now, known)[0][1]


def filled(path, suite, cells):
    planned = suite.cells()
    with Store(path, write=True) as store:
        session = store.begin(suite, planned, f"run {path.name}", {"cpu": "toy"})
        for p in planned:
            if p.key in cells:
                store.add(session, [(p, execute(p))])
        store.end(session)


def rows(path, table):
    with closing(sqlite3.connect(path)) as connection:
        query = f"SELECT * FROM {table}"  # noqa: S608
        return [row[1:] for row in connection.execute(query)]


def test_stores_are_united_cell_by_cell(tmp_path, suite):
    keys = [p.key for p in suite.cells()]
    a, b, both = tmp_path / "a.sqlite", tmp_path / "b.sqlite", tmp_path / "both.sqlite"
    filled(a, suite, keys[:3])
    filled(b, suite, keys[2:])
    with Store(both, write=True) as store:
        assert store.merge(a) == 3
        assert store.merge(b) == 1
        assert store.merge(b) == 0
        united = store.records("toys")
    assert [record.key for record in united] == keys
    assert all(record.ok for record in united)
    with Store(a) as one, Store(b) as other:
        expected = [*one.records("toys")[:3], other.records("toys")[3]]
    assert united == expected
    assert len(rows(both, "session")) == 2
    assert len(rows(both, "run")) == len(united)


def test_a_plan_of_more_cells_is_added_behind(tmp_path, suite, toys):
    more = from_table({**TABLE, "seeds": 3}, "toys", toys.registry)
    a, b = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    filled(a, suite, [p.key for p in suite.cells()])
    filled(b, more, [p.key for p in more.cells()])
    with Store(a, write=True) as store:
        assert store.merge(b) == 2
        found = [record.key for record in store.records("toys")]
    assert found[:4] == [p.key for p in suite.cells()]
    assert set(found) == {p.key for p in more.cells()}
    assert len(found) == 6

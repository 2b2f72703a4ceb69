"""Cells that end at one time: their events come in one group, and are stored in one transaction."""

import pytest

import orthobench as ob
from orthobench.harness.cell import execute
from orthobench.harness.executors import Event
from orthobench.results.store import Store

TABLE = {
    "seeds": 4,
    "budget": {"samples": 50},
    "problem": [{"name": "digits", "k": 2}],
    "solver": [{"name": "oja", "step": {"tune": [0.1, 1]}}],
    "tuning": {"seeds": 2},
}


@pytest.fixture
def bursts(monkeypatch):
    """Run cells inline, and yield all that wait at one time in one group."""

    def run(waiting):
        while cells := list(waiting.drained()):
            for left, cell in zip(range(len(cells))[::-1], cells, strict=True):
                yield Event(cell, "1", execute(cell), left > 0)

    monkeypatch.setattr("orthobench.api.make_executor", lambda *_: run)


def test_a_group_is_stored_at_once_and_before_it_is_told(bursts, monkeypatch, tmp_path):
    groups, add = [], Store.add

    def counted(store, session, finished):
        groups.append(len(finished))
        add(store, session, finished)

    monkeypatch.setattr(Store, "add", counted)
    results = ob.run(TABLE, tmp_path / "s.sqlite", quiet=True)
    assert groups == [4, 2]  # the trials on the tuning seeds, then the chosen one on the rest
    monkeypatch.undo()
    alone = ob.run(TABLE, tmp_path / "alone.sqlite", executor="inline", quiet=True)
    assert [r.trace[-1].metrics for r in results.records] == [
        r.trace[-1].metrics for r in alone.records
    ]

"""Cells that end at one time: their events come in one group, and are stored in one transaction."""

from queue import SimpleQueue
from types import SimpleNamespace

import pytest

import orthobench as ob
from orthobench.harness.cell import Cell, execute
from orthobench.harness.executors import Event, in_batches, local
from orthobench.harness.executors.guard import sealed
from orthobench.harness.stopping import Budget, RunStatus, Termination
from orthobench.harness.trace import Outcome
from orthobench.results.store import Store

DONE = Outcome(Termination(RunStatus.DONE, ""))


def events(*more):
    return [Event(None, str(i), DONE, one) for i, one in enumerate(more)]


def test_groups_end_where_no_more_have_ended():
    found = in_batches(iter(events(False, True, True, False, True, False)))
    assert [[e.worker for e in group] for group in found] == [["0"], ["1", "2", "3"], ["4", "5"]]


def test_what_ended_before_an_error_comes_before_it():
    def lost():
        yield from events(False, True)
        raise ConnectionError

    found = in_batches(lost())
    assert [len(next(found)) for _ in range(2)] == [1, 1]
    with pytest.raises(ConnectionError):
        next(found)


def test_local_workers_that_are_done_at_one_time_are_told_together(toys):
    replies = SimpleQueue()
    crew = [local.Worker(str(i), 1, local.Limits(), replies) for i in range(3)]
    for i, worker in enumerate(crew):
        worker.process, worker.cell = (
            SimpleNamespace(),
            Cell(toys.Problem(), toys.Solver(), i, Budget(steps=1)),
        )
        worker.request = sealed(worker.cell)
    for worker in (crew[2], crew[0]):
        replies.put((worker.process, DONE))
    found = list(local.next_events(crew, replies))
    assert [(e.worker, e.more) for e in found] == [("2", True), ("0", False)]
    assert [worker.request is None for worker in crew] == [True, False, True]


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

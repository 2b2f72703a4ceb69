"""Workers whose processes are written down here, and the choice of an executor."""

import math
import sys
from dataclasses import replace
from functools import partial
from queue import Empty, SimpleQueue
from types import SimpleNamespace

import numpy as np
import pytest

from orthobench.contract import Solution
from orthobench.contract.solver import Work
from orthobench.errors import UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Event, Limits, in_batches, local, make_executor, run_inline
from orthobench.harness.executors.cell_queue import CellQueue
from orthobench.harness.executors.local import Worker, next_events
from orthobench.harness.executors.solving import unimportable
from orthobench.harness.stopping import Budget, RunStatus, Termination
from orthobench.harness.trace import Checkpoint, Outcome
from orthobench.tools.processes import ProcessError

DONE = Outcome(Termination(RunStatus.BUDGET, "the budget is spent"))
POINT = Checkpoint(1.0, 0.0, Work(1)), Solution(np.eye(6)[:, :2])


class Fake:
    """A process that keeps what it is told."""

    def __init__(self, module, settings, threads, replies):
        self.about = module, settings, threads
        self.alive, self.sent = True, []
        STARTED.append(self)

    def send(self, message):
        self.sent.append(message)

    def close(self):
        self.alive = False

    def death(self):
        return ProcessError("killed by SIGKILL", "last words")


STARTED = []


@pytest.fixture(autouse=True)
def now(monkeypatch):
    """The time, which stands still."""
    STARTED.clear()
    clock = SimpleNamespace(at=100.0)
    monkeypatch.setattr(local, "Process", Fake)
    monkeypatch.setattr(local, "time", SimpleNamespace(monotonic=lambda: clock.at))
    return clock


@pytest.fixture
def cell(toys):
    return Cell(toys.Problem(), toys.Solver(), 0, Budget(steps=3))


def worker(**limits):
    return Worker("1", 2, Limits(**limits), SimpleQueue())


def test_a_process_is_started_for_the_first_cell_and_kept(cell):
    one = worker(memory=10**9)
    one.begin(cell)
    (process,) = STARTED
    settings = {"threads": 2, "memory": 10**9, "journal": False}
    assert process.about == ("orthobench.harness.executors.local", settings, 2)
    assert (one.cell, one.held, one.deadline) == (cell, (cell.problem, 0), math.inf)
    assert process.sent[0] is one.request
    assert one.take(DONE) == Event(cell, "1", DONE)
    assert (one.cell, one.request, one.deadline, one.process) == (None, None, math.inf, process)
    one.begin(replace(cell, seed=1))
    assert [process] == STARTED
    assert one.held == (cell.problem, 1)


def test_a_process_that_died_idle_is_replaced(cell):
    one = worker()
    one.begin(cell)
    one.take(DONE)
    STARTED[0].alive = False
    one.begin(cell)
    assert len(STARTED) == 2
    assert one.process is STARTED[1]


def test_every_other_worker_begins_with_the_last_solver(toys):
    """Two that begin with the same one would wait for each other to compile its kernels."""
    steps = (0.25, 0.5, 0.75, 1.0)
    cells = [Cell(toys.Problem(), toys.Solver(step_size=s), 0, Budget(steps=1)) for s in steps]
    crew = [Worker(name, 1, Limits(), SimpleQueue()) for name in "abc"]
    begun = [*local._assign(crew, CellQueue(cells))]
    assert [event.cell for event in begun] == [cells[0], cells[3], cells[1]]
    assert [(event.worker, event.outcome) for event in begun] == [(name, None) for name in "abc"]


@pytest.mark.parametrize(
    ("limits", "status", "kept"),
    [
        ({}, RunStatus.BUDGET, True),
        ({}, RunStatus.ERROR, True),
        ({}, RunStatus.MEMORY, False),
        ({"isolate": True}, RunStatus.BUDGET, False),
    ],
)
def test_a_process_ends_where_memory_was_short_or_each_cell_has_its_own(cell, limits, status, kept):
    one = worker(**limits)
    one.begin(cell)
    one.take(Outcome(Termination(status, "")))
    assert (one.process is not None) is kept
    assert (one.held is not None) is kept
    assert STARTED[0].alive is kept


def test_a_cell_is_killed_at_its_time_limit_and_not_before(cell, now):
    one = worker(timeout=2.5)
    one.begin(cell)
    assert STARTED[0].about[1]["journal"]
    assert one.deadline == 102.5
    now.at = 102.4
    assert one.check_deadline() is None
    now.at = 102.5
    event = one.check_deadline()
    assert event.outcome.stop == Termination(
        RunStatus.TIMEOUT, "killed after its time limit of 2.5 s"
    )
    assert not STARTED[0].alive
    assert one.check_deadline() is None


def test_what_a_killed_run_recorded_is_judged_by_another_process_once(cell, now):
    one = worker(timeout=2.0)
    one.begin(cell)
    request = one.request
    assert one.take(POINT) is None
    now.at = 103.0
    assert one.check_deadline() is None
    (sent,) = STARTED[1].sent
    assert sent[0] is request
    assert (sent[1].marks, sent[1].solutions) == ([POINT[0]], [POINT[1]])
    assert sent[2].status is RunStatus.TIMEOUT
    assert one.deadline == 105.0
    now.at = 106.0
    event = one.check_deadline()
    assert (event.cell, event.outcome) == (cell, Outcome(sent[2]))
    assert not STARTED[1].alive
    assert len(STARTED) == 2


def test_a_run_whose_process_is_gone_crashed(cell):
    one = worker()
    one.begin(cell)
    event = one.take(None)
    stop = Termination(RunStatus.CRASHED, "killed by SIGKILL", "last words")
    assert event.outcome == Outcome(stop)
    assert one.take(None) is None


def test_replies_of_processes_that_are_at_work_count_and_come_together(cell):
    replies = SimpleQueue()
    crew = [Worker(name, 1, Limits(), replies) for name in "ab"]
    for one in crew:
        one.begin(cell)
    gone = Fake("", {}, 1, None)
    for process, reply in (
        (gone, DONE), (crew[1].process, POINT), (crew[1].process, DONE), (crew[0].process, DONE)
    ):  # fmt: skip
        replies.put((process, reply))
    events = [*next_events(crew, replies)]
    assert [(event.worker, event.more) for event in events] == [("b", True), ("a", False)]
    assert replies.empty()


def test_nobody_waits_beyond_a_deadline_or_a_time(cell, now):
    one = worker(timeout=2.0)
    one.begin(cell)
    assert [*next_events([one], one.replies, until=99.0)] == []
    now.at = 102.0
    (event,) = next_events([one], one.replies)
    assert event.outcome.stop.status is RunStatus.TIMEOUT
    assert not event.more


def test_as_long_is_waited_as_is_left(now):
    one, waited = worker(), []

    def get(timeout):
        waited.append(timeout)
        raise Empty

    for deadline, until in ((105.0, math.inf), (105.0, 103.0), (99.0, math.inf), (math.inf,) * 2):
        one.deadline = deadline if deadline > now.at else math.inf
        assert [*next_events([one], SimpleNamespace(get=get), min(deadline, until))] == []
    assert waited == [5.0, 3.0, 0.0, None]


def test_a_cell_is_executed_on_an_idle_worker(cell, monkeypatch):
    one = worker()

    class Prompt(Fake):
        def send(self, message):
            super().send(message)
            one.replies.put((self, POINT))
            one.replies.put((self, DONE))

    monkeypatch.setattr(local, "Process", Prompt)
    assert local.execute(one, cell) is DONE


def test_workers_take_cells_until_none_is_left(cell, monkeypatch):
    class Prompt(Fake):
        def __init__(self, *words):
            super().__init__(*words)
            self.replies = words[-1]

        def send(self, message):
            super().send(message)
            self.replies.put((self, DONE))

    monkeypatch.setattr(local, "Process", Prompt)
    cells = [replace(cell, seed=seed) for seed in range(3)]
    events = [*local.run(cells, workers=2, limits=Limits(memory=10**9))]
    begun = [event.cell.seed for event in events if event.outcome is None]
    ended = [event.cell.seed for event in events if event.outcome is DONE]
    assert sorted(begun) == sorted(ended) == [0, 1, 2]
    assert {event.worker for event in events} <= {"1", "2"}
    assert all(not process.alive for process in STARTED)
    assert [*local.run([])] == []
    STARTED.clear()
    assert len([*local.run(cells)]) == 6
    assert [process.about[2] for process in STARTED] == [1]  # one worker with one thread


def test_limits_are_positive():
    for limits, said in (
        ({"timeout": 0}, "time limit must be positive, not 0"),
        ({"timeout": -1.0}, "time limit"),
        ({"timeout": math.nan}, "time limit"),
        ({"memory": 0}, "memory limit must be positive, not 0"),
        ({"memory": -5}, "memory limit"),
    ):
        with pytest.raises(UsageError, match=said):
            Limits(**limits)
        assert Limits(timeout=1e-9, memory=1).memory == 1, limits


def test_settings_that_an_executor_does_not_have_are_refused():
    for name, settings, said in (
        ("locla", {}, "did you mean 'local'"),
        ("local", {"workers": 0}, "at least one worker, not 0"),
        ("local", {"scheduler": "tls://a:1"}, "goes with dask alone, not local"),
        ("inline", {"scheduler": "tls://a:1"}, "goes with dask alone, not inline"),
        ("dask", {}, "goes with dask alone, not dask"),
        ("inline", {"workers": 2}, "workers and limits need processes"),
        ("inline", {"limits": Limits(isolate=True)}, "workers and limits need processes"),
    ):
        with pytest.raises(UsageError, match=said):
            make_executor(name, **settings)


def test_an_executor_has_its_settings(monkeypatch):
    assert make_executor("inline", limits=Limits()) is run_inline
    assert make_executor("inline", threads=3) is run_inline
    assert make_executor("local").keywords == {"workers": 1, "threads": 1, "limits": None}
    found = make_executor("local", 3, 2, Limits(memory=10**9))
    assert isinstance(found, partial)
    assert found.func is local.run
    assert found.keywords == {"workers": 3, "threads": 2, "limits": Limits(memory=10**9)}
    monkeypatch.setattr(sys, "platform", "darwin")
    assert make_executor("local", limits=Limits(timeout=1.0)).func is local.run
    with pytest.raises(UsageError, match="only Linux can limit"):
        make_executor("local", limits=Limits(memory=10**9))


def test_cells_on_the_same_data_run_together_in_this_process(cell):
    cells = [replace(cell, seed=seed) for seed in (0, 1, 0)]
    events = [*run_inline(cells)]
    assert [event.cell.seed for event in events if event.outcome] == [0, 0, 1]
    assert [event.outcome is None for event in events] == 3 * [True, False]
    assert {event.worker for event in events} == {"1"}
    assert not any(event.more for event in events)
    assert {event.outcome.stop.status for event in events if event.outcome} == {RunStatus.BUDGET}


def test_events_that_are_there_come_in_one_batch(cell):
    flags = [False, True, True, False, True]
    events = [Event(cell, str(i), more=more) for i, more in enumerate(flags)]
    assert [[e.worker for e in batch] for batch in in_batches(iter(events))] == [
        ["0"], ["1", "2", "3"],
    ]  # fmt: skip


def test_events_before_an_error_come_first(cell):
    def failing():
        yield Event(cell, "1", more=True)
        raise ZeroDivisionError

    batches = in_batches(failing())
    assert [event.worker for event in next(batches)] == ["1"]
    with pytest.raises(ZeroDivisionError):
        next(batches)


def test_what_a_process_cannot_import_is_an_error_with_the_way_out():
    stop = unimportable(ModuleNotFoundError("No module named 'mine'"))
    assert stop.status is RunStatus.ERROR
    assert stop.reason == (
        "a worker process cannot import it (No module named 'mine'); take the inline executor"
    )
    assert "ModuleNotFoundError" in stop.traceback


class Wire:
    """A channel whose parent sends these requests; those that are errors cannot be read."""

    def __init__(self, *requests):
        self.requests, self.sent = [*requests, None], []

    def receive(self):
        request = self.requests.pop(0)
        if isinstance(request, Exception):
            raise request
        return request

    def send(self, message):
        self.sent.append(message)

    def close(self):
        pass


@pytest.mark.parametrize("journal", [True, False])
def test_a_worker_process_serves_requests_until_its_parent_is_gone(cell, monkeypatch, journal):
    said = []

    class Noted:
        def __init__(self, threads, memory):
            said.append((threads, memory))

        def execute(self, request, send):
            if send:
                send(*POINT)
            return request, DONE

        def close(self):
            said.append("closed")

    monkeypatch.setattr(local, "prepare_process", lambda channel, memory: said.append(memory))
    monkeypatch.setattr(local, "Guard", Noted)
    monkeypatch.setattr(local, "broken_off", lambda *request: ("judged", *request))
    wire = Wire("a cell", ModuleNotFoundError("No module named 'mine'"), ("cell", "points", "end"))
    local.main(wire, 2, 10**9, journal)
    assert said == [10**9, (2, 10**9), "closed"]
    *points, first, second, third = wire.sent
    assert points == [POINT] * journal
    assert first == ("a cell", DONE)
    assert second.stop.reason.startswith("a worker process cannot import it (No module named")
    assert third == ("judged", "cell", "points", "end")

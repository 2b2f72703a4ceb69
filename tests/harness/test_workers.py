"""Workers whose processes are written down here, and the choice of an executor."""

import math
import sys
from dataclasses import replace
from queue import SimpleQueue
from types import SimpleNamespace

import pytest

from orthobench.errors import UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.executors import (
    Event,
    Executor,
    Limit,
    Limits,
    in_batches,
    local,
    run_inline,
)
from orthobench.harness.executors.local import Worker, next_events
from orthobench.harness.executors.solving import unimportable
from orthobench.harness.stopping import Budget, RunStatus, Termination
from orthobench.harness.trace import Outcome
from orthobench.tools.processes import ProcessError

DONE = Outcome(Termination(RunStatus.BUDGET, "the budget is spent"))


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
    settings = {"threads": 2, "memory": 10**9}
    assert process.about == ("orthobench.harness.executors.local", settings, 2)
    assert (one.cell, one.held, one.deadline) == (cell, (cell.problem, 0), math.inf)
    ((sent, limit),) = process.sent
    assert (sent.problem, sent.seed, limit) == (cell.problem, 0, Limit(60.0))
    assert one.take(DONE) == Event(cell, "1", DONE)
    assert (one.cell, one.deadline, one.late) == (None, math.inf, math.inf)
    assert one.process is process
    one.begin(replace(cell, seed=1))
    assert [process] == STARTED
    assert one.held == (cell.problem, 1)


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


def test_the_process_cuts_a_cell_and_is_ended_only_if_it_does_not(cell, now):
    one = worker(timeout=2.5)
    one.begin(cell)
    assert STARTED[0].sent[0][1] == Limit(2.5, whole=True)
    now.at = one.deadline - 0.1
    assert one.check_deadline() is None
    now.at = one.deadline
    event = one.check_deadline()
    assert event.outcome.stop.status is RunStatus.TIMEOUT
    assert event.outcome.stop.limit == 2.5
    assert not STARTED[0].alive
    assert one.check_deadline() is None


def test_limits_follow_the_budget_the_slowest_cell_and_what_cut_it_before(cell):
    def limit(slowest=0.0, cut=0.0, **budget):
        return Limits().limit(replace(cell, budget=Budget(**budget), cut=cut), slowest)

    assert limit(steps=5) == Limit(60.0)
    assert limit(steps=5, slowest=7.0) == Limit(70.0)
    assert limit(steps=5, cut=60.0) == Limit(120.0)
    assert limit(steps=5, cut=60.0, slowest=100.0) == Limit(1000.0)
    assert limit(seconds=2) == Limit(25.0)
    assert limit(seconds=100, slowest=1e6) == Limit(1000.0)
    assert Limits(3.0).limit(replace(cell, cut=60.0), 1e6) == Limit(3.0, whole=True)


def test_the_slowest_finished_cell_of_all_workers_counts(cell, now):
    one = worker()
    one.begin(cell)
    now.at += 20
    one.take(DONE)
    one.begin(cell)
    assert STARTED[0].sent[1][1] == Limit(200.0)
    now.at += 2000
    one.take(Outcome(Termination.cut(200.0)))
    one.begin(cell)
    assert STARTED[0].sent[2][1] == Limit(200.0)


def test_a_cell_that_takes_long_is_told_with_its_limit_and_ever_more_seldom(cell, now):
    one = worker()
    one.begin(cell)
    told = []
    for _ in range(1000):
        now.at += 1
        if event := one.check_deadline():
            assert (event.cell, event.outcome) == (cell, None)
            assert "60 s" in event.late
            assert "--timeout" in event.late
            told.append(now.at)
    assert 2 < len(told) < 8
    one.take(DONE)
    now.at += 1000
    assert one.check_deadline() is None


def test_a_solver_that_cannot_be_sent_is_the_error_of_its_cell(cell, monkeypatch):
    def refuses(self, problem):
        raise ArithmeticError("a wrong turn")

    monkeypatch.setattr(type(cell.solver), "refuses", refuses)
    one = worker()
    one.begin(cell)
    (event,) = next_events([one], one.replies)
    assert event.outcome.stop.status is RunStatus.ERROR
    assert "power: ArithmeticError" in event.outcome.stop.reason


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
        (gone, DONE), (crew[1].process, DONE), (crew[0].process, DONE)
    ):  # fmt: skip
        replies.put((process, reply))
    events = [*next_events(crew, replies)]
    assert [(event.worker, event.more) for event in events] == [("b", True), ("a", False)]
    assert replies.empty()


def test_nobody_waits_beyond_a_deadline_or_a_time(cell, now):
    one = worker(timeout=2.0)
    one.begin(cell)
    assert [*next_events([one], one.replies, until=99.0)] == []
    now.at = one.deadline
    (event,) = next_events([one], one.replies)
    assert event.outcome.stop.status is RunStatus.TIMEOUT
    assert not event.more


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


def test_settings_that_an_executor_does_not_have_are_refused(monkeypatch):
    for name, settings, said in (
        ("locla", {}, "did you mean 'local'"),
        ("local", {"workers": 0}, "workers must be a whole number >= 1, not 0, nor 'auto'"),
        ("local", {"scheduler": "tls://a:1"}, "goes with dask alone, not local"),
        ("inline", {"scheduler": "tls://a:1"}, "goes with dask alone, not inline"),
        ("dask", {}, "goes with dask alone, not dask"),
        ("inline", {"workers": 2}, "workers and limits need processes"),
        ("inline", {"limits": Limits(isolate=True)}, "workers and limits need processes"),
    ):
        with pytest.raises(UsageError, match=said):
            Executor(name, **settings)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UsageError, match="only Linux can limit"):
        Executor(limits=Limits(memory=10**9))


def test_an_executor_says_how_many_runs_share_the_machine(monkeypatch):
    monkeypatch.setattr("orthobench.harness.executors.cores", lambda: 8)
    for executor, at_once in (
        (Executor("inline"), 1), (Executor(workers=3), 3), (Executor(workers="auto", threads=3), 2),
        (Executor(workers="auto", threads=9), 1), (Executor("inline", "auto"), 1),
    ):  # fmt: skip
        facts = executor.facts()
        assert (executor.at_once, facts["workers"], facts["shared"]) == (at_once,) * 3
    assert Executor(limits=Limits(timeout=9.0)).facts()["timeout"] == 9.0


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

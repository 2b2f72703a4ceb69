"""A guarded run with a scripted process of the solver: records, judgement, limits, samples."""

import math
import os
import re
import threading
from dataclasses import replace

import numpy as np
import pytest
from orthobench_kit.sources import ArraySource
from orthobench_kit.streams import IteratorSource, SamplerSource

from orthobench.contract import DataError, Solution
from orthobench.contract.solver import Work
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Limit, clocks
from orthobench.harness.executors import guard as module
from orthobench.harness.executors.guard import Guard, sealed
from orthobench.harness.executors.messages import BEGUN, CHANGED, NOTICED, OVER, SampleServer
from orthobench.harness.identity import Streams
from orthobench.harness.stopping import FAULTS, Budget, RunStatus, Target, Termination
from orthobench.harness.trace import Checkpoint
from orthobench.tools.machine import Usage
from orthobench.tools.processes import ProcessError

STREAMS = Streams.of("toy", "power", 0)
BEST, WORST = np.eye(6)[:, :2], np.eye(6)[:, 4:]


def point(steps, point=BEST):
    return Checkpoint(float(steps), 0.0, Work(steps)), Solution(point)


class Scripted:
    """A process that sends given messages, and keeps those that it gets."""

    def __init__(self, *messages):
        self.messages, self.sent = [*messages], []
        self.alive, self.pid = True, os.getpid()

    def send(self, message):
        self.sent.append(message)

    def receive(self):
        message = self.messages.pop(0)
        if isinstance(message, Exception):
            raise message
        if isinstance(message, Termination):
            return message.status.value, message.reason, message.traceback
        return message

    def close(self):
        self.alive = False

    def kill(self):
        self.alive = False


DONE = Termination(RunStatus.BUDGET, "the budget is spent")


@pytest.fixture(autouse=True)
def idle(monkeypatch):
    """Let this process, which judges, stand for that of the solver."""
    monkeypatch.setattr(clocks, "BUSY", math.inf)


@pytest.fixture
def cell(toys):
    return sealed(Cell(toys.Problem(), toys.Solver(), 0, Budget(steps=3)))


def executed(cell, *messages):
    guard = Guard(1)
    guard.process = process = Scripted(*messages)
    outcome = guard.execute(cell)
    guard.asked = process
    return outcome, guard


def test_points_are_judged_and_the_solution_is_not_kept(cell, monkeypatch):
    loads = iter((1, 2))
    monkeypatch.setattr(module, "load", lambda: next(loads))
    marks = [point(0, WORST), point(3)]
    outcome, guard = executed(cell, BEGUN, *marks, DONE)
    assert outcome.stop == DONE
    assert [mark.metrics["gap"] for mark in outcome.trace] == [8.0, 0.0]
    assert outcome.final is None
    assert outcome.load == (1, 2)
    (start,) = guard.asked.sent
    assert (start.budget, start.threads, start.target, start.measure) == (cell.budget, 1, False, "")


def test_dead_process_is_a_crash_with_the_points_so_far(cell):
    outcome, _ = executed(cell, BEGUN, point(0), ProcessError("killed by SIGKILL", "last words"))
    assert outcome.stop == Termination(RunStatus.CRASHED, "killed by SIGKILL", "last words")
    assert len(outcome.trace) == 1
    assert outcome.load is None


def test_refused_problem_starts_no_process(cell):
    refused = replace(cell, solver=replace(cell.solver, refusal="too large"))
    guard = Guard(1)
    assert guard.execute(refused).stop == Termination(RunStatus.REFUSED, "too large")
    assert guard.process is None


def test_error_of_building_names_the_problem(cell, monkeypatch):
    def fail(cell):
        raise ZeroDivisionError("toy")

    monkeypatch.setattr(module, "built", fail)
    outcome, guard = executed(cell)
    assert outcome.stop.status is RunStatus.ERROR
    fault = "problem leading-subspace: ZeroDivisionError('toy') (test_guard.py, line"
    assert outcome.stop.reason.startswith(fault)
    assert guard.asked.sent == []


class Stuck(Scripted):
    """A process that sends given messages, and then waits until it is killed."""

    def __init__(self, *messages):
        super().__init__(*messages)
        self.killed = threading.Event()

    def receive(self):
        if self.messages:
            return super().receive()
        self.killed.wait()
        raise ProcessError("its process was killed by SIGKILL")

    def kill(self):
        self.killed.set()


@pytest.mark.parametrize("whole", [True, False])
def test_cut_run_keeps_its_points(cell, whole):
    guard = Guard(1)
    guard.process = Stuck(BEGUN, point(0, WORST), point(1))
    outcome = guard.execute(cell, Limit(0.05, whole))
    assert (outcome.stop.status, outcome.stop.limit) == (RunStatus.TIMEOUT, 0.05)
    assert [mark.metrics["gap"] for mark in outcome.trace] == [8.0, 0.0]
    guard.process = Stuck()
    outcome = guard.execute(cell, Limit(0.05, whole))
    assert outcome.stop.reason == "cut by the limit of 0.05 s in its warm-up"
    guard.process = Stuck(BEGUN, point(0, WORST), point(1))
    met = guard.execute(replace(cell, until=Target("gap", 9.0)), Limit(0.05, whole))
    assert met.stop.status is RunStatus.TARGET


def test_call_that_outlasts_the_budget_is_ended_with_its_points(cell):
    timed = replace(cell, budget=Budget(seconds=3.0))
    limit, guard = Limit(60.0, clock=2.05), Guard(1)
    guard.process = Stuck(BEGUN, point(0, WORST), point(1), point(2))
    outcome = guard.execute(timed, limit)
    assert (outcome.stop.status, outcome.stop.outlasted) == (RunStatus.BUDGET, True)
    assert [mark.metrics["gap"] for mark in outcome.trace] == [8.0, 0.0, 0.0]
    guard.process = Stuck(BEGUN)
    early = guard.execute(timed, replace(limit, clock=0.05))
    assert (early.stop.status, early.stop.outlasted) == (RunStatus.TIMEOUT, True)
    guard.process = Stuck(BEGUN, point(0, WORST))
    shorter = guard.execute(timed, Limit(0.05, whole=True, clock=2.05))
    assert (shorter.stop.status, shorter.stop.limit) == (RunStatus.TIMEOUT, 0.05)


def test_run_over_its_budget_is_not_ended(cell):
    timed = replace(cell, budget=Budget(seconds=2.0))
    guard = Guard(1)
    guard.process = process = Scripted(BEGUN, point(0, WORST), point(3), DONE)
    outcome = guard.execute(timed, Limit(60.0, clock=2.2))
    assert outcome.stop.reason.startswith(DONE.reason)
    assert (process.alive, len(outcome.trace)) == (True, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"work": None}, "it counts steps as None"),
        ({"work": Work(1, 0, 1.5)}, "it counts flops as 1.5"),
        ({"seconds": math.nan}, "it took nan seconds"),
        ({"seconds": "1"}, "it took '1' seconds"),
        ({"extra_metrics": 7}, "TypeError\\|AttributeError"),
    ],
)
def test_invalid_checkpoint_is_an_error_of_its_cell(cell, changes, message):
    mark, solution = point(1)
    outcome, guard = executed(cell, BEGUN, point(0), (replace(mark, **changes), solution), DONE)
    assert outcome.stop.status is RunStatus.ERROR
    assert "power: its process sent what it must not" in outcome.stop.reason
    assert re.search(message.replace("\\|", "|"), outcome.stop.reason)
    assert len(outcome.trace) == 1
    assert guard.process is None


@pytest.mark.parametrize("wrong", [np.ones(6), np.eye(6, 2) * 1j, np.eye(6, 2, dtype=object), "a"])
def test_invalid_solution_is_an_error_of_its_cell(cell, wrong):
    outcome, _ = executed(cell, BEGUN, point(0), (point(1)[0], Solution(wrong)), DONE)
    assert outcome.stop.status is RunStatus.ERROR
    assert "power: its process sent what it must not" in outcome.stop.reason


def test_metrics_of_a_solver_do_not_replace_those_of_the_judge(cell):
    lies = {"gap": -7.0, "constraint_violation": 0.0, "warm_up_seconds": 5.0, "peak_bytes": 3.0}
    mark, solution = point(1, 2 * BEST)
    sent = replace(mark, metrics=lies, extra_metrics=lies), solution
    honest, guard = executed(cell, BEGUN, (mark, solution), DONE)
    assert guard.process is not None
    outcome, guard = executed(cell, BEGUN, sent, DONE)
    assert outcome.trace[0].metrics == honest.trace[0].metrics
    assert outcome.stop == honest.stop
    assert outcome.stop.status is RunStatus.INFEASIBLE
    assert guard.process is None
    measuring, _ = executed(replace(cell, measure="memory"), BEGUN, sent, DONE)
    assert measuring.trace[0].metrics == {**honest.trace[0].metrics, "peak_bytes": 3.0}


def test_run_without_its_signals_is_suspect(cell, monkeypatch):
    used = Usage(cpu=1.0, wall=10.0, queued=1.0, children=0)
    monkeypatch.setattr(clocks, "usage", lambda pid: used)
    monkeypatch.setattr(clocks, "queued", lambda pid: 0.0)
    assert executed(cell, BEGUN, point(0), DONE)[0].stop == DONE
    for messages in ([point(0), DONE], [point(0), BEGUN, point(1), DONE]):
        outcome, guard = executed(cell, *messages)
        assert outcome.stop.status is RunStatus.SUSPECT, messages
        assert guard.process is None


def test_changed_process_is_not_used_again(cell):
    outcome, guard = executed(cell, BEGUN, point(0), point(1), CHANGED, DONE)
    assert outcome.stop == DONE
    assert guard.process is None
    assert not guard.asked.alive


def test_noticed_fault_is_named_with_its_remedy(cell):
    outcome, _ = executed(cell, BEGUN, point(0), point(3), (NOTICED, ["output", "other"]), DONE)
    assert outcome.stop.status is DONE.status
    assert outcome.stop.reason == f"{DONE.reason}; {FAULTS['output']}"
    assert outcome.stop.faults == (FAULTS["output"],)


@pytest.mark.parametrize(("seconds", "kept"), [(0.1, False), (0.04, True)])
def test_process_that_works_during_judging_is_not_used_again(cell, monkeypatch, seconds, kept):
    start, end = (Usage(cpu=1.0, wall=t, queued=0.0, children=0) for t in (10.0, 10.5))
    later = Usage(cpu=1.0 + seconds, wall=10.6, queued=0.0, children=0)
    uses = iter([start, end, later])
    monkeypatch.setattr(clocks, "usage", lambda pid: next(uses))
    monkeypatch.setattr(clocks, "queued", lambda pid: 0.0)
    monkeypatch.setattr(clocks, "BUSY", 0.5)
    outcome, guard = executed(cell, BEGUN, point(0), point(4), DONE)
    assert outcome.stop.status is DONE.status
    assert (guard.process is not None) is kept


def test_target_is_judged_at_the_last_point(cell):
    for until, points, status in (
        (None, [point(1)], None),
        (Target("gap", 1.0), [], None),
        (Target("gap", 1.0), [point(1, WORST)], None),
        (Target("gap", 1.0), [point(1)], RunStatus.TARGET),
        (Target("gap", 1.0), [point(1), point(2, WORST)], None),
        (Target("gup", 1.0), [point(1)], RunStatus.ERROR),
    ):
        _, guard = executed(replace(cell, until=until), BEGUN, *points, OVER, DONE)
        start, (stop, error) = guard.asked.sent
        assert start.target is (until is not None), (until, points)
        assert error is None, (until, points)
        assert (stop and stop.status) == status, (until, points)


def test_run_with_a_wrong_clock_is_suspect(cell, monkeypatch):
    asked = []

    def suspect(spent, clock, threads, volume):
        asked.append((spent, clock, threads, volume))
        return "it took longer"

    monkeypatch.setattr(clocks, "suspicion", suspect)
    points = [point(0), point(3)]
    outcome, _ = executed(cell, BEGUN, *points, DONE)
    assert outcome.stop == Termination(RunStatus.SUSPECT, "it took longer")
    ((_, clock, threads, volume),) = asked
    assert (clock, threads, volume) == (3.0, 1, 2 * BEST.nbytes)
    failing = Termination(RunStatus.ERROR, "it raised")
    assert executed(cell, BEGUN, *points, failing)[0].stop == failing
    assert len(asked) == 1


X = np.arange(40.0).reshape(20, 2)


def served(server, count, source=0):
    """Replies to `count` requests, the first of them from the beginning."""
    return [server.rows(source, i == 0)[0] for i in range(count)]


def test_server_sends_twice_as_many_samples_each_time():
    server = SampleServer([ArraySource(X)], STREAMS, np.inf, 3)
    rows = served(server, 5)
    assert [None if r is None else len(r) for r in rows] == [3, 3, 6, 8, None]
    assert np.array_equal(np.concatenate(rows[:4]), X)
    assert server.bytes == X.nbytes
    single = SampleServer([ArraySource(X)], STREAMS, np.inf, 1)
    assert [len(rows) for rows in served(single, 5)] == [1, 1, 2, 4, 8]


def test_server_begins_again_if_the_first_samples_are_asked_for():
    server = SampleServer([ArraySource(X), ArraySource(X + 100)], STREAMS, np.inf, 3)
    asked = [server.rows(*which)[0] for which in ((0, True), (1, False), (0, False), (0, True))]
    for rows, expected in zip(asked, (X[:3], X[:3] + 100, X[3:6], X[:3]), strict=True):
        assert np.array_equal(rows, expected)


def test_server_without_budget_reads_no_samples():
    rows = iter([np.ones(2), np.ones(2)])
    server = SampleServer([SamplerSource(lambda *_: next(rows), 2)], STREAMS, 0, 3)
    assert server.rows(0, True) == (None, None)
    assert len([*rows]) == 2
    source = IteratorSource(row for row in X)
    nobody = SampleServer([source], STREAMS, 0, 3)
    assert served(nobody, 3) == [None] * 3
    assert len(SampleServer([source], STREAMS, np.inf, 3).rows(0, True)[0]) == 3


def test_server_sends_at_most_the_budget():
    for most, counts in ((7, [3, 3, 1, 0]), (3, [3, 0]), (2, [2, 0])):
        rows = served(SampleServer([ArraySource(X)], STREAMS, most, 3), len(counts))
        assert [0 if r is None else len(r) for r in rows] == counts, most


def test_server_draws_from_the_stream_of_the_run():
    def draw(rng, count):
        return rng.standard_normal((count, 2))

    rows, _ = SampleServer([SamplerSource(draw, 2)], STREAMS, np.inf, 3).rows(0, True)
    drawn = draw(np.random.default_rng(STREAMS.samples), 256)
    assert np.array_equal(rows, drawn[:3])


def test_server_returns_errors_of_the_samples():
    server = SampleServer([ArraySource(np.full((5, 2), np.nan))], STREAMS, np.inf, 3)
    rows, error = server.rows(0, True)
    assert rows is None
    assert isinstance(error, DataError)
    rows, error = server.rows(7, True)
    assert (rows, type(error), str(error)[:12]) == (None, RuntimeError, "the samples:")

"""What a solver's process does before a run begins."""

import gc
import pickle
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from orthobench_kit.sources import ArraySource

from orthobench.contract import DataError, SampleOracle, Solution, Solver, State
from orthobench.harness.executors import solving
from orthobench.harness.executors.messages import BEGUN, OVER, Start, packed
from orthobench.harness.identity import Streams
from orthobench.harness.stopping import Budget, RunStatus, Termination


class Wire:
    """A channel whose parent sends one request; it notes the collector at each message back."""

    def __init__(self, *requests):
        self.requests, self.sent = [*requests, None], []

    def receive(self):
        return self.requests.pop(0)

    def send(self, message):
        self.sent.append((message, gc.isenabled()))


@pytest.fixture
def start(toys):
    oracle = toys.Problem().build(None).oracle
    packed_oracle, _ = packed(oracle, "toy")
    solver = pickle.dumps(toys.Solver())
    return Start(packed_oracle, solver, Budget(steps=3), Streams.of("toy", "power", 0), 1, False)


class Answers(Wire):
    """A channel whose parent answers what it is asked, too."""

    def __init__(self, answers, *requests):
        super().__init__(*requests)
        self.answers, self.asked = answers, []

    def send(self, message):
        super().send(message)
        if message == OVER or (isinstance(message, tuple) and isinstance(message[0], int)):
            self.asked.append(message)
            self.requests.insert(0, self.answers.pop(0))


@pytest.fixture
def quiet(monkeypatch):
    monkeypatch.setattr(solving, "prepare_process", lambda *about: None)
    # other tests replace functions in this process
    unchanged = SimpleNamespace(changed=lambda: False)
    monkeypatch.setattr(solving, "ProcessState", lambda: unchanged)


def ended(wire):
    """How the runs of a channel ended, and the steps of the points that it sent."""
    messages = [message for message, _ in wire.sent]
    stops = [message for message in messages if isinstance(message, Termination)]
    points = [m for m in messages if isinstance(m, tuple) and not isinstance(m[0], int)]
    return [stop.status for stop in stops], [mark.work.steps for mark, _ in points]


def test_runs_are_sent_point_by_point_and_an_oracle_stays_for_the_next(start, quiet):
    wire = Wire(start, replace(start, packed_oracle=None, budget=Budget(steps=1)))
    solving.main(wire, None)
    assert ended(wire) == ([RunStatus.BUDGET] * 2, [0, 1, 2, 3, 0, 1])
    assert [message for message, _ in wire.sent].count(BEGUN) == 2


def test_a_solver_asks_whether_it_is_over_where_there_is_a_target(start, quiet):
    stop = Termination(RunStatus.TARGET, "gap <= 1")
    wire = Answers([(stop, None)], replace(start, target=True))
    solving.main(wire, None)
    assert wire.asked == [OVER]
    assert ended(wire) == ([RunStatus.TARGET], [0])
    on = Answers([(None, None)] * 4, replace(start, target=True))
    solving.main(on, None)
    assert ended(on)[0] == [RunStatus.BUDGET]


@dataclass(frozen=True)
class Taking(Solver[SampleOracle, State]):
    """Takes a sample a step, and does nothing with it."""

    name: ClassVar[str] = "taking"
    batch: ClassVar[int] = 1

    def init(self, oracle, rng):
        return State()

    def step(self, oracle, state):
        state.work.steps += 1
        state.work.samples += len(oracle.take(1))

    def solution(self, state):
        return Solution(np.eye(2)[:, :1])


def test_samples_are_asked_for_and_what_cannot_be_read_ends_the_run(toys, quiet):
    X = np.ones((600, 2))
    packed_oracle, _ = packed(SampleOracle(ArraySource(X), 1), "toy")
    solver = pickle.dumps(Taking())
    start = Start(
        packed_oracle, solver, Budget(samples=4), Streams.of("toy", "taking", 0), 1, False
    )
    wire = Answers([(X, None)] * 2, start)
    solving.main(wire, None)
    assert wire.asked == [(0, True)] * 2
    assert ended(wire)[0] == [RunStatus.BUDGET]
    failing = Answers([(None, DataError("row 3 is not finite"))], start)
    solving.main(failing, None)
    (stop,) = [m for m, _ in failing.sent if isinstance(m, Termination)]
    assert (stop.status, stop.reason) == (RunStatus.ERROR, "row 3 is not finite")
    with pytest.raises(EOFError):  # the parent is gone
        solving._rows(Wire(), 0, True)


def test_what_cannot_be_imported_or_made_ready_ends_before_the_run(start, quiet, monkeypatch):
    wire = Wire(replace(start, solver=b"no pickle"))
    solving.main(wire, None)
    ((stop, _),) = wire.sent
    assert "a worker process cannot import it" in stop.reason

    def fail(*about):
        raise ZeroDivisionError("toy")

    monkeypatch.setattr(solving, "ready_oracle", fail)
    wire = Wire(start)
    solving.main(wire, None)
    ((stop, _),) = wire.sent
    assert stop.status is RunStatus.ERROR
    assert stop.reason.startswith("power: ZeroDivisionError('toy') (test_solving.py, line")
    assert gc.isenabled()

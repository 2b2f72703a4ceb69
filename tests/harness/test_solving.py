"""What a solver's process does before a run begins."""

import gc
import pickle

import pytest

from orthobench.harness.executors import solving
from orthobench.harness.executors.messages import BEGUN, Start, packed
from orthobench.harness.identity import Streams
from orthobench.harness.stopping import Budget, RunStatus


class Ring:
    """An object that only the garbage collector can free."""

    def __init__(self):
        self.itself = self


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


def test_garbage_of_the_warm_up_is_collected_once_before_the_run(start, monkeypatch):
    collecting, collected = [], []
    ready = solving.ready_oracle

    def ready_oracle(*about):
        collecting.append(gc.isenabled())
        ring = Ring()
        gc.callbacks.append(note)
        del ring
        return ready(*about)

    def note(phase, info):
        if phase == "stop":
            collected.append((info["generation"], info["collected"] > 0))

    monkeypatch.setattr(solving, "prepare_process", lambda *about: None)
    monkeypatch.setattr(solving, "ready_oracle", ready_oracle)
    wire = Wire(start)
    try:
        solving.main(wire, None)
    finally:
        gc.callbacks.remove(note)
    assert collecting == [False]
    assert collected[0] == (0, True)
    begun, *_, ended = wire.sent
    assert begun == (BEGUN, True)
    assert ended[0].status is RunStatus.BUDGET

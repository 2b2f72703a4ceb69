"""An oracle in another process: its arrays are there, its samples come when they are asked for."""

import pickle
import threading

import numpy as np
import pytest

from orthobench.contract.problem import Oracle
from orthobench.contract.samples import SampleSource
from orthobench.errors import UsageError
from orthobench.harness.executors.messages import packed, unpacked


class Rows(SampleSource):
    def __init__(self, d, size):
        self.d, self.size = d, size

    def blocks(self, rng):
        yield np.ones((1, self.d))


class TwoSources(Oracle):
    def __init__(self):
        first, second = Rows(2, 10), Rows(3, np.inf)
        self.n, self.k = 3, 1
        self.sources = [first, second, first]
        self.fixed, self.free = np.arange(3.0), np.arange(4.0)
        self.fixed.flags.writeable = False


def never(source, first):
    raise AssertionError("nobody asked for samples")


def test_arrays_arrive_and_may_be_written_into_as_before():
    sent, _ = packed(TwoSources(), "p")
    found, other = unpacked(sent, never), unpacked(sent, never)
    assert not found.fixed.flags.writeable
    found.free[0] = 9
    assert (found.fixed.tolist(), found.free.tolist()) == ([0, 1, 2], [9, 1, 2, 3])
    assert other.free.tolist() == [0, 1, 2, 3]


def test_each_source_stays_once_and_asks_by_its_number():
    sent, sources = packed(TwoSources(), "p")
    assert [source.d for source in sources] == [2, 3]
    asked = []

    def ask(source, first):
        asked.append((source, first))
        return np.ones((1, 3)) if len(asked) % 3 else None

    found = unpacked(sent, ask)
    assert [(source.index, source.d, source.size) for source in found.sources] == [
        (0, 2, 10), (1, 3, np.inf), (0, 2, 10)
    ]  # fmt: skip
    for _ in range(2):
        assert len(list(found.sources[1].blocks(None))) == 2
    assert asked == [(1, True), (1, False), (1, False)] * 2


def test_where_sources_are_wanted_too_they_go_with_it():
    sent, sources = packed(TwoSources(), "p", whole=True)
    assert sources == []
    assert [type(source) for source in unpacked(sent, never).sources] == [Rows] * 3


def test_what_cannot_be_sent_is_said():
    oracle = TwoSources()
    oracle.cost = threading.Lock()
    with pytest.raises(UsageError, match=r"the oracle of p cannot be sent .*take the inline"):
        packed(oracle, "p")
    assert pickle.dumps(TwoSources())

"""Messages of a solver's process are read as data, and oracles ask for their samples."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from orthobench_kit.sources import ArraySource

from orthobench.contract import SampleOracle, Solution
from orthobench.contract.solver import Work
from orthobench.errors import UsageError
from orthobench.harness.executors.messages import packed, read, unpacked
from orthobench.harness.stopping import Budget, RunStatus, Termination
from orthobench.harness.trace import Checkpoint


def asks(X, sizes, asked):
    """A function that returns the rows of arrays in pieces, and notes what it was asked."""
    state = {}

    def ask(source, first):
        asked.append((source, first))
        if first:
            state[source] = [X[source][: sizes[0]], X[source][sizes[0] :]]
        return state[source].pop(0) if state[source] else None

    return ask


def test_unpacked_oracle_asks_for_its_samples():
    X = np.arange(12.0).reshape(6, 2)
    oracle = SampleOracle(ArraySource(X), 1)
    oracle.start, oracle.data = np.ones((2, 1)), np.ones(1000)
    oracle.start.flags.writeable = False
    message, sources = packed(oracle, "toy")
    assert sources == [oracle.source]
    asked = []
    found = unpacked(message, asks([X], [4, 2], asked))
    assert (found.n, found.k, found.source.size, found.source.d) == (2, 1, 6, 2)
    found.rewind(np.random.default_rng(0))
    found.prepare(6)
    assert np.array_equal(found.take(6), X)
    assert asked == [(0, True), (0, False)]
    assert found.data.flags.writeable
    assert not found.start.flags.writeable
    found.data[:] = 0
    assert np.all(unpacked(message, asks([X], [6], [])).data == 1)


def test_packed_oracle_numbers_each_source_once():
    X, Y = np.ones((3, 2)), np.zeros((4, 5))
    first, second = ArraySource(X), ArraySource(Y)
    oracle = SampleOracle(first, 1)
    oracle.more = [second, first]
    message, sources = packed(oracle, "toy")
    assert sources == [first, second]
    found = unpacked(message, asks([X, Y], [3], []))
    assert [source.index for source in (found.source, *found.more)] == [0, 1, 0]


def test_whole_oracle_brings_its_samples():
    X = np.arange(12.0).reshape(6, 2)
    message, sources = packed(SampleOracle(ArraySource(X), 1), "toy", whole=True)
    assert sources == []
    found = unpacked(message, None)
    found.prepare(6)
    assert np.array_equal(found.take(6), X)


def test_oracle_that_cannot_be_pickled_names_its_problem():
    oracle = SampleOracle(ArraySource(np.ones((3, 2))), 1)
    oracle.stream = (row for row in [])
    with pytest.raises(UsageError, match=r"the oracle of toy cannot be sent .* inline executor"):
        packed(oracle, "toy")


def test_messages_of_arrays_numbers_and_solutions_are_read():
    for message in (
        np.float64(2.0), "begun", (0, True), None, Checkpoint(1.0, 0.5, Work(1, 2, 3)),
        ("done", "converged", ""),
    ):  # fmt: skip
        assert read(pickle.dumps(message)) == message
    found = read(pickle.dumps(Solution(np.eye(2), np.ones(2))))
    assert type(found) is Solution
    assert found.weights.tolist() == [1.0, 1.0]


def test_messages_of_other_classes_are_refused():
    foreign = (
        print, Path("x"), SampleOracle, np.random.default_rng, Budget(), getattr, RunStatus.DONE,
        Termination(RunStatus.DONE, ""),
    )  # fmt: skip
    for one in foreign:
        with pytest.raises(pickle.UnpicklingError, match="is not allowed in a message"):
            read(pickle.dumps(one))

"""What a solver's process writes is read as data, however its Python pickles it."""

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


class Reduced:
    """Pickled as a call."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


def test_messages_come_back():
    ended = Termination(RunStatus.DONE, "converged")
    assert read(pickle.dumps(ended)) == ended


def test_an_ending_comes_back_that_an_early_python_3_11_wrote():
    written = Reduced(Termination, (Reduced(getattr, (RunStatus, "DONE")), "converged"))
    assert read(pickle.dumps(written)) == Termination(RunStatus.DONE, "converged")


def test_no_other_attribute_does():
    for call in (
        (getattr, (RunStatus, "__init__")), (getattr, (Termination, "__init__")),
        (getattr, (Termination, "x")),
        (getattr, ("", "format")), (getattr, (RunStatus, "__class__")),
        (setattr, (RunStatus, "x", 1)), (delattr, (RunStatus, "DONE")),
    ):  # fmt: skip
        with pytest.raises(pickle.UnpicklingError):
            read(pickle.dumps(Reduced(*call)))


def asks(X, sizes, asked):
    """What hands out the rows of an array in pieces of these sizes, and notes what it was asked."""
    state = {}

    def ask(source, first):
        asked.append((source, first))
        if first:
            state[source] = [X[source][: sizes[0]], X[source][sizes[0] :]]
        return state[source].pop(0) if state[source] else None

    return ask


def test_an_oracle_asks_for_its_samples_where_it_is_unpacked():
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


def test_sources_are_numbered_once_each():
    X, Y = np.ones((3, 2)), np.zeros((4, 5))
    first, second = ArraySource(X), ArraySource(Y)
    oracle = SampleOracle(first, 1)
    oracle.more = [second, first]
    message, sources = packed(oracle, "toy")
    assert sources == [first, second]
    asked = []
    found = unpacked(message, asks([X, Y], [3], asked))
    assert [(source.index, source.d, source.size) for source in (found.source, *found.more)] == [
        (0, 2, 3), (1, 5, 4), (0, 2, 3),
    ]  # fmt: skip
    for source in (found.source, *found.more):
        next(source.blocks(np.random.default_rng(0)))
    assert asked == [(0, True), (1, True), (0, True)]


def test_a_whole_oracle_has_its_samples_with_it():
    X = np.arange(12.0).reshape(6, 2)
    message, sources = packed(SampleOracle(ArraySource(X), 1), "toy", whole=True)
    assert sources == []
    found = unpacked(message, None)
    found.prepare(6)
    assert np.array_equal(found.take(6), X)


def test_an_oracle_that_cannot_be_sent_names_its_problem():
    oracle = SampleOracle(ArraySource(np.ones((3, 2))), 1)
    oracle.stream = (row for row in [])
    with pytest.raises(UsageError, match=r"the oracle of toy cannot be sent .* inline executor"):
        packed(oracle, "toy")


def test_arrays_numbers_and_points_come_back():
    for message in (
        np.eye(3), np.float64(2.0), "begun", (0, True), None, Checkpoint(1.0, 0.5, Work(1, 2, 3)),
        (Checkpoint(1.0, 0.5, Work()), RunStatus.DONE),
    ):  # fmt: skip
        found = read(pickle.dumps(message))
        assert (
            np.array_equal(found, message) if isinstance(message, np.ndarray) else found == message
        ), message


def test_a_solution_comes_back():
    found = read(pickle.dumps(Solution(np.eye(2), np.ones(2))))
    assert type(found) is Solution
    assert found.weights.tolist() == [1.0, 1.0]


def test_nothing_else_is_read():
    for foreign in (print, Path("x"), SampleOracle, np.random.default_rng, Budget()):
        with pytest.raises(pickle.UnpicklingError, match="is no part of a message"):
            read(pickle.dumps(foreign))

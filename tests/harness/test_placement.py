"""Runs elsewhere than in NumPy, on a library that computes later than it is asked to."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import orthobench as ob
from orthobench.contract import ArraySolver, SampleOracle, Solution, State
from orthobench.harness import run as harness
from orthobench.harness.execution import CLOCK
from orthobench.harness.placement import TRANSFER
from orthobench.tools.array_libraries import LIBRARIES, NumPy

ROWS = np.random.default_rng(0).standard_normal((40, 4))


class Lazy(NumPy):
    """NumPy, but each array takes 1 s of a clock of its own until it is waited for."""

    distribution = "numpy"

    def __init__(self) -> None:
        self.now = 0.0
        self.waited: list[object] = []

    def wait(self, values, device):
        self.waited.extend(v for v in values if isinstance(v, np.ndarray))
        self.now += 1.0


@dataclass(slots=True, kw_only=True)
class Sum(State):
    U: Any
    total: Any


@dataclass(frozen=True)
class Summing(ArraySolver[SampleOracle, Sum]):
    """Adds up samples."""

    name: ClassVar[str] = "summing"
    needs: ClassVar[type[SampleOracle]] = SampleOracle
    batch = 1

    def init(self, oracle, rng):
        return Sum(U=oracle.start, total=oracle.start[:, 0] * 0.0)

    def step(self, oracle, state):
        state.total = state.total + oracle.take(1)[0, :]
        state.work.steps += 1
        state.work.samples += 1

    def solution(self, state):
        return Solution(state.U)


@pytest.fixture
def lazy(monkeypatch):
    library = Lazy()
    monkeypatch.setitem(LIBRARIES, "lazy", library)
    token = CLOCK.set(lambda: int(library.now * 1e9))
    yield library
    CLOCK.reset(token)


def test_the_clock_is_read_once_all_is_computed(lazy):
    instance = ob.stochastic_pca(ROWS, k=2)
    outcome = ob.solve(Summing(on="lazy"), instance, ob.Budget(samples=3))
    # init and each of the chunks are waited for on the clock, and so is each reading
    assert [mark.seconds for mark in outcome.trace] == [1, 2, 3, 4]
    assert [mark.reading for mark in outcome.trace] == [1, 1, 1, 1]
    assert any(np.allclose(array, ROWS[:3].sum(axis=0)) for array in lazy.waited)


def test_moving_arrays_is_shown_and_not_on_the_clock(lazy):
    outcome = ob.solve(Summing(on="lazy"), ob.stochastic_pca(ROWS, k=2), ob.Budget(samples=3))
    spent = [mark.metrics[TRANSFER] for mark in outcome.trace]
    assert spent == sorted(spent)
    assert spent[0] > 0
    plain = ob.solve(Summing(), ob.stochastic_pca(ROWS, k=2), ob.Budget(samples=3))
    assert TRANSFER not in plain.trace[-1].metrics


def test_samples_and_start_are_the_same_in_each_precision(lazy):
    instance = ob.stochastic_pca(ROWS, k=2)
    for on, dtype in (("numpy", "float64"), ("lazy/float32", "float32")):
        solver = Summing(on=on)
        streams = harness.Streams.of("instance", solver.name, 0)
        oracle = harness.ready_oracle(instance.oracle, solver, streams)
        oracle.prepare(5)
        assert oracle.start.dtype == dtype
        assert np.array_equal(oracle.take(5), ROWS[:5].astype(dtype))
        assert instance.oracle.start.dtype == np.float64


def test_where_a_solver_computes_is_one_of_its_parameters():
    assert Summing(on="torch/float64") == Summing(on="torch:cpu") != Summing()
    with pytest.raises(ob.errors.UsageError, match="unknown array library 'troch'"):
        Summing(on="troch")


def test_an_oracle_of_numpy_only_is_refused():
    class Fixed(SampleOracle):
        portable: ClassVar[bool] = False

    oracle = Fixed(ob.stochastic_pca(ROWS, k=2).oracle.source, 2)
    with pytest.raises(ob.errors.UsageError, match="Fixed has arrays of numpy only"):
        oracle.to(Summing(on="numpy/float32").place)

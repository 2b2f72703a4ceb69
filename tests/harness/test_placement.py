"""Runs elsewhere than in NumPy, on a library that computes later than it is asked to."""

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import orthobench as ob
from orthobench.contract import ArraySolver, SampleOracle, Solution, State
from orthobench.harness import execution
from orthobench.harness import run as harness
from orthobench.harness.cell import Cell
from orthobench.harness.execution import CLOCK
from orthobench.harness.placement import TRANSFER, WARM_UP, MeasuredPlace
from orthobench.registry.plugins import catalogue
from orthobench.testing.short_runs import example
from orthobench.tools.array_libraries import LIBRARIES, NumPy
from orthobench.tools.places import place_of

ROWS = np.random.default_rng(0).standard_normal((40, 4))


class Lazy(NumPy):
    """NumPy, but each array takes 1 s of a clock of its own until it is waited for."""

    distribution = "numpy"
    devices = ("cpu", "cuda")

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
    outcome = ob.solve(Summing(on="lazy"), instance, ob.Budget(samples=3), curve=True)
    # init and each of the chunks are waited for on the clock, and so is each reading
    assert [mark.seconds for mark in outcome.trace] == [1, 2, 3, 4]
    assert [mark.readout_seconds for mark in outcome.trace] == [1, 1, 1, 1]
    assert any(np.allclose(array, ROWS[:3].sum(axis=0)) for array in lazy.waited)


def test_moving_arrays_is_shown_and_not_on_the_clock(lazy):
    outcome = ob.solve(Summing(on="lazy"), ob.stochastic_pca(ROWS, k=2), ob.Budget(samples=3))
    spent = [mark.metrics[TRANSFER] for mark in outcome.trace]
    assert spent == sorted(spent)
    assert spent[0] > 0
    plain = ob.solve(Summing(), ob.stochastic_pca(ROWS, k=2), ob.Budget(samples=3))
    assert TRANSFER not in plain.trace[-1].metrics


@dataclass(frozen=True)
class Compiled(Summing):
    """Takes 50 ms more for each count of steps that it first meets."""

    name: ClassVar[str] = "compiled"

    def advance(self, oracle, state, count):
        if count not in SEEN:
            SEEN.add(count)
            time.sleep(0.05)
        super().advance(oracle, state, count)


SEEN = set()


def test_compilation_is_shown_apart_from_the_clock(lazy, monkeypatch):
    monkeypatch.setattr(Lazy, "compiles", True)
    SEEN.clear()
    outcome = ob.solve(Compiled(on="lazy"), ob.stochastic_pca(ROWS, k=2), ob.Budget(steps=5))
    warm = [mark.metrics[WARM_UP] for mark in outcome.trace]
    assert len(SEEN) >= 2
    assert warm == sorted(warm)
    assert warm[-1] >= 0.05 * len(SEEN)
    plain = ob.solve(Summing(), ob.stochastic_pca(ROWS, k=2), ob.Budget(samples=3))
    assert WARM_UP not in plain.trace[-1].metrics


def test_moves_of_a_warm_up_are_part_of_it():
    begin = time.perf_counter()
    place = MeasuredPlace(place_of("numpy/float32"))
    with place.warm_up():
        place.array(np.zeros(1))
    assert (len(place.warming), place.spent) == (1, [])
    place.array(ROWS)
    with suppress(ZeroDivisionError), place.warm_up():
        place.to_numpy(ROWS)
        _ = 1 / 0
    assert (len(place.warming), len(place.spent)) == (2, 1)
    place.to_numpy(ROWS)
    seconds = [*place.warming, *place.spent]
    assert len(seconds) == 4
    assert min(seconds) >= 0
    assert sum(seconds) <= time.perf_counter() - begin


def test_samples_and_start_are_the_same_in_each_precision(lazy):
    instance = ob.stochastic_pca(ROWS, k=2)
    for on, dtype in (("numpy", "float64"), ("lazy/float32", "float32")):
        solver = Summing(on=on)
        streams = harness.Streams.of("instance", solver.name, 0)
        oracle, _ = harness.ready_oracle(instance.oracle, solver, streams)
        oracle.prepare(5)
        assert oracle.start.dtype == dtype
        assert np.array_equal(oracle.take(5), ROWS[:5].astype(dtype))
        assert instance.oracle.start.dtype == np.float64


def test_place_is_a_parameter_of_a_solver():
    assert Summing(on="torch/float64") == Summing(on="torch:cpu") != Summing()
    with pytest.raises(ob.errors.UsageError, match="unknown array library 'troch'"):
        Summing(on="troch")


@dataclass(frozen=True)
class Slow(Summing):
    """Takes 3 s of the clock for a step, and 100 s for each count of steps that it first meets."""

    name: ClassVar[str] = "slow"
    library: ClassVar[Lazy]
    met: ClassVar[set[int]]

    def advance(self, oracle, state, count):
        self.library.now += 3.0 * count + 100.0 * (count not in self.met)
        self.met.add(count)
        super().advance(oracle, state, count)


@pytest.fixture
def slow(lazy, monkeypatch):
    monkeypatch.setattr(Slow, "library", lazy, raising=False)
    monkeypatch.setattr(Slow, "met", set(), raising=False)
    return Slow


def test_chunk_of_a_new_length_is_compiled_off_the_clock(slow, monkeypatch):
    def seconds():
        outcome = ob.solve(
            slow(on="lazy"), ob.stochastic_pca(ROWS, k=2), ob.Budget(samples=30), curve=True
        )
        assert np.allclose(totals[-1], ROWS[:30].sum(axis=0))
        return outcome.trace[-1].seconds

    totals = []
    monkeypatch.setattr(slow, "solution", lambda self, state: _kept(totals, state))
    assert seconds() > 400
    slow.met.clear()
    monkeypatch.setattr(Lazy, "compiles", True)
    chunks = 12
    assert seconds() == pytest.approx(3 * 30 + chunks, abs=3)


def _kept(totals, state):
    totals.append(state.total)
    return Solution(state.U)


@pytest.mark.slow  # JAX takes seconds to load
def test_jax_compiles_nothing_on_the_clock(monkeypatch):
    if why := place_of("jax:cpu").missing():
        pytest.skip(why)
    import jax

    compiled, on_the_clock = [], []
    jax.monitoring.register_event_duration_secs_listener(
        lambda name, seconds, **_: compiled.append(name) if "backend_compile" in name else None
    )
    timed = execution.timed_call

    def counting(call, *args):
        before = len(compiled)
        result = timed(call, *args)
        on_the_clock.append(len(compiled) - before)
        return result

    monkeypatch.setattr(execution, "timed_call", counting)
    for name in ("landing", "oja", "batch-pca"):
        solver = catalogue().solver(name, {"on": "jax:cpu"})
        outcome = ob.solve(solver, example(solver), ob.Budget(steps=12))
        assert outcome.error is None
    assert compiled
    assert sum(on_the_clock) == 0


def test_an_oracle_of_numpy_only_is_refused():
    class Fixed(SampleOracle):
        portable: ClassVar[bool] = False

    oracle = Fixed(ob.stochastic_pca(ROWS, k=2).oracle.source, 2)
    with pytest.raises(ob.errors.UsageError, match="Fixed has arrays of numpy only"):
        oracle.to(Summing(on="numpy/float32").place)


def test_a_cell_whose_library_is_missing_has_a_key_and_no_place(lazy, monkeypatch):
    from orthobench_stochastic_pca.problems.synthetic import SpikedCovariance

    def made():
        return Cell(SpikedCovariance(), Summing(on="lazy"), 0, ob.Budget(samples=3))

    assert "place" in made().content

    def fails(device):
        raise ModuleNotFoundError("No module named 'lazy'")

    monkeypatch.setattr(lazy, "facts", fails)
    monkeypatch.setattr(lazy, "missing", lambda device: "lazy is not installed")
    cell = made()
    assert "place" not in cell.content
    assert len(cell.key) == 64

"""Runs that measure memory or energy: what counts, and that they are runs of their own."""

import pickle
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import orthobench as ob
from orthobench.contract import SampleOracle, Solution, Solver, State
from orthobench.contract.solver import Work
from orthobench.harness import run as harness
from orthobench.harness.metering import DEVICE_JOULES, HOST_BYTES, HOST_JOULES, gauges, refusal
from orthobench.harness.trace import Checkpoint
from orthobench.tools import energy
from orthobench.tools.memory_peaks import HostPeak
from orthobench.tools.places import DEFAULT, Place

needs_linux = pytest.mark.skipif(HostPeak.missing() is not None, reason=str(HostPeak.missing()))

ROWS = np.random.default_rng(0).standard_normal((40, 4))

MB = 1_000_000


@dataclass(slots=True, kw_only=True)
class Held(State):
    U: object
    kept: object


@dataclass(frozen=True)
class Hungry(Solver[SampleOracle, Held]):
    """Keeps 60 MB in `init`, needs 200 MB in each chunk of steps, and 100 MB in `solution`."""

    name: ClassVar[str] = "hungry"
    reruns: ClassVar[bool] = False
    batch = 1

    def init(self, oracle, rng):
        return Held(U=oracle.start, kept=np.ones(60 * MB // 8))

    def advance(self, oracle, state, count):
        needed = np.ones(200 * MB // 8)
        state.work.steps += count
        state.work.samples += len(oracle.take(count)) * int(needed[0])

    def solution(self, state):
        np.ones(100 * MB // 8)
        return Solution(state.U)


@dataclass(frozen=True)
class HungryAgain(Hungry):
    """The same, of a library without steps."""

    name: ClassVar[str] = "hungry-again"
    reruns: ClassVar[bool] = True
    batch = 0

    def advance(self, oracle, state, count):
        np.ones(200 * MB // 8)
        state.work.steps += count


def ran(solver, measure):
    budget = ob.Budget(steps=3)
    streams = harness.Streams.of("instance", solver.name, 0)
    instance = ob.stochastic_pca(ROWS, k=2)
    outcome = harness.run(instance, solver, budget, streams, measure=measure)
    assert outcome.error is None
    return [mark.metrics for mark in outcome.trace]


@needs_linux
@pytest.mark.parametrize("solver", [Hungry(), HungryAgain()])
def test_init_steps_and_reading_are_measured(solver):
    found = [metrics[HOST_BYTES] for metrics in ran(solver, "memory")]
    assert found[0] == pytest.approx(160 * MB, rel=0.05)
    assert found[1:] == pytest.approx([260 * MB] * 3, rel=0.05)


@pytest.mark.parametrize(("solver", "expected"), [(Hungry(), [1, 2, 3, 4]),
                                                  (HungryAgain(), [1, 2, 2, 2])])  # fmt: skip
def test_energy_adds_up_over_calls_and_a_rerun_begins_after_init(monkeypatch, solver, expected):
    taken = iter(range(100))  # each look at the counter is a joule after the last
    monkeypatch.setattr(energy.HostJoules, "missing", staticmethod(lambda: None))
    monkeypatch.setattr(energy.HostJoules, "read", lambda self: {"cpu": next(taken)})
    monkeypatch.setattr(energy.HostJoules, "turn", lambda self, name: float("inf"))
    assert [metrics[HOST_JOULES] for metrics in ran(solver, "energy")] == expected


def suite(**tables):
    return {
        "seeds": 1,
        "budget": {"samples": 50},
        "problem": [{"name": "spiked-covariance", "n": 20, "k": 2}],
        "solver": [{"name": "oja"}],
        **tables,
    }


@pytest.mark.wide
@needs_linux
def test_a_measuring_run_is_a_cell_of_its_own(tmp_path):
    path = tmp_path / "s.sqlite"
    timed, measured = (
        ob.run(suite(**tables), path, executor=executor, quiet=True)
        for executor, tables in (("inline", {}), ("local", {"measure": "memory"}))
    )
    assert (timed.suite, measured.suite) == ("suite", "suite-memory")
    (plain,), (record,) = timed.records, measured.records
    assert plain.key != record.key
    assert (plain.measure, record.measure) == ("", "memory")
    assert 0 <= record.trace[-1].metrics[HOST_BYTES] < 50 * MB
    assert HOST_BYTES not in plain.trace[-1].metrics
    same = {k: v for k, v in record.trace[-1].metrics.items() if k != HOST_BYTES}
    assert same == plain.trace[-1].metrics


def test_what_cannot_be_measured_is_refused_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(energy, "POWERCAP", tmp_path / "none")
    with pytest.raises(ob.UsageError, match="energy of runs on numpy cannot be measured: there is"):
        ob.run(suite(measure="energy"), tmp_path / "s.sqlite", executor="inline", quiet=True)
    with pytest.raises(ob.UsageError, match="measure: unknown measure 'memry'; did you mean"):
        ob.run(suite(measure="memry"), tmp_path / "s.sqlite", executor="inline", quiet=True)
    assert not list(tmp_path.iterdir())


def test_the_energy_of_a_device_is_measured_beside_that_of_the_processor(monkeypatch):
    device = Place("torch", "cuda")
    for counter, why in ((energy.HostJoules, None), (energy.DeviceJoules, "no such device")):
        monkeypatch.setattr(counter, "missing", staticmethod(lambda why=why: why))
    assert (refusal("energy", DEFAULT), refusal("energy", device)) == (None, "no such device")
    monkeypatch.setattr(energy.DeviceJoules, "missing", staticmethod(lambda: None))
    assert gauges("energy", DEFAULT).keys() == {HOST_JOULES}
    assert gauges("energy", device).keys() == {HOST_JOULES, DEVICE_JOULES}
    monkeypatch.setattr(energy.HostJoules, "missing", staticmethod(lambda: "no counter"))
    assert gauges("energy", device).keys() == {DEVICE_JOULES}
    with pytest.raises(ob.UsageError, match="energy of what runs on numpy cannot be measured: no"):
        gauges("energy", DEFAULT)


def test_what_was_measured_goes_from_process_to_process():
    mark = Checkpoint(1.0, 2.0, Work(), {"gap": 0.5}, {"transfer_seconds": 0.25})
    assert pickle.loads(pickle.dumps(mark)) == mark  # noqa: S301 - written here
    assert replace(mark).extra_metrics == {"transfer_seconds": 0.25}

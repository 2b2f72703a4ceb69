"""Runs that measure memory: what counts, and that they are runs of their own."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import orthobench as ob
from orthobench.contract import SampleOracle, Solution, Solver, State
from orthobench.harness import run as harness
from orthobench.harness.execution import PEAK
from orthobench.tools.machine import Peak
from orthobench.tools.places import DEFAULT

needs_linux = pytest.mark.skipif(
    Peak.missing(DEFAULT) is not None, reason=str(Peak.missing(DEFAULT))
)

ROWS = np.random.default_rng(0).standard_normal((40, 4))

MB = 100_000
"""A tenth of a megabyte: so much is enough to be seen."""


@dataclass(slots=True, kw_only=True)
class Held(State):
    U: object
    kept: object


@dataclass(frozen=True)
class Hungry(Solver[SampleOracle, Held]):
    """Keeps 60 in `init`, needs 200 in each chunk of steps, and 100 in `solution`."""

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
def test_init_steps_and_reading_are_measured():
    for solver in (Hungry(), HungryAgain()):
        found = [metrics[PEAK] for metrics in ran(solver, "memory")]
        assert found[0] == pytest.approx(160 * MB, rel=0.1), solver.name
        assert found[1:] == pytest.approx([260 * MB] * len(found[1:]), rel=0.1), solver.name
        assert len(found) > 1
        assert not any(PEAK in metrics for metrics in ran(solver, ""))


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
    assert 0 <= record.trace[-1].metrics[PEAK] < 500 * MB
    assert PEAK not in plain.trace[-1].metrics
    same = {k: v for k, v in record.trace[-1].metrics.items() if k != PEAK}
    assert same == plain.trace[-1].metrics


def test_impossible_measurement_is_refused_before_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(Peak, "missing", staticmethod(lambda place: "there is no counter"))
    with pytest.raises(ob.UsageError, match="memory of runs on numpy cannot be measured: there is"):
        ob.run(suite(measure="memory"), tmp_path / "s.sqlite", executor="inline", quiet=True)
    with pytest.raises(ob.UsageError, match="measure: must be 'memory', not 'memry'"):
        ob.run(suite(measure="memry"), tmp_path / "s.sqlite", executor="inline", quiet=True)
    assert not list(tmp_path.iterdir())

"""Solvers that start from the beginning at every call: clock, budget and identity."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import orthobench as ob
from orthobench.contract import SampleOracle, Solution, Solver, State
from orthobench.harness import execution
from orthobench.harness import run as harness
from orthobench.harness.execution import ready_oracle
from orthobench.harness.identity import Streams
from orthobench.harness.stopping import USED_UP, Budget, RunStatus, Termination
from orthobench.harness.trace import spent_seconds

STREAMS = Streams.of("toy", "power", 0)
SECOND = 10**9
BEGIN = 5
"""Seconds that init takes; every step takes one."""


@pytest.fixture
def again(toys):
    """The power iteration of the toys, all over again at every call."""

    @dataclass(frozen=True)
    class Again(toys.Solver):
        """Power iteration that cannot be stepped."""

        name: ClassVar[str] = "again"
        reruns: ClassVar[bool] = True
        packages: ClassVar[tuple[str, ...]] = ("numpy", "a-package-that-nobody-has")

        def advance(self, oracle, state, count):
            steps = state.work.steps + count
            fresh = self.init(oracle, None)
            super().advance(oracle, fresh, steps)
            state.U, state.work, state.status = fresh.U, fresh.work, fresh.status

    return Again


@pytest.fixture
def spend(monkeypatch):
    """Lets a clock go on by some seconds; returns what was spent in all."""
    now = [0]
    monkeypatch.setattr(
        "orthobench.harness.execution.CLOCK", ContextVar("CLOCK", default=lambda: now[0])
    )
    monkeypatch.setattr(execution, "_warm_up", lambda *given: 0.0)

    def spend(seconds):
        now[0] += seconds * SECOND
        return now[0] / SECOND

    return spend


@pytest.fixture
def clock(monkeypatch, toys, spend):
    """A clock that counts a second a step and five for init; the total of all that was spent."""
    step, init = toys.Solver.step, toys.Solver.init

    def timed_step(self, oracle, state):
        spend(1)
        step(self, oracle, state)

    def timed_init(self, oracle, rng):
        spend(BEGIN if rng is not None else 0)
        return init(self, oracle, rng)

    monkeypatch.setattr(toys.Solver, "step", timed_step)
    monkeypatch.setattr(toys.Solver, "init", timed_init)
    return lambda: spend(0)


@dataclass(frozen=True)
class Fitting(Solver[SampleOracle, State]):
    """Takes all samples so far at each call, as a fit does, and counts them."""

    name: ClassVar[str] = "fitting"
    fitted: ClassVar[list[int]] = []
    reruns: ClassVar[bool] = True
    batch = 1

    def init(self, oracle, rng):
        return State()

    def advance(self, oracle, state, count):
        state.work.steps += count
        state.work.samples += len(oracle.take(count))
        self.fitted.append(state.work.samples)

    def solution(self, state):
        return Solution(np.eye(3)[:, :2])


def run(toys, solver, budget):
    instance = toys.Problem().build(np.random.default_rng(0))
    return harness.run(instance, solver, budget, STREAMS)


def test_the_clock_shows_one_run_and_not_the_sum(toys, again, clock):
    trace = run(toys, again(), Budget(steps=60)).trace
    assert [m.seconds for m in trace] == [BEGIN + m.work.steps for m in trace]
    assert clock() == BEGIN + sum(m.work.steps for m in trace)


def test_the_trace_is_that_of_the_solver_that_can_be_stepped(toys, again):
    ours = run(toys, again(), Budget(steps=60)).trace
    plain = run(toys, toys.Solver(), Budget(steps=60)).trace
    at = {m.work.steps: m.metrics for m in plain}
    assert [m.work.steps for m in ours] == [0, 1, 4, 16, 60]
    assert all(m.metrics == at.get(m.work.steps, m.metrics) for m in ours)
    assert (ours[-1].work, ours[-1].metrics) == (plain[-1].work, plain[-1].metrics)


def test_a_budget_in_seconds_ends_it_after_one_run_that_fills_it(toys, again, clock):
    outcome = run(toys, again(), Budget(seconds=BEGIN + 100))
    assert outcome.stop == Termination(RunStatus.BUDGET, "the budget is spent")
    steps = [m.work.steps for m in outcome.trace]
    assert steps == [0, 1, 4, 16, 100 - 1 - 4 - 16]
    assert clock() == BEGIN + 100


@pytest.mark.parametrize("limit", [20, 100, 1000])
def test_all_runs_and_readings_together_fill_the_budget(
    toys, again, clock, limit, spend, monkeypatch
):
    solution = toys.Solver.solution
    monkeypatch.setattr(toys.Solver, "solution", lambda *given: [solution(*given), spend(2)][0])
    outcome = run(toys, again(), Budget(seconds=limit))
    assert outcome.stop == Termination(RunStatus.BUDGET, "the budget is spent")
    assert 0.6 * limit <= clock() <= limit
    assert clock() == spent_seconds(outcome.trace, reruns=True)


def test_a_call_that_takes_longer_than_promised_is_said(toys, again, clock, spend, monkeypatch):
    advance = again.advance
    monkeypatch.setattr(
        again, "advance", lambda *given: [advance(*given), given[2].work.steps > 9 and spend(99)]
    )
    reason = run(toys, again(), Budget(seconds=100)).stop.reason
    assert reason == "the budget is spent; it took 125 s, since no call is interrupted"


def counting(again, monkeypatch, flops):
    """Let the flops of a run be a function of its steps."""
    advance = again.advance

    def counted(self, oracle, state, count):
        advance(self, oracle, state, count)
        state.work.flops = flops(state.work.steps)

    monkeypatch.setattr(again, "advance", counted)


def test_cost_before_the_first_step_is_no_rate(toys, again, clock, monkeypatch):
    counting(again, monkeypatch, lambda steps: 900 + steps)
    outcome = run(toys, again(), Budget(flops=1000))
    assert outcome.stop.status is RunStatus.BUDGET
    steps = [m.work.steps for m in outcome.trace]
    assert steps == [0, 1, 4, 16, 100]


@pytest.mark.parametrize("rows", [1, 5, 52, 53, 257, 1000, 4099])
def test_rows_fitted_grow_with_the_samples_however_small_the_window(rows, monkeypatch):
    monkeypatch.setattr("orthobench.contract.samples.WINDOW_BYTES", 8 * 3 * 16)
    solver, fitted = Fitting(), Fitting.fitted
    instance = ob.stochastic_pca(np.random.default_rng(0).standard_normal((rows, 3)), k=2)
    assert instance.oracle.window == 16
    oracle, _ = ready_oracle(instance.oracle, solver, STREAMS)
    fitted.clear()
    stop, error = harness.record(oracle, solver, Budget(), STREAMS, lambda mark, solution: None)
    assert (stop.reason, error, fitted[-1]) == (USED_UP, None, rows)
    assert sum(fitted) <= 1.5 * rows + 1
    fitted.clear()
    harness.timed(instance, solver, rows, STREAMS)
    assert fitted[-1] == rows

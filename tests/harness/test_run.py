import gc
import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.contract.problem import Instance, Solution
from orthobench.contract.solver import Status
from orthobench.errors import DataError
from orthobench.harness import execution
from orthobench.harness import run as harness
from orthobench.harness.execution import ready_oracle
from orthobench.harness.identity import Streams
from orthobench.harness.judging import (
    FEASIBLE,
    TOLERANCE,
    VIOLATION,
    feasible_up_to,
)
from orthobench.harness.run import checkpoints
from orthobench.harness.stopping import Budget, RunStatus, Target, Termination
from orthobench.tools.geometry import drift, polar, random_point

STREAMS = Streams.of("toy", "power", 0)


def run(toys, budget=None, until=None, problem=None, **parameters):
    instance = (problem or toys.Problem()).build(np.random.default_rng(0))
    limits = budget or Budget(steps=50)
    return harness.run(instance, toys.Solver(**parameters), limits, STREAMS, until)


def test_checkpoints_are_log_spaced_and_start_densely():
    first = list(itertools.islice(checkpoints(), 60))
    assert first[:8] == [1, 2, 3, 4, 5, 6, 7, 9]
    assert all(a < b for a, b in itertools.pairwise(first))
    assert all(b / a <= 1.34 for a, b in itertools.pairwise(first[3:]))


def test_a_run_ends_exactly_at_its_budget(toys):
    outcome = run(toys, Budget(steps=37))
    assert outcome.stop.status is RunStatus.BUDGET
    assert outcome.trace[-1].work.steps == 37
    assert [m.work.steps for m in outcome.trace][:4] == [0, 1, 2, 3]


def test_the_trace_holds_metrics_and_the_defect_of_every_point(toys):
    outcome = run(toys)
    gaps = [m.metrics["gap"] for m in outcome.trace]
    assert gaps[-1] < 1e-6 < gaps[0]
    assert all(m.metrics[VIOLATION] < 1e-14 for m in outcome.trace)
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(outcome.trace))


@pytest.mark.parametrize("fault", ["raise", "converge"])
def test_a_timed_run_that_does_not_reach_its_end_has_no_time(toys, fault):
    with pytest.raises((RuntimeError, ZeroDivisionError)):
        harness.timed(toys.Problem().build(None), toys.Solver(fault=fault), 37, STREAMS)


def test_convergence_ends_the_run(toys):
    outcome = run(toys, fault="converge")
    assert outcome.stop.status is RunStatus.DONE
    assert outcome.trace[-1].work.steps == 5


def test_a_solver_that_raises_keeps_its_curve(toys):
    outcome = run(toys, fault="raise")
    assert outcome.stop.status is RunStatus.ERROR
    assert "ZeroDivisionError" in outcome.stop.reason
    assert "_go_wrong" in outcome.stop.traceback
    assert [m.work.steps for m in outcome.trace] == [0, 1, 2, 3, 4]
    assert outcome.final.point.shape == (6, 2)


def test_a_solution_that_is_not_finite_diverges(toys):
    outcome = run(toys, fault="nan")
    assert outcome.stop.status is RunStatus.DIVERGED
    assert "step 5" in outcome.stop.reason
    assert outcome.trace[-1].work.steps == 4
    assert np.isfinite(outcome.final.point).all()


def test_leaving_the_constraint_is_infeasible_however_good_it_looks(toys):
    outcome = run(toys, Budget(steps=5), fault="drift")
    assert outcome.stop.status is RunStatus.INFEASIBLE
    assert outcome.trace[-1].metrics[VIOLATION] > FEASIBLE
    assert "step 5" in outcome.stop.reason


@pytest.mark.parametrize(("violation", "ending"), [(0.9e-8, "budget"), (1.1e-8, "infeasible")])
def test_a_violation_of_1e_8_is_the_largest_of_a_feasible_point(toys, violation, ending):
    instance = replace(toys.Problem().build(None), violation=lambda _: violation)
    outcome = harness.run(instance, toys.Solver(), Budget(steps=3), STREAMS)
    assert outcome.stop.status.value == ending
    assert "more than rounding" not in outcome.stop.reason


@pytest.mark.parametrize(("scale", "ending"), [(1.0, "budget"), (1.001, "infeasible")])
def test_points_in_single_precision_may_be_infeasible_by_rounding(toys, scale, ending):
    class Single(toys.Solver):
        def solution(self, state):
            return Solution(scale * super().solution(state).point.astype(np.float32))

    instance = toys.Problem().build(None)
    outcome = harness.run(instance, Single(), Budget(steps=3), STREAMS)
    assert outcome.stop.status.value == ending
    point = outcome.final.point.astype(np.float64)
    last = outcome.trace[-1].metrics
    assert last[VIOLATION] == drift(point)
    measured = instance.measure(Solution(polar(point)))
    allowed = feasible_up_to(outcome.final.point)
    assert last == {**measured, VIOLATION: drift(point), TOLERANCE: allowed}
    if scale > 1:
        assert "more than rounding in float32 explains" in outcome.stop.reason
    else:
        assert 0 < last[VIOLATION] < allowed


def test_a_solver_that_does_not_count_its_steps_fails(toys):
    outcome = run(toys, fault="stall")
    assert outcome.stop.status is RunStatus.ERROR
    assert "state.work.steps" in outcome.stop.reason


def test_a_judge_that_raises_fails_the_run(toys):
    oracle = toys.Problem().build(np.random.default_rng(0)).oracle

    def measure(solution):
        raise KeyError("judge")

    outcome = harness.run(Instance(oracle, measure), toys.Solver(), Budget(steps=3), STREAMS)
    assert outcome.stop.status is RunStatus.ERROR
    assert "judge" in outcome.stop.reason


def completed(toys, finish, **parameters):
    """The outcome of a run whose instance finishes its solutions."""
    instance = replace(toys.Problem().build(None), finish=finish)
    return harness.run(instance, toys.Solver(**parameters), Budget(steps=20), STREAMS)


def test_the_last_solution_is_finished_once_and_no_other(toys):
    seen = []

    def finish(solution):
        seen.append(solution)
        return replace(solution, core=solution.point.T @ solution.point)

    outcome, plain = completed(toys, finish), run(toys, Budget(steps=20))
    assert len(seen) == 1
    assert np.array_equal(seen[0].point, plain.final.point)
    assert np.array_equal(outcome.final.point, plain.final.point)
    assert plain.final.core is None
    np.testing.assert_allclose(outcome.final.core, np.eye(2), atol=1e-12)
    assert [m.metrics for m in outcome.trace] == [m.metrics for m in plain.trace]


@pytest.mark.parametrize("error", [KeyError("core"), DataError("core")])
def test_an_error_in_finishing_fails_the_run_and_keeps_its_trace(toys, error):
    def finish(solution):
        raise error

    outcome, plain = completed(toys, finish), run(toys, Budget(steps=20))
    assert outcome.stop.status is RunStatus.ERROR
    assert outcome.stop.reason.startswith("finishing the solution: ")
    assert "core" in outcome.stop.reason
    assert "in finish" in outcome.stop.traceback
    assert outcome.error is error
    assert np.array_equal(outcome.final.point, plain.final.point)
    assert [m.metrics for m in outcome.trace] == [m.metrics for m in plain.trace]


def test_target_ends_the_trace_at_the_first_checkpoint_there(toys):
    full = run(toys)
    target = 1e-3
    outcome = run(toys, until=Target("gap", target))
    first = next(i for i, m in enumerate(full.trace) if m.metrics["gap"] <= target)
    assert outcome.stop.status is RunStatus.TARGET
    assert len(outcome.trace) == first + 1
    assert [m.metrics for m in outcome.trace] == [m.metrics for m in full.trace[: first + 1]]


def test_any_function_of_a_checkpoint_ends_a_run(toys):
    def after_five_steps(checkpoint):
        return Termination(RunStatus.TARGET, "enough") if checkpoint.work.steps >= 5 else None

    outcome = run(toys, until=after_five_steps)
    assert (outcome.stop.reason, outcome.trace[-1].work.steps) == ("enough", 5)


def test_a_failed_run_keeps_its_reason_if_finishing_fails(toys):
    def finish(solution):
        raise KeyError("core")

    outcome = completed(toys, finish, fault="nan")
    assert (outcome.stop.status, outcome.error) == (RunStatus.DIVERGED, None)


def test_a_target_on_an_unknown_metric_fails_the_run_and_no_more(toys):
    outcome = run(toys, until=Target("gup", 1.0))
    assert outcome.stop.status is RunStatus.ERROR
    assert "no metric 'gup'" in outcome.stop.reason


def test_equal_runs_are_equal_bit_for_bit(toys):
    a, b = run(toys), run(toys)
    assert np.array_equal(a.final.point, b.final.point)
    assert [m.metrics for m in a.trace] == [m.metrics for m in b.trace]


@given(steps=st.integers(1, 60))
def test_the_end_does_not_depend_on_the_checkpoints_before_it(toys, steps):
    short = run(toys, Budget(steps=steps))
    solver, oracle = toys.Solver(), toys.Problem().build(None).oracle
    oracle.start = random_point(6, 2, np.random.default_rng(STREAMS.start))
    state = solver.init(oracle, None)
    solver.advance(oracle, state, steps)
    assert np.array_equal(short.final.point, solver.solution(state).point)


def test_data_and_start_are_the_same_for_all_solvers():
    a, b = Streams.of("problem", "one", 3), Streams.of("problem", "two", 3)
    assert a.data.generate_state(4).tolist() == b.data.generate_state(4).tolist()
    assert a.start.generate_state(4).tolist() == b.start.generate_state(4).tolist()
    assert a.solver.generate_state(4).tolist() != b.solver.generate_state(4).tolist()
    other = Streams.of("problem", "one", 4)
    assert a.data.generate_state(4).tolist() != other.data.generate_state(4).tolist()


def test_the_clock_runs_with_the_collector_off_and_turns_it_on_again(toys):
    seen = []

    class Curious(toys.Solver):
        def solution(self, state):
            seen.append(gc.isenabled())
            return Solution(state.U.copy())

    instance = toys.Problem().build(None)
    harness.run(instance, Curious(), Budget(steps=2), STREAMS)
    warm_up, *timed = seen
    assert warm_up
    assert timed
    assert not any(timed)
    assert gc.isenabled()


def test_the_start_cannot_be_written_into(toys):
    instance = toys.Problem().build(None)
    harness.run(instance, toys.Solver(), Budget(steps=1), STREAMS)
    with pytest.raises(ValueError, match="read-only"):
        instance.oracle.start[0, 0] = 1.0


def test_a_failed_run_has_the_reason_that_its_solver_gives(toys):
    class Giving(toys.Solver):
        def step(self, oracle, state):
            super().step(oracle, state)
            if state.work.steps == 3:
                state.status, state.reason = Status.FAILED, "goes to and fro between two points"

    outcome = harness.run(toys.Problem().build(None), Giving(), Budget(steps=9), STREAMS)
    assert outcome.stop.status is RunStatus.DIVERGED
    assert outcome.stop.reason == "goes to and fro between two points"
    assert outcome.trace[-1].work.steps == 2

    class Silent(Giving):
        def step(self, oracle, state):
            super().step(oracle, state)
            state.reason = ""

    outcome = harness.run(toys.Problem().build(None), Silent(), Budget(steps=9), STREAMS)
    assert outcome.stop.reason == "the solution at step 3 is not finite"


def test_a_solver_is_warmed_up_once_for_each_size(toys, monkeypatch):
    monkeypatch.setattr(execution, "_warm", set())
    begun = []

    class Counting(toys.Solver):
        def init(self, oracle, rng):
            begun.append(oracle.sizes)
            return super().init(oracle, rng)

    class Sized(toys.Oracle):
        order = 3

        @property
        def sizes(self):
            return (self.n, self.k, self.order)

    for order in (3, 3, 4):
        instance = toys.Problem().build(None)
        oracle = Sized(instance.oracle.A, 2)
        oracle.order = order
        harness.run(replace(instance, oracle=oracle), Counting(), Budget(steps=1), STREAMS)
    assert begun == [(6, 2, 3)] * 3 + [(6, 2, 4)] * 2


# 40 steps, or three where 40 as long as the second and third would take more than 0.2 s
@pytest.mark.parametrize(
    ("reruns", "step", "steps"), [(False, 1, 40), (False, 5, 40), (False, 6, 3), (True, 1, 1)]
)
def test_warm_up_counts_the_steps_after_the_first(toys, monkeypatch, reruns, step, steps):
    monkeypatch.setattr(execution, "_warm", set())
    now, ms = [0], 10**6
    token = execution.CLOCK.set(lambda: now[0])

    class Slow(toys.Solver):
        def advance(self, oracle, state, count):
            now[0] += count * step * ms
            super().advance(oracle, state, count)

    Slow.reruns = reruns
    try:
        _, warmed = ready_oracle(toys.Problem().build(None).oracle, Slow(), STREAMS)
        assert ready_oracle(toys.Problem().build(None).oracle, Slow(), STREAMS)[1] == 0
    finally:
        execution.CLOCK.reset(token)
    assert now[0] == steps * step * ms
    assert warmed == pytest.approx((steps - 1) * step / 1000)


@pytest.mark.parametrize(
    ("budget", "ends"),
    [
        (Budget(steps=3), "its budget 3 steps ends it"),
        (Budget(), "it ends when it converges, and budget=ob.Budget"),
        (Budget(seconds=0.01), "as soon as its step is over"),
    ],
)
def test_run_that_takes_long_writes_what_ends_it(toys, capsys, monkeypatch, budget, ends):
    monkeypatch.setattr(harness, "LATE", 0.0)
    written = ""

    class Slow(toys.Solver):
        def init(self, oracle, rng):
            nonlocal written
            while "has run for" not in written:
                time.sleep(0.01)
                written += capsys.readouterr().err
            state = super().init(oracle, rng)
            state.status = Status.CONVERGED
            return state

    instance = toys.Problem().build(np.random.default_rng(0))
    harness.run(instance, Slow(), budget, STREAMS)
    assert ends in written
    assert written.startswith("power has run for 0")


def test_run_that_ends_soon_writes_nothing(toys, capsys):
    run(toys)
    assert capsys.readouterr().err == ""

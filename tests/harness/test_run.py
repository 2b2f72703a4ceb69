import gc
import itertools
import math
import time
from contextvars import ContextVar
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.contract.problem import Instance, Solution
from orthobench.contract.solver import Status, Work
from orthobench.errors import DataError
from orthobench.harness import execution
from orthobench.harness import run as harness
from orthobench.harness.execution import ready_oracle
from orthobench.harness.identity import Streams
from orthobench.harness.judging import (
    FEASIBLE,
    TOLERANCE,
    VIOLATION,
    excess_violation,
    feasible_up_to,
)
from orthobench.harness.run import _throttled, checkpoints
from orthobench.harness.stopping import USED_UP, Budget, RunStatus, Target, Termination
from orthobench.harness.trace import Checkpoint, Recording
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
    assert outcome.work.steps == 37
    assert [m.work.steps for m in outcome.trace][:4] == [0, 1, 2, 3]


def test_the_trace_holds_metrics_and_the_defect_of_every_point(toys):
    outcome = run(toys)
    gaps = [m.metrics["gap"] for m in outcome.trace]
    assert gaps[-1] < 1e-6 < gaps[0]
    assert all(m.metrics[VIOLATION] < 1e-14 for m in outcome.trace)
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(outcome.trace))


def test_a_timed_run_is_init_all_steps_and_one_reading(toys, monkeypatch):
    """Each of the three takes a tick of this clock."""
    now = itertools.count()
    monkeypatch.setattr(
        "orthobench.harness.execution.CLOCK", ContextVar("CLOCK", default=lambda: next(now))
    )
    instance = toys.Problem().build(None)
    assert harness.timed(instance, toys.Solver(), 37, STREAMS) == pytest.approx(3e-9)
    assert next(now) == 6


@pytest.mark.parametrize("fault", ["raise", "converge"])
def test_a_timed_run_that_does_not_reach_its_end_has_no_time(toys, fault):
    with pytest.raises((RuntimeError, ZeroDivisionError)):
        harness.timed(toys.Problem().build(None), toys.Solver(fault=fault), 37, STREAMS)


def test_convergence_ends_the_run(toys):
    outcome = run(toys, fault="converge")
    assert outcome.stop.status is RunStatus.DONE
    assert outcome.work.steps == 5


def test_a_solver_that_raises_keeps_its_curve(toys):
    outcome = run(toys, fault="raise")
    assert outcome.stop.status is RunStatus.ERROR
    assert "ZeroDivisionError" in outcome.stop.reason
    assert "_go_wrong" in outcome.stop.traceback
    assert [m.work.steps for m in outcome.trace] == [0, 1, 2, 3, 4]
    assert outcome.solution.shape == (6, 2)


def test_a_solution_that_is_not_finite_diverges(toys):
    outcome = run(toys, fault="nan")
    assert outcome.stop.status is RunStatus.DIVERGED
    assert "step 5" in outcome.stop.reason
    assert outcome.work.steps == 4
    assert np.isfinite(outcome.solution).all()


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


def test_a_point_whose_violation_is_not_known_is_within_the_tolerance():
    assert excess_violation(Checkpoint(0.0, 0.0, Work())) == -1e-8
    column = {VIOLATION: np.array([0.0, 1e-6]), TOLERANCE: np.array([np.nan, 1e-3])}
    excess = excess_violation(SimpleNamespace(metrics=column))
    assert excess.tolist() == pytest.approx([-1e-8, 1e-6 - 1e-3])


@pytest.mark.parametrize(("scale", "ending"), [(1.0, "budget"), (1.001, "infeasible")])
def test_points_in_single_precision_may_leave_the_constraint_by_rounding(toys, scale, ending):
    class Single(toys.Solver):
        def solution(self, state):
            return Solution(scale * super().solution(state).point.astype(np.float32))

    instance = toys.Problem().build(None)
    outcome = harness.run(instance, Single(), Budget(steps=3), STREAMS)
    assert outcome.stop.status.value == ending
    point = outcome.solution.astype(np.float64)
    last = outcome.trace[-1].metrics
    assert last[VIOLATION] == drift(point)
    measured = instance.measure(Solution(polar(point)))
    allowed = feasible_up_to(outcome.solution)
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
    assert np.array_equal(seen[0].point, plain.solution)
    assert np.array_equal(outcome.solution, plain.solution)
    assert plain.core is None
    np.testing.assert_allclose(outcome.core, np.eye(2), atol=1e-12)
    assert [m.metrics for m in outcome.trace] == [m.metrics for m in plain.trace]


def test_finishing_is_off_the_clock(toys, monkeypatch):
    now = itertools.count()
    monkeypatch.setattr(
        "orthobench.harness.execution.CLOCK", ContextVar("CLOCK", default=lambda: next(now))
    )
    at_the_end = []

    def finish(solution):
        at_the_end.append(next(now))
        return solution

    trace = completed(toys, finish).trace
    assert len(at_the_end) == 1
    assert next(now) == at_the_end[0] + 1
    assert trace[-1].seconds == pytest.approx(1e-9 * len(trace))


def test_the_solution_that_met_the_target_is_the_one_finished(toys):
    seen = []

    def finish(solution):
        seen.append(solution.point)
        return solution

    instance = replace(toys.Problem().build(None), finish=finish)
    outcome = harness.run(instance, toys.Solver(), Budget(steps=50), STREAMS, Target("gap", 1e-3))
    (point,) = seen
    assert outcome.work.steps < 50
    assert instance.measure(Solution(point))["gap"] == outcome.trace[-1].metrics["gap"]


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
    assert np.array_equal(outcome.solution, plain.solution)
    assert [m.metrics for m in outcome.trace] == [m.metrics for m in plain.trace]


def test_a_run_that_failed_before_keeps_its_own_reason(toys):
    def finish(solution):
        raise KeyError("core")

    outcome = completed(toys, finish, fault="nan")
    assert outcome.stop.status is RunStatus.DIVERGED
    assert outcome.error is None


def test_a_target_ends_the_trace_at_the_first_checkpoint_that_meets_it(toys):
    full = run(toys)
    target = 1e-3
    outcome = run(toys, until=Target("gap", target))
    first = next(i for i, m in enumerate(full.trace) if m.metrics["gap"] <= target)
    assert outcome.stop.status is RunStatus.TARGET
    assert len(outcome.trace) == first + 1
    assert [m.metrics for m in outcome.trace] == [m.metrics for m in full.trace[: first + 1]]


def test_any_function_of_a_checkpoint_is_a_rule(toys):
    def after_five_steps(checkpoint):
        return Termination(RunStatus.TARGET, "enough") if checkpoint.work.steps >= 5 else None

    outcome = run(toys, until=after_five_steps)
    assert (outcome.stop.status, outcome.stop.reason) == (RunStatus.TARGET, "enough")
    assert outcome.work.steps == 5


def test_a_journal_gets_every_point(toys):
    recording = Recording()
    instance = toys.Problem().build(None)
    solver = toys.Solver(fault="converge")
    oracle, _ = ready_oracle(instance.oracle, solver, STREAMS)
    harness.record(oracle, solver, Budget(steps=50), STREAMS, recording.add)
    outcome = harness.run(instance, solver, Budget(steps=50), STREAMS)
    assert [mark.work for mark in recording.marks] == [mark.work for mark in outcome.trace]
    assert np.array_equal(recording.solutions[-1].point, outcome.solution)


def test_a_target_on_an_unknown_metric_fails_the_run_and_no_more(toys):
    outcome = run(toys, until=Target("gup", 1.0))
    assert outcome.stop.status is RunStatus.ERROR
    assert "no metric 'gup'" in outcome.stop.reason


def test_equal_runs_are_equal_bit_for_bit(toys):
    a, b = run(toys), run(toys)
    assert np.array_equal(a.solution, b.solution)
    assert [m.metrics for m in a.trace] == [m.metrics for m in b.trace]


@given(steps=st.integers(1, 60))
def test_the_end_does_not_depend_on_the_checkpoints_before_it(toys, steps):
    short = run(toys, Budget(steps=steps))
    solver, oracle = toys.Solver(), toys.Problem().build(None).oracle
    oracle.start = random_point(6, 2, np.random.default_rng(STREAMS.start))
    state = solver.init(oracle, None)
    solver.advance(oracle, state, steps)
    assert np.array_equal(short.solution, solver.solution(state).point)


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
    assert outcome.work.steps == 2

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


@pytest.mark.parametrize("status", [Status.RUNNING, Status.CONVERGED])
def test_a_warm_up_takes_steps_only_where_the_start_is_not_the_end(toys, monkeypatch, status):
    monkeypatch.setattr(execution, "_warm", set())
    taken = []

    class Ends(toys.Solver):
        def init(self, oracle, rng):
            state = super().init(oracle, rng)
            state.status = status
            return state

        def advance(self, oracle, state, count):
            taken.append(count)
            super().advance(oracle, state, count)

    ready_oracle(toys.Problem().build(None).oracle, Ends(), STREAMS)
    assert bool(taken) == (status is Status.RUNNING)


def test_a_rule_is_evaluated_at_most_every_20_ms_on_the_clock():
    seen = []
    rule = _throttled(lambda mark, solution: seen.append(mark.seconds))
    for seconds in (0.0, 0.019, 0.02, 0.039, 0.04, 1.0, 1.001):
        rule(Checkpoint(seconds, 0.0, Work()), None)
    assert seen == [0.0, 0.02, 0.04, 1.0]


# 40 steps, or three where 40 as long as the second and third would take more than 0.2 s
@pytest.mark.parametrize(
    ("reruns", "step", "steps"), [(False, 1, 40), (False, 5, 40), (False, 6, 3), (True, 1, 1)]
)
def test_a_warm_up_of_reruns_takes_a_step_and_others_count_steps_after_the_first(
    toys, monkeypatch, reruns, step, steps
):
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


def made(*points, reading=0.5):
    """Checkpoints at seconds and steps."""
    return [Checkpoint(seconds, reading, Work(steps)) for seconds, steps in points]


class Execution:
    """A run under way that notes how many steps it is asked for, and does as many or none."""

    def __init__(self, steps=0, reruns=False, waiting=0.0, stuck=False, batch=0):
        self.solver, self.batch, self.waiting = SimpleNamespace(reruns=reruns), batch, waiting
        self.state = SimpleNamespace(work=Work(steps), status=Status.RUNNING, reason="")
        self.oracle = SimpleNamespace(remaining=lambda: 10.0)
        self.stuck, self.asked = stuck, []

    def advance(self, count):
        self.asked.append(count)
        self.state.work.steps += 0 if self.stuck else count


def test_what_is_left_is_what_seconds_allow_beside_readings_and_runs_again():
    for reruns, points, reading, left in (
        (False, [(1.0, 0)], 0.5, math.inf),
        (False, [(1.0, 0), (3.0, 4)], 0.5, 11),  # 5.5 s at half a second
        (False, [(1.0, 0), (2.0, 3), (3.0, 4)], 0.5, 5),  # 5 s, where the last step took one
        (False, [(1.0, 0), (8.5, 5), (8.6, 6)], 0.0, 1),  # 1.4 s at 1.27 s, the average
        (False, [(0.0, 0), (1.0, 18), (6.0, 19)], 0.0, 1),  # although the last one took 5 s
        (True, [(1.0, 0), (3.0, 4)], 0.5, 7),  # 3.5 s after another run to here
    ):
        execution = Execution(points[-1][1], reruns)
        marks = made(*points, reading=reading)
        assert harness._left(execution, Budget(seconds=10.0), marks) == left, (reruns, points)


def test_a_chunk_is_a_hundred_times_as_long_as_a_wait():
    for waiting, reruns, seconds, target in (
        (0.01, False, 1.0, 20), (0.01, True, 1.0, 12), (0.0, False, 1.0, 12),
        (0.01, False, 0.0, 12), (0.011, False, 1.0, 30), (0.001, False, 1.0, 12),
    ):  # fmt: skip
        execution = Execution(10, reruns, waiting)
        marks = made((0.0, 0), (seconds, 10))
        assert harness._target(execution, iter([12, 15, 19, 20, 30]), marks) == target, (
            waiting,
            reruns,
            seconds,
        )


@pytest.mark.parametrize(("seconds", "said"), [(1.7, ""), (1.75, "; it took 2.25 s, since no")])
def test_a_run_that_took_a_tenth_longer_than_its_budget_says_so(seconds, said):
    marks = made((seconds, 3))
    stop = harness._chunk(Execution(3), Budget(seconds=2.0), 5, marks, 1.3)
    assert stop.status is RunStatus.BUDGET
    assert stop.reason.startswith(f"the budget is spent{said}")
    assert bool(said) is ("took" in stop.reason)


def test_a_run_from_the_start_has_twice_the_steps_or_goes_to_the_end():
    for reruns, limit, batch, asked in (
        (False, 5, 0, 1), (False, 4, 0, None), (False, 99, 0, 2), (True, 7, 0, None),
        (True, 8, 0, 4), (True, 99, 0, 2), (True, 99, 4, 3), (True, 11, 0, 7), (True, 12, 0, 2),
    ):  # fmt: skip
        execution = Execution(4, reruns, batch=batch)
        stop = harness._chunk(execution, Budget(steps=limit), 6, made((1.0, 4)), 1.3)
        assert execution.asked == ([] if asked is None else [asked]), (reruns, limit, batch)
        assert (stop is None) is (asked is not None), (reruns, limit, batch)


def test_data_are_used_up_where_no_step_was_done():
    for stuck, status, ends in (
        (True, Status.RUNNING, True),
        (True, Status.CONVERGED, False),
        (False, Status.RUNNING, False),
    ):
        execution = Execution(4, stuck=stuck)
        execution.state.status = status
        stop = harness._chunk(execution, Budget(steps=99), 6, made((1.0, 4)), 1.3)
        assert stop == (Termination(RunStatus.DONE, USED_UP) if ends else None), (stuck, status)


@pytest.mark.parametrize(
    ("budget", "ends"),
    [
        (Budget(steps=3), "its budget 3 steps ends it"),
        (Budget(), "it ends when it converges, and budget=ob.Budget"),
        (Budget(seconds=0.01), "as soon as its step is over"),
    ],
)
def test_a_run_that_takes_long_says_what_ends_it(toys, capsys, monkeypatch, budget, ends):
    monkeypatch.setattr(harness, "LATE", 0.0)
    told = ""

    class Slow(toys.Solver):
        def init(self, oracle, rng):
            nonlocal told
            while "has run for" not in told:
                time.sleep(0.01)
                told += capsys.readouterr().err
            state = super().init(oracle, rng)
            state.status = Status.CONVERGED
            return state

    instance = toys.Problem().build(np.random.default_rng(0))
    harness.run(instance, Slow(), budget, STREAMS)
    assert ends in told
    assert told.startswith("power has run for 0")


def test_a_run_that_ends_soon_says_nothing(toys, capsys):
    run(toys)
    assert capsys.readouterr().err == ""

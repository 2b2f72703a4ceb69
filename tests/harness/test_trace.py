"""Checkpoints and outcomes of a run, and timed calls."""

import gc
import math
from types import SimpleNamespace

import numpy as np
import pytest

from orthobench.contract import Solution, Status
from orthobench.contract.solver import Work
from orthobench.harness.execution import CLOCK, Execution, check_solution, timed_call
from orthobench.harness.identity import Streams
from orthobench.harness.stopping import Budget, RunStatus, Termination
from orthobench.harness.trace import Checkpoint, Recording, checked, spent_seconds

DONE = Termination(RunStatus.DONE, "converged after 3 steps")


def mark(seconds, reading=0.25, steps=0):
    return Checkpoint(seconds, reading, Work(steps))


def test_spent_seconds_count_readings_and_reruns():
    for seconds, reruns, spent in (
        ([], False, 0.0), ([], True, 0.0), ([2.0], False, 2.25), ([2.0], True, 2.25),
        ([2.0, 3.0, 7.0], False, 7.75), ([2.0, 3.0, 7.0], True, 2.0 + 1.0 + 5.0 + 0.75),
    ):  # fmt: skip
        assert spent_seconds([mark(at) for at in seconds], reruns) == spent, (seconds, reruns)


def test_all_points_are_kept_or_the_first_and_the_last():
    for how, steps in (({}, [0, 1, 2, 3]), ({"curve": False}, [0, 3])):
        recording, point = Recording(**how), np.zeros((2, 1))
        for step in range(4):
            point[0, 0] = step
            recording.add(mark(0.0, steps=step), Solution(point))
        assert [one.work.steps for one in recording.trace] == steps
        assert [solution.point[0, 0] for solution in recording.solutions] == steps


def test_invalid_solution_is_refused():
    for wrong in (np.eye(2), None, SimpleNamespace(point=np.eye(2)), Solution([1])):
        with pytest.raises(TypeError, match=r"must return a Solution of an array \(n, k\), not a"):
            check_solution(wrong)
    for wrong in (np.ones(2), np.ones((2, 2, 2)), np.eye(2) * 1j, np.eye(2, dtype=object)):
        with pytest.raises(TypeError, match=r"must return a Solution of an array \(n, k\) of real"):
            check_solution(Solution(wrong))
    check_solution(Solution(np.eye(2)))


def test_counts_are_whole_numbers_of_any_kind_and_no_floats():
    for count in (7, np.int64(7), np.uint8(7), np.int32(7)):
        found = checked(Checkpoint(np.float64(1.0), 0, Work(count, count, count)))
        assert (found.work, found.seconds) == (Work(7, 7, 7), 1.0)
        assert {type(value) for value in (found.work.flops, found.seconds)} == {int, float}
    for count in (
        1.5,
        7.0,
        np.float64(7),
        None,
        "7",
        -1,
        np.int32(-5),
        2**63,
        np.ones(2),
        math.nan,
    ):
        with pytest.raises(ValueError, match=r"it counts flops as .*: a whole number"):
            checked(Checkpoint(1.0, 0.0, Work(0, 0, count)))
    with pytest.raises(ValueError, match="it counts steps as None"):
        checked(Checkpoint(1.0, 0.0, None))
    for seconds in (math.nan, math.inf, -1.0, "1", None, 1e10, 10**400):
        with pytest.raises(ValueError, match=r"it took .* seconds: a number"):
            checked(Checkpoint(seconds, 0.0, Work()))
        with pytest.raises(ValueError, match=r"it took .* seconds: a number"):
            checked(Checkpoint(0.0, seconds, Work()))


@pytest.mark.parametrize(("on", "collect", "meanwhile"), [
    (True, False, False), (True, True, True), (False, False, False), (False, True, False),
])  # fmt: skip
def test_a_call_is_timed_with_the_collector_off_unless_it_is_needed(on, collect, meanwhile):
    ticks = iter([1_000, 501_000])
    token, before = CLOCK.set(lambda: next(ticks)), gc.isenabled()
    try:
        gc.enable() if on else gc.disable()
        assert timed_call(gc.isenabled, collect) == (pytest.approx(5e-4), meanwhile)
        assert gc.isenabled() is on
        gc.enable()
        with pytest.raises(StopIteration):
            timed_call(lambda: None)
        assert gc.isenabled()
    finally:
        gc.enable() if before else gc.disable()
        CLOCK.reset(token)


@pytest.fixture
def execution(toys):
    oracle = toys.Problem().build(None).oracle
    oracle.start = np.eye(6)[:, :2]

    def begin(**settings):
        return Execution(oracle, toys.Solver(**settings), Budget(), Streams.of("p", "power", 0))

    return begin


def test_seconds_add_up_but_for_a_solver_that_runs_from_the_start(execution, toys, monkeypatch):
    ticks = iter(range(0, 10**12, 10**9))
    token = CLOCK.set(lambda: next(ticks))
    try:
        one = execution()
        assert one.seconds == pytest.approx(1.0)
        one.advance(2)
        one.advance(2)
        assert one.seconds == pytest.approx(3.0)
        found, _ = one.read()
        assert (found.seconds, found.readout_seconds) == pytest.approx((3.0, 1.0))
        monkeypatch.setattr(toys.Solver, "reruns", True)
        again = execution()
        again.advance(2)
        again.advance(2)
        assert again.seconds == pytest.approx(2.0)
    finally:
        CLOCK.reset(token)


def test_a_solver_counts_its_steps_and_no_fewer_samples_than_it_took(execution, monkeypatch):
    with pytest.raises(RuntimeError, match=r"advance\(3\) counted 0 steps in state.work.steps"):
        execution(fault="stall").advance(3)
    one = execution()
    monkeypatch.setattr(type(one.oracle), "taken", 1)
    with pytest.raises(RuntimeError, match=r"0 samples are counted .* 1 were taken"):
        one.advance(1)
    failed = execution()
    failed.state.work.samples = 1
    failed.advance(1)
    failed.state.work.samples = 0
    failed.state.status = Status.FAILED
    failed._check_samples()

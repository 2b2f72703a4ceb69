"""When a clock is not to be trusted: what a run may take off its clock, and not more."""

import math
import time
from dataclasses import replace

import pytest

from orthobench.contract.solver import Work
from orthobench.harness.cell import Cell
from orthobench.harness.executors.clocks import claimed_seconds, suspicion
from orthobench.harness.executors.guard import Guard, sealed
from orthobench.harness.placement import WARM_UP
from orthobench.harness.stopping import Budget, RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.tools.machine import Usage


def usage(cpu=0.0, wall=0.0, queued=0.0, children=0):
    return Usage(cpu=cpu, wall=wall, queued=queued, children=children)


def test_cpu_time_may_exceed_all_threads_by_a_fifth_of_the_clock():
    for clock, threads, volume, most in (
        (0.0, 1, 0, 0.25),
        (10.0, 1, 0, 12.25),
        (10.0, 4, 0, 42.25),
        (0.0, 1, 10**8, 1.25),
        (10.0, 2, 10**9, 32.25),
    ):
        assert suspicion(usage(cpu=0.9 * most), clock, threads, volume) is None
        said = suspicion(usage(cpu=1.1 * most), clock, threads, volume)
        assert said.endswith(f"s of CPU time where its clock says {clock:.3g} s")


@pytest.mark.parametrize(("clock", "queued", "most"), [(0, 0, 2), (10, 0, 14), (10, 5, 19)])
def test_two_seconds_and_waiting_for_a_core_are_allowed(clock, queued, most):
    assert suspicion(usage(wall=most - 1e-6, queued=queued), clock, 4, 0) is None
    said = suspicion(usage(wall=most + 1e-6, queued=queued), clock, 4, 10**9)
    assert said == f"the run took {most - queued} s where its clock says {clock} s"


@pytest.mark.parametrize(("reruns", "seconds"), [(False, 8.0), (True, 9.0)])
def test_claimed_seconds_include_compilation_during_a_run(reruns, seconds):
    clock = [(2.0, 9.0), (3.0, 9.5), (5.0, 11.0)]  # 9 s of it are from before the run
    marks = [Checkpoint(at, 1 / 3, Work(), extra_metrics={WARM_UP: warm}) for at, warm in clock]
    assert claimed_seconds(marks, reruns, True) == pytest.approx(seconds)
    assert claimed_seconds(marks, reruns, False) == pytest.approx(seconds - 2)
    assert claimed_seconds([Checkpoint(5.0, 1.0, Work())], reruns, True) == 6.0
    assert claimed_seconds([], reruns, True) == 0


def test_processes_that_are_left_are_suspect_whatever_the_clock_says():
    assert suspicion(usage(children=1), math.inf, 1, 0).startswith("processes that the solver")


def test_time_that_a_host_took_raises_no_suspicion():
    slow = Usage(wall=5.0, cpu=4.0, queued=0.1, children=0, stolen=3.0)
    assert suspicion(slow, 1.0, 1, 0) is None
    assert "took 5.9 s where" in suspicion(replace(slow, wall=9.0), 1.0, 1, 0)
    assert "took 5 s of CPU time" in suspicion(replace(slow, cpu=8.0), 1.0, 1, 0)


def busy(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


@pytest.mark.parametrize("reruns", [False, pytest.param(True, marks=pytest.mark.wide)])
@pytest.mark.wide
def test_a_solver_that_reads_slowly_or_runs_again_is_honest(toys, reruns):
    class Slow(toys.Solver):
        def advance(self, oracle, state, count):
            if reruns:
                busy(0.08 * (state.work.steps + count))
            super().advance(oracle, state, count)

        def solution(self, state):
            busy(0.0 if reruns else 0.05)
            return super().solution(state)

    Slow.reruns = reruns
    guard = Guard(threads=1)
    try:
        outcome = guard.execute(sealed(Cell(toys.Problem(), Slow(), 0, Budget(steps=20))))
    finally:
        guard.close()
    spent = claimed_seconds(outcome.trace, reruns, False)
    assert outcome.stop.status is RunStatus.BUDGET
    assert spent - outcome.trace[-1].seconds > 0.35  # more than may be spent off the clock

"""Processes that raise, hang, eat memory, crash and return NaN cost their own cell, no other."""

import os
import signal
import sys
from dataclasses import dataclass
from queue import SimpleQueue
from types import ModuleType

import pytest

from orthobench.harness.cell import Cell, execute
from orthobench.harness.executors import Limit, Limits, local, run_inline
from orthobench.harness.stopping import Budget, RunStatus

GIB = 2**30

LAST = 48
"""Steps at the last checkpoint before step 60, at which solvers fail."""


def cells(faults, *solvers, seeds=(0,), samples=100):
    return [
        Cell(faults.Cloud(), solver, seed, Budget(samples=samples))
        for seed in seeds
        for solver in solvers
    ]


def numbers(executed):
    """All that does not depend on time."""
    return [(mark.work, dict(mark.metrics)) for mark in executed.trace], executed.stop


def finished(events):
    found = [(event.cell, event.outcome) for event in events if event.outcome]
    assert len({cell.key for cell, _ in found}) == len(found)
    return {cell.key: executed for cell, executed in found}


@pytest.fixture(scope="module")
def failed(faults):
    """Cells that fail in every way between two that do not, and what came of each, by name."""

    bad = [faults.Raising(), faults.Hanging(), faults.Segfaulting(), faults.NotANumber()]
    planned = cells(faults, faults.Sound(), *bad, faults.Sound(number=1))
    with pytest.MonkeyPatch.context() as patched:
        # the run that hangs takes milliseconds without a limit, and so does its warm-up
        patched.setattr(
            Limits, "limit", lambda *given: Limit(5.0 if given[1] is planned[2] else 600)
        )
        found = finished(local.run(planned, 2))
    return [(cell, found[cell.key]) for cell in planned]


def test_a_failure_of_any_kind_costs_its_own_cell(failed):
    assert [executed.stop.status for _, executed in failed] == [
        RunStatus.BUDGET, RunStatus.ERROR, RunStatus.TIMEOUT, RunStatus.CRASHED,
        RunStatus.DIVERGED, RunStatus.BUDGET,
    ]  # fmt: skip
    for cell, executed in (failed[0], failed[-1]):
        assert numbers(executed) == numbers(execute(cell))


@pytest.mark.parametrize("ending", [RunStatus.TIMEOUT, RunStatus.CRASHED])
def test_checkpoints_before_a_failure_are_judged(faults, failed, ending):
    whole = execute(cells(faults, faults.Sound())[0])
    (executed,) = (executed for _, executed in failed if executed.stop.status is ending)
    marks = [mark.metrics["suboptimality"] for mark in executed.trace]
    steps = [mark.work.steps for mark in executed.trace]
    assert steps[-1] == LAST
    assert marks == [mark.metrics["suboptimality"] for mark in whole.trace[: len(marks)]]


def test_a_crash_tells_what_python_was_doing(failed):
    (executed,) = (found for _, found in failed if found.stop.status is RunStatus.CRASHED)
    assert "SIGSEGV" in executed.stop.reason
    assert "orthobench_faults.py" in executed.stop.traceback


@pytest.mark.wide
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no copies of processes")
def test_run_does_not_wait_for_a_copy_of_its_process(faults):
    found = finished(local.run(cells(faults, faults.Forking()), 1, 1, Limits(timeout=60)))
    (outcome,) = found.values()
    assert outcome.stop.status is RunStatus.CRASHED
    assert "SIGKILL" in outcome.stop.reason


@pytest.mark.wide
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a process's data")
def test_memory_beyond_the_limit_is_refused_to_the_cell_alone(faults):
    planned = cells(faults, faults.Greedy(), faults.Sound())
    found = finished(local.run(planned, 1, 1, Limits(memory=GIB, timeout=120)))
    greedy, sound = (found[cell.key] for cell in planned)
    assert greedy.stop.status is RunStatus.MEMORY
    assert greedy.trace[-1].work.steps == LAST
    assert numbers(sound) == numbers(execute(planned[1]))


def test_workers_order_and_processes_do_not_change_a_bit(faults):
    planned = cells(faults, *(faults.Sound(number=i) for i in range(6)), seeds=(0, 1))
    expected = {
        cell.key: numbers(e) for cell, e in zip(planned, map(execute, planned), strict=True)
    }
    ways = [
        run_inline(planned),
        local.run(planned[::-1], 2),
        local.run(planned[:2], 2, 1, Limits(isolate=True)),
    ]
    for way in ways:
        for key, executed in finished(way).items():
            assert numbers(executed) == expected[key]


def test_no_process_is_left_whether_all_is_done_or_not(faults, monkeypatch):
    made, plain = [], local.Worker
    monkeypatch.setattr(local, "Worker", lambda *given: made.append(plain(*given)) or made[-1])
    planned = cells(faults, *(faults.Sound(number=i) for i in range(3)))
    assert len(finished(local.run(planned))) == 3
    events = local.run(planned, 2)
    next(events)
    events.close()
    assert len(made) == 3
    assert not any(worker.process for worker in made)


@pytest.mark.wide
def test_process_that_died_idle_costs_no_cell(faults):
    worker = local.Worker("1", 1, Limits(), SimpleQueue())
    for cell in cells(faults, faults.Sound(), faults.Sound(number=1)):
        worker.begin(cell)
        while worker.cell is not None:  # it may take long, which is an event as well
            events = [*local.next_events([worker], worker.replies)]
        assert numbers(events[-1].outcome) == numbers(execute(cell))
        os.kill(worker.process._process.pid, signal.SIGKILL)
        worker.process.death()
    worker.close()


@pytest.mark.wide
def test_a_class_that_no_other_process_can_import_is_said(faults, monkeypatch):
    module = ModuleType("only_here")
    Lost = dataclass(frozen=True)(type("Lost", (faults.Sound,), {"__module__": "only_here"}))
    module.Lost = Lost
    monkeypatch.setitem(sys.modules, "only_here", module)
    planned = cells(faults, Lost(), faults.Sound())
    found = finished(local.run(planned))
    assert found[planned[0].key].stop.status is RunStatus.ERROR
    assert "No module named 'only_here'" in found[planned[0].key].stop.reason
    assert found[planned[1].key].stop.status is RunStatus.BUDGET

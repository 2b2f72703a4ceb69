"""A rotten solver costs its own cell: all others give what they give alone."""

import os
import re
import sys
import time
from types import SimpleNamespace

import pytest

from orthobench.harness.cell import Cell, execute
from orthobench.harness.executors import Limit, Limits, clocks, local
from orthobench.harness.executors.guard import Guard, sealed
from orthobench.harness.stopping import Budget, RunStatus
from orthobench.tools import machine
from orthobench.tools.machine import descendants

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux counts, others do not")


@pytest.fixture(scope="module")
def rotten(faults):
    import orthobench_rotten

    return SimpleNamespace(**vars(orthobench_rotten), Sound=faults.Sound, Cloud=faults.Cloud)


@pytest.fixture
def guard():
    found = Guard(threads=1)
    yield found
    found.close()


def cell(rotten, solver, samples=100, **budget):
    return Cell(rotten.Cloud(), solver, 0, Budget(samples=samples, **budget))


def numbers(outcome):
    return [(mark.work, dict(mark.metrics)) for mark in outcome.trace], outcome.stop


ENDS = [
    ("CountsOfNumpy", RunStatus.BUDGET, "the budget is spent"),
    ("CountsFractions", RunStatus.ERROR, "counts-fractions.* counts flops as 1.5"),
    ("CountsNothing", RunStatus.ERROR, "counts-nothing"),
    ("RaisesSurrogates", RunStatus.ERROR, r"raises-surrogates: ValueError\('bad"),
    ("RaisesUnprintable", RunStatus.ERROR, "raises-unprintable: UnprintableError"),
    ("Exits", RunStatus.ERROR, r"exits: SystemExit\(0\)"),
    ("Interrupts", RunStatus.ERROR, r"interrupts: KeyboardInterrupt\('me'\)"),
    ("ReturnsAVector", RunStatus.ERROR, "returns-a-vector.* must return a Solution"),
    ("ChangesErrors", RunStatus.BUDGET, "the budget is spent"),
    ("ChangesFolder", RunStatus.BUDGET, "the budget is spent"),
    ("GoesOn", None, ""),
    ("PatchesTheHarness", RunStatus.BUDGET, "the budget is spent"),
    ("SendsNonsense", RunStatus.ERROR, "sends-nonsense: its process sent what it must not"),
]


@pytest.fixture(scope="module")
def found(rotten):
    """The outcome of each of these, and of a sound solver after it on the same guard."""
    guard = Guard(threads=1)
    try:
        yield {
            name: [
                guard.execute(sealed(cell(rotten, solver)))
                for solver in (getattr(rotten, name)(), rotten.Sound())
            ]
            for name, _, _ in ENDS
        }
    finally:
        guard.close()


@pytest.mark.parametrize(("name", "status", "said"), ENDS)
def test_the_next_solver_gives_what_it_gives_alone(rotten, found, name, status, said):
    outcome, after = found[name]
    if status:
        assert outcome.stop.status is status
    assert re.search(said, outcome.stop.reason)
    assert numbers(after) == numbers(execute(cell(rotten, rotten.Sound())))


def test_a_sound_solver_keeps_its_process(rotten, guard):
    kept = []
    for number in range(3):
        guard.execute(sealed(cell(rotten, rotten.Sound(number=number))))
        kept.append(guard.process)
    assert kept[0] is kept[1] is kept[2] is not None


@linux
def test_a_run_that_does_not_say_when_it_begins_counts_as_failed(rotten, guard):
    outcome = guard.execute(sealed(cell(rotten, rotten.SaysNothing())))
    assert outcome.stop.status.failed
    assert guard.process is None


@linux
def test_processes_of_processes_are_counted_and_end_with_the_run(rotten):
    events = local.run([cell(rotten, rotten.Daemon()), cell(rotten, rotten.Sound())])
    found = [event.outcome for event in events if event.outcome]
    assert [outcome.stop.status for outcome in found] == [RunStatus.SUSPECT, RunStatus.BUDGET]
    assert "processes that the solver started" in found[0].stop.reason


@linux
def test_no_daemon_is_left_when_its_judge_is_killed(rotten, guard):
    process = local.Process("orthobench.harness.executors.local", {"threads": 1, "memory": None})
    with process:
        process.send((sealed(cell(rotten, rotten.Daemon(), samples=70)), Limit(600.0)))
        while len(descendants(process.pid)) < 2:  # its solver, and the daemon
            time.sleep(0.01)
        family = descendants(process.pid)
    until = time.monotonic() + 60
    while any(os.path.exists(f"/proc/{pid}") for pid in family):  # noqa: PTH110
        assert time.monotonic() < until
        time.sleep(0.01)


@linux
def test_a_solver_that_was_paused_says_so(rotten, guard, monkeypatch):
    monkeypatch.setattr(machine, "stolen", lambda: 0.0)  # a slow host would explain it
    monkeypatch.setattr(clocks, "queued", lambda process: 0.0)
    outcome = guard.execute(sealed(cell(rotten, rotten.Pauses())))
    assert outcome.stop.status is RunStatus.BUDGET
    assert "it slept, or was paused" in outcome.stop.reason


@pytest.mark.wide
def test_endless_step_warm_up_or_run_is_cut(rotten, monkeypatch):
    hangs = [rotten.EndlessStep(), rotten.EndlessWarmUp(), rotten.Cycles()]
    cells = [cell(rotten, solver) for solver in hangs] + [cell(rotten, rotten.Sound())]
    monkeypatch.setattr(Limits, "limit", lambda *given: Limit(6.0))
    found = [event.outcome for event in local.run(cells) if event.outcome]
    assert [outcome.stop.limit for outcome in found] == [6.0, 6.0, 6.0, 0.0]
    assert not any(outcome.stop.status.failed for outcome in found)
    assert [len(outcome.trace) > 0 for outcome in found] == [True, False, True, True]
    assert numbers(found[-1]) == numbers(execute(cells[-1]))


def test_random_faults_of_solvers_cost_their_own_cells(rotten, tmp_path):
    attack = pytest.importorskip("rotten_solvers").attack
    assert attack(tmp_path, 2, 40) == 80


@pytest.mark.faults
def test_ten_thousand_cells_of_solvers_that_do_anything(rotten, tmp_path):
    attack = pytest.importorskip("rotten_solvers").attack
    assert attack(tmp_path, 100, 100) == 10_000

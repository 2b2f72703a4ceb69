"""Limits of cells, and the settings of executors."""

import math
import sys
from dataclasses import replace

import pytest

from orthobench.errors import UsageError
from orthobench.harness.cell import Cell
from orthobench.harness.executors import Executor, Limit, Limits, local, run_inline
from orthobench.harness.stopping import Budget, RunStatus


@pytest.fixture
def cell(toys):
    return Cell(toys.Problem(), toys.Solver(), 0, Budget(steps=3))


def test_limit_follows_budget_slowest_cell_and_earlier_cut(cell):
    def limit(slowest=0.0, cut=0.0, **budget):
        return Limits().limit(replace(cell, budget=Budget(**budget), cut=cut), slowest)

    assert limit(steps=5) == Limit(60.0)
    assert limit(steps=5, slowest=7.0) == Limit(70.0)
    assert limit(steps=5, cut=60.0) == Limit(120.0)
    assert limit(steps=5, cut=60.0, slowest=100.0) == Limit(1000.0)
    assert limit(seconds=2).seconds == 25.0
    assert limit(seconds=100, slowest=1e6).seconds == 1000.0
    assert Limits(3.0).limit(replace(cell, cut=60.0), 1e6) == Limit(3.0, whole=True)


def test_clock_ends_within_a_tenth_of_the_budget_in_seconds(cell):
    for seconds in (2.0, 10.0, 600.0):
        timed = replace(cell, budget=Budget(seconds=seconds))
        for limits in (Limits(), Limits(1e4)):
            assert seconds < limits.limit(timed).clock <= 1.1 * seconds
        # a race sets the limit of each of its cells
        assert Limits().limit(replace(timed, timeout=3.0)) == Limit(3.0, whole=True)


def test_limits_that_are_not_positive_are_refused():
    for limits in ({"timeout": 0}, {"timeout": math.nan}, {"memory": -5}):
        with pytest.raises(UsageError, match="limit must be positive"):
            Limits(**limits)


def test_solver_that_cannot_be_sent_is_an_error_of_its_cell(cell, monkeypatch):
    def refuses(self, problem):
        raise ArithmeticError("a wrong turn")

    monkeypatch.setattr(type(cell.solver), "refuses", refuses)
    (event,) = (event for event in local.run([cell]) if event.outcome)
    assert event.outcome.stop.status is RunStatus.ERROR
    assert "power: ArithmeticError" in event.outcome.stop.reason


@pytest.mark.parametrize("isolate", [False, pytest.param(True, marks=pytest.mark.wide)])
def test_two_workers_run_each_cell_once(cell, isolate):
    cells = [replace(cell, seed=seed) for seed in range(3)]
    events = [*local.run(cells, workers=2, limits=Limits(isolate=isolate))]
    begun = [e.cell.seed for e in events if e.outcome is None and not e.late]
    assert sorted(begun) == sorted(e.cell.seed for e in events if e.outcome) == [0, 1, 2]
    assert {event.worker for event in events} == {"1", "2"}
    assert [*local.run([])] == []


def test_executor_refuses_settings_that_it_does_not_have(monkeypatch):
    for name, settings, message in (
        ("locla", {}, "did you mean 'local'"),
        ("local", {"workers": 0}, "workers must be a whole number >= 1, not 0, nor 'auto'"),
        ("inline", {"scheduler": "tls://a:1"}, "inline takes no scheduler"),
        ("dask", {}, "scheduler"),
        ("inline", {"workers": 2}, "workers and limits need processes"),
        ("inline", {"limits": Limits(isolate=True)}, "workers and limits need processes"),
    ):
        with pytest.raises(UsageError, match=message):
            Executor(name, **settings)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UsageError, match="only Linux can limit"):
        Executor(limits=Limits(memory=10**9))


def test_executor_records_how_many_runs_share_the_machine(monkeypatch):
    monkeypatch.setattr("orthobench.harness.executors.cores", lambda: 8)
    for executor, at_once in (
        (Executor("inline"), 1), (Executor(workers=3), 3), (Executor(workers="auto", threads=3), 2),
        (Executor(workers="auto", threads=9), 1), (Executor("inline", "auto"), 1),
    ):  # fmt: skip
        facts = executor.facts()
        assert (executor.at_once, facts["workers"], facts["shared"]) == (at_once,) * 3


def test_inline_executor_groups_cells_by_data(cell):
    cells = [replace(cell, seed=seed) for seed in (0, 1, 0)]
    events = [*run_inline(cells)]
    assert [event.cell.seed for event in events if event.outcome] == [0, 0, 1]
    assert [event.outcome is None for event in events] == 3 * [True, False]


def test_cell_that_takes_long_is_reported_with_its_limit(cell, monkeypatch):
    monkeypatch.setattr(local, "LATE", 0.01)
    first, *others, last = local.run([cell])
    assert (first.outcome, first.late) == (None, "")
    assert last.outcome.stop.status is RunStatus.BUDGET
    assert 1 < len(others) < 20  # each time at twice the time
    for event in others:
        assert (event.cell.key, event.worker, event.outcome) == (cell.key, "1", None)
        assert "it is cut after 60 s of its warm-up or without a checkpoint" in event.late
        assert "--timeout" in event.late

"""Replies of a side."""

import sys
from pathlib import Path

import pytest

from orthobench.compare.cells import SideError, SideProcess, run_of
from orthobench.compare.options import Options
from orthobench.compare.sides import Side
from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.tools.processes import Process, ProcessError

KEY = ("p", "s", 3)
SIDE = Side("v1", "environment", "here", Path(sys.executable))
REPLY = {
    "status": "budget", "reason": "the budget is spent", "primary": "gap", "on": "torch:cpu",
    "trace": [[0, 1, 2, 1.0], [3, 4, 5, 0.5]], "budget": {"steps": 3},
}  # fmt: skip


@pytest.fixture
def process(monkeypatch):
    """Start a process with this reply."""

    def begin(reply):
        def receive(self, patience):
            if isinstance(reply, Exception):
                raise reply
            return reply

        monkeypatch.setattr(Process, "__init__", lambda *words, **settings: None)
        monkeypatch.setattr(Process, "receive", receive)
        monkeypatch.setattr(Process, "last_words", "last words", raising=False)
        return SideProcess(SIDE, Options())

    return begin


def test_run_has_the_values_of_its_reply():
    run = run_of(KEY, REPLY)
    assert (run.problem.label, run.solver.label, run.seed) == KEY
    assert (run.problem.primary, run.solver.parameters) == ("gap", {"on": "torch:cpu"})
    assert run.stop == Termination(RunStatus.BUDGET, "the budget is spent")
    assert [mark.work for mark in run.trace] == [Work(0, 1, 2), Work(3, 4, 5)]
    assert [mark.metrics for mark in run.trace] == [{"gap": 1.0}, {"gap": 0.5}]
    assert run.budget == {"steps": 3}
    bare = run_of(KEY, {"status": "error", "reason": "it died"})
    assert (bare.trace, bare.budget, bare.solver.parameters) == ((), {}, {"on": "numpy"})


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (ProcessError("killed by SIGKILL", "last words"), "killed by SIGKILL"),
        (TimeoutError("it took longer than 7 s"), "longer than 7 s"),
        ({"error": "ZeroDivisionError: toy"}, "ZeroDivisionError: toy"),
        ({"ended": 3}, "last words"),
    ],
)
def test_error_of_a_side_is_a_failed_run_with_the_reason(process, reply, said):
    with pytest.raises(SideError, match=said):
        process(reply).reply()
    run = run_of(KEY, process(reply).outcome())
    assert run.stop.status is RunStatus.ERROR
    assert said in run.stop.reason
    assert process({"ended": 0, **REPLY}).outcome() == {"ended": 0, **REPLY}


def test_process_that_a_cell_killed_is_replaced(process, monkeypatch):
    side, done = process({"absent": []}), []
    side.plan = {"tables": {}, "name": "toys"}
    monkeypatch.setattr(SideProcess, "alive", False)
    monkeypatch.setattr(SideProcess, "close", lambda self: done.append("close"))
    monkeypatch.setattr(SideProcess, "send", lambda self, message: done.append(message["do"]))
    side.begin_run(KEY)
    assert done == ["close", "plan", "run"]


def test_limit_of_a_run_does_not_limit_imports(process, monkeypatch):
    allowed = []
    side = process({"status": "ok"})
    monkeypatch.setattr(
        Process, "receive", lambda self, patience: allowed.append(patience) or {"status": "ok"}
    )
    monkeypatch.setattr(side, "limit", 2.0)
    side.outcome()
    side.reply()
    assert allowed[0] == 2.0 < allowed[1]

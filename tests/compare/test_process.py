"""What a side says, as the installation that compares takes it, without a process."""

import sys
from pathlib import Path

import pytest

from orthobench.compare.options import Options
from orthobench.compare.process import SideError, SideProcess, run_of
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
    """A function that begins a process that gives a reply; and what was asked of the process."""
    seen = {"sent": []}

    def start(self, *words, **settings):
        seen.update(words=words, **settings)

    def begin(reply=None, options=None, request=None):
        def receive(self, patience):
            seen["patience"] = patience
            if isinstance(reply, Exception):
                raise reply
            return reply

        monkeypatch.setattr(Process, "receive", receive)
        return SideProcess(SIDE, options or Options(), request)

    monkeypatch.setattr(Process, "__init__", start)
    monkeypatch.setattr(Process, "send", lambda self, message: seen["sent"].append(message))
    monkeypatch.setattr(Process, "last_words", "last words", raising=False)
    begin.seen = seen
    return begin


def test_a_run_has_what_its_reply_says():
    run = run_of(KEY, REPLY)
    assert (run.problem.label, run.solver.label, run.seed) == KEY
    assert (run.problem.primary, run.solver.parameters) == ("gap", {"on": "torch:cpu"})
    assert run.stop == Termination(RunStatus.BUDGET, "the budget is spent")
    assert [mark.work for mark in run.trace] == [Work(0, 1, 2), Work(3, 4, 5)]
    assert [mark.metrics for mark in run.trace] == [{"gap": 1.0}, {"gap": 0.5}]
    assert run.budget == {"steps": 3}
    bare = run_of(KEY, {"status": "error", "reason": "it died"})
    assert (bare.trace, bare.budget, bare.solver.parameters) == ((), {}, {"on": "numpy"})


def test_a_process_has_the_clock_threads_and_patience_that_are_asked_for(process):
    request = {"tables": {"threads": 3}, "name": "x"}
    one = process({"a": 1}, Options(clock="wall", run_limit=7.0), request)
    seen = process.seen
    assert seen["words"] == ("orthobench_remote.worker", {"clock": "wall"}, 3)
    assert (seen["codec"], seen["python"]) == ("json", SIDE.python)
    assert one.ask("suite", name="x") == {"a": 1}
    assert seen["sent"] == [{"do": "plan", **request}, {"do": "suite", "name": "x"}]
    assert seen["patience"] == 7.0
    one.reply(3.0)
    assert seen["patience"] == 3.0
    process()
    assert seen["words"][2] == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (ProcessError("killed by SIGKILL", "last words"), "killed by SIGKILL"),
        (TimeoutError("it took longer than 7 s"), "longer than 7 s"),
        ({"error": "ZeroDivisionError: toy"}, "ZeroDivisionError: toy"),
        ({"ended": 3}, "last words"),
    ],
)
def test_what_a_side_cannot_do_is_said_and_a_run_has_failed(process, reply, said):
    with pytest.raises(SideError, match=said):
        process(reply).reply()
    run = run_of(KEY, process(reply).outcome())
    assert run.stop.status is RunStatus.ERROR
    assert said in run.stop.reason
    assert process({"ended": 0, **REPLY}).outcome() == {"ended": 0, **REPLY}

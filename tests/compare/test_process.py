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
    """A function that begins a process that replies with these; and what it was started with."""
    seen = {"sent": []}

    def start(self, *words, **settings):
        seen.update(words=words, **settings)

    def begin(*replies, options=None, request=None):
        left = [*replies]

        def receive(self, patience):
            seen["patience"] = patience
            reply = left.pop(0)
            if isinstance(reply, Exception):
                raise reply
            return reply

        monkeypatch.setattr(Process, "__init__", start)
        monkeypatch.setattr(Process, "send", lambda self, message: seen["sent"].append(message))
        monkeypatch.setattr(Process, "receive", receive)
        monkeypatch.setattr(Process, "last_words", "last words", raising=False)
        return SideProcess(SIDE, options or Options(), request)

    begin.seen = seen
    return begin


def test_a_run_has_what_its_reply_says():
    run = run_of(KEY, REPLY)
    assert (run.problem.label, run.solver.label, run.seed) == KEY
    assert (run.problem.primary, run.solver.parameters) == ("gap", {"on": "torch:cpu"})
    assert run.stop == Termination(RunStatus.BUDGET, "the budget is spent")
    assert [mark.work for mark in run.trace] == [Work(0, 1, 2), Work(3, 4, 5)]
    assert [mark.metrics for mark in run.trace] == [{"gap": 1.0}, {"gap": 0.5}]
    assert not any(mark.seconds or mark.readout_seconds for mark in run.trace)  # none are told
    assert run.budget == {"steps": 3}
    bare = run_of(KEY, {"status": "error", "reason": "it died"})
    assert (bare.trace, bare.budget, bare.solver.parameters) == ((), {}, {"on": "numpy"})


def test_a_process_has_the_clock_and_threads_that_are_asked_for(process):
    process(options=Options(clock="wall"), request={"tables": {"threads": 3}, "name": "x"})
    seen = process.seen
    assert seen["words"] == ("orthobench_remote.worker", {"clock": "wall"}, 3)
    assert (seen["codec"], seen["python"]) == ("json", SIDE.python)
    assert seen["sent"] == [{"do": "plan", "tables": {"threads": 3}, "name": "x"}]
    seen["sent"].clear()
    process(request={"tables": {}})
    assert seen["words"][2] == 1
    process()
    assert seen["words"][2] == 1
    assert len(seen["sent"]) == 1


def test_replies_come_in_time_and_are_asked_for(process):
    one = process({"a": 1}, {}, {"b": 2}, options=Options(run_limit=7.0))
    assert one.ask("suite", name="x") == {"a": 1}
    one.begin()
    assert process.seen["sent"] == [{"do": "suite", "name": "x"}, {"do": "begin"}]
    assert process.seen["patience"] == 7.0
    assert one.reply(3.0) == {"b": 2}
    assert process.seen["patience"] == 3.0


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

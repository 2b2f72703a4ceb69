import math

import numpy as np
import pytest

from orthobench.compare import timing
from orthobench.compare.cells import SideError
from orthobench.compare.options import TOLERANCE, Options, Question
from orthobench.compare.sides import Side
from orthobench.compare.timing import (
    FEW,
    PAIRS,
    TimedCell,
    evidence,
    few,
    findings,
    measure,
)
from orthobench.stats.run_pairs import Change
from orthobench.tools.formatting import percent

BASE, HEAD = Side("BASE", "environment", "a"), Side("HEAD", "environment", "b")


class Fake:
    """A process whose seconds are what a test says: a layout for each copy, and disturbances."""

    def __init__(self, machine, side):
        self.machine, self.side, self.replies, self.ran = machine, side, [], set()
        self.alive, self.copied, self.layout, self.limit = True, False, machine.drawn(), 60.0
        machine.started.append(side.name)
        self.request("plan")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.alive = False

    def request(self, do, **request):
        self.replies.append(self.machine.reply(self, do, request))

    def reply(self, patience=None):
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def ask(self, do, **request):
        self.copied |= do == "begin"
        self.request(do, **request)
        return self.reply()


class Machine:
    """Two sides on a noisy machine; `slower` is what HEAD takes more, by cell."""

    def __init__(
        self, slower, layout=0.02, disturbance=0.05, seed=0, failing=(), deadly=(), threaded=(),
        hanging=(), first=0.0, peak=0.0,
    ):  # fmt: skip
        self.slower, self.failing, self.deadly = slower, failing, deadly
        self.threaded, self.hanging = threaded, hanging  # in every process, in copies only
        self.first, self.peak = first, peak  # what HEAD needs more, in seconds and MiB
        self.copies = 0
        self.layout, self.disturbance = layout, disturbance
        self.rng = np.random.default_rng(seed)
        self.started, self.turns, self.seconds = [], [], 0.0

    def drawn(self):
        """The factor of a place in memory."""
        return math.exp(self.rng.normal(0, self.layout))

    def reply(self, process, do, request):
        self.seconds += 0.2 if do == "plan" else 0.05
        if do == "begin":
            process.layout = self.drawn()
            self.copies += 1
        if do == "peak":
            more = self.peak if process.side.name == "HEAD" else 0.0
            return {"bytes": 2**20 * (10 + more + self.rng.uniform(0, 1))}
        if do != "time":
            return {}
        key = request["key"]
        if key in self.hanging and process.copied:
            process.alive = False
            return SideError("took longer than 10 s, and was killed")
        if key in self.failing:
            return SideError("it raised")
        if key in self.deadly or not process.alive:
            process.alive = False
            return SideError("it died")
        self.turns.append((process.side.name, key))
        slower = 1 + self.slower.get(key, 0) if process.side.name == "HEAD" else 1
        added = self.rng.exponential(self.disturbance, request["runs"])
        seconds = 0.01 * slower * process.layout * (1 + added)
        more = self.first * (process.side.name == "HEAD")
        first = 0.0 if key in process.ran else 1.0 + more
        process.ran.add(key)
        return {
            "seconds": list(seconds), "awake": float(seconds.sum()) + first,
            "copies": key not in self.threaded,
        }  # fmt: skip


@pytest.fixture(autouse=True)
def simulated(monkeypatch):
    """Processes of the machine that stands for the plan."""
    monkeypatch.setattr(timing, "SideProcess", lambda side, options, plan: Fake(plan, side))


def cells(*keys, units=(1.0, 1.0), tolerance=0.02):
    tolerances = {**TOLERANCE, "time": tolerance}
    return [TimedCell(key, (10, 10), units, tolerance=tolerances) for key in keys]


def timed_on(machine, timed, budget=300.0, **options):
    measured = measure(
        (BASE, HEAD), timed, Options(budget=budget, **options), machine, lambda _: None,
        lambda: machine.seconds,
    )  # fmt: skip
    return measured, changes(timed)


def changes(timed, question=Question.TIME):
    return {
        key: answers[question].change for key, answers in findings(timed).items()
        if question in answers
    }  # fmt: skip


def test_a_slower_cell_is_told_from_those_that_did_not_change():
    timed = cells(*"abcdefgh")
    _, changes = timed_on(Machine({"c": 0.10}), timed, budget=900)
    assert changes == {key: Change.WORSE if key == "c" else Change.SAME for key in "abcdefgh"}


def test_a_faster_cell_is_an_improvement():
    timed = cells(*"ab")
    _, changes = timed_on(Machine({"b": -0.2}, layout=0.005), timed)
    assert changes["b"] in (Change.BETTER, Change.SAME)
    answer = findings(timed)["b"][Question.TIME]
    assert answer.ratio == pytest.approx(0.8, abs=0.03)
    assert answer.low <= 0.8 <= answer.high


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.wide
def test_equal_times_are_never_slower(seed):
    timed = cells(*map(str, range(20)))
    _, changes = timed_on(Machine({}, layout=0.04, disturbance=0.3, seed=seed), timed, budget=100)
    assert Change.WORSE not in changes.values()


def test_slower_cell_within_the_tolerance_is_the_same():
    """Seen to be slower within a few rounds, and never called so."""
    timed = cells("a", tolerance=0.05)
    machine = Machine({"a": 0.04}, layout=0.002, disturbance=0.01)
    _, changes = timed_on(machine, timed)
    assert evidence(timed[0].logs) > 5
    assert changes == {"a": Change.SAME}


def test_interval_beyond_the_tolerance_is_probably_slower():
    timed = cells("a")
    machine = Machine({"a": 0.2}, layout=0.001, disturbance=0.001)
    rounds, changes = timed_on(machine, timed, budget=3.0)
    answer = findings(timed)["a"][Question.TIME]
    assert (rounds, len(timed[0].pairs)) == (4, 2)
    assert changes == {"a": Change.PROBABLE}
    assert answer.low > 1.02
    assert answer.explanation.endswith("ms a run in BASE, 4 rounds")


@pytest.mark.parametrize("long", [0.01, 0.05, 0.07, 0.11])
def test_each_side_is_as_often_the_first_in_a_round(monkeypatch, long):
    monkeypatch.setattr(timing, "LONG", long)
    timed_on(Machine({}), timed := cells("a"), budget=3.0)
    assert timed[0].turns > 0
    assert timed[0].turns % 2 == 0


def test_seconds_are_of_a_unit_of_work():
    """HEAD does twice the work in twice the time: a unit takes as long as before."""
    timed = cells("a", units=(1000.0, 2000.0))
    _, changes = timed_on(Machine({"a": 1.0}), timed)
    assert changes == {"a": Change.SAME}


@pytest.mark.parametrize(("kind", "reason"), [("failing", "it raised"), ("deadly", "it died")])
def test_a_cell_that_raises_or_kills_its_process_costs_no_other(kind, reason):
    timed = cells("a", "b")
    _, changes = timed_on(Machine({"b": 0.3}, **{kind: {"a"}}), timed)
    assert changes == {"a": Change.NONE, "b": Change.WORSE}
    assert timed[0].failed == f"cannot be timed: BASE: {reason}"


def test_large_change_needs_one_pair_of_processes():
    timed = cells("a", "b")
    _, changes = timed_on(Machine({"a": 1.0}), timed)
    assert changes == {"a": Change.WORSE, "b": Change.SAME}
    assert len(timed[0].pairs) < PAIRS
    assert len(timed[0].logs) <= FEW + 1


@pytest.mark.parametrize("machine", [{"threaded": "a"}, {"hanging": "a"}])
def test_threads_are_timed_in_fresh_processes_without_copies(machine):
    made, timed = Machine({"a": 0.2}, layout=0.002, disturbance=0.01, **machine), cells("a")
    _, changes = timed_on(made, timed)
    assert changes == {"a": Change.WORSE}
    assert made.copies == (2 if "hanging" in machine else 0)
    assert len(timed[0].pairs) == len(timed[0].logs)


def test_undecided_time_with_a_wide_interval_doubles_the_budget():
    calm = Machine({"a": 0.02}, layout=0.01, disturbance=0.01)
    _, changes = timed_on(calm, narrow := cells("a"), budget=6.0)
    assert changes == {"a": Change.UNDECIDED}
    assert calm.seconds < 8.0
    answer = findings(narrow)["a"][Question.TIME]
    assert f"more than {percent(answer.high)} is excluded" in answer.explanation
    loud = Machine({}, layout=0.4, disturbance=0.5, seed=1)
    _, changes = timed_on(loud, cells("a"), budget=6.0)
    assert changes == {"a": Change.UNDECIDED}
    assert 11.0 < loud.seconds < 14.0


@pytest.mark.parametrize(
    ("question", "machine"), [(Question.FIRST, {"first": 1.0}), (Question.MEMORY, {"peak": 8.0})]
)
def test_longer_first_call_and_more_memory_are_found(question, machine):
    timed = cells("a")
    timed_on(Machine({}, layout=0.002, disturbance=0.01, **machine), timed)
    assert changes(timed, question) == {"a": Change.WORSE}
    assert changes(timed) == {"a": Change.SAME}
    timed_on(Machine({}, layout=0.002, disturbance=0.01), calm := cells("a"))
    assert changes(calm, question) == {"a": Change.SAME}


def test_a_few_observations_are_worse_only_if_all_are():
    for seen, change in (
        ([(1.0, 2.0)] * 4, Change.UNDECIDED), ([(1.0, 2.0)] * 5, Change.WORSE),
        ([(2.0, 1.0)] * 5, Change.BETTER), ([(1.0, 2.0)] * 9 + [(1.0, 1.1)], Change.SAME),
        ([(1.0, 1.24)], Change.SAME), ([(0.1, 0.25)], Change.SAME), ([(0.0, 0.1)], Change.SAME),
    ):  # fmt: skip
        assert few(Question.FIRST, seen, TOLERANCE).change is change, seen

"""What two runs of a cell may differ in, how far a cell is computed again, and what is said."""

import math
from dataclasses import replace

import pytest
from records import record

from orthobench.contract.solver import Work
from orthobench.harness.cell import Cell
from orthobench.harness.execution import PEAK
from orthobench.harness.stopping import Budget, RunStatus, Termination
from orthobench.harness.trace import Checkpoint, Outcome
from orthobench.verify.check import MOST, Mismatch, Verification, _bounded, _differences, lines
from orthobench.verify.rebuilding import platform_differences

BUDGET, TARGET, DONE = RunStatus.BUDGET, RunStatus.TARGET, RunStatus.DONE


def marks(points):
    return tuple(
        Checkpoint(1.0, 0.0, Work(x, 2 * x, flops or 3 * x), {"gap": y})
        for x, y, flops in ((*point, None)[:3] for point in points)
    )


def differing(
    stored, again, exact=True, statuses=(BUDGET, BUDGET), dtype="float64", budget=("steps",)
):
    run = record("k", trace=marks(stored), status=statuses[0], budget=dict.fromkeys(budget, 9))
    outcome = Outcome(Termination(statuses[1], "so"), marks(again))
    found = _differences(run, outcome, dtype, exact)
    return [*dict.fromkeys((name, step) for name, step, *_ in found)]


START, MIDDLE, END = (0, 8.0), (5, 4.0), (9, 2.0)


class TestDifferences:
    def test_are_none_between_equal_runs(self):
        assert differing([START, END], [START, END]) == []

    def test_name_each_count_and_the_step(self):
        assert differing([START, END], [START, (9, 2.0, 28)]) == [("flops", 9)]
        found = differing([START, END], [START, (8, 2.0)])
        assert found == [("steps", 9), ("samples", 9), ("flops", 9)]

    def test_of_another_platform_count_beyond_a_part_of_the_start(self):
        for value, found in ((7e-9, []), (9e-9, [("gap", 9)])):
            assert differing([START, (9, 0.0)], [START, (9, value)], exact=False) == found

    def test_of_the_number_of_checkpoints_are_named_and_the_first_ones_compared(self):
        assert differing([START, (5, 3.0)], [START, MIDDLE, END]) == [
            ("checkpoints", None), ("gap", 5),
        ]  # fmt: skip
        assert differing([START, MIDDLE, END], [START, MIDDLE]) == [("checkpoints", None)]

    @pytest.mark.parametrize(
        "cut", [{"budget": ("seconds",)}, {"statuses": (RunStatus.TIMEOUT,) * 2}]
    )
    def test_of_a_run_that_a_clock_cut_are_those_where_both_have_checkpoints(self, cut):
        assert differing([START, END], [START, MIDDLE, END], **cut) == []
        assert differing([START, MIDDLE], [START, MIDDLE, END], **cut) == []
        assert differing([START, (5, 4.5), END], [START, MIDDLE, END], **cut) == [("gap", 5)]

    def test_of_a_run_that_goes_less_far_here_are_at_its_end(self):
        cut = {"budget": ("seconds",)}
        found = differing([START, MIDDLE, END], [START, MIDDLE], **cut)
        assert [name for name, step in found if step == 9] == ["steps", "samples", "flops", "gap"]
        failed = {**cut, "statuses": (BUDGET, RunStatus.ERROR)}
        assert differing([START, MIDDLE, END], [START, MIDDLE], **failed) == [("ending", None)]
        assert differing([], [START], **cut) == differing([START], [], **cut) == []
        assert differing([START, MIDDLE], [START, END], **cut) == []  # it goes further here

    def test_of_an_ending_count_unless_a_clock_or_the_machine_decided_it(self):
        both = [START, END]
        assert differing(both, both, statuses=(BUDGET, DONE)) == [("ending", None)]
        for status in (BUDGET, TARGET):
            assert differing(both, both, statuses=(status, DONE), budget=("seconds",)) == []
        ended = {"statuses": (DONE, BUDGET), "budget": ("seconds",)}
        assert differing(both, both, **ended) == [("ending", None)]
        for status in (RunStatus.TIMEOUT, RunStatus.MEMORY, RunStatus.CRASHED, RunStatus.SUSPECT):
            assert differing(both, both, statuses=(status, DONE)) == []
            assert differing(both, both, statuses=(DONE, status)) == []

    @pytest.mark.parametrize(("dtype", "allowed"), [("float64", 1e-6), ("float32", 1e-2)])
    def test_on_another_platform_are_those_beyond_its_tolerance_at_the_end_too(
        self, dtype, allowed
    ):
        inside, outside = (2 * (1 + part * allowed) for part in (0.9, 1.3))
        settings = {"exact": False, "dtype": dtype}
        assert differing([START, END], [START, (9, inside)], **settings) == []
        assert differing([START, END], [START, (9, outside)], **settings) == [("gap", 9)]
        assert differing([START, END], [START, MIDDLE, (8, inside)], **settings) == []
        assert differing([START, END], [START, MIDDLE, (8, outside)], **settings) == [("gap", 9)]

    def test_of_what_a_machine_decides_are_left_out(self):
        run = record("k", trace=marks([START]), status=BUDGET)
        other = (replace(run.trace[0], metrics={"gap": 8.0, PEAK: 7.0}),)
        assert [*_differences(run, Outcome(run.stop, other), "float64", True)] == []


def bounded(toys, trace, status, budget=None, **limits):
    cell = Cell(toys.Problem(), toys.Solver(), 0, Budget(**limits or {"steps": 1000}))
    run = record("k", trace=marks(trace), status=status, budget=budget or {"steps": 1000})
    return _bounded(cell, run).budget


class TestBounded:
    def test_ends_after_the_checkpoint_that_would_have_come_next(self, toys):
        for last, limit, steps in ((0, 1000, 2), (100, 1000, 131), (100, 120, 120)):
            assert bounded(toys, [(last, 1.0)], BUDGET, steps=limit).steps == steps
        assert bounded(toys, [], RunStatus.ERROR).steps == 2

    def test_has_no_limit_in_seconds_and_keeps_the_others(self, toys):
        found = bounded(toys, [(10, 1.0)], DONE, steps=1000, seconds=1.0, samples=7)
        assert (found.seconds, found.samples) == (math.inf, 7)

    def test_ends_where_a_clock_did_but_not_where_the_run_ended_itself(self, toys):
        seconds = {"seconds": 1.0}
        for status, steps in ((BUDGET, 10), (DONE, 14), (RunStatus.ERROR, 14)):
            assert bounded(toys, [(10, 1.0)], status, seconds).steps == steps
        assert bounded(toys, [(10, 1.0)], RunStatus.TIMEOUT).steps == 10


def test_lines_name_mismatches_platforms_and_one_cell_of_each_reason():
    one = Mismatch("k", "s on p", "gap", 1200, 1.0, 2.0)
    found = Verification(
        2500, 0.5, 7, 1200, 600, ["k"] * 5, 3, {"cpu": 1}, {"no x": ["a", "b"]}, [one] * (MOST + 9)
    )
    first, second, platform, count, mismatch, *rest = lines(found)
    assert first.startswith("2,500 cells, of which 1,200 can be computed here; 600 drawn (share")
    assert second == "5 cells came out again: 3 bit for bit, 2 within tolerance"
    assert platform == "  1 cell where something else differs: cpu"
    assert count == "109 values did not:"
    assert mismatch == "  s on p: gap at step 1,200: stored 1.0, recomputed 2.0"
    assert rest[MOST - 1 :] == [
        "2 cells not checked:", "  2 cells, such as a: no x",
        "next: ask whoever ran it about these values, and take none of them before",
    ]  # fmt: skip


class Content:
    def __init__(self, **content):
        self.identity, self.content = self, content


HERE = {"platform": "Linux-6.1-generic-x86_64-with-glibc2.36", "python": "3.13.1", "cpu": "Zen"}


def test_a_platform_differs_in_system_processor_python_and_what_computes():
    same = Content(blas=["a"], versions={})
    for there, said in (
        ({"platform": "Linux-5.4-other-x86_64-with-glibc2.36", "python": "3.13.9"}, ()),
        ({"platform": "macOS-6.1-x86_64-with-glibc2.36"},
         ("system macOS-x86_64-with-glibc2.36 there, Linux-x86_64-with-glibc2.36 here",)),
        ({"python": "3.12.1"}, ("Python 3.12 there, 3.13 here",)),
        ({"cpu": None}, ("processor not told there, Zen here",)),
        ({"packages": {"numpy": "2.1", "click": "8"}}, ("numpy 2.1 there, not told here",)),
    ):  # fmt: skip
        assert platform_differences(same, same, {**HERE, **there}, HERE) == said
    for there, here, said in (
        ({"blas": ["a 1", "b 2"]}, {"blas": ["a 1"]}, "BLAS a 1 and b 2 there, a 1 here"),
        ({"code": {"x": "0a"}}, {"code": {}}, "code of x 0a there, not told here"),
        ({"place": {"d": "cpu", "n": 2}}, {"place": None}, "device cpu, 2 there, not told here"),
    ):
        assert platform_differences(Content(**there), Content(**here), HERE, HERE) == (said,)

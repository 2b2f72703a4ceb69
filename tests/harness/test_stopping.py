import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.contract.placed_solvers import SummarySolver
from orthobench.contract.solver import Work
from orthobench.errors import UsageError
from orthobench.harness.stopping import (
    Budget,
    RunStatus,
    Target,
    Termination,
    said,
    terminates,
)
from orthobench.harness.trace import Checkpoint

counts = st.integers(0, 10**6)


START = Checkpoint(0.0, 0.0, Work())


def mark(seconds=0.0, **counts):
    return Checkpoint(seconds, 0.0, Work(**counts))


def measured(value):
    return Checkpoint(0.0, 0.0, Work(), {"gap": value})


@given(limit=counts, done=counts)
def test_steps_left_are_exact(limit, done):
    left = Budget(steps=limit).left(mark(1.0, steps=done), START, batch=0)
    assert max(left, 0) == max(limit - done, 0)


@given(limit=counts, done=counts, batch=st.integers(1, 50))
def test_samples_never_exceed_the_budget(limit, done, batch):
    now = mark(1.0, steps=done, samples=done * batch)
    left = max(Budget(samples=limit).left(now, START, batch), 0)
    assert left == 0 or now.work.samples + left * batch <= limit
    assert now.work.samples + (left + 1) * batch > limit


def test_seconds_are_clipped_at_the_rate_after_init():
    # 20 steps took 2 s after an init of 10 s; 3 s are left
    assert Budget(seconds=15).left(mark(12.0, steps=20), mark(10.0), batch=0) == 30


def test_flops_of_init_are_spent_but_say_nothing_about_the_rate():
    now, start = mark(steps=10, flops=1100), mark(flops=1000)
    assert Budget(flops=1500).left(now, start, batch=0) == 40


def test_steps_before_the_start_say_nothing_about_the_rate():
    start, now = mark(2.0, steps=1, flops=300), mark(6.0, steps=5, flops=700)
    assert Budget(flops=1000).left(now, start, batch=0) == 3
    assert Budget(seconds=16).left(now, start, batch=0) == 10


def test_evaluations_are_limited_by_their_average():
    start, now = mark(samples=10), mark(steps=20, samples=50)
    assert Budget(samples=70).left(now, start, batch=0) == 10
    assert Budget(samples=50).left(now, start, batch=0) == 0
    assert Budget(samples=70).left(start, start, batch=0) == math.inf
    assert Budget(samples=5).left(start, start, batch=0) == 0


def test_budget_refuses():
    for bad in (-1, math.nan, "5", True, 1.1e300):
        with pytest.raises(UsageError, match="samples"):
            Budget(samples=bad)


def test_a_budget_of_zero_leaves_no_step():
    for kind in ("steps", "samples", "seconds", "flops"):
        assert Budget(**{kind: 0}).left(mark(), mark(), 1) == 0, kind


def test_target_is_met_at_its_value():
    assert Target("gap", 0.5)(measured(0.5)).status is RunStatus.TARGET
    assert Target("gap", 0.5)(measured(0.51)) is None


def test_target_on_an_unknown_metric_names_the_known():
    with pytest.raises(UsageError, match="gap"):
        Target("gup", 1)(measured(1.0))


def test_a_run_counts_failed_or_is_absent():
    counting = {RunStatus.DONE, RunStatus.TARGET, RunStatus.BUDGET, RunStatus.NOT_STATIONARY}
    assert {s for s in RunStatus if s.ok} == counting
    no_run = {RunStatus.REFUSED, RunStatus.TIMEOUT, RunStatus.MISSING}
    assert {s for s in RunStatus if s.absent} == no_run
    assert all(s.ok + s.failed + s.absent == 1 for s in RunStatus)


def test_a_run_that_was_cut_says_by_which_limit():
    for seconds in (60.0, 0.25, 1e-3, 86400.0):
        assert Termination.cut(seconds, "in its warm-up").limit == seconds
        assert Termination.cut(seconds).limit == seconds
    assert Termination(RunStatus.BUDGET, "the budget is spent").limit == 0
    assert Termination(RunStatus.TIMEOUT, "late").limit == 0


class UnprintableError(Exception):
    def __repr__(self):
        raise ArithmeticError


@pytest.mark.parametrize("value", ["bad \udcff", "a\0b", "x" * 10**6, UnprintableError(), 7, None])
def test_reason_is_always_text_in_utf_8(value):
    text = said(value)
    assert 0 < len(text.encode("utf-8")) < 10**5
    assert "\0" not in text
    assert Termination(RunStatus.ERROR, value, value) == Termination(RunStatus.ERROR, text, text)


def test_a_target_is_a_metric_and_a_number():
    for metric, value in ((3, 1.0), ("gap", "1"), ("gap", True), ("gap", math.nan), ("gap", None)):
        with pytest.raises(UsageError, match="a target is the name of a metric and a number"):
            Target(metric, value)
        assert Target("gap", math.inf)(measured(1.0)), metric
        assert str(Target("validation_gap", 1e-3)) == "validation gap <= 0.001", metric


@pytest.mark.parametrize(
    ("seconds", "spent", "left"), [(10, 3, 7), (10, 5, 5), (10, 8, 5), (math.inf, 3, math.inf)]
)
def test_a_warm_up_leaves_at_least_half_of_the_seconds(seconds, spent, left):
    assert Budget(seconds=seconds, steps=4).after(spent) == Budget(seconds=left, steps=4)


def test_a_budget_in_samples_binds_what_takes_some():
    for budget, batch, binds in (
        (Budget(), 5, False), (Budget(samples=9), 5, True), (Budget(samples=9), 1, True),
        (Budget(samples=9), 0, False), (Budget(samples=9, flops=9), 0, True),
        (Budget(steps=9), 0, True), (Budget(seconds=9), 0, True),
    ):  # fmt: skip
        assert budget.binds(batch) is binds, (budget, batch)
        for converges in (True, False):
            solver = SimpleNamespace(batch=batch, converges=converges)
            assert terminates(solver, budget) is (converges or binds), (budget, batch)


@pytest.mark.parametrize(
    ("on", "passes", "ends"),
    [("blocks", 1, True), ("blocks", math.inf, False), ("numpy", 1, False)],
)
def test_a_solver_of_blocks_ends_after_its_passes_or_with_any_budget(on, passes, ends):
    methods = dict.fromkeys(("init", "solution", "summarize", "merge", "finish"))
    cls = type("Summing", (SummarySolver,), {"name": "summing", "passes": passes, **methods})
    assert terminates(cls(on=on), Budget()) is ends
    assert terminates(cls(on=on), Budget(samples=1)) is (on == "blocks")
    assert terminates(cls(on=on), Budget(steps=1))

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.contract.solver import Work
from orthobench.errors import UsageError
from orthobench.harness.stopping import AtLeast, Budget, Ending, Progress, Target
from orthobench.harness.trace import Mark

counts = st.integers(0, 10**6)


def progress(value=1.0, steps=0):
    return Progress(0.0, Work(steps=steps), {"gap": value})


@given(limit=counts, done=counts)
def test_steps_left_are_exact(limit, done):
    left = Budget(steps=limit).left(1.0, Work(steps=done), Mark(0.0, 0.0, Work()), batch=0)
    assert max(left, 0) == max(limit - done, 0)


@given(limit=counts, done=counts, batch=st.integers(1, 50))
def test_samples_never_exceed_the_budget(limit, done, batch):
    work = Work(steps=done, samples=done * batch)
    left = max(Budget(samples=limit).left(1.0, work, Mark(0.0, 0.0, Work()), batch), 0)
    assert left == 0 or work.samples + left * batch <= limit
    assert work.samples + (left + 1) * batch > limit


def test_seconds_are_clipped_at_the_rate_after_init():
    start = Mark(10.0, 0.0, Work())
    # 20 steps took 2 s after an init of 10 s; 3 s are left.
    assert Budget(seconds=15).left(12.0, Work(steps=20), start, batch=0) == 30


def test_flops_of_init_are_spent_but_say_nothing_about_the_rate():
    start = Mark(0.0, 0.0, Work(flops=1000))
    assert Budget(flops=1500).left(0.0, Work(steps=10, flops=1100), start, batch=0) == 40


def test_nothing_left_after_the_limit():
    assert Budget(seconds=1).left(2.0, Work(steps=3), Mark(0.5, 0.0, Work()), batch=0) == 0


def test_unlimited_budget_is_endless():
    assert math.isinf(Budget().left(1.0, Work(steps=3), Mark(0.0, 0.0, Work()), batch=1))


@pytest.mark.parametrize("bad", [-1, math.nan, "5", True])
def test_budget_refuses(bad):
    with pytest.raises(UsageError, match="samples"):
        Budget(samples=bad)


def test_target_is_met_at_its_value():
    assert Target("gap", 0.5)(progress(0.5)).status is Ending.TARGET
    assert Target("gap", 0.5)(progress(0.51)) is None


def test_target_on_an_unknown_metric_names_the_known():
    with pytest.raises(UsageError, match="gap"):
        Target("gup", 1)(progress())


@given(value=st.floats(0, 1), steps=st.integers(0, 10))
def test_rules_compose_as_logic(value, steps):
    at = progress(value, steps)
    for a, b in itertools.permutations([Target("gap", 0.5), AtLeast(5)]):
        assert ((a | b)(at) is None) == (a(at) is None and b(at) is None)
        assert ((a & b)(at) is None) == (a(at) is None or b(at) is None)


def test_only_three_endings_are_no_failures():
    good = {ending for ending in Ending if not ending.failed}
    assert good == {Ending.DONE, Ending.TARGET, Ending.BUDGET}

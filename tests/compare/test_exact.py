import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.compare import exact
from orthobench.compare.comparison import Change
from orthobench.compare.curves import Curve
from orthobench.harness.stopping import RunStatus


def curve(values, stretch=1.0, **settings):
    """A run that takes `stretch` times the steps to each value."""
    steps = stretch * np.arange(len(values))
    work = np.column_stack([steps, 2 * steps, 300 * steps])
    return Curve("loss", work, np.array(values), **settings)


def halving(count=200, stretch=1.0, start=1.0, **settings):
    return curve(start * 0.93 ** np.arange(count), stretch, **settings)


@given(st.floats(1e-6, 1e6), st.integers(2, 200))
def test_a_run_compared_with_itself_is_the_same(start, count):
    run = halving(count, start=start)
    assert exact.result(run, run, 0.0).change is Change.SAME
    assert exact.work(run, run, 0.0).change is Change.SAME
    assert exact.work(run, run, 0.0).ratio == 1


def test_any_worse_result_is_found():
    base = halving(60)
    head = curve([*base.values[:-1], base.values[-1] * (1 + 1e-6)])
    answer = exact.result(base, head, 0.0)
    assert answer.change is Change.WORSE
    assert answer.ratio == pytest.approx(1 + 1e-6, rel=1e-6)
    assert exact.result(head, base, 0.0).change is Change.BETTER


def test_the_tolerance_is_a_part_of_bases_value():
    base, head = curve([1.0, 0.10]), curve([1.0, 0.104])
    assert exact.result(base, head, 0.05).change is Change.SAME
    assert exact.result(base, head, 0.03).change is Change.WORSE


def test_arithmetic_in_another_order_is_no_change():
    base = halving()
    head = curve(base.values * (1 + 1e-13))
    assert exact.result(base, head, 0.0).change is Change.SAME
    assert exact.work(base, head, 0.0).change is Change.SAME


def test_below_rounding_of_the_start_nothing_is_left_to_compare():
    base, head = curve([1.0, 3e-17]), curve([1.0, 8e-14])
    assert exact.result(base, head, 0.0).change is Change.SAME
    assert exact.result(base, curve([1.0, 3e-12]), 0.0).change is Change.WORSE


@pytest.mark.parametrize("stretch", [1.02, 1.05, 2.0])
def test_more_work_to_the_same_values_is_found(stretch):
    answer = exact.work(halving(), halving(stretch=stretch), 0.0)
    assert answer.change is Change.WORSE
    assert answer.ratio == pytest.approx(stretch)


def test_less_work_is_an_improvement():
    answer = exact.work(halving(), halving(stretch=0.8), 0.0)
    assert answer.change is Change.BETTER
    assert answer.ratio == pytest.approx(0.8)


def test_the_worst_target_is_the_one_that_counts():
    base = halving()
    late = np.concatenate([base.work[:100], base.work[100:] * 1.2])
    head = Curve("loss", late, base.values)
    answer = exact.work(base, head, 0.0)
    assert answer.change is Change.WORSE
    assert answer.ratio == pytest.approx(1.2)
    assert "steps" in answer.explanation


def test_dearer_steps_count_as_work_where_steps_are_equal():
    base = halving()
    head = Curve("loss", base.work * [1, 1, 1.05], base.values)
    answer = exact.work(base, head, 0.0)
    assert answer.change is Change.WORSE
    assert answer.explanation.endswith("flops")


def test_a_target_that_is_never_reached_takes_infinite_work():
    base = halving()
    head = curve(np.maximum(base.values, 0.05))
    answer = exact.work(base, head, 0.5)
    assert answer.change is Change.WORSE
    assert np.isinf(answer.ratio)
    assert "never" in answer.explanation


def test_runs_that_converge_are_compared_to_their_ends():
    base = curve([1.0, 1.0], status=RunStatus.DONE.value)
    head = curve([1.0, 1.0, 1.0], status=RunStatus.DONE.value)
    answer = exact.work(base, head, 0.0)
    assert (answer.change, answer.ratio) == (Change.WORSE, 2.0)


def test_without_any_progress_there_is_no_target():
    flat = curve([1.0, 1.0])
    assert exact.work(flat, flat, 0.0).change is Change.NONE


def test_values_may_be_negative():
    base, head = curve([0.0, -1.0]), curve([0.0, -0.99])
    assert exact.result(base, head, 0.0).change is Change.WORSE
    assert exact.result(base, head, 0.02).change is Change.SAME
    assert exact.work(base, base, 0.0).change is Change.SAME


def test_a_run_that_fails_now_is_a_regression():
    base, head = halving(), Curve.without("error: it broke")
    assert exact.result(base, head, 0.0).change is Change.WORSE
    assert "it broke" in exact.result(base, head, 0.0).explanation
    assert exact.result(head, base, 0.0).change is Change.BETTER
    assert exact.work(base, head, 0.0).change is Change.NONE
    assert exact.result(head, head, 0.0).change is Change.NONE


def test_values_of_different_metrics_are_not_compared():
    other = Curve("gap", halving().work, halving().values)
    assert exact.result(halving(), other, 0.0).change is Change.NONE


CUDA = {"float64": "torch:cuda", "float32": "torch:cuda/float32"}


@pytest.mark.parametrize(("dtype", "noise"), [("float64", 4e-10), ("float32", 1e-3)])
def test_on_a_gpu_runs_of_the_same_code_are_the_same_though_their_bits_differ(dtype, noise):
    rng = np.random.default_rng(0)
    values = (1 - noise) ** np.arange(6000)  # so close that noise changes when a target is met
    for _ in range(50):
        base, head = (
            curve(values * (1 + noise * rng.uniform(-1, 1, 6000)), on=CUDA[dtype]) for _ in range(2)
        )
        assert exact.result(base, head, 0.0).change is Change.SAME
        assert exact.work(base, head, 0.0).change is Change.SAME
        assert base.equals(head)
    bits = [curve(values * factor) for factor in (1, 1 + noise)]
    assert exact.result(*bits, 0.0).change is (Change.SAME if dtype == "float64" else Change.WORSE)
    assert not bits[0].equals(bits[1])


def test_a_change_beyond_that_is_found_on_a_gpu_too():
    on = CUDA["float32"]
    base = halving(100, on=on)
    worse = curve(base.values * 1.01, on=on)
    assert exact.result(base, worse, 0.0).change is Change.WORSE
    assert exact.result(worse, base, 0.0).change is Change.BETTER
    assert not base.equals(worse)
    assert exact.work(base, halving(100, 1.05, on=on), 0.0).change is Change.WORSE
    assert exact.work(base, halving(100, 0.9, on=on), 0.0).change is Change.BETTER


def test_when_equal_runs_converge_may_differ_on_a_gpu():
    on, done = CUDA["float64"], RunStatus.DONE.value
    base, head = (curve([1.0] * count, status=done, on=on) for count in (2, 3))
    assert exact.work(base, head, 0.0).change is Change.NONE


def test_a_place_of_a_newer_version_is_compared_exactly():
    assert curve([1.0], on="tpu:v9").slack == curve([1.0]).slack == curve([1.0], on="jax:cpu").slack

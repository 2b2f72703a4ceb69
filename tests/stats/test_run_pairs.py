import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.harness.trace import Checkpoint
from orthobench.results.runs import ProblemInfo, Run, SolverInfo
from orthobench.stats.run_pairs import (
    EXACT,
    Change,
    ToleranceRule,
    compare_results,
    compare_work,
    device_rule,
    differences,
    repeats,
    values,
    work_table,
)


def run(work, losses, metric="loss", status=RunStatus.BUDGET, reason="", on="numpy"):
    return Run(
        "", ProblemInfo("p", "p", {}, "f", metric, metric), SolverInfo("s", {"on": on}), 0,
        Termination(status, reason),
        [Checkpoint(0, 0, Work(*row), {metric: x}) for row, x in zip(work, losses, strict=True)],
    )  # fmt: skip


def curve(losses, stretch=1.0, **settings):
    """A run that takes `stretch` times the steps to each value."""
    steps = stretch * np.arange(len(losses))
    return run(np.column_stack([steps, 2 * steps, 300 * steps]), losses, **settings)


def broken(reason):
    return run([], [], status=RunStatus.ERROR, reason=reason)


def halving(count=200, stretch=1.0, start=1.0, **settings):
    return curve(start * 0.93 ** np.arange(count), stretch, **settings)


@given(st.floats(1e-6, 1e6), st.integers(2, 200))
def test_a_run_compared_with_itself_is_the_same(start, count):
    itself = halving(count, start=start)
    assert compare_results(itself, itself, 0.0).change is Change.SAME
    assert compare_work(itself, itself, 0.0).change is Change.SAME
    assert compare_work(itself, itself, 0.0).ratio == 1


def test_any_worse_result_is_found():
    base = halving(60)
    head = curve([*values(base)[:-1], values(base)[-1] * (1 + 1e-6)])
    answer = compare_results(base, head, 0.0)
    assert answer.change is Change.WORSE
    assert answer.ratio == pytest.approx(1 + 1e-6, rel=1e-6)
    assert compare_results(head, base, 0.0).change is Change.BETTER


def test_the_tolerance_is_a_part_of_bases_value():
    base, head = curve([1.0, 0.10]), curve([1.0, 0.104])
    assert compare_results(base, head, 0.05).change is Change.SAME
    assert compare_results(base, head, 0.03).change is Change.WORSE


def test_arithmetic_in_another_order_is_no_change():
    base = halving()
    head = curve(values(base) * (1 + 1e-13))
    assert compare_results(base, head, 0.0).change is Change.SAME
    assert compare_work(base, head, 0.0).change is Change.SAME


def test_more_work_to_the_same_values_is_worse_and_less_is_better():
    for stretch in (1.02, 1.05, 2.0, 0.8):
        answer = compare_work(halving(), halving(stretch=stretch), 0.0)
        assert answer.change is (Change.WORSE if stretch > 1 else Change.BETTER)
        assert answer.ratio == pytest.approx(stretch)


def test_the_worst_target_is_the_one_that_counts():
    base = halving()
    late = np.concatenate([work_table(base)[:100], work_table(base)[100:] * 1.2])
    head = run(late, values(base))
    answer = compare_work(base, head, 0.0)
    assert answer.change is Change.WORSE
    assert answer.ratio == pytest.approx(1.2)
    assert "steps" in answer.explanation


def test_dearer_steps_count_as_work_where_steps_are_equal():
    base = halving()
    head = run(work_table(base) * [1, 1, 1.05], values(base))
    answer = compare_work(base, head, 0.0)
    assert answer.change is Change.WORSE
    assert answer.explanation.endswith("flops")


def test_a_target_that_is_never_reached_takes_infinite_work():
    base = halving()
    head = curve(np.maximum(values(base), 0.05))
    answer = compare_work(base, head, 0.5)
    assert answer.change is Change.WORSE
    assert np.isinf(answer.ratio)
    reached = int(np.flatnonzero(values(base) <= values(base).min() + 0.01)[0])
    assert answer.explanation == (
        f"0.01 of the way left: HEAD never gets there, BASE after {reached} steps"
    )


def test_without_any_progress_only_equally_long_runs_are_compared():
    for value in (1.0, 0.0):
        flat = curve([value, value])
        assert compare_work(flat, flat, 0.0).change is Change.SAME
        assert compare_work(flat, curve([value] * 3), 0.0).change is Change.NONE


NOISE = np.random.default_rng(3).uniform(0.7, 1.4, 200)


def test_a_better_end_is_never_work_that_never_gets_there():
    """BASE is lucky at one checkpoint, and HEAD ends 40 % lower than BASE does."""
    base, head = values(halving()) + 0.01 * NOISE, values(halving()) + 0.006 * NOISE[::-1]
    base[50] = 1e-9
    base[-1], head[-1] = 0.010, 0.006
    found = compare_work(curve(base), curve(head), 0.0)
    assert np.isfinite(found.ratio)
    assert compare_results(curve(base), curve(head), 0.0).change is Change.BETTER


def test_a_count_that_was_zero_takes_infinitely_more():
    base, head = (run(work_table(halving()) * [1, c, 1], values(halving())) for c in (0, 1))
    assert compare_work(base, head, 0.0).ratio == math.inf
    assert compare_work(base, base, 0.0).ratio == 1


def test_worse_and_better_is_mixed_with_both_named():
    head = run(work_table(halving()) * [0.8, 0.8, 1.3], values(halving()))
    found = compare_work(halving(), head, 0.0)
    assert found.change is Change.MIXED
    assert "flops (+30.0%)" in found.explanation
    assert "(-20.0%)" in found.explanation
    assert compare_work(halving(), head, 0.25).change is Change.WORSE
    on = CUDA["float64"]
    gpu = replace(head, solver=replace(head.solver, parameters={"on": on}))
    assert compare_work(halving(on=on), gpu, 0.0).change is Change.MIXED


def test_a_run_that_fails_now_is_a_regression():
    base, head = halving(), broken("it broke")
    assert compare_results(base, head, 0.0).change is Change.WORSE
    assert "it broke" in compare_results(base, head, 0.0).explanation
    assert compare_results(head, base, 0.0).change is Change.BETTER
    assert compare_work(base, head, 0.0).change is Change.NONE
    assert compare_results(head, head, 0.0).change is Change.NONE
    other = run(work_table(halving()), values(halving()), "gap")  # of another metric
    assert compare_results(halving(), other, 0.0).change is Change.NONE


CUDA = {"float64": "torch:cuda", "float32": "torch:cuda/float32"}


@pytest.mark.parametrize(("dtype", "noise"), [("float64", 4e-10), ("float32", 1e-3)])
def test_equal_code_on_a_gpu_is_the_same_with_other_bits(dtype, noise):
    rng = np.random.default_rng(0)
    losses = (1 - noise) ** np.arange(400)  # so close that noise changes when a target is met
    for _ in range(3):
        base, head = (
            curve(losses * (1 + noise * rng.uniform(-1, 1, 400)), on=CUDA[dtype]) for _ in range(2)
        )
        assert compare_results(base, head, 0.0).change is Change.SAME
        assert compare_work(base, head, 0.0).change is Change.SAME
        assert repeats(base, head)
    bits = [curve(losses * factor) for factor in (1, 1 + noise)]
    assert compare_results(*bits, 0.0).change is (
        Change.SAME if dtype == "float64" else Change.WORSE
    )
    assert not repeats(bits[0], bits[1])


def test_a_change_beyond_that_is_found_on_a_gpu_too():
    on = CUDA["float32"]
    base = halving(100, on=on)
    worse = curve(values(base) * 1.01, on=on)
    assert compare_results(base, worse, 0.0).change is Change.WORSE
    assert compare_results(worse, base, 0.0).change is Change.BETTER
    assert not repeats(base, worse)
    assert compare_work(base, halving(100, 1.05, on=on), 0.0).change is Change.WORSE
    assert compare_work(base, halving(100, 0.9, on=on), 0.0).change is Change.BETTER


def test_a_place_of_a_newer_version_is_compared_exactly():
    for on in ("tpu:v9", "numpy", "jax:cpu"):
        assert device_rule(curve([1.0], on=on)) == EXACT
    # what is small beside the start has but a thousandth of the room that the start has
    rule = device_rule(curve([1.0], on=CUDA["float32"]))
    assert rule.atol_of_start == pytest.approx(1e-3 * rule.rtol)
    assert rule.same(0.0, 0.9e-3 * rule.rtol, 1.0)
    assert not rule.same(0.0, 1.1e-3 * rule.rtol, 1.0)


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.floats(0, 1e3))
def test_a_rule_is_symmetric_and_wider_with_each_part(a, b, start):
    rule = ToleranceRule(1e-3, 1e-6, 1e-9)
    assert rule.same(a, a, start)
    assert rule.same(a, b, start) == rule.same(b, a, start)
    assert not EXACT.same(a, b, start) or a == b
    assert not rule.same(a, None)
    assert not rule.same(a, float("nan"))


NAN, INF = math.nan, math.inf


def test_nan_is_the_same_as_nan_and_numbers_within_rtol():
    rule = ToleranceRule(1e-3)
    for a, b, same in (
        (None, None, True), (None, 1.0, False), (NAN, None, False), (NAN, NAN, True),
        (NAN, 1.0, False), (INF, INF, True), (INF, -INF, False), (INF, 1e300, False),
        (100.0, 100.1, True), (100.0, 100.2, False), (0.0, -0.0, True),
    ):  # fmt: skip
        assert rule.same(a, b) is same, (a, b)
        assert rule.same(b, a) is same, (a, b)


def test_differences_are_gone_new_and_changed_metrics():
    old, new = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 0.0}, {"a": 1.0, "b": 2.5, "d": 0.25, "e": 4.0}
    found = list(differences(old, new, {"d": 1.0}, ToleranceRule(0.0, 0.25)))
    assert found == [("b", 2.0, 2.5), ("c", 3.0, None), ("e", None, 4.0)]
    rest = differences(old, new, {}, ToleranceRule(0.0, 0.25), ignored=("b", "e"))
    assert [name for name, *_ in rest] == ["c", "d"]


def budgeted(budget):
    return replace(halving(), budget=budget)


def test_runs_with_other_limits_are_not_compared():
    for base, head, why in (
        ({"seconds": 1.0}, {"seconds": 1.0}, "its budget is in seconds"),
        ({"steps": 9.0}, {"steps": 8.0}, "the budgets are unequal: 9 steps and 8 steps"),
        ({}, {"steps": 8.0, "flops": 1.0}, "unequal: none and 8 steps, 1 flops"),
    ):
        for compared in (compare_results, compare_work):
            found = compared(budgeted(base), budgeted(head), 0.0)
            assert found.change is Change.NONE
            assert why in found.explanation


def test_runs_of_the_same_code_repeat_in_work_values_and_failure():
    one = halving(5)
    assert repeats(one, halving(5))
    assert not repeats(one, halving(5, stretch=2.0))
    assert not repeats(one, halving(6))
    assert not repeats(one, curve(np.nextafter(values(one), 0)))
    assert repeats(broken("x"), broken("x"))
    assert not repeats(broken("x"), broken("y"))

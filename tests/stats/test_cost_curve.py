"""The cost curve of a run: what counts of it, and what it cost to get somewhere."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from records import record

from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus, Target
from orthobench.harness.trace import Checkpoint
from orthobench.stats.cost_curve import cheapest, cost_curve, gap_of, settled, whole_cost
from orthobench.stats.costs import COSTS

INF, NAN = math.inf, math.nan


def run(*points, status=RunStatus.DONE, **more):
    """A run with the points (cost, gap) or (cost, gap, further metrics)."""
    marks = tuple(
        Checkpoint(float(x), 0.5, Work(x, 2 * x, 10 * x), {"gap": y, **dict(*other)})
        for x, y, *other in points
    )
    return record("r", status=status, trace=marks, **more)


def test_a_run_that_counts_nowhere_has_none():
    assert cost_curve(run((0, 8.0), (1, 0.0), status=RunStatus.ERROR)) is None
    assert cost_curve(run((0, INF), (1, 0.0))) is None
    assert cost_curve(run((0, 8.0), (1, NAN))) is None


def test_a_curve_ends_at_the_first_point_that_violates_the_constraint():
    for bad in ((4, 0.0, {"constraint_violation": 1e-3}), (4, NAN), (4, -INF), (4, INF)):
        curve = cost_curve(run((0, 8.0), (2, 4.0), bad, (8, 0.0)))
        assert (curve.start, curve.lowest, curve.steps.tolist()) == (8, 4, [0, 2]), bad
    costs = {"steps": [1, 2], "samples": [1, 4], "flops": [1, 20], "seconds": [0.5, 2.5]}
    assert {name: curve.spent(name).tolist() for name in COSTS} == costs
    other = cost_curve(run((0, 8.0, {"x": 5.0}), (1, 2.0, {"x": 4.0})), metric="x")
    assert other.values.tolist() == [5, 4]


def test_points_within_their_own_tolerance_count():
    allowed = {"constraint_violation": 1e-5, "constraint_tolerance": 1e-4}
    points = (0, 8.0, allowed), (2, 4.0, allowed)
    assert cost_curve(run(*points, (4, 0.0, allowed))).lowest == 0
    assert cost_curve(run(*points, (4, 0.0, {"constraint_violation": NAN}))).lowest == 4


def test_only_checkpoints_that_keep_the_level_count():
    for end, values in ((0.5, [8, INF, 3]), (0.9, [8, 0, 3])):
        points = (0, 8.0, {"x": 0.0}), (1, 0.0, {"x": 0.9}), (2, 3.0, {"x": end})
        assert cost_curve(run(*points), Target("x", 0.5)).values.tolist() == values


def test_cost_is_one_unit_at_least_and_infinite_if_unmeasured():
    for name, metric, least in (
        ("passes", "passes", 1), ("products", "products", 1e-3), ("memory", "peak_bytes", 1)
    ):  # fmt: skip
        measured = run((0, 8.0, {metric: 0.0}), (1, 4.0, {metric: 1.5 * least}), (2, 0.0))
        assert cost_curve(measured).spent(name).tolist() == [least, 1.5 * least, INF]
        assert whole_cost(replace(measured, trace=measured.trace[:2]), name) == 1.5 * least
        assert whole_cost(replace(measured, trace=()), name) == least


def test_flops_that_a_solver_does_not_count_have_no_cost():
    counted = run((0, 8.0), (1, 4.0), (2, 0.0))
    uncounted = replace(
        counted,
        trace=tuple(replace(mark, work=replace(mark.work, flops=0)) for mark in counted.trace),
    )
    assert cost_curve(uncounted).spent("flops").tolist() == [INF] * 3
    assert whole_cost(uncounted, "flops") == INF
    assert cost_curve(uncounted).spent("steps").tolist() == [1, 1, 2]


points = st.lists(st.tuples(st.floats(-9, 9), st.floats(0, 9)), min_size=1, max_size=9)


@given(points, st.floats(-9, 9))
def test_the_cost_to_a_target_is_that_of_the_cheapest_checkpoint(found, target):
    values, spent = np.array(found).T
    reached = [cost for value, cost in found if value <= target]
    assert cheapest(values, spent, target) == min(reached, default=INF)
    first = 0
    while max(values[first:], default=-INF) > target:
        first += 1
    assert settled(values, spent, target) == (spent[first] if first < len(spent) else INF)


def test_the_gap_reaches_to_the_lowest_end_and_not_to_a_dip():
    dips = cost_curve(run((0, 8.0), (1, 0.5), (2, 2.0)))
    falls = cost_curve(run((0, 9.0), (1, 4.0), (2, 1.0)))
    assert gap_of([dips, falls]) == (9.0, 1.0)
    assert gap_of([dips]) == (8.0, 2.0)
    assert [math.isnan(end) for end in gap_of([])] == [True, True]


def test_limits_are_those_without_room_for_another_step():
    def limits(taken, steps, reruns=False, **budget):
        trace = tuple(Checkpoint(float(n), 0.0, Work(n, n * taken // steps), {"gap": 1.0})
                      for n in (0, steps))  # fmt: skip
        ended = record(
            "r", status=RunStatus.BUDGET, trace=trace, budget=budget, primary="gap", reruns=reruns
        )
        return cost_curve(ended).limits

    assert limits(3968, 62, samples=4000, seconds=9.0) == {"samples": 4000}  # 64 samples a step
    assert limits(3904, 61, samples=4000, seconds=9.0) == {}  # one more would do: the clock cut it
    assert limits(2100, 5, reruns=True, samples=4000, seconds=9.0) == {"samples": 4000}
    assert limits(1900, 5, reruns=True, samples=4000, seconds=9.0) == {}
    assert limits(0, 1, samples=4000) == {"samples": 4000}  # nothing else can have ended it

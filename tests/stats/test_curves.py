"""Curves over seeds, against hand-computed examples."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import along as record

from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.stats.curves import LONGEST, curve
from orthobench.stats.values import summary

INF = math.inf


class TestCurve:
    def test_curve_of_one_run_is_its_trace(self):
        c = curve([record([(0, 9.0), (1, 4.0), (10, 0.5)])], "samples", "gap")
        np.testing.assert_array_equal(c.x, [1, 10])
        for part in (c.y, c.low, c.high):
            np.testing.assert_array_equal(part, [4, 0.5])

    def test_interpolates_in_log_x_and_log_value(self):
        c = curve([record([(1, 1.0), (100, 1e-4)]), record([(1, 1.0), (10, 1.0), (100, 1.0)], 1)],
                  "samples", "gap")  # fmt: skip
        np.testing.assert_allclose(c.low, [1, 1e-2, 1e-4])

    def test_carries_the_last_value_of_a_converged_run(self):
        runs = [record([(1, 4.0), (2, 1.0)]), record([(1, 4.0), (2, 3.0), (4, 2.0)], 1)]
        c = curve(runs, "samples", "gap")
        np.testing.assert_array_equal(c.x, [1, 2, 4])
        np.testing.assert_array_equal(c.low, [4, 1, 1])

    def test_is_infinite_after_a_run_failed(self):
        runs = [record([(1, 4.0), (2, 1.0)], 0, RunStatus.DIVERGED),
                record([(1, 4.0), (2, 3.0), (4, 2.0)], 1)]  # fmt: skip
        c = curve(runs, "samples", "gap")
        np.testing.assert_array_equal(c.y, [4, 2, INF])
        np.testing.assert_array_equal(c.high, [4, 3, INF])
        assert c.crosses == ((2, 1),)

    def test_a_run_whose_metric_is_no_longer_finite_has_failed(self):
        for bad in (INF, -INF, math.nan):
            runs = [record([(1, 4.0), (2, 1.0), (3, bad)]),
                    record([(1, 4.0), (2, 3.0), (4, 2.0)], 1)]  # fmt: skip
            c = curve(runs, "samples", "gap")
            assert c.high[-1] == c.y[-1] == INF, bad
            assert c.low[-1] == 2
            assert c.crosses == ((2, 1),)
            own = summary(runs, "gap", (0, 1))
            assert own.n_failed == 1

    def test_unreported_metric_is_infinite_without_a_cross(self):
        runs = [record([(1, 4.0), (2, 1.0)]), record([(1, 4.0), (2, 1.0)], 1, other=3.0)]
        c = curve(runs, "samples", "other")
        np.testing.assert_array_equal(c.high, [INF, INF])
        assert c.crosses == ()

    def test_leaves_out_what_left_the_constraint(self):
        marks = record([(1, 4.0), (2, 1.0)]).trace
        far = record([(4, -100.0)], constraint_violation=0.5).trace
        run = replace(record([], 0, RunStatus.INFEASIBLE), trace=marks + far)
        c = curve([run], "samples", "gap")
        np.testing.assert_array_equal(c.y, [4, 1])
        assert c.crosses == ((2, 1),)

    def test_the_start_is_held_until_the_first_step_is_done(self):
        points = (1.0, 0, 8.0), (100.0, 1, 2.0), (200.0, 2, 1.0)
        marks = [Checkpoint(at, 0.0, Work(steps), {"gap": gap}) for at, steps, gap in points]
        slow = replace(record([]), trace=tuple(marks))
        found = curve([slow, record([(1, 9.0), (50, 9.0), (200, 9.0)], 1)], "seconds", "gap")
        assert found.x.tolist() == pytest.approx([1, 50, 100 * (1 - 1e-6), 100, 200])
        assert found.low.tolist() == pytest.approx([8, 8, 8, 2, 1])

    def test_many_checkpoints_are_thinned_to_a_geometric_grid(self):
        c = curve([record([(x, 1 / x) for x in range(3, 2 * LONGEST)])], "samples", "gap")
        assert (c.x[0], c.x[-1], len(c.x)) == (3, 2 * LONGEST - 1, LONGEST)
        np.testing.assert_allclose(np.diff(np.log(c.x)), np.log(c.x[-1] / 3) / (LONGEST - 1))
        np.testing.assert_allclose(c.y, 1 / c.x)


traces = st.lists(
    st.tuples(st.integers(0, 10_000), st.floats(0, 1e3)), min_size=1, max_size=30
).map(lambda points: sorted(points, key=lambda point: point[0]))


@given(st.lists(traces, min_size=1, max_size=5), st.integers(0, 5))
def test_curves_ascend_and_stay_within_the_values(all_points, failed):
    runs = [
        record(points, seed, RunStatus.ERROR if seed < failed else RunStatus.DONE)
        for seed, points in enumerate(all_points)
    ]
    c = curve(runs, "samples", "gap")
    largest = max(y for points in all_points for _, y in points)
    assert len(c.x) <= LONGEST
    assert (c.x > 0).all()
    assert (np.diff(c.x) > 0).all()
    assert (c.low <= c.y).all()
    assert (c.y <= c.high).all()
    assert (c.low >= 0).all()
    within = c.high[np.isfinite(c.high)]
    assert (within <= largest * (1 + 1e-12)).all()
    if not failed:
        assert np.isfinite(c.high).all()


def test_jumps_above_a_million_are_held():
    for end, middle in ((1e-6, 1e-3), (0.99e-6, 1.0)):
        runs = [record([(1, 1.0), (100, end)]), record([(1, 1.0), (10, 1.0), (100, 1.0)], 1)]
        assert curve(runs, "samples", "gap").low[1] == pytest.approx(middle)
    for end, middle in ((1e6, 1e3), (1.01e6, 1.0)):
        runs = [record([(1, 1.0), (100, end)]), record([(1, 1.0), (10, 1.0), (100, 1.0)], 1)]
        assert curve(runs, "samples", "gap").high[1] == pytest.approx(middle)

"""Medians, intervals and curves, against hand-computed examples, numpy and scipy."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from orthobench.curves import LONGEST, curve
from orthobench.errors import UsageError
from orthobench.harness import Mark
from orthobench.record import Record
from orthobench.solver import Work
from orthobench.stats import (
    final,
    interval,
    paired_interval,
    quantiles,
    spread,
    spread_name,
    summarize,
)
from orthobench.stopping import Ending

INF = math.inf


def record(points, seed=0, status=Ending.DONE, reading=0.0, reason="", **metrics):
    """A record with the points (x, gap), where x counts steps, samples and seconds alike."""
    marks = tuple(
        Mark(float(x), reading, Work(x, x, 10 * x), {"gap": y, **metrics}) for x, y in points
    )
    return Record(str(seed), "p", "f", "gap", "val", "s", {}, {}, seed, status, reason, "", marks)


finite = st.floats(-1e6, 1e6)
samples = hnp.arrays(np.float64, st.integers(1, 12), elements=finite)


class TestQuantiles:
    @given(samples)
    def test_are_numpys_for_finite_values(self, x):
        q = [0, 0.25, 0.5, 0.9, 1]
        np.testing.assert_array_equal(quantiles(x, q), np.quantile(x, q))

    def test_take_infinity_as_a_value(self):
        assert list(quantiles([1, 2, INF], [0, 0.25, 0.5, 0.75, 1])) == [1, 1.5, 2, INF, INF]
        assert quantiles([1, INF], 0.5) == INF
        assert quantiles([INF, INF], 0.5) == INF

    def test_take_nan_for_infinity(self):
        assert quantiles([1, 2, math.nan], 0.5) == 2

    @given(samples, st.integers(0, 12))
    def test_order_median_and_spread(self, x, failed):
        values = np.append(x, np.full(failed, INF))
        median, low, high = spread(values)
        assert values.min() <= low <= median <= high <= values.max()

    def test_spread_is_the_range_of_few_values(self):
        assert spread([5.0, 1.0, 2.0]) == (2, 1, 5)
        assert spread_name(3) == "min to max"
        assert spread([4.0, 1.0, 2.0, 3.0]) == (2.5, 1.75, 3.25)
        assert spread_name(4) == "25 to 75 %"


class TestInterval:
    @pytest.mark.parametrize("n", [5, 9, 15, 21])
    def test_is_that_of_all_resamples(self, n):
        # a resample's median is at most the k-th value where most of its n draws are
        x = np.sort(np.random.default_rng(3).normal(size=n))
        at_most = scipy.stats.binom.sf((n - 1) // 2, n, np.arange(1, n + 1) / n)
        exact = x[np.searchsorted(at_most, [0.025, 0.975])]
        assert interval(x) == pytest.approx(tuple(exact), abs=1e-12)

    def test_covers_the_median_as_often_as_it_says(self):
        rng = np.random.default_rng(11)
        hits = [
            low <= 0 <= high for low, high in (interval(rng.normal(size=21)) for _ in range(150))
        ]
        assert 0.88 <= np.mean(hits) <= 1

    @given(samples)
    def test_lies_within_the_values_and_repeats(self, x):
        low, high = interval(x)
        assert x.min() <= low <= high <= x.max()
        assert interval(x) == (low, high)

    def test_is_infinite_above_with_failures(self):
        low, high = interval([1.0, 2.0, 3.0, 4.0, INF])
        assert 1 <= low <= 3
        assert high == INF
        assert interval([INF, INF, INF]) == (INF, INF)

    def test_of_one_value_is_that_value(self):
        assert interval([2.5]) == (2.5, 2.5)
        assert interval([INF]) == (INF, INF)

    def test_paired_removes_what_the_seeds_share(self):
        hard = np.array([1.0, 10.0, 100.0, 1000.0, 10_000.0])
        low, high = paired_interval(hard, hard + np.array([0.1, 0.2, 0.1, 0.3, 0.2]))
        assert 0.1 - 1e-9 <= low <= high <= 0.3 + 1e-9
        assert paired_interval(hard, [1.5, INF, INF, INF, INF])[1] == INF


class TestSummary:
    def test_of_runs_that_ended_well(self):
        runs = [record([(1, 9.0), (2, y)], seed) for seed, y in enumerate([4.0, 1.0, 2.0])]
        s = summarize(runs, "gap")
        assert s.values == (4, 1, 2)
        assert (s.median, s.low, s.high) == (2, 1, 4)
        assert (s.n_ok, s.n_failed, s.reasons) == (3, 0, {})

    @pytest.mark.parametrize("status", [s for s in Ending if s.failed])
    def test_counts_a_failed_run_as_infinite(self, status):
        runs = [record([(1, 1.0)], 0), record([(1, 2.0)], 1)]
        runs.append(record([(1, 0.0)], 2, status, reason="it broke"))
        s = summarize(runs, "gap")
        assert s.values == (1, 2, INF)
        assert (s.median, s.n_ok, s.n_failed) == (2, 2, 1)
        assert s.reasons == {f"{status.value}: it broke": [2]}

    def test_counts_a_missing_run_as_infinite(self):
        s = summarize([record([(1, 1.0)], 1)], "gap", seeds=(0, 1, 2))
        assert s.values == (INF, 1, INF)
        assert s.median == INF
        assert s.reasons == {"missing: there is no finished run": [0, 2]}

    def test_counts_an_unmeasured_or_infinite_metric_as_failed(self):
        s = summarize([record([(1, math.nan)], 0), record([(1, 1.0)], 1)], "gap")
        assert s.reasons == {"done: gap is not finite": [0]}
        s = summarize([record([(1, 1.0)])], "loss")
        assert s.reasons == {"done: the judge did not report loss": [0]}
        assert summarize([record([])], "gap").n_failed == 1

    def test_needs_runs(self):
        with pytest.raises(ValueError, match="no runs"):
            summarize([], "gap")

    def test_final_reads_the_last_checkpoint(self):
        assert final(record([(1, 9.0), (7, 1.0)]), lambda mark: mark.work.flops) == 70


class TestCurve:
    def test_of_one_run_is_its_trace(self):
        c = curve([record([(0, 9.0), (1, 4.0), (10, 0.5)])], "samples", "gap")
        np.testing.assert_array_equal(c.x, [1, 10])
        for part in (c.median, c.low, c.high):
            np.testing.assert_array_equal(part, [4, 0.5])

    def test_interpolates_in_log_x_and_log_value(self):
        c = curve([record([(1, 1.0), (100, 1e-4)]), record([(1, 1.0), (10, 1.0), (100, 1.0)], 1)],
                  "samples", "gap")  # fmt: skip
        np.testing.assert_allclose(c.low, [1, 1e-2, 1e-4])

    def test_holds_the_value_where_the_logarithm_has_none(self):
        runs = [record([(1, 1.0), (9, 0.0)]), record([(1, 5.0), (3, 5.0), (9, 5.0)], 1)]
        np.testing.assert_array_equal(curve(runs, "samples", "gap").low, [1, 1, 0])

    def test_carries_the_last_value_of_a_converged_run(self):
        runs = [record([(1, 4.0), (2, 1.0)]), record([(1, 4.0), (2, 3.0), (4, 2.0)], 1)]
        c = curve(runs, "samples", "gap")
        np.testing.assert_array_equal(c.x, [1, 2, 4])
        np.testing.assert_array_equal(c.low, [4, 1, 1])

    def test_is_infinite_after_a_run_failed(self):
        runs = [record([(1, 4.0), (2, 1.0)], 0, Ending.DIVERGED),
                record([(1, 4.0), (2, 3.0), (4, 2.0)], 1)]  # fmt: skip
        c = curve(runs, "samples", "gap")
        np.testing.assert_array_equal(c.median, [4, 2, INF])
        np.testing.assert_array_equal(c.high, [4, 3, INF])
        assert c.ends == ((2, 1),)

    def test_is_infinite_where_a_run_is_missing(self):
        c = curve([record([(1, 4.0)])], "samples", "gap", seeds=(0, 1))
        assert c.median == [INF]

    def test_leaves_out_what_left_the_constraint(self):
        marks = record([(1, 4.0), (2, 1.0)]).trace
        far = record([(4, -100.0)], orthogonality_defect=0.5).trace
        run = replace(record([], 0, Ending.INFEASIBLE), trace=marks + far)
        c = curve([run], "samples", "gap")
        np.testing.assert_array_equal(c.median, [4, 1])
        assert c.ends == ((2, 1),)

    def test_holds_the_start_until_the_first_step_is_done(self):
        start, end = (
            Mark(1.0, 0.0, Work(), {"gap": 8.0}),
            Mark(100.0, 0.0, Work(1, 9), {"gap": 2.0}),
        )
        slow = replace(record([]), trace=(start, end))
        other = record([(1, 9.0), (10, 9.0), (100, 9.0)], 1)
        c = curve([slow, other], "seconds", "gap")
        assert dict(zip(c.x, c.low, strict=True))[10] == pytest.approx(8)
        assert c.low[-1] == 2
        np.testing.assert_array_equal(curve([slow], "samples", "gap").x, [9])

    def test_adds_the_reading_to_the_seconds(self):
        c = curve([record([(1, 4.0), (2, 1.0)], reading=0.5)], "seconds", "gap")
        np.testing.assert_array_equal(c.x, [1.5, 2.5])

    def test_of_nothing_is_empty(self):
        assert len(curve([record([], 0, Ending.REFUSED)], "samples", "gap").x) == 0

    def test_refuses_an_unknown_axis(self):
        with pytest.raises(UsageError, match="unknown axis 'second'; did you mean 'seconds'"):
            curve([], "second", "gap")


traces = st.lists(
    st.tuples(st.integers(0, 10_000), st.floats(0, 1e3)), min_size=1, max_size=30
).map(lambda points: sorted(points, key=lambda point: point[0]))


@given(st.lists(traces, min_size=1, max_size=5), st.integers(0, 5))
def test_curves_ascend_and_stay_within_the_values(all_points, failed):
    runs = [
        record(points, seed, Ending.ERROR if seed < failed else Ending.DONE)
        for seed, points in enumerate(all_points)
    ]
    c = curve(runs, "samples", "gap")
    largest = max(y for points in all_points for _, y in points)
    assert len(c.x) <= LONGEST
    assert (c.x > 0).all()
    assert (np.diff(c.x) > 0).all()
    assert (c.low <= c.median).all()
    assert (c.median <= c.high).all()
    assert (c.low >= 0).all()
    within = c.high[np.isfinite(c.high)]
    assert (within <= largest * (1 + 1e-12)).all()
    if not failed:
        assert np.isfinite(c.high).all()


@given(st.lists(traces, min_size=1, max_size=5))
def test_curves_of_descending_runs_descend(all_points):
    runs = [
        record(
            list(zip((x for x, _ in p), sorted((y for _, y in p), reverse=True), strict=True)), seed
        )
        for seed, p in enumerate(all_points)
    ]
    c = curve(runs, "samples", "gap")
    assert (np.diff(c.median) <= 1e-9 * c.median[:-1] + 1e-300).all()


def test_heavy_packages_are_not_imported_with_the_modules():
    modules = "orthobench.stats, orthobench.tuning, orthobench.report.table"
    modules += ", orthobench.report.figures, orthobench.report.progress, orthobench.report.style"
    code = f"import sys, {modules}; print([m for m in ('scipy', 'matplotlib', 'rich', 'pandas', "
    code += "'numba') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_jump_to_rounding_is_not_interpolated():
    exact = record([(1, 0.5), (10, 0.5), (100, 1e-33)])
    other = record([(1, 0.5), (50, 0.5), (100, 0.5)], seed=1)
    drawn = curve([exact, other], "samples", "gap")
    assert drawn.x.tolist() == [1, 10, 50, 100]
    np.testing.assert_allclose(drawn.low, [0.5, 0.5, 0.5, 1e-33], rtol=1e-14)

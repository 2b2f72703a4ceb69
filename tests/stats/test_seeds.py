"""Medians and intervals, against hand-computed examples, numpy and scipy."""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from orthobench.record import Record
from orthobench.solver import Work
from orthobench.stats.seeds import (
    final,
    interval,
    paired_interval,
    quantiles,
    spread,
    spread_name,
    summarize,
)
from orthobench.stopping import Ending
from orthobench.trace import Mark

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


def test_heavy_packages_are_not_imported_with_the_modules():
    report = "orthobench.report"
    modules = "orthobench.stats.seeds, orthobench.stats.curves, orthobench.tuning, "
    modules += f"{report}.terminal.table, {report}.figures.save, {report}.terminal.progress"
    code = f"import sys, {modules}; print([m for m in ('scipy', 'matplotlib', 'rich', 'pandas', "
    code += "'numba') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

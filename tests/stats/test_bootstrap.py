"""Quantiles and bootstrap intervals, against hand-computed examples, numpy and scipy."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from orthobench.stats.bootstrap import (
    RESAMPLES,
    expanded_level,
    interval,
    quantiles,
    spread,
    spread_name,
)

INF = math.inf


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

    @given(samples, st.integers(0, 12))
    def test_order_median_and_spread(self, x, failed):
        values = np.append(x, np.full(failed, INF))
        median, low, high = spread(values)
        assert values.min() <= low <= median <= high <= values.max()

    def test_spread_is_the_range_of_few_values(self):
        assert spread([5.0, 1.0, 2.0]) == (2, 1, 5)
        assert spread_name(3) == "min to max"
        assert spread([4.0, 1.0, 2.0, 3.0]) == (2.5, 1.75, 3.25)
        assert spread_name(4) == spread_name(5) == "25 to 75 %"


def coverage(n, draw, median, samples, level=0.95):
    rows = draw(np.random.default_rng(n), (samples, n))
    low, high = np.array([interval(row, level) for row in rows]).T
    return np.mean((low <= median) & (median <= high))


def normal(rng, size):
    return rng.standard_normal(size)


def lognormal(rng, size):
    return rng.lognormal(size=size)


def mirrored_medians(x):
    """Medians of resamples by scipy, and of their mirror images."""

    def medians(values):
        return scipy.stats.bootstrap(
            (np.sort(values),),
            np.median,
            n_resamples=RESAMPLES // 2,
            method="percentile",
            random_state=np.random.default_rng(0),
        ).bootstrap_distribution

    return np.append(medians(x), -medians(-x))


class TestInterval:
    def test_is_scipys_with_the_level_expanded_and_the_resamples_mirrored(self):
        for n in (2, 5, 10):
            x = np.random.default_rng(n).normal(size=n)
            tail = (1 - expanded_level(0.95, n)) / 2
            expected = np.quantile(mirrored_medians(x), [tail, 1 - tail])
            assert interval(x) == pytest.approx(tuple(expected), rel=1e-14), n

    def test_is_wider_as_students_t_is_wider_than_the_normal(self):
        for n in (3, 5, 20):
            z = scipy.stats.norm.ppf((1 + expanded_level(0.9, n)) / 2)
            assert z * math.sqrt((n - 1) / n) == pytest.approx(scipy.stats.t.ppf(0.95, n - 1)), n

    @given(
        hnp.arrays(np.float64, st.integers(1, 9), elements=finite | st.sampled_from([-INF, INF]))
    )
    def test_changes_sign_with_the_values(self, x):
        low, high = interval(x)
        assert interval(-x) == pytest.approx((-high, -low), rel=1e-12, abs=1e-12)

    def test_covers_as_often_as_its_order_statistics_do(self):
        draws = ((normal, 0), (lognormal, 1))
        for n, (draw, median) in zip((5, 7, 9, 21), 2 * draws, strict=True):
            # for odd n its ends are order statistics, and these cover any continuous median alike
            x = np.arange(n, dtype=np.float64)
            low, high = map(round, interval(x))
            below = scipy.stats.binom(n, 0.5)
            exact = below.cdf(high) - below.cdf(low)
            assert coverage(n, draw, median, 1000) == pytest.approx(exact, abs=0.03), n
            assert exact > 0.93

    @pytest.mark.slow
    @pytest.mark.parametrize(("draw", "median"), [(normal, 0), (lognormal, 1)])
    @pytest.mark.parametrize("n", range(5, 51))
    def test_covers_at_its_level_for_any_number_of_seeds(self, n, draw, median):
        assert 0.925 <= coverage(n, draw, median, 10_000) <= 0.99

    def test_is_infinite_above_with_failures(self):
        low, high = interval([1.0, 2.0, 3.0, 4.0, INF])
        assert 1 <= low <= 3
        assert high == INF
        assert interval([INF, INF, INF]) == (INF, INF)

"""Intervals of typical differences, against scipy's tests and simulated coverage."""

import math

import numpy as np
import pytest
import scipy.stats

from orthobench.stats.noninferiority import (
    FEWEST,
    factor_interval,
    lower_ends,
    seeds_to_decide,
    sign_test_allows,
    signed_rank_intervals,
    upper_ends,
)

INF = math.inf


def upper(values, tail, alike=False):
    return upper_ends(np.asarray(values, float)[None], tail, np.array([alike]))[0]


def lower(values, tail, alike=False):
    return lower_ends(np.asarray(values, float)[None], tail, np.array([alike]))[0]


def test_ends_cover_the_median_of_any_distribution():
    for n in (5, 8, 30):
        rng = np.random.default_rng(n)
        draws = {
            "normal": rng.standard_normal((1500, n)),
            "cauchy": rng.standard_cauchy((1500, n)),
            "ties": rng.integers(0, 2, (1500, n)) - 0.5 + 1e-9,
        }
        for name, rows in draws.items():
            middle = 0.0 if rows.min() < -1 else 0.5
            alike = np.zeros(len(rows), bool)
            missed = np.mean(upper_ends(rows + 2, 0.05, alike) < 2 + min(middle, 0.0))
            assert missed < 0.067, (n, name)  # 5 %, and three standard errors of 1500 draws
            missed = np.mean(lower_ends(rows, 0.05, alike) > max(middle, 0.0))
            assert missed < 0.067, (n, name)


def test_the_upper_end_is_the_value_that_the_sign_test_leaves():
    for n in (1, 5, 20, 61):
        for tail in (max(0.5**n, 1e-9), 0.05, 0.05 / 7, 0.3):
            k = sign_test_allows(n, tail)
            assert k < 0 or scipy.stats.binom.cdf(k, n, 0.5) <= tail * (1 + 1e-9), (n, tail)
            assert k == n or scipy.stats.binom.cdf(k + 1, n, 0.5) > tail, (n, tail)
    values = np.arange(20.0)
    for tail, beyond in ((0.05, 5), (0.01, 4), (0.5**20, 0)):
        assert upper(values, tail) == 19 - beyond
    assert upper(values - 30, 0.05) == 0


def test_the_lower_end_is_where_the_signed_rank_test_rejects():
    values = np.random.default_rng(3).normal(1, 0.3, 12)
    end = lower(values, 0.05)
    for shift, rejected in ((-1e-9, True), (1e-9, False)):
        test = scipy.stats.wilcoxon(values - end - shift, alternative="greater", method="exact")
        assert (test.pvalue <= 0.05) == rejected
    assert lower([*values[:11], 1e6], 0.05) == np.sort(values[:11])[2]  # the sign test's


def test_few_values_end_at_students_t_or_at_the_largest():
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.6])
    reach = scipy.stats.t.ppf(0.99, 4) * scipy.stats.sem(values)
    assert upper(values, 0.01) == pytest.approx(values.mean() + reach)
    assert lower(values, 0.01) == pytest.approx(values.mean() - reach)
    assert upper(np.ones(5), 0.01) == lower(np.ones(5), 0.01) == 1
    assert upper(values, 0.05) == 0.6  # the sign test allows for none beyond
    assert lower(values, 0.05) == 0.1
    assert upper(values[:4], 0.05) == -lower(values[:4], 0.05) == INF


def test_about_so_many_seeds_more_decide():
    assert seeds_to_decide(np.zeros(3), 0.01, 0.05) == FEWEST - 3
    assert seeds_to_decide(np.zeros(FEWEST), 0.01, 0.05) == 1
    assert seeds_to_decide(np.ones(6), 0.01, 0.5**9) == 1
    mixed = np.array([*[0.0] * 5, 1.0])
    total = 6 + seeds_to_decide(mixed, 0.01, 0.05)
    share = 1.5 / 7
    assert sign_test_allows(total, 0.05) >= share * total
    assert all(sign_test_allows(n, 0.05) < share * n for n in range(7, total))
    assert seeds_to_decide(np.array([0.0, 1.0] * 3), 0.01, 0.05) is None


class TestSignedRankIntervals:
    def test_hold_what_the_test_does_not_reject(self):
        for n in (6, 9, 14):
            rows = np.random.default_rng(n).normal(0.6, 1, (20, n))
            low, high = signed_rank_intervals(rows, 0.95)
            for at, inside in ((low - 1e-9, False), (low + 1e-9, True), (high + 1e-9, False)):
                p = scipy.stats.wilcoxon(rows - at[:, None], axis=1, method="exact").pvalue
                np.testing.assert_array_equal(p > 0.05, inside)

    def test_cover_at_their_level_if_the_test_has_it(self):
        values = np.array([[3.0, 1.0, 7.0, 2.0, 5.0]])
        low, high = signed_rank_intervals(values, 1 - 2 * 0.5**5)  # all above, or all below
        assert (low[0], high[0]) == (1, 7)

    def test_are_unbounded_for_few_values_and_reach_to_failures(self):
        low, high = signed_rank_intervals(np.array([np.arange(10.0), [1.0] * 6 + [INF] * 4]), 0.95)
        assert np.isfinite([low[0], high[0]]).all()
        assert (low[1], high[1]) == (1, INF)
        for n in (4, 0):
            low, high = signed_rank_intervals(np.arange(float(n))[None], 0.95)
            assert (low[0], high[0]) == (-INF, INF)


def test_factor_of_costs_leaves_out_seeds_without_both():
    own, other = [2.0, 4.0, 6.0, math.nan, INF] * 3, [1.0, 2.0, 3.0, 4.0, INF] * 3
    assert factor_interval(own, other, 0.95) == pytest.approx((2, 2))
    assert factor_interval(own[3:5], other[3:5], 0.95) == (0, INF)

"""Intervals of Wilcoxon's signed-rank test against scipy's test."""

import math

import numpy as np
import scipy.stats

from orthobench.stats.signed_rank import shift_intervals

INF = math.inf


class TestShiftIntervals:
    def test_hold_what_the_test_does_not_reject(self):
        for n in (6, 9, 14):
            rows = np.random.default_rng(n).normal(0.6, 1, (20, n))
            low, high = shift_intervals(rows, 0.95)
            for at, inside in ((low - 1e-9, False), (low + 1e-9, True), (high + 1e-9, False)):
                p = scipy.stats.wilcoxon(rows - at[:, None], axis=1, method="exact").pvalue
                np.testing.assert_array_equal(p > 0.05, inside)

    def test_cover_at_just_their_level_where_that_is_a_probability_of_the_test(self):
        values = np.array([[3.0, 1.0, 7.0, 2.0, 5.0]])
        low, high = shift_intervals(values, 1 - 2 * 0.5**5)  # all above, or all below
        assert (low[0], high[0]) == (1, 7)

    def test_of_few_values_are_unbounded_and_missing_ones_do_not_count(self):
        row = np.arange(1.0, 11.0)
        gaps = np.concatenate([row[:4], np.full(6, np.nan)])
        low, high = shift_intervals(np.array([row, gaps]), 0.95)
        assert np.isfinite([low[0], high[0]]).all()
        assert (low[1], high[1]) == (-INF, INF)

    def test_of_failures_reach_to_infinity(self):
        low, high = shift_intervals(np.array([[1.0] * 6 + [INF] * 4]), 0.95)
        assert (low[0], high[0]) == (1, INF)

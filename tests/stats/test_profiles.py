"""Distributions, performance profiles and ECDFs, against hand-worked examples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.stats.targets import distribution, performance_ratios

INF, NAN = math.inf, math.nan


class TestPerformanceRatios:
    def test_ratios_of_a_hand_worked_example(self):
        costs = np.array([[1.0, 6.0, INF, 4.0], [2.0, 2.0, 5.0, INF], [8.0, INF, INF, 4.0]])
        wanted = [[1, 3, INF, 1], [2, 1, 1, INF], [8, INF, INF, 1]]
        np.testing.assert_array_equal(performance_ratios(costs), wanted)

    def test_counts_an_instance_that_nobody_solved_against_all(self):
        x, share = distribution(performance_ratios(np.array([[1.0, INF, NAN]])))
        assert (x.tolist(), share.tolist()) == ([1], [pytest.approx(1 / 3)])

    def test_nan_takes_nothing_from_the_others(self):
        nothing, other = map(distribution, performance_ratios(np.array([[NAN], [3.0]])))
        assert [len(nothing[0]), other[0].tolist(), other[1].tolist()] == [0, [1], [1]]


@given(st.lists(st.one_of(st.floats(0, 10), st.just(INF), st.just(NAN)), min_size=1))
def test_a_distribution_is_the_share_of_values_at_most_x(numbers):
    steps, shares = distribution(numbers)
    for x in (*numbers, -1.0, 5.0):
        if not math.isnan(x):
            share = sum(math.isfinite(v) and v <= x for v in numbers) / len(numbers)
            assert shares[steps <= x].max(initial=0.0) == pytest.approx(share)

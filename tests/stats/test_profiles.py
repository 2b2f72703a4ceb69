"""Distributions, performance profiles and ECDFs, against hand-worked examples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.stats.profiles import LADDER, PRECISIONS, distribution, performance_profile

INF, NAN = math.inf, math.nan


class TestPerformanceProfile:
    def test_of_a_hand_worked_example(self):
        costs = np.array([[1.0, 6.0, INF, 4.0], [2.0, 2.0, 5.0, INF], [8.0, INF, INF, 4.0]])
        a, b, c = performance_profile(costs)
        # ratios: a 1 3 inf 1, b 2 1 1 inf, c 8 inf inf 1
        np.testing.assert_array_equal(a.at([0.5, 1, 2.9, 3, 1e9]), [0, 0.5, 0.5, 0.75, 0.75])
        np.testing.assert_array_equal(b.at([1, 2]), [0.5, 0.75])
        np.testing.assert_array_equal(c.at([1, 8]), [0.25, 0.5])
        np.testing.assert_array_equal(a.x, [1, 3])

    def test_counts_an_instance_that_nobody_solved_against_all(self):
        (only,) = performance_profile(np.array([[1.0, INF, NAN]]))
        assert only.at(1e9) == pytest.approx(1 / 3)

    def test_what_is_no_number_takes_nothing_from_the_others(self):
        nothing, other = performance_profile(np.array([[NAN], [3.0]]))
        assert (nothing.at(1e9), other.at(1.0)) == (0, 1)

    def test_of_no_instance_is_empty(self):
        assert performance_profile(np.empty((2, 0)))[0].at(1.0) == 0

    @pytest.mark.parametrize("cost", [0.0, -1.0])
    def test_refuses_costs_that_are_not_positive(self, cost):
        with pytest.raises(ValueError, match="costs must be positive"):
            performance_profile(np.array([[cost, 1.0]]))


def test_precisions_descend_from_100_to_1e_8_five_to_a_decade():
    np.testing.assert_allclose(PRECISIONS, np.geomspace(100, 1e-8, 51))


def test_the_ladder_descends_from_a_half_to_1e_5():
    assert LADDER[-1] == pytest.approx(1e-5)
    np.testing.assert_allclose(LADDER, 10.0 ** (-np.arange(1, 21) / 4))


@given(st.lists(st.one_of(st.floats(0, 10), st.just(INF), st.just(NAN)), min_size=1))
def test_a_distribution_is_the_share_of_values_at_most_x(numbers):
    found = distribution(numbers)
    for x in (*numbers, -1.0, 5.0):
        if not math.isnan(x):
            share = sum(math.isfinite(v) and v <= x for v in numbers) / len(numbers)
            assert found.at(x) == pytest.approx(share)

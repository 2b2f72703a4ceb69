"""Where one cost overtakes another, of costs whose crossing is known."""

import math

import pytest

from orthobench.report.plots.sweeps import crossings


@pytest.mark.parametrize("sizes", [(10, 1000), (3, 30, 300, 3000), (1, 99, 101, 1e6)])
def test_powers_of_the_size_cross_where_they_are_equal(sizes):
    # 1e-6 n^2 against 1e-4 n: equal at 100
    assert crossings(sizes, [1e-6 * n**2 / (1e-4 * n) for n in sizes]) == pytest.approx([100])


def test_each_crossing_counts_once():
    assert crossings([1, 10, 100, 1000], [0.1, 10, 0.1, 10]) == pytest.approx(
        [10**0.5, 10**1.5, 10**2.5]
    )
    assert crossings([1, 10, 100], [0.5, 1.0, 2.0]) == [10]
    assert crossings([10], [1.0]) == [10]


@pytest.mark.parametrize("ratios", [(0.2, 0.9), (1.1, 5.0), (math.nan, 5.0), ()])
def test_without_a_change_of_the_faster_one_there_is_none(ratios):
    assert crossings(range(1, len(ratios) + 1), ratios) == []


def test_sizes_without_a_ratio_are_left_out():
    assert crossings([10, 50, 1000], [0.1, math.nan, 10]) == pytest.approx([100])

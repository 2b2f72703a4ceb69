"""Mean ranks: Demšar's worked example, R's, scipy, and what they show of equal solvers."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from orthobench.stats.paired import LEVEL
from orthobench.stats.ranks import (
    critical_difference,
    enough,
    mean_ranks,
    problem_ranks,
    studentized_range,
)

INF = math.inf

C45 = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")

AUC = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    # printed as 0.975 and 0.975, but ranked 2 and 3
    [0.972, 0.981, 0.9752, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip
"""Demšar 2006, table 6: larger is better."""

ROUNDING_FIRST_BASE = np.array([
    5.40, 5.50, 5.55, 5.85, 5.70, 5.75, 5.20, 5.60, 5.50, 5.55, 5.50, 5.40, 5.90, 5.85, 5.70, 5.45,
    5.55, 5.60, 5.40, 5.40, 5.35, 5.45, 5.50, 5.35, 5.25, 5.15, 5.00, 5.85, 5.80, 5.70, 5.25, 5.20,
    5.10, 5.65, 5.55, 5.45, 5.60, 5.35, 5.45, 5.05, 5.00, 4.95, 5.50, 5.50, 5.40, 5.45, 5.55, 5.50,
    5.55, 5.55, 5.35, 5.45, 5.50, 5.55, 5.50, 5.45, 5.25, 5.65, 5.60, 5.40, 5.70, 5.65, 5.55, 6.30,
    6.30, 6.25,
]).reshape(22, 3)  # fmt: skip
"""Hollander and Wolfe 1973, p. 140; R's help of friedman.test."""


def named(table, names="abcdefghijklmnopqrst"):
    return {name: row.tolist() for name, row in zip(names, np.asarray(table), strict=False)}


class TestPublished:
    def test_c45_on_14_data_sets(self):
        found = mean_ranks(named(-AUC.T, C45))
        expected = {"C4.5+m+cf": 1.964, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5": 3.143}
        assert list(found.mean) == list(expected)
        assert found.mean == pytest.approx(expected, abs=5e-4)
        assert found.problems == 14
        assert found.critical_difference == pytest.approx(1.25, abs=5e-3)
        # the paper does not correct for ties
        squares = sum(rank**2 for rank in found.mean.values())
        assert 12 * 14 / 20 * (squares - 25) == pytest.approx(9.28, abs=5e-3)
        assert found.statistic > 9.28

    def test_rounding_first_base(self):
        found = mean_ranks(named(ROUNDING_FIRST_BASE.T))
        assert found.statistic == pytest.approx(11.143, abs=5e-4)
        assert found.p == pytest.approx(0.003805, abs=5e-7)

    @pytest.mark.parametrize(
        ("solvers", "quantile"),
        [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (10, 3.164)],
    )
    def test_critical_values_of_nemenyis_test(self, solvers, quantile):
        # Demšar 2006, table 5a; it gives 2.343 for 3 solvers, which is 2.3437
        one = math.sqrt(solvers * (solvers + 1) / (6 * 9))
        assert critical_difference(solvers, 9) / one == pytest.approx(quantile, abs=1e-3)

    @pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
    @pytest.mark.parametrize("k", [2, 3, 10, 50])
    def test_quantiles_of_the_studentized_range_are_scipys(self, k, level):
        expected = scipy.stats.studentized_range.ppf(level, k, np.inf)
        assert studentized_range(level, k) == pytest.approx(expected, rel=1e-8)


class TestRanks:
    def test_are_scipys(self):
        table = np.random.default_rng(4).normal(size=(5, 9)).round(1)
        found = mean_ranks(named(table))
        expected = scipy.stats.friedmanchisquare(*table)
        assert found.statistic == pytest.approx(expected.statistic)
        assert found.p == pytest.approx(expected.pvalue)
        ranks = scipy.stats.rankdata(table, axis=0).mean(axis=1)
        assert found.mean == pytest.approx(dict(zip("abcde", ranks, strict=True)))

    def test_of_failures_are_last_and_shared(self):
        ranks = problem_ranks([[1.0, INF, INF], [2.0, INF, 5.0], [INF, 3.0, math.nan]])
        assert ranks.tolist() == [[1, 2.5, 2.5], [2, 2.5, 1], [3, 1, 2.5]]

    @given(st.lists(st.lists(st.integers(0, 4) | st.just(INF), min_size=4, max_size=4),
                    min_size=5, max_size=8))  # fmt: skip
    @settings(max_examples=30)
    def test_share_what_there_is_and_need_only_the_order(self, problems):
        table = np.array(problems, dtype=np.float64).T
        found = mean_ranks(named(table))
        assert sum(found.mean.values()) == pytest.approx(4 * 5 / 2)
        assert list(found.mean.values()) == sorted(found.mean.values())
        assert 0 <= found.p <= 1
        assert mean_ranks(named(np.exp(table))) == found
        turned = mean_ranks(named(table[:, ::-1]))
        assert turned.mean == pytest.approx(found.mean)
        assert turned.p == pytest.approx(found.p)

    def test_of_equal_solvers_show_nothing(self):
        found = mean_ranks(named(np.ones((3, 6))))
        assert (found.p, found.statistic) == (1, 0)
        assert set(found.mean.values()) == {2}
        assert found.alike == (("a", "b", "c"),)

    def test_are_alike_where_they_are_no_further_apart_than_the_critical_difference(self):
        rng = np.random.default_rng(3)
        for spread in (0.1, 0.5, 1.0, 3.0):
            levels = spread * rng.standard_normal((12, 1))
            found = mean_ranks(named(levels + rng.standard_normal((12, 9))))
            limit = found.critical_difference if found.p < LEVEL else INF
            for a, b in itertools.combinations(found.mean, 2):
                together = any({a, b} <= set(group) for group in found.alike)
                assert together == (found.mean[b] - found.mean[a] <= limit)
            pairs = itertools.permutations(map(set, found.alike), 2)
            assert not any(one <= other for one, other in pairs)

    @pytest.mark.parametrize(("solvers", "problems"), [(0, 0), (1, 9), (2, 9), (3, 4)])
    def test_of_too_few_are_not_tested(self, solvers, problems):
        assert not enough(solvers, problems)
        with pytest.raises(ValueError, match=f"{solvers} solvers on {problems} problems are too"):
            mean_ranks(named(np.ones((solvers, problems))))

    def test_need_common_problems(self):
        with pytest.raises(ValueError, match="the same problems"):
            mean_ranks({"a": [1.0] * 5, "b": [1.0] * 5, "c": [1.0] * 4})

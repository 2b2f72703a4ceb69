"""Wilcoxon's signed-rank test against published examples, brute force and scipy; its intervals."""

import math
from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from orthobench.stats.signed_rank import shift_intervals, signed_rank, smallest_p

INF = math.inf


def p_of(differences):
    return signed_rank(np.array([differences], dtype=np.float64))[1][0]


def by_enumeration(differences):
    """The share of all sign assignments whose statistic is at least as far from zero."""
    kept = [d for d in differences if d != 0]
    ranks = scipy.stats.rankdata(np.abs(kept)) if kept else []
    seen = abs(sum(math.copysign(r, d) for r, d in zip(ranks, kept, strict=True)))
    signs = list(product((-1, 1), repeat=len(kept)))
    far = sum(abs(sum(s * r for s, r in zip(row, ranks, strict=True))) >= seen for row in signs)
    return far / len(signs)


tied = st.lists(st.sampled_from([-INF, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, INF]), min_size=1,
                max_size=9)  # fmt: skip


class TestSignedRank:
    def test_of_the_depression_data(self):
        # Hollander and Wolfe 1973, p. 29; R's help of wilcox.test: V = 40, one-sided 0.01953
        x = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
        y = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
        statistic, p = signed_rank((x - y)[None])
        assert statistic[0] == 2 * 40 - 45
        assert p[0] / 2 == pytest.approx(0.01953, abs=5e-6)

    def test_with_ties_and_zeros_of_bortz_lienert_and_boehnke(self):
        # exactRankTests: V = 13, p = 0.1367; R's own approximation gives 0.1436
        x = np.array([9, 14, 8, 11, 14, 10, 8, 14, 12, 14, 13, 9, 15, 12, 9])
        y = np.array([13, 15, 9, 12, 16, 10, 8, 13, 12, 16, 9, 10, 16, 12, 9])
        assert p_of(x - y) == pytest.approx(0.1367, abs=5e-5)

    @given(tied)
    def test_is_exact_with_ties_zeros_and_failures(self, row):
        assert p_of(row) == pytest.approx(by_enumeration(row), rel=1e-12)

    @pytest.mark.parametrize("n", [1, 2, 5, 13, 30, 60])
    def test_is_scipys_without_ties(self, n):
        rows = np.random.default_rng(n).normal(0.3, 1, (20, n))
        statistic, p = signed_rank(rows)
        expected = scipy.stats.wilcoxon(rows, axis=1, method="exact", alternative="greater")
        np.testing.assert_allclose(statistic, 2 * expected.statistic - n * (n + 1) / 2)
        two_sided = scipy.stats.wilcoxon(rows, axis=1, method="exact").pvalue
        np.testing.assert_allclose(p, two_sided, rtol=1e-9)  # scipy's are off by 2e-11 for n = 60

    @pytest.mark.parametrize("n", [4, 8, 11])
    def test_is_that_of_scipys_permutation_test_with_ties(self, n):
        rows = np.random.default_rng(n).normal(0.5, 1, (6, n)).round()
        for row in rows:
            zeros = np.count_nonzero(row == 0)
            ranks = np.sign(row) * (scipy.stats.rankdata(np.abs(row)) - zeros)
            found = scipy.stats.permutation_test(
                (ranks,), np.sum, permutation_type="samples", n_resamples=2**n
            )
            assert p_of(row) == pytest.approx(found.pvalue, rel=1e-12)

    def test_of_many_tied_differences_is_the_sign_test(self):
        # every run of one solver failed: only signs are left
        assert p_of([INF] * 40) == pytest.approx(2 * 0.5**40)
        signs = scipy.stats.binomtest(11, 40).pvalue
        assert p_of([INF] * 29 + [-INF] * 11) == pytest.approx(signs)

    @given(tied, st.randoms())
    def test_does_not_depend_on_sides_order_scale_or_zeros(self, row, random):
        p = p_of(row)
        shuffled = random.sample(row, len(row))
        assert p_of(shuffled) == pytest.approx(p, rel=1e-12)
        assert p_of([-d for d in row]) == pytest.approx(p, rel=1e-12)
        assert p_of([d**3 for d in row]) == pytest.approx(p, rel=1e-12)
        assert p_of([*row, 0.0, 0.0]) == pytest.approx(p, rel=1e-12)

    def test_of_nothing_but_zeros_is_one(self):
        assert p_of([0.0] * 7) == 1


class TestShiftIntervals:
    @pytest.mark.parametrize("n", [6, 9, 14])
    def test_hold_what_the_test_does_not_reject(self, n):
        rows = np.random.default_rng(n).normal(0.6, 1, (20, n))
        low, high = shift_intervals(rows, 0.95)
        for at, inside in ((low - 1e-9, False), (low + 1e-9, True), (high + 1e-9, False)):
            p = signed_rank(rows - at[:, None])[1]
            np.testing.assert_array_equal(p > 0.05, inside)

    def test_of_few_values_are_unbounded_and_missing_ones_do_not_count(self):
        row = np.arange(1.0, 11.0)
        gaps = np.concatenate([row[:4], np.full(6, np.nan)])
        low, high = shift_intervals(np.array([row, gaps]), 0.95)
        assert np.isfinite([low[0], high[0]]).all()
        assert (low[1], high[1]) == (-INF, INF)

    def test_of_failures_reach_to_infinity(self):
        low, high = shift_intervals(np.array([[1.0] * 6 + [INF] * 4]), 0.95)
        assert (low[0], high[0]) == (1, INF)


@pytest.mark.parametrize("n", [0, 1, 5, 12])
def test_the_smallest_p_is_that_of_differences_of_one_sign(n):
    for row in (np.ones(n), np.arange(1.0, n + 1)):
        assert signed_rank(np.append(row, [0.0, 0.0])[None])[1][0] == pytest.approx(smallest_p(n))

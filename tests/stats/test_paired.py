"""Paired tests: published examples, brute force, scipy, and what they show of equal solvers."""

import math
from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from orthobench.stats.bootstrap import interval
from orthobench.stats.paired import (
    LEVEL,
    compare_pairs,
    differences,
    holm,
    seeds_needed,
    signed_rank,
)

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
values = st.lists(st.integers(0, 9) | st.just(INF), min_size=6, max_size=6)


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


class TestHolm:
    def test_of_rs_documented_example(self):
        # p.adjust(c(0.319, 0.201, 0.4, 0.374, 0.113), "holm")
        found = holm(np.array([0.319, 0.201, 0.4, 0.374, 0.113]))
        np.testing.assert_allclose(found, [0.957, 0.804, 0.957, 0.957, 0.565])

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.999))
    def test_rejects_what_holms_procedure_rejects(self, p, level):
        rejected = np.zeros(len(p), dtype=bool)
        for step, place in enumerate(np.argsort(p)):
            if p[place] * (len(p) - step) > level:
                break
            rejected[place] = True
        adjusted = holm(np.array(p))
        np.testing.assert_array_equal(adjusted <= level, rejected)
        assert (adjusted >= np.array(p)).all()


class TestDifferences:
    def test_of_failures_are_the_largest_and_of_two_none(self):
        found = differences([1.0, INF, 2.0, INF, math.nan], [3.0, 4.0, INF, INF, INF])
        assert found.tolist() == [2, -INF, INF, 0, 0]

    def test_by_rounding_are_none(self):
        assert differences([1.0, 1.0], [1.0 + 1e-13, 1.1], 1e-12)[0] == 0
        assert differences([1.0, 1.0], [1.0 + 1e-13, 1.1])[0] > 0


class TestComparisons:
    def test_say_what_was_measured(self):
        rng = np.random.default_rng(2)
        a = rng.normal(size=9)
        b = a + rng.normal(0.5, 1, 9)
        a[3] = b[3] = INF
        (c,) = compare_pairs({"a": a.tolist(), "b": b.tolist()})
        d = np.array([0.0 if i == 3 else b[i] - a[i] for i in range(9)])
        assert (c.a, c.b, c.n, c.together) == ("a", "b", 9, 1)
        assert (c.lower, c.higher, c.equal) == ((d > 0).sum(), (d < 0).sum(), 1)
        assert c.difference == pytest.approx(np.median(d))
        assert c.interval == interval(d)
        assert c.p == c.adjusted == pytest.approx(by_enumeration(d))
        assert c.attainable == 2 / 2**9

    def test_are_of_every_pair_and_corrected_together(self):
        found = compare_pairs({name: range(i, i + 6) for i, name in enumerate("vwxyz")})
        assert [(c.a, c.b) for c in found] == list(combinations("vwxyz", 2))
        np.testing.assert_allclose([c.p for c in found], 2 / 2**6)
        np.testing.assert_allclose([c.adjusted for c in found], 10 * 2 / 2**6)
        assert {c.together for c in found} == {10}

    @given(values, values)
    @settings(max_examples=50)
    def test_turn_round_with_their_solvers(self, a, b):
        (c,) = compare_pairs({"a": a, "b": b})
        (turned,) = compare_pairs({"b": b, "a": a})
        swapped = turned.swapped()
        assert (c.a, c.b, c.lower, c.higher, c.equal) == (
            swapped.a, swapped.b, swapped.lower, swapped.higher, swapped.equal,
        )  # fmt: skip
        assert c.difference == swapped.difference
        assert c.interval == pytest.approx(swapped.interval, rel=1e-12)
        assert c.statistic == swapped.statistic
        assert c.p == swapped.p
        assert c.lead == swapped.lead
        assert c.lower + c.higher + c.equal == c.n

    def test_do_not_depend_on_the_order_of_seeds(self):
        rng = np.random.default_rng(8)
        table = rng.normal(size=(4, 10)).round(1)
        order = rng.permutation(10)
        first = compare_pairs({n: r.tolist() for n, r in zip("abcd", table, strict=True)})
        second = compare_pairs({n: r[order].tolist() for n, r in zip("abcd", table, strict=True)})
        assert first == second

    def test_count_failing_as_the_largest_difference(self):
        a = [0.1] * 8
        (c,) = compare_pairs({"a": a, "b": [INF] * 8})
        assert (c.lower, c.difference, c.interval) == (8, INF, (INF, INF))
        assert c.lead == "a"
        (c,) = compare_pairs({"a": [INF] * 8, "b": a})
        assert (c.higher, c.difference, c.interval) == (8, -INF, (-INF, -INF))
        assert c.lead == "b"
        (c,) = compare_pairs({"a": [0.1] * 7 + [INF], "b": [0.2] * 7 + [0.1]})
        assert (c.lower, c.higher) == (7, 1)
        # the failure outranks each of the seven: 8 of 36
        assert c.statistic == 28 - 8

    def test_of_two_that_fail_together_show_nothing(self):
        (c,) = compare_pairs({"a": [INF] * 9, "b": [INF] * 9})
        assert (c.equal, c.difference, c.p, c.shown, c.lead) == (9, 0, 1, False, None)

    def test_take_rounding_for_no_difference(self):
        a = np.linspace(1, 2, 9)
        values = {"a": a.tolist(), "b": (a * (1 + 1e-15)).tolist()}
        assert compare_pairs(values)[0].shown
        (c,) = compare_pairs(values, rounding=1e-12)
        assert (c.equal, c.p) == (9, 1)

    def test_show_nothing_where_ranks_and_median_disagree(self):
        # b ends lower on 28 of 50 seeds, a by more on the others
        b = [-i for i in range(1, 29)] + list(range(29, 51))
        (c,) = compare_pairs({"a": [0] * 50, "b": b})
        assert c.adjusted < LEVEL
        assert c.statistic > 0 > c.difference
        assert not c.shown
        assert c.lead is None

    @pytest.mark.parametrize(("count", "seeds"), [(2, 6), (3, 7), (5, 9), (8, 11)])
    def test_say_how_many_seeds_could_show_a_difference(self, count, seeds):
        pairs = count * (count - 1) // 2
        assert seeds_needed(pairs) == seeds
        for n, shown in ((seeds - 1, False), (seeds, True)):
            apart = {str(i): [float(i)] * n for i in range(count)}
            found = compare_pairs(apart)
            assert any(c.shown for c in found) == shown
            assert min(c.adjusted for c in found) == pytest.approx(found[0].attainable)

    def test_need_common_seeds(self):
        with pytest.raises(ValueError, match="the same seeds"):
            compare_pairs({"a": [1.0], "b": [1.0, 2.0]})
        with pytest.raises(ValueError, match="at least one"):
            compare_pairs({"a": [], "b": []})

    def test_of_one_solver_are_none(self):
        assert compare_pairs({"a": [1.0, 2.0]}) == []
        assert compare_pairs({}) == []


def continuous(rng, size):
    return rng.standard_t(2, size)


def rounded(rng, size):
    return rng.normal(size=size).round()


def failing(rng, size):
    return np.where(rng.random(size) < 0.4, INF, rng.normal(size=size))


def share_shown(draw, solvers, n, samples, seed=0):
    """How often any pair of equal solvers is told apart: the family-wise error rate."""
    rng = np.random.default_rng(seed)
    first, second = np.array(list(combinations(range(solvers), 2))).T
    tables = draw(rng, (samples, solvers, n)) + draw(rng, (samples, 1, n))
    found = differences(tables[:, first], tables[:, second])
    p = signed_rank(found.reshape(-1, n))[1].reshape(samples, -1)
    return np.mean([holm(row).min() < LEVEL for row in p])


def at_most(level, samples):
    return level + 3 * math.sqrt(level * (1 - level) / samples)


@pytest.mark.parametrize("draw", [continuous, rounded, failing])
class TestFalsePositives:
    @pytest.mark.parametrize("n", [6, 10, 20])
    def test_of_a_pair_stay_at_their_level(self, draw, n):
        assert share_shown(draw, 2, n, 1000) <= at_most(LEVEL, 1000)

    def test_of_28_pairs_stay_at_their_level(self, draw):
        assert share_shown(draw, 8, 12, 100) <= at_most(LEVEL, 100)

    @pytest.mark.slow
    @pytest.mark.parametrize("n", [6, 8, 10, 20, 30])
    def test_of_a_pair_stay_at_their_level_in_many_samples(self, draw, n):
        assert share_shown(draw, 2, n, 20_000) <= at_most(LEVEL, 20_000)

    @pytest.mark.slow
    @pytest.mark.parametrize("n", [11, 15, 20])
    def test_of_28_pairs_stay_at_their_level_in_many_samples(self, draw, n):
        assert share_shown(draw, 8, n, 1500) <= at_most(LEVEL, 1500)


def test_without_ties_false_positives_are_as_many_as_the_test_allows():
    # the largest attainable level below 0.05 with 10 seeds is 50 / 1024
    assert share_shown(continuous, 2, 10, 20_000) == pytest.approx(50 / 1024, abs=0.005)

"""Comparisons of the best solver with the rest: what is counted, corrected, shown and hidden."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthobench.stats.paired import (
    LEVEL,
    Decision,
    adjust,
    compare_to_best,
    differences,
    holm,
    seeds_needed,
)
from orthobench.stats.signed_rank import shift_intervals, signed_rank

INF, NAN = math.inf, math.nan

values = st.lists(st.integers(0, 9) | st.just(INF) | st.just(NAN), min_size=8, max_size=8)


def one(a, b, **more):
    (comparison,) = compare_to_best({"a": a, "b": b}, "a", **more)
    return comparison


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


class TestAdjust:
    def test_is_the_largest_p_where_all_favour_the_best(self):
        p = np.array([0.01, 0.03, 0.04])
        np.testing.assert_allclose(adjust(p, np.array([True] * 3)), [0.03, 0.04, 0.04])
        np.testing.assert_allclose(adjust(p, np.array([True, True, False])), [0.03, 0.06, 0.06])

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
    def test_shows_all_where_the_largest_is_below_the_level(self, p):
        found = adjust(np.array(p), np.full(len(p), True))
        assert (found < LEVEL).all() == (max(p) < LEVEL)
        assert (found >= np.array(p)).all()


class TestDifferences:
    def test_of_failures_are_the_largest_and_of_two_none(self):
        found = differences([1.0, INF, 2.0, INF], [3.0, 4.0, INF, INF])
        assert found.tolist() == [2, -INF, INF, 0]
        found = differences([1.0, INF, 2.0, INF], [math.e, 4.0, INF, INF], 0.0, True)
        assert found.tolist() == pytest.approx([1, -INF, INF, 0])

    def test_of_what_was_not_run_yet_are_unknown(self):
        assert np.isnan(differences([NAN, 1.0, INF], [1.0, NAN, NAN])).all()

    def test_by_rounding_are_none(self):
        for logarithmic in (False, True):
            found = differences([1.0, 1.0], [1.0 + 1e-13, 1.1], 1e-12, logarithmic)
            assert found[0] == 0 < found[1]
        assert differences([1.0], [1.0 + 1e-13])[0] > 0

    def test_of_logarithms_take_values_below_rounding_for_it(self):
        assert differences([1e-30], [1e-10], 1e-12, True)[0] == pytest.approx(math.log(100))


class TestComparisons:
    def test_say_what_was_measured(self):
        rng = np.random.default_rng(2)
        a = rng.lognormal(size=9)
        b = a * rng.lognormal(0.5, 1, 9)
        a[3] = b[3] = INF
        c = one(a.tolist(), b.tolist())
        d = np.array([0.0 if i == 3 else math.log(b[i] / a[i]) for i in range(9)])
        assert (c.best, c.other, c.n, c.together, c.ratio) == ("a", "b", 9, 1, True)
        assert (c.lower, c.higher, c.equal) == ((d > 0).sum(), (d < 0).sum(), 1)
        assert c.effect == pytest.approx(math.exp(np.median(d)))
        assert c.interval[0] <= c.effect <= c.interval[1]
        assert c.p == c.adjusted == pytest.approx(signed_rank(d[None])[1][0])
        assert c.attainable == 2 / 2**8

    def test_are_differences_where_values_are_negative(self):
        a = np.arange(-3.0, 7.0)
        c = one(a.tolist(), (a + 2).tolist())
        assert (c.ratio, c.effect, c.interval) == (False, 2, (2, 2))

    def test_are_with_the_best_and_corrected_together(self):
        rows = {name: [1.0 + i + s for s in range(9)] for i, name in enumerate("vwxyz")}
        rows["z"] = [*rows["v"][:5], *(v - 0.5 for v in rows["v"][5:])]
        found = compare_to_best(rows, "v")
        assert [(c.best, c.other) for c in found] == [("v", x) for x in "wxyz"]
        p = np.array([c.p for c in found])
        np.testing.assert_allclose([c.adjusted for c in found], holm(p))
        assert {c.together for c in found} == {4}
        assert [c.decision for c in found[:3]] == [Decision.BEHIND] * 3

    def test_show_the_best_lower_than_all_by_the_largest_p(self):
        rows = {str(i): [1.0 + i + s / 10 for s in range(6)] for i in range(8)}
        found = compare_to_best(rows, "0")
        assert {c.decision for c in found} == {Decision.BEHIND}
        assert {c.adjusted for c in found} == {2 / 2**6}

    def test_of_equal_solvers_take_no_part_in_the_correction(self):
        a = np.linspace(1, 2, 6)
        found = compare_to_best({"a": a, "b": a, "c": a + 1}, "a")
        assert [c.decision for c in found] == [Decision.EQUAL, Decision.BEHIND]
        assert found[1].together == 1

    @pytest.mark.parametrize("others", [1, 2, 5])
    def test_have_intervals_that_hold_together(self, others):
        rng = np.random.default_rng(5)
        best = rng.normal(size=20)
        rows = {str(i): best + i + 1 + rng.normal(scale=0.2, size=20) for i in range(others)}
        for c in compare_to_best({"best": best, **rows}, "best"):
            alone = (rows[c.other] - best)[None]
            low, high = shift_intervals(alone, 1 - LEVEL / others)
            assert c.interval == pytest.approx((low[0], high[0]))

    @given(values, values, values)
    @settings(max_examples=50)
    def test_do_not_contradict_themselves(self, a, b, c):
        for found in compare_to_best({"a": a, "b": b, "c": c}, "a", rounding=1e-9):
            assert found.lower + found.higher + found.equal == found.n
            shown = found.decision in (Decision.BEHIND, Decision.AHEAD)
            assert shown <= (found.adjusted < LEVEL)
            assert found.p <= found.adjusted
            assert found.attainable <= max(found.adjusted, found.attainable)
            if found.decision is Decision.AHEAD:
                assert found.higher > 0
            if found.n:
                assert found.interval[0] <= found.effect <= found.interval[1]
            if found.interval[0] > 1:
                assert found.decision is Decision.BEHIND

    def test_do_not_depend_on_the_order_of_seeds(self):
        rng = np.random.default_rng(8)
        table = rng.lognormal(size=(4, 10)).round(1) + 0.1
        order = rng.permutation(10)
        first = compare_to_best(dict(zip("abcd", table.tolist(), strict=True)), "a")
        second = compare_to_best(dict(zip("abcd", table[:, order].tolist(), strict=True)), "a")
        assert first == second

    def test_count_failing_as_the_largest_difference(self):
        a = [0.1] * 8
        c = one(a, [INF] * 8)
        assert (c.lower, c.effect, c.interval) == (8, INF, (INF, INF))
        assert c.decision is Decision.BEHIND
        assert one([INF] * 8, a).decision is Decision.AHEAD
        c = one([0.1] * 7 + [INF], [0.2] * 7 + [0.1])
        assert (c.lower, c.higher) == (7, 1)
        # the failure outranks each of the seven: 8 of 36
        assert c.statistic == 28 - 8

    def test_of_two_that_fail_together_show_nothing(self):
        c = one([INF] * 9, [INF] * 9)
        assert (c.equal, c.effect, c.p, c.decision) == (9, 1, 1, Decision.EQUAL)

    @pytest.mark.parametrize(
        ("least", "rounding", "ratio"),
        [(0.0, 0.0, False), (0.0, 1e-9, True), (-1e-9, 1e-9, True), (-1e-8, 1e-9, False)],
    )
    def test_are_by_ratios_where_no_value_is_negative(self, least, rounding, ratio):
        assert one([least, 1.0, 2.0], [1.0, 2.0, 3.0], rounding=rounding).ratio is ratio

    def test_take_rounding_for_no_difference(self):
        a = np.linspace(1, 2, 9)
        b = (a * (1 + 1e-15)).tolist()
        assert one(a.tolist(), b).decision is Decision.BEHIND
        assert one(a.tolist(), b, rounding=1e-12).decision is Decision.EQUAL

    def test_leave_out_seeds_that_were_not_run_on_both(self):
        a, b = [1.0] * 6 + [NAN, 5.0], [2.0] * 6 + [1.0, NAN]
        c = one(a, b)
        assert (c.n, c.lower, c.higher, c.effect, c.p) == (6, 6, 0, 2, 2 / 2**6)
        assert c.decision is Decision.BEHIND
        c = one([1.0, NAN], [NAN, 1.0])
        assert (c.n, c.decision) == (0, Decision.UNDECIDABLE)

    @pytest.mark.parametrize("unit", [1, 1e-6])
    def test_show_nothing_where_ranks_and_median_disagree(self, unit):
        # b ends lower on 28 of 50 seeds, a by more on the others
        c = one([0] * 50, [-i * unit for i in range(1, 29)] + [i * unit for i in range(29, 51)])
        assert c.adjusted < LEVEL
        assert c.statistic > 0 > c.effect
        assert c.decision is Decision.OPEN

    def test_of_what_may_be_the_best_have_an_interval_that_begins_there(self):
        noise = np.random.default_rng(3).normal(size=(2, 12)) / 100
        c = one(*np.exp(noise).tolist())
        assert c.decision is Decision.OPEN
        assert 1 == c.interval[0] <= c.effect <= c.interval[1] < 1.05

    def test_do_not_depend_on_the_order_of_solvers(self):
        rows = np.exp(np.random.default_rng(2).normal(size=(3, 12)) / 100)
        values = dict(zip("abc", (rows.T * [1, 1.004, 0.996]).T.tolist(), strict=True))
        found = {
            order: {c.other: c for c in compare_to_best({k: values[k] for k in order}, "a")}
            for order in ("abc", "acb")
        }
        assert found["abc"] == found["acb"]
        assert {c.decision for c in found["abc"].values()} == {Decision.OPEN}

    def test_show_more_seeds_of_one_side_where_most_are_ties(self):
        c = one([1.0] * 14, [1.0] * 8 + [2.0] * 6)
        assert (c.effect, c.adjusted, c.decision) == (1, 2 / 2**6, Decision.BEHIND)

    def test_show_what_is_below_the_level_and_not_what_is_at_it(self):
        c = one([0] * 9, [1] * 9)
        assert replace(c, adjusted=np.nextafter(LEVEL, 0)).decision is Decision.BEHIND
        assert replace(c, adjusted=LEVEL).decision is Decision.OPEN
        assert replace(c, adjusted=LEVEL, attainable=LEVEL).decision is Decision.UNDECIDABLE


class TestUndecidable:
    @pytest.mark.parametrize(("comparisons", "seeds"), [(1, 6), (2, 7), (4, 8), (7, 9), (28, 11)])
    def test_says_how_many_seeds_could_show_one_difference(self, comparisons, seeds):
        assert seeds_needed(comparisons) == seeds
        for n, decision in ((seeds - 1, Decision.UNDECIDABLE), (seeds, Decision.BEHIND)):
            a, noise = [1.0 + s for s in range(n)], [1.0 + s + (-1) ** s / 9 for s in range(n)]
            rows = {"a": a, "b": [2 * v for v in a]}
            rows |= {str(i): noise for i in range(comparisons - 1)}
            found = compare_to_best(rows, "a")[0]
            assert (found.decision, found.needed) == (decision, seeds)

    def test_no_number_of_seeds_shows_anything_where_all_are_ties(self):
        assert seeds_needed(1, n=4, ties=4) == seeds_needed(1, n=0) == 0

    def test_takes_ties_into_account(self):
        a = np.linspace(1, 2, 12)
        for ties, decision in ((6, Decision.BEHIND), (7, Decision.UNDECIDABLE)):
            c = one(a.tolist(), np.where(np.arange(12) < ties, a, 2 * a).tolist())
            assert (c.equal, c.attainable, c.decision) == (ties, 2 / 2 ** (12 - ties), decision)
        assert c.needed == math.ceil(6 * 12 / 5)


def test_need_common_seeds():
    with pytest.raises(ValueError, match="the same seeds"):
        compare_to_best({"a": [1.0], "b": [1.0, 2.0]}, "a")
    with pytest.raises(ValueError, match="at least one"):
        compare_to_best({"a": [], "b": []}, "a")


def test_of_one_solver_are_none():
    assert compare_to_best({"a": [1.0, 2.0]}, "a") == []

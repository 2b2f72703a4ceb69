"""The rule on one problem: what its verdicts do not depend on, and what they must say."""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from decision_errors import KINDS, simulate
from hypothesis import given
from hypothesis import strategies as st

from orthobench.decide.answer import answer
from orthobench.decide.rule import (
    FEWEST,
    LEVEL,
    LEVEL_OF_LOWEST,
    STRICT,
    TOLERANCE,
    Comparison,
    Decision,
    Verdict,
    _allowed,
    _more_seeds,
    decide,
    expected_cost,
    lower_end,
    upper_end,
)

GOOD, WORSE, UNDECIDED, FAILED, ABSENT = (
    Verdict.AS_GOOD, Verdict.WORSE, Verdict.UNDECIDED, Verdict.FAILED, Verdict.ABSENT,
)  # fmt: skip


def verdicts(values, starts=None, costs=None, **more):
    seeds = len(next(iter(values.values())))
    costs = costs or {name: [1.0] * seeds for name in values}
    best, found = decide(values, starts or [1.0] * seeds, costs, **more)
    return best, {d.solver: d for d in found}


@st.composite
def problems(draw, most=4):
    seeds, solvers = draw(st.integers(1, 12)), draw(st.integers(1, most))
    value = st.one_of(
        st.floats(0, 1).map(lambda v: round(v, 6)),
        st.sampled_from([0.0, 0.1, 0.1 + 1e-12, math.inf, math.nan]),
    )
    rows = st.lists(value, min_size=seeds, max_size=seeds)
    return {f"s{i}": draw(rows) for i in range(solvers)}


def test_what_ends_next_to_the_best_on_all_seeds_is_as_good_and_what_does_not_is_worse():
    rng = np.random.default_rng(0)
    for seeds in (5, 6, 10, 30):
        noise = rng.normal(0, 1e-3, (13, seeds))
        values = {f"s{i}": (0.1 + 1e-12 * noise[i]).tolist() for i in range(12)}
        values["far"] = (0.5 + noise[12]).tolist()
        _, found = verdicts(values)
        assert {d.verdict for name, d in found.items() if name != "far"} == {GOOD}
        assert found["far"].verdict is WORSE


def test_too_few_seeds_decide_nothing_and_say_how_many_do():
    for seeds in (1, 2, 3, 4):
        rows = {
            "a": [0.1 + 1e-3 * i for i in range(seeds)],
            "b": [0.5 + 1e-2 * i for i in range(seeds)],
        }
        _, found = verdicts(rows)
        assert {d.verdict for d in found.values()} == {UNDECIDED}, seeds
        assert {d.more_seeds + seeds for d in found.values()} == {5}, seeds


def test_a_failed_run_is_a_failure_and_missing_ones_are_absent():
    rows = {"a": [0.1] * 6, "b": [0.1] * 5 + [math.inf], "c": [math.nan] * 6}
    best, found = verdicts(rows, identity={name: range(6) for name in rows})
    assert best == "a"
    assert [found[name].verdict for name in "abc"] == [GOOD, FAILED, ABSENT]
    assert found["b"].n_failed == 1
    best, found = verdicts({"a": [math.inf] * 6, "b": [math.inf] * 6})
    assert best is None
    assert {d.verdict for d in found.values()} == {FAILED}


def test_success_is_the_share_of_runs_that_end_at_the_best_value_seen():
    values = {
        "a": [0.0, 0.0, 1e-7, 0.5], "b": [0.2, 1e-3, 0.0, 0.1],
        "c": [math.inf] * 4, "d": [math.nan] * 4,
    }  # fmt: skip
    _, found = verdicts(values, [1.0] * 4)
    assert [found[name].success for name in "abc"] == [0.75, 0.5, 0]
    assert math.isnan(found["d"].success)


def test_copies_count_once():
    rng = np.random.default_rng(1)
    few = {name: (level + 0.02 * rng.standard_normal(6)).tolist()
           for name, level in (("a", 0.1), ("b", 0.11))}  # fmt: skip
    starts = (1 + rng.random(6)).tolist()
    _, once = verdicts(few, starts)
    _, often = verdicts({name: 5 * row for name, row in few.items()}, 5 * starts)
    for name in "ab":
        assert often[name].verdict is once[name].verdict
        assert (often[name].low, often[name].high) == (once[name].low, once[name].high)
        assert (often[name].seeds, often[name].copies) == (6, 24)


def test_what_is_deterministic_is_decided_by_its_value():
    _, found = verdicts({"a": [0.1] * 3, "b": [0.1 + 1e-4] * 3, "c": [0.2] * 3})
    assert [found[name].verdict for name in "abc"] == [GOOD, GOOD, WORSE]
    _, found = verdicts({"a": [0.1], "b": [0.2]})
    assert {d.verdict for d in found.values()} == {UNDECIDED}


def test_where_nobody_gets_below_the_start_all_are_as_good():
    identity = {name: range(6) for name in "ab"}
    _, found = verdicts({"a": [1.0] * 6, "b": [1.0] * 6}, identity=identity)
    assert {d.verdict for d in found.values()} == {GOOD}


def test_the_star_is_the_cheapest_and_factors_are_paired():
    rng = np.random.default_rng(2)
    values = {name: (0.1 + 1e-9 * rng.random(8)).tolist() for name in "abc"}
    load = rng.lognormal(0, 1, 8)
    costs = {"a": (4 * load).tolist(), "b": load.tolist(), "c": (2 * load).tolist()}
    _, found = decide(values, [1.0] * 8, costs)
    assert [d.solver for d in found] == ["b", "c", "a"]
    assert [d.factor for d in found] == pytest.approx([1, 2, 4])
    assert found[2].factor_interval == pytest.approx((4, 4))


def test_the_cost_of_runs_that_miss_is_what_restarting_them_takes():
    rng = np.random.default_rng(4)
    hits = np.where(rng.random(400) < 0.3, math.inf, rng.lognormal(0, 1, 400))
    whole = np.where(np.isinf(hits), rng.lognormal(2, 1, 400), hits)
    reached = np.isfinite(hits)
    took = []
    for _ in range(20_000 // 20):  # draw runs until one gets there, as a user would
        drawn = rng.integers(0, 400, (20, 40))
        first = reached[drawn].argmax(axis=1)
        took += [whole[row[: at + 1]].sum() for row, at in zip(drawn, first, strict=True)]
    mean, error = np.mean(took), np.std(took) / math.sqrt(len(took))
    assert abs(expected_cost(hits, whole) - mean) < 4 * error
    missed = 1 / reached.mean() - 1  # restarts for each run that gets there
    geometric = hits[reached].mean() + missed * whole[~reached].mean()
    assert expected_cost(hits, whole) == pytest.approx(geometric)
    assert expected_cost(hits[reached], whole[reached]) == np.median(hits[reached])
    assert expected_cost(np.full(3, math.inf), np.ones(3)) == math.inf


def test_failed_and_missed_runs_count_in_the_cost():
    values = {"a": [0.1] * 11 + [0.5], "b": [0.1] * 12, "c": [0.1] * 11 + [math.inf]}
    costs = {"a": [1.0] * 11 + [math.inf], "b": [3.0] * 12, "c": [1.0] * 11 + [math.inf]}
    spent = {"a": [1.0] * 11 + [11.0], "b": [5.0] * 12, "c": [1.0] * 11 + [22.0]}
    _, decided = decide(
        values, [1.0] * 12, costs, spent=spent, identity=dict.fromkeys("abc", range(12))
    )
    found = {d.solver: d for d in decided}
    assert [found[name].verdict for name in "abc"] == [GOOD, GOOD, FAILED]
    assert [found[name].cost for name in "abc"] == [2.0, 3.0, 3.0]
    assert [found[name].misses for name in "abc"] == [1, 0, 1]
    assert found["b"].factor == 1.5
    assert math.isnan(found["b"].factor_interval[0])


def test_costs_are_asked_for_at_what_the_best_ends_at_and_the_tolerance_above():
    asked = []
    values = {"a": [0.2, 0.3, 0.2, 0.2, 0.2, 0.2], "b": [0.9] * 6}
    decide(
        values, [1.0] * 6, lambda to: asked.append(to) or dict.fromkeys(values, [1.0] * 6),
        lowest=[0.1] * 6,
    )  # fmt: skip
    np.testing.assert_allclose(asked[0], np.array(values["a"]) + TOLERANCE * 0.9)


@given(problems(), st.floats(0.1, 1000), st.floats(-10, 10))
def test_verdicts_do_not_depend_on_unit_and_origin(values, scale, shift):
    seeds = len(values["s0"])
    other = {name: [scale * v + shift for v in row] for name, row in values.items()}
    identity = {name: [repr(v) for v in row] for name, row in values.items()}
    _, a = verdicts(values, [2.0] * seeds, identity=identity)
    _, b = verdicts(other, [2.0 * scale + shift] * seeds, identity=identity)
    for name, d in a.items():
        if all(abs(end - TOLERANCE) > 1e-6 for end in (d.low, d.high)):
            assert b[name].verdict is d.verdict


@given(problems(), st.randoms())
def test_verdicts_do_not_depend_on_order(values, random):
    seeds = len(values["s0"])
    order = random.sample(range(seeds), seeds)
    names = random.sample(list(values), len(values))
    shuffled = {name: [values[name][i] for i in order] for name in names}
    a, b = (verdicts(v, identity={n: range(seeds) for n in v})[1] for v in (values, shuffled))
    assert {n: d.verdict for n, d in a.items()} == {n: d.verdict for n, d in b.items()}


@given(problems())
def test_a_wider_tolerance_takes_no_one_away(values):
    _, strict = verdicts(values, tolerance=1e-6)
    _, loose = verdicts(values, tolerance=0.1)
    for name, d in strict.items():
        if d.verdict is GOOD:
            assert loose[name].verdict is GOOD
        if loose[name].verdict is WORSE:
            assert d.verdict is WORSE


@given(problems())
def test_ends_are_in_order_and_the_verdict_is_what_they_say(values):
    for d in verdicts(values)[1].values():
        if d.verdict in (GOOD, WORSE, UNDECIDED):
            assert 0 <= d.low <= d.high or math.isclose(d.low, d.high)
            assert (d.verdict is GOOD) == (d.high <= TOLERANCE)
            assert (d.verdict is WORSE) == (d.low > TOLERANCE >= 0 and d.high > TOLERANCE)


def test_the_upper_end_covers_the_median_of_any_distribution():
    for n in (5, 8, 30):
        rng = np.random.default_rng(n)
        draws = {
            "normal": rng.standard_normal((1500, n)),
            "cauchy": rng.standard_cauchy((1500, n)),
            "ties": rng.integers(0, 2, (1500, n)) - 0.5 + 1e-9,
        }
        for name, rows in draws.items():
            middle = 0.0 if rows.min() < -1 else 0.5
            missed = np.mean([upper_end(row + 2, 0.05) < 2 + min(middle, 0.0) for row in rows])
            assert missed < 0.067, (n, name)  # 5 %, and three standard errors of 1500 draws
            missed = np.mean([lower_end(row, 0.05) > max(middle, 0.0) for row in rows])
            assert missed < 0.067, (n, name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [3, 5, 10])
@pytest.mark.wide
def test_errors_are_rare(kind, seeds):
    rates = simulate(kind, seeds, 60)
    assert max(rates["use"], rates["worse"]) <= 0.1  # of 60: 5 % are below it with 97 %


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [3, 5, 10, 30])
@pytest.mark.parametrize("noise", [1.0, 5.0])
def test_no_error_is_above_its_level(kind, seeds, noise):
    rates = simulate(kind, seeds, 1000, noise=noise)
    assert max(rates["use"], rates["worse"]) <= 0.05


def test_a_solver_with_few_seeds_holds_up_nobody():
    nan = math.nan
    finals = {
        "a": [0.001, 0.002, 0.003, 0.004, 0.005],
        "b": [0.0001, 0.0002, 0.0003, 0.0004, 0.0005],
        "lost": [0.0, nan, nan, nan, nan],
    }
    costs = {"a": [1.0] * 5, "b": [2.0] * 5, "lost": [5.0, *[math.inf] * 4]}
    best, decided = decide(finals, [1.0] * 5, costs, tolerance=0.01)
    found = {d.solver: d for d in decided}
    assert best == "b"
    assert found["a"].as_good
    assert found["b"].as_good
    assert found["lost"].verdict is Verdict.UNDECIDED
    assert found["lost"].more_seeds == FEWEST - 1


def test_problems_without_runs_wait_and_are_not_open():
    done = Decision("a", Verdict.AS_GOOD, cost=1.0, factor=1.0, seeds=5)
    runs = {"done": done, "open": replace(done, verdict=Verdict.UNDECIDED), "later": None}
    found = answer([
        Comparison(name, name, "f", "m", None, (one or Decision("a", Verdict.UNDECIDED),))
        for name, one in runs.items()
    ])  # fmt: skip
    assert "Nobody is shown to be as good as the best on open" in found.sentence
    assert "No run has ended yet on later." in found.sentence


def test_so_many_may_lie_beyond_as_the_sign_test_does_not_reject():
    for n in (1, 5, 20, 61):
        for tail in (max(0.5**n, 1e-9), 0.05, 0.05 / 7, 0.3):
            k = _allowed(n, tail)
            assert k < 0 or scipy.stats.binom.cdf(k, n, 0.5) <= tail * (1 + 1e-9), (n, tail)
            assert k == n or scipy.stats.binom.cdf(k + 1, n, 0.5) > tail, (n, tail)


def test_the_upper_end_is_the_value_that_the_sign_test_leaves():
    values = np.arange(20.0)
    for tail, beyond in ((0.05, 5), (0.01, 4), (0.5**20, 0)):
        assert upper_end(values, tail) == 19 - beyond
    assert upper_end(values - 30, 0.05) == 0
    assert upper_end(values[:1] + 0.5, 0.05, alike=True) == 0.5
    assert upper_end(values[:1] + 0.5, 0.05) == math.inf


def test_few_values_end_where_student_and_the_largest_do():
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.6])
    reach = scipy.stats.t.ppf(0.99, 4) * scipy.stats.sem(values)
    assert upper_end(values, 0.01) == pytest.approx(values.mean() + reach)
    assert lower_end(values, 0.01) == pytest.approx(values.mean() - reach)
    assert upper_end(np.ones(5), 0.01) == lower_end(np.ones(5), 0.01) == 1
    assert upper_end(values, 0.05) == 0.6  # the sign test allows for none beyond
    assert lower_end(values, 0.05) == 0.1
    assert upper_end(values[:4], 0.05) == -lower_end(values[:4], 0.05) == math.inf


def test_the_interval_of_a_pair_is_that_of_its_differences():
    for above in ([0.2, 0.3, 0.4, 0.5, 0.9], [*np.linspace(0.1, 0.3, 12)]):
        _, found = verdicts({"a": [0.0] * len(above), "b": above})
        assert found["b"].low == pytest.approx(lower_end(np.array(above), LEVEL))
        assert found["b"].high == pytest.approx(upper_end(np.array(above), LEVEL))


def test_the_lower_end_is_where_the_signed_rank_test_rejects():
    values = np.random.default_rng(3).normal(1, 0.3, 12)
    end = lower_end(values, 0.05)
    for shift, rejected in ((-1e-9, True), (1e-9, False)):
        test = scipy.stats.wilcoxon(values - end - shift, alternative="greater", method="exact")
        assert (test.pvalue <= 0.05) == rejected


def test_the_interval_of_a_factor_is_that_of_the_signed_rank_test_on_logarithms():
    rng = np.random.default_rng(2)
    values = {name: [0.1] * 12 for name in "ab"}
    costs = {"a": rng.lognormal(1, 0.5, 12).tolist(), "b": rng.lognormal(0, 0.5, 12).tolist()}
    identity = {name: range(12) for name in "ab"}
    _, found = decide(values, [1.0] * 12, costs, identity=identity)
    dear = found[1]
    assert dear.factor == pytest.approx(np.median(costs["a"]) / np.median(costs["b"]))
    logs = np.log(costs["a"]) - np.log(costs["b"])
    for end, inward in zip(np.log(dear.factor_interval), (1e-9, -1e-9), strict=True):
        inside, outside = (
            scipy.stats.wilcoxon(logs - end - step, method="exact").pvalue
            for step in (inward, -inward)
        )
        assert outside <= LEVEL < inside


def test_about_so_many_seeds_more_decide():
    assert _more_seeds(np.zeros(3), 0.01, 0.05) == FEWEST - 3
    assert _more_seeds(np.zeros(FEWEST), 0.01, 0.05) == 1
    assert _more_seeds(np.ones(6), 0.01, 0.5**9) == 1
    mixed = np.array([*[0.0] * 5, 1.0])
    total = 6 + _more_seeds(mixed, 0.01, 0.05)
    share = 1.5 / 7
    assert _allowed(total, 0.05) >= share * total
    assert all(_allowed(n, 0.05) < share * n for n in range(7, total))
    assert _more_seeds(np.array([0.0, 1.0] * 3), 0.01, 0.05) is None


def test_the_tolerances_are_part_of_what_is_as_good():
    identity = {name: range(6) for name in "ab"}
    for above, verdict in ((TOLERANCE, GOOD), (TOLERANCE * 1.001, WORSE)):
        _, found = verdicts({"a": [0.0] * 6, "b": [above] * 6}, identity=identity)
        assert found["b"].verdict is verdict
        assert found["b"].difference == pytest.approx(above)
    _, found = verdicts({"a": [0.0] * 6, "b": [STRICT] * 3 + [2 * STRICT] * 3})
    assert found["b"].success == 0.5


def test_the_lowest_is_so_by_median_then_mean_then_name():
    for rows, best in (
        ({"a": [0.1, 0.1, 0.9], "b": [0.2, 0.2, 0.1]}, "a"),
        ({"a": [0.1, 0.1, 0.9], "b": [0.1, 0.1, 0.8]}, "b"),
        ({"b": [0.1, 0.1, 0.9], "a": [0.1, 0.1, 0.9]}, "a"),
        # no run is further off than at its start, however far it went
        ({"a": [0.1, 0.1, 50.0], "b": [0.1, 0.1, 1.5], "c": [0.5, 0.5, 0.1]}, "a"),
    ):
        assert verdicts(rows)[0] == best


def test_a_factor_needs_a_cost_that_is_finite_and_not_zero():
    rows = {name: [0.1] * 6 for name in "ab"}
    identity = {name: range(6) for name in "ab"}
    for cheapest, factors in ((0.0, (math.nan, math.nan)), (2.0, (1.0, 2.0))):
        _, found = decide(rows, [1.0] * 6, {"a": [cheapest] * 6, "b": [4.0] * 6}, identity=identity)
        assert [d.factor for d in found] == pytest.approx(factors, nan_ok=True)
    _, found = decide(rows, [1.0] * 6, {name: [math.inf] * 6 for name in "ab"}, identity=identity)
    assert all(math.isnan(d.factor) for d in found)


def test_costs_that_are_not_known_count_nothing_in_what_restarts_take():
    hits, whole = np.array([1.0, math.inf, math.inf]), np.array([9.0, 5.0, math.nan])
    assert expected_cost(hits, whole) == 6
    assert expected_cost(hits) == math.inf


@given(problems(most=6))
def test_the_ends_among_many_solvers_are_those_of_their_pairs(values):
    values = {name: np.nan_to_num(row, nan=0.7, posinf=0.1) for name, row in values.items()}
    seeds = len(values["s0"])
    best, found = verdicts(values)
    unit = np.maximum(1 - np.min(list(values.values()), axis=0), 1e-12)

    def distinct(one, other):
        gaps = values[one] - values[other]
        gaps = np.where(np.abs(gaps) <= 1e-12, 0.0, gaps) / unit
        runs = list(zip(values[one], values[other], strict=True))
        return gaps[[s for s, run in enumerate(runs) if run not in runs[:s]]]

    for name in values:
        tail = LEVEL_OF_LOWEST if name == best else LEVEL / max(1, len(values) - 1)
        gaps = [distinct(name, other) for other in values if other != name]
        highs = [upper_end(gap, tail, len(gap) == 1 < seeds) for gap in gaps]
        assert found[name].high == max(highs, default=0.0)


def test_the_work_grows_with_the_solvers_and_not_with_their_pairs():
    def calls(solvers):
        rng, counted = np.random.default_rng(0), 0
        values = {f"s{i}": rng.random(6).tolist() for i in range(solvers)}

        def count(*_):
            nonlocal counted
            counted += 1

        decide(values, [1.0] * 6, {name: [1.0] * 6 for name in values})  # fills what is kept
        sys.setprofile(count)
        try:
            _, found = decide(values, [1.0] * 6, {name: [1.0] * 6 for name in values})
            answer([Comparison("p", "p", "f", "m", None, tuple(found))])
        finally:
            sys.setprofile(None)
        return counted

    assert calls(200) < 3 * calls(100)

"""The rule on one problem: what its verdicts do not depend on, and what they must say."""

import math

import numpy as np
import pytest
from decision_errors import KINDS, simulate
from hypothesis import given
from hypothesis import strategies as st
from recomputed import preferred

from orthobench.decide.rule import (
    TOLERANCE,
    Comparison,
    Evidence,
    Verdict,
    chosen,
    decide,
    named_of,
)
from orthobench.stats.calls import Call, Calls, Stop
from orthobench.stats.differences import LEVEL, LEVEL_OF_LOWEST, Differences
from orthobench.stats.noninferiority import FEWEST, upper_ends

GOOD, WORSE, UNDECIDED, UNTESTED, FAILED, ABSENT = (
    Verdict.AS_GOOD, Verdict.WORSE, Verdict.UNDECIDED, Verdict.UNTESTED, Verdict.FAILED,
    Verdict.ABSENT,
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


def test_ends_near_the_best_are_as_good_and_others_worse():
    rng = np.random.default_rng(0)
    for seeds in (5, 6, 10, 30):
        noise = rng.normal(0, 1e-3, (13, seeds))
        values = {f"s{i}": (0.1 + 1e-12 * noise[i]).tolist() for i in range(12)}
        values["far"] = (0.5 + noise[12]).tolist()
        _, found = verdicts(values)
        assert {d.verdict for name, d in found.items() if name != "far"} == {GOOD}
        assert found["far"].verdict is WORSE


def test_fewer_than_five_seeds_are_untested():
    for seeds in (1, 2, 3, 4):
        rows = {"a": [0.1 + 1e-3 * i for i in range(seeds)], "b": [0.5 + i for i in range(seeds)]}
        best, found = verdicts(rows)
        assert {d.verdict for d in found.values()} == {UNTESTED}, seeds
        assert {d.more_seeds + seeds for d in found.values()} == {FEWEST}, seeds
        assert named_of(list(found.values()), "seconds") is None
        assert best == "a"


def test_a_failed_run_is_a_miss_and_half_of_them_a_failure():
    lost = [math.inf] * 12
    rows = {f"{n} failed": [*[0.1] * (12 - n), *lost[:n]] for n in (0, 1, 2, 3, 5, 6)}
    rows["none ran"] = [math.nan] * 12
    best, found = verdicts(rows, identity={name: range(12) for name in rows})
    assert best == "0 failed"
    for n in (0, 1, 2, 3, 5, 6):
        own = found[f"{n} failed"]
        assert own.verdict is (GOOD if n < 2 else UNDECIDED if n < 6 else FAILED), n
        assert (own.n_failed, own.reached) == (n, 12 - n)
    assert found["none ran"].verdict is ABSENT
    assert verdicts({"a": lost, "b": lost})[0] is None


@given(problems(), st.integers(0, 11))
def test_a_failure_makes_no_solver_better(values, at):
    """The solvers that are compared stay the same ones."""
    before = verdicts(values, identity={n: range(len(row)) for n, row in values.items()})[1]
    at %= len(values["s0"])
    worse = {**values, "s0": [math.inf if s == at else v for s, v in enumerate(values["s0"])]}
    if math.isnan(values["s0"][at]):
        return
    after = verdicts(
        worse, identity={n: range(len(row)) for n, row in values.items()},
        lowest=[min((row[s] for row in values.values() if row[s] == row[s]), default=math.inf)
                for s in range(len(values["s0"]))],
    )[1]  # fmt: skip
    assert not (after["s0"].as_good and not before["s0"].as_good)


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


def test_deterministic_solver_is_decided_by_its_value():
    _, found = verdicts({"a": [0.1] * 2, "b": [0.1 + 1e-4] * 2, "c": [0.2] * 2})
    assert [found[name].verdict for name in "abc"] == [GOOD, GOOD, WORSE]
    _, found = verdicts({"a": [0.1], "b": [0.2]})
    assert {d.verdict for d in found.values()} == {UNTESTED}


def test_all_are_as_good_if_none_gets_below_the_start():
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
    found = verdicts(values)[1].values()
    untested = any(d.verdict is UNTESTED for d in found)
    for d in found:
        if d.verdict in (GOOD, WORSE, UNDECIDED):
            assert 0 <= d.low <= d.high or math.isclose(d.low, d.high)
            assert (d.verdict is GOOD) <= (d.high <= TOLERANCE) <= (d.verdict is GOOD or untested)
            assert (d.verdict is WORSE) == (d.low > TOLERANCE >= 0 and d.high > TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.wide
def test_errors_are_rare(kind):
    for seeds in (3, 5, 10):
        assert simulate(kind, seeds, 60)["any"] <= 0.1  # of 60: 5 % are below it with 97 %


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [3, 5, 10, 30])
@pytest.mark.parametrize("noise", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("kept", [0.0, 0.7])
def test_no_error_is_above_its_level(kind, seeds, noise, kept):
    assert simulate(kind, seeds, 1000, noise=noise, kept=kept)["any"] <= 0.05


def test_more_seeds_find_more_even_if_one_run_in_twenty_fails():
    found = [simulate("failures", n, 40, behind=(5.0,) * 3, noise=0.3) for n in (5, 10, 30)]
    for name in ("found good", "found worse"):
        shares = [one[name] for one in found]
        assert shares == sorted(shares), name
    assert found[-1]["found good"] == found[-1]["found worse"] == 1


def test_a_solver_with_few_seeds_that_ends_lower_is_in_the_way():
    few = [0.0, *[math.nan] * 4]
    values = {"a": [0.001, 0.002, 0.003, 0.004, 0.005], "b": [1e-4, 2e-4, 3e-4, 4e-4, 5e-4]}
    for above, verdict in ((0.0, GOOD), (0.02, UNDECIDED)):
        rows = {name: [v + above for v in own] for name, own in values.items()}
        best, found = verdicts({**rows, "few": few})
        assert best == "b"
        assert [found[name].verdict for name in ("a", "b", "few")] == [verdict, verdict, UNTESTED]
        assert found["few"].more_seeds == FEWEST - 1


def test_deterministic_solver_waits_for_untested_lower_one():
    for noisy, verdict in (([0.3, 0.4], GOOD), ([0.05, 0.06], UNDECIDED)):
        best, found = verdicts({"repeats": [0.1, 0.1], "noisy": noisy})
        assert best == "repeats"
        assert [found[n].verdict for n in ("repeats", "noisy")] == [verdict, UNTESTED]
        more = None if verdict is GOOD else FEWEST - 2
        assert (found["repeats"].more_seeds, found["noisy"].more_seeds) == (more, FEWEST - 2)
    _, found = verdicts({"repeats": [0.1, 0.1], "noisy": [0.3, 0.4], "far": [0.5, 0.5]})
    assert found["far"].verdict is WORSE


def test_the_lowest_is_so_by_median_then_mean_then_name():
    for rows, best in (
        ({"a": [0.1, 0.1, 0.9], "b": [0.2, 0.2, 0.1]}, "a"),
        ({"a": [0.1, 0.1, 0.9], "b": [0.1, 0.1, 0.8]}, "b"),
        ({"b": [0.1, 0.1, 0.9], "a": [0.1, 0.1, 0.9]}, "a"),
        # no run is further off than at its start, however far it went
        ({"a": [0.1, 0.1, 50.0], "b": [0.1, 0.1, 1.5], "c": [0.5, 0.5, 0.1]}, "a"),
    ):
        assert verdicts(rows)[0] == best


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
        highs = [upper_ends(gap[None], tail, np.array([len(gap) == 1 < seeds]))[0] for gap in gaps]
        assert found[name].high == max(highs, default=0.0)


STEPS = tuple(Stop.at(steps=n) for n in (1, 2, 4, 8))


def calls(*values, whole=True):
    """Return the calls of a solver that ends at these values on twelve seeds."""
    rows = np.array([np.broadcast_to(row, 12) for row in values], dtype=float)
    stops = (*STEPS[: len(rows) - whole], *[Stop()] * whole)
    return Calls(stops, rows, np.zeros(rows.shape, np.intp), whole)


def named(solvers, prices, cost="seconds", certified=True, tolerance=TOLERANCE):
    """Return the decision that is named, and all of them by solver."""
    identity = dict.fromkeys(solvers, range(12))
    finals = {name: own.values[-1] for name, own in solvers.items()}
    ends = Differences(finals, [1.0] * 12, identity=identity)
    costs = {n: np.outer(p, np.ones(12)) for n, p in prices.items()}
    found = Evidence(ends, solvers, certified).decide(costs, tolerance, cost)
    return named_of(found, cost), {d.solver: d for d in found}


@given(st.lists(st.tuples(st.floats(0.1, 10), st.integers(0, 2)), min_size=1, max_size=6))
def test_the_call_is_the_cheapest_sure_one_if_it_is_below_twice(offers):
    own = [
        Call(Stop() if i == len(offers) - 1 else STEPS[0], cost, 12 - missed, 12)
        for i, (cost, missed) in enumerate(offers)
    ]
    expected = preferred([(c.cost, c.misses, c.stop.own) for c in own])
    assert (chosen(own).cost, chosen(own).misses, chosen(own).stop.own) == expected
    assert chosen(own).cost <= 3 * min(cost for cost, _ in offers)  # twice, and 1.5 times that
    assert chosen([]) is None


def test_a_stop_is_tested_from_the_end_and_the_first_failure_ends_it():
    good, bad = np.zeros(12), np.where(np.arange(12) < 3, 0.5, 0.0)  # 2 of 12 may be above
    missed = np.where(np.arange(12) < 2, 0.5, 0.0)
    for earlier, steps in (
        ((good, good, good), 1), ((bad, good, good), 2), ((good, bad, good), 4),
        ((missed, missed, good), 1), ((missed, good, good), 2), ((good, good, bad), None),
    ):  # fmt: skip
        first, _ = named({"a": calls(*earlier, good)}, {"a": (1, 2, 4, 8)}, certified=False)
        assert first.call.stop == (Stop.at(steps=steps) if steps else Stop()), steps
    first, _ = named({"a": calls(missed, good, good)}, {"a": (1, 2.1, 8)}, certified=False)
    assert (first.call.stop.limits, first.reached) == ((("steps", 1),), 10)


def test_a_stop_has_to_be_as_good_as_the_ends_of_all_solvers():
    own = calls(0.009, 0.009, 0.0)
    for other, steps in ((0.0, 1), (-0.002, None)):
        solvers = {"a": own, "b": calls(other, whole=True)}
        first, _ = named(solvers, {"a": (1, 2, 8), "b": (90,)}, certified=False)
        assert first.solver == "a"
        assert dict(first.call.stop.limits) == ({"steps": steps} if steps else {})


def test_without_an_end_of_all_runs_the_last_stop_is_tested_too():
    for last, verdict in ((0.0, GOOD), (0.5, UNDECIDED)):
        cut = Calls(STEPS[:2], np.array([[0.9] * 12, [last] * 12]), np.zeros((2, 12), int), False)
        ends = Differences({"a": [0.0] * 12}, [1.0] * 12, identity={"a": range(12)})
        (found,) = Evidence(ends, {"a": cut}).decide({"a": np.array([[1.0] * 12, [2.0] * 12])})
        assert found.verdict is verdict
        assert (found.call.stop, found.reached) == (STEPS[1], 12 if verdict is GOOD else 0)


def test_an_exact_call_comes_first_unless_another_saves_a_half():
    for exact, near, cost, first in (
        (2.0, 1.0, "flops", "exact"), (2.1, 1.0, "flops", "near"), (0.5, 1.0, "flops", "exact"),
        (0.15, 0.06, "seconds", "exact"), (0.2, 0.06, "seconds", "near"),
        (1.9, 1.0, "seconds", "exact"),
    ):  # fmt: skip
        solvers = {"exact": calls(0.0), "near": calls(0.005)}
        prices = {"exact": (exact,), "near": (near,)}
        told, found = named(solvers, prices, cost)
        assert told.solver == first, (exact, near, cost)
        comparison = Comparison("p", "p", "f", "m", None, tuple(found.values()), cost=cost)
        assert comparison.exact.solver == "exact"
        other = comparison.alternative and comparison.alternative.solver
        assert other == ("exact" if first == "near" else "near" if near < exact else None)
        told, _ = named(solvers, prices, cost, certified=False)
        assert told.solver == min(prices, key=prices.get)


def test_exact_is_said_only_if_all_seeds_are():
    row = np.zeros(12)
    row[5] = 1e-8
    assert named({"a": calls(row)}, {"a": (1,)})[1]["a"].exact is None
    assert named({"a": calls(0.1 * row)}, {"a": (1,)})[1]["a"].exact is not None
    row[5] = math.inf
    assert named({"a": calls(row)}, {"a": (1,)})[1]["a"].exact is None

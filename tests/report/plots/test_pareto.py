"""Quality against cost: geometric means of what is left, and of the cost up to a tolerance."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from decisions import good
from records import altered

from orthobench.decide.answer import MISS, answer
from orthobench.decide.comparisons import compare
from orthobench.decide.rule import Comparison, Verdict
from orthobench.harness.stopping import RunStatus
from orthobench.report.plots import pareto as module
from orthobench.report.plots.pareto import (
    _mean_point,
    _multiple,
    family_answers,
    gaps_left,
    pareto,
)
from orthobench.results.tuning import choose

LEAST = 1e-7


def points(plot, *key):
    panel = plot.panel(*key)
    return {s.solver: (s.x[0], s.y[0]) for s in panel.series if s.solver}, panel


def test_points_are_what_the_traces_say(runs):
    levels = {"a": 1.0, "b": 2.0, "c": 4.0}
    records = {s: runs(s, v, seeds=5) for s, v in levels.items()}
    plot = pareto(choose([r for own in records.values() for r in own]))
    placed, _ = points(plot, "flops", "1 %")
    gaps = {s: np.array([[m.metrics["gap"] for m in r.trace] for r in own])
            for s, own in records.items()}  # fmt: skip
    lows = np.min([g.min(axis=1) for g in gaps.values()], axis=0)
    starts = np.max([g[:, 0] for g in gaps.values()], axis=0)
    (found,) = compare(choose([r for own in records.values() for r in own]), "flops")
    least = min(d.cost for d in found.as_good)
    for solver, own in gaps.items():
        left = np.median(np.maximum(LEAST, (own.min(axis=1) - lows) / (starts - lows)))
        d = found.of(solver)
        assert placed[solver] == pytest.approx((d.cost / least if d.as_good else MISS, left))


def test_the_one_to_use_has_a_ring(runs):
    entries = choose([*runs("a", 3.0, seeds=9), *runs("b", 1.0, seeds=9)])
    use = answer(compare(entries)).solver
    assert use == "b"
    series = pareto(entries).panel("seconds", "1 %").series
    assert {s.solver: s.chosen for s in series if s.solver} == {"a": None, "b": 0}


def test_the_line_of_what_is_good_enough_is_at_the_tolerance(runs):
    plot = pareto(choose([*runs("a", 1.0), *runs("b", 2.0)]))
    for key, part in (("1 %", 1e-2), ("0.0001 %", 1e-6)):
        line = plot.panel("seconds", key).series[-1]
        assert (line.solver, line.y.tolist()) == ("", [part, part])
        assert line.x.tolist() == [1, 10]  # from the least to what a miss counts
    assert plot.sheet == [("seconds", "1 %"), ("flops", "1 %")]


def test_a_solver_whose_runs_all_failed_has_no_cost(runs):
    failed = [altered(r, status=RunStatus.ERROR) for r in runs("b", 1.0)]
    placed, _ = points(pareto(choose([*runs("a", 1.0), *failed])))
    assert placed["b"] == pytest.approx((MISS, 1.0))


def test_a_solver_on_fewer_problems_says_so(runs):
    records = [r for p in "pq" for r in runs("a", 1.0, problem=p)]
    records += runs("b", 2.0, problem="p")
    refused = [altered(r, status=RunStatus.REFUSED, trace=()) for r in runs("b", 1.0, problem="q")]
    _, panel = points(pareto(choose([*records, *refused])))
    assert "b (1 of 2 problems)" in [s.label for s in panel.series]


def test_a_problem_that_is_still_to_come_does_not_count(runs):
    waiting = {"status": RunStatus.MISSING, "trace": ()}
    later = [altered(r, **waiting) for s in "ab" for r in runs(s, 1.0, problem="q")]
    found, panel = points(pareto(choose([*runs("a", 1.0), *runs("b", 2.0), *later])))
    assert {s.label for s in panel.series if s.solver} == {"a", "b"}
    assert set(found) == {"a", "b"}


def test_the_part_of_a_gap_does_not_depend_on_its_unit():
    runs = SimpleNamespace(
        instances=[("p", 0), ("p", 1), ("p", 2), ("flat", 0)], solvers=("a", "b"), absent=[],
        start=np.array([5.0, 5.0, 5.0, 1.0]), lowest=np.array([1.0, 1.0, 1.0, 1.0]),
        reached=np.array([[1.0, 2.0, 3.0, 1.0], [9.0, 9.0, 1.0, 1.0]]),
    )  # fmt: skip
    for unit in (1.0, 1e-3):
        scaled = {name: unit * getattr(runs, name) for name in ("start", "lowest", "reached")}
        found = gaps_left(SimpleNamespace(**vars(runs) | scaled))
        assert found["p"] == pytest.approx([0.25, 1.0])
        assert np.isnan(found["flat"]).all()


def test_of_very_many_pairs_only_the_first_choice_is_decided(runs, monkeypatch):
    entries = choose([*runs("a", 1.0), *runs("b", 2.0), *runs("c", 2.0)])
    for most, views in ((9, 8), (8, 1)):
        monkeypatch.setattr(module, "MOST_PAIRS", most)
        assert len(family_answers(entries)) == views
    assert [*family_answers(entries)] == [("seconds", "1 %")]


def test_a_point_is_the_geometric_mean_with_one_weight_for_variants():
    cost, gap = np.array([1.0, 4.0, 16.0, np.nan]), np.array([0.1, 0.4, 0.9, 0.5])
    x, y, count = _mean_point(cost, gap, ["a", "a", "b", "c"])
    assert (x, y, count) == (pytest.approx((2 * 16) ** 0.5), pytest.approx((0.2 * 0.9) ** 0.5), 3)
    assert _mean_point(cost[3:], gap[3:], ["c"])[2] == 0


def test_what_is_left_is_the_median_over_the_seeds_that_ran():
    runs = SimpleNamespace(
        instances=[("p", 0), ("p", 1), ("p", 2)], solvers=("a", "b"), absent=[("b", "p")],
        start=np.array([5.0, 5.0, np.nan]), lowest=np.array([1.0, 1.0, np.nan]),
        reached=np.array([[1.0, 3.0, np.inf], [1.0, 1.0, 1.0]]),
    )  # fmt: skip
    left = gaps_left(runs)["p"]
    assert left[0] == pytest.approx((LEAST + 0.5) / 2)
    assert np.isnan(left[1])


GOOD, WORSE = Verdict.AS_GOOD, Verdict.WORSE


@pytest.mark.parametrize(
    ("decisions", "multiple"),
    [
        ([("a", GOOD, 6.0), ("b", GOOD, 2.0), ("c", WORSE, 1.0)], 3),
        ([("a", WORSE, 1.0), ("b", GOOD, 2.0)], MISS), ([("a", WORSE, 6.0)], MISS),
        ([("a", GOOD, 99.0), ("b", GOOD, 1.0)], MISS),
        ([("a", GOOD, np.inf), ("b", GOOD, 1.0)], MISS),
        ([("a", GOOD, 1.0), ("b", GOOD, 0.0)], MISS), ([("b", GOOD, 1.0)], MISS),
    ],
)  # fmt: skip
def test_a_cost_is_a_multiple_of_the_least_that_is_as_good(decisions, multiple):
    made = tuple(replace(good(name, cost), verdict=verdict) for name, verdict, cost in decisions)
    comparison = Comparison("p", "p", "f", "gap", None, made)
    assert _multiple(comparison, "a") == multiple


def test_of_a_problem_that_is_not_compared_no_multiple_is_known():
    assert np.isnan(_multiple(None, "a"))

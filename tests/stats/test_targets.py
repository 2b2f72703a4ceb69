"""Costs to reach targets, and the profiles and ECDFs of them, against a brute-force formula."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import altered, record

from orthobench.contract.solver import Work
from orthobench.harness.stopping import RunStatus, Target
from orthobench.harness.trace import Checkpoint
from orthobench.results.tuning import SolverResult, Trial
from orthobench.stats.targets import performance_ratios, run_matrix

INF, NAN = math.inf, math.nan


def run(points, seed=0, status=RunStatus.DONE, target="", reading=0.0):
    """A record with the points (cost, gap) or (cost, gap, further metrics)."""
    marks = tuple(
        Checkpoint(float(x), reading, Work(x, 2 * x, 10 * x), {"gap": y, **dict(*more)})
        for x, y, *more in points
    )
    return record(str(seed), seed=seed, status=status, trace=marks, target=target)


def entry(solver, *runs, problem="p", seeds=None, level=None):
    records = tuple(replace(r, seed=i) for i, r in enumerate(runs))
    seeds = tuple(range(len(runs))) if seeds is None else seeds
    return SolverResult(problem, solver, {}, records, (Trial({}, 0.0, records),), seeds, level)


def refused(solver, problem="p"):
    return entry(solver, run([], status=RunStatus.REFUSED), problem=problem)


HALVING = run([(0, 8.0), (1, 4.0), (2, 2.0), (4, 1.0), (8, 0.0)])
FAST = run([(0, 8.0), (1, 0.5)])


class TestCosts:
    def test_are_those_of_the_first_checkpoint_at_or_below_the_target(self):
        runs = run_matrix([entry("halving", HALVING), entry("fast", FAST)])
        np.testing.assert_array_equal(runs.targets(0.25), [2.0])
        np.testing.assert_array_equal(runs.costs("steps", 0.25), [[2], [1]])
        np.testing.assert_array_equal(runs.costs("samples", 0.25), [[4], [2]])
        np.testing.assert_array_equal(runs.costs("flops", 0.25), [[20], [10]])
        np.testing.assert_array_equal(runs.costs("steps", 0.01), [[8], [INF]])

    def test_failed_run_has_infinite_cost_and_sets_no_target(self):
        for status in (s for s in RunStatus if s.failed):
            failed = run([(0, 100.0), (1, -100.0)], status=status)
            runs = run_matrix([entry("failed", failed), entry("halving", HALVING)])
            np.testing.assert_array_equal(runs.costs("steps", 0.5), [[INF], [1]])
            assert (runs.start[0], runs.lowest[0]) == (8, 0), status
            assert runs.failed == (1, 0), status

    def test_leave_out_seeds_that_were_not_run_with_all_solvers(self):
        runs = run_matrix([entry("a", HALVING, seeds=(0, 1)), entry("b", HALVING, HALVING)])
        np.testing.assert_array_equal(runs.costs("steps", 0.5), [[1], [1]])
        assert runs.failed == (0, 0)

    def test_run_without_its_metric_has_infinite_cost(self):
        other = altered(HALVING, primary="other")
        runs = run_matrix([entry("a", other), entry("b", HALVING)])
        np.testing.assert_array_equal(runs.costs("steps", 0.5), [[INF], [1]])
        assert runs.failed == (1, 0)

    def test_metric_of_the_rule_replaces_the_primary_one(self):
        slope = run([(0, 1.0, {"slope": 4.0}), (2, 9.0, {"slope": 0.0})], target="slope")
        runs = run_matrix([entry("a", slope)])
        assert (runs.start[0], runs.lowest[0]) == (4, 0)


class TestTargets:
    def test_are_of_each_problem_and_seed(self):
        far = run([(0, 100.0), (1, 0.0)])
        runs = run_matrix([entry("a", HALVING, far), entry("a", FAST, problem="q")])
        assert runs.instances == (("p", 0), ("p", 1), ("q", 0))
        np.testing.assert_allclose(runs.targets(0.1), [0.8, 10, 0.5 + 0.1 * 7.5])

    def test_largest_start_of_all_solvers_counts(self):
        warm = run([(0, 2.0), (1, 1.0)])
        assert run_matrix([entry("warm", warm), entry("halving", HALVING)]).start == [8]

    def test_rounding_level_is_reached_by_all_exact_solvers(self):
        exact, nearly = run([(0, 1.0), (1, 1e-17)]), run([(0, 1.0), (2, 1e-15)])
        runs = run_matrix([entry("exact", exact), entry("nearly", nearly)])
        np.testing.assert_array_equal(runs.costs("steps", 1e-5), [[1], [2]])

    def test_are_reached_by_nobody_where_nobody_got_below_the_start(self):
        for start, end in ((8.0, 8.0), (8.0, 9.0), (8.0, 8.0 - 1e-13), (0.0, 0.0)):
            pair = run([(0, start), (1, end)]), run([(0, start)])
            runs = run_matrix([entry("a", pair[0]), entry("b", pair[1])])
            np.testing.assert_array_equal(runs.costs("steps", 0.1), [[INF], [INF]])
            assert runs.unsolved == 1, (start, end)

    def test_are_reached_by_nobody_where_nobody_finished(self):
        ended = [altered(HALVING, status=status) for status in (RunStatus.ERROR, RunStatus.CRASHED)]
        runs = run_matrix([entry("a", ended[0]), entry("b", ended[1])])
        np.testing.assert_array_equal(runs.costs("steps", 0.1), [[INF], [INF]])
        assert runs.unsolved == 1

    def test_ask_no_more_than_the_rule_that_ended_a_run(self):
        first = run([(0, 8.0), (3, 0.9)], status=RunStatus.TARGET)
        further = run([(0, 8.0), (5, 1e-9)], status=RunStatus.TARGET)
        spent = run([(0, 8.0), (7, 2.0)], status=RunStatus.BUDGET)
        runs = run_matrix([entry("first", first), entry("further", further), entry("spent", spent)])
        np.testing.assert_array_equal(runs.costs("steps", 1e-5), [[3], [5], [INF]])


class TestLevels:
    def test_several_levels_are_several_problems(self):
        entries = [
            entry("a", HALVING, problem=f"p, {level}", level=level)
            for level in (Target("gap", 9.0), Target("gap", 10.0))
        ]
        assert len(run_matrix(entries).instances) == 2


class TestAbsent:
    def test_a_solver_that_takes_no_part_solves_nothing_there(self):
        runs = run_matrix([entry("a", HALVING), refused("b"), entry("a", FAST, problem="q"),
                       entry("b", FAST, problem="q")])  # fmt: skip
        np.testing.assert_array_equal(runs.costs("steps", 0.1), [[8, 1], [INF, 1]])
        assert runs.absent == (("b", "p"),)
        assert runs.failed == (0, 0)

    def test_refused_run_at_a_level_sets_no_target(self):
        off = run([(0, 99.0), (1, -99.0)], status=RunStatus.REFUSED)
        runs = run_matrix([entry("a", HALVING), entry("b", off)])
        assert (runs.start[0], runs.lowest[0]) == (8, 0)


traces = st.lists(
    st.tuples(st.integers(1, 50), st.one_of(st.floats(-9, 9), st.just(NAN))), max_size=6
).map(lambda points: [(0, 9.0), *sorted(points, key=lambda point: point[0])])
endings = st.sampled_from([RunStatus.DONE, RunStatus.BUDGET, RunStatus.DIVERGED])
outcomes = st.builds(lambda points, status: run(points, status=status), traces, endings)


@st.composite
def comparisons(draw):
    """Some solvers on up to three problems of two seeds each."""
    solvers, problems = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return [
        entry(f"s{i}", draw(outcomes), draw(outcomes), problem=f"p{j}")
        for j in range(problems)
        for i in range(solvers)
    ]


def values(record):
    """The values of a run up to its first NaN; none if the last one is NaN or it failed."""
    found = []
    fails = record.failed or not math.isfinite(record.trace[-1].metrics["gap"])
    for mark in () if fails else record.trace:
        if not math.isfinite(mark.metrics["gap"]):
            break
        found.append((mark.work.steps, mark.metrics["gap"]))
    return found


def brute_force(entries, tau):
    """The costs in steps by solver, problem and seed, written down as the definition reads."""
    costs = {}
    for e in entries:
        for one in e.records:
            rivals = [r for o in entries if o.problem == e.problem for r in o.records
                      if r.seed == one.seed]  # fmt: skip
            reached = [y for r in rivals for _, y in values(r)]
            least = min(reached, default=INF)
            gap = 9.0 - least
            known = reached and gap > 1e-12 * max(9.0, abs(least))
            costs[e.solver, e.problem, one.seed] = next(
                (max(x, 1) for x, y in values(one) if known and y <= least + tau * gap), INF
            )
    return costs


@given(comparisons(), st.sampled_from([0.5, 1e-1, 1e-3]))
def test_costs_and_profiles_agree_with_brute_force(entries, tau):
    runs, expected = run_matrix(entries), brute_force(entries, tau)
    costs = runs.costs("steps", tau)
    for i, solver in enumerate(runs.solvers):
        assert costs[i].tolist() == [expected[solver, *instance] for instance in runs.instances]
    found = performance_ratios(costs)
    for solver, own_ratios in zip(runs.solvers, found, strict=True):
        for factor in (1.0, 1.5, 3.0, 50.0):
            within = 0
            for instance in runs.instances:
                own = expected[solver, *instance]
                best = min(expected[other, *instance] for other in runs.solvers)
                within += math.isfinite(own) and own / best <= factor
            assert (own_ratios <= factor).mean() == pytest.approx(within / len(runs.instances))


@given(comparisons())
def test_failing_solver_changes_nothing_for_the_others(entries):
    failing = [
        entry(
            "failing", *[run([(0, 99.0), (1, -99.0)], status=RunStatus.ERROR)] * 2, problem=problem
        )
        for problem in dict.fromkeys(e.problem for e in entries)
    ]
    before, after = run_matrix(entries), run_matrix([*entries, *failing])
    assert after.solvers == (*before.solvers, "failing")
    for tau in (0.5, 1e-3):
        old, new = before.costs("steps", tau), after.costs("steps", tau)
        np.testing.assert_array_equal(new[:-1], old)
        assert np.isinf(new[-1]).all()
        ratios = performance_ratios(new)
        np.testing.assert_array_equal(ratios[:-1], performance_ratios(old))
        assert np.isinf(ratios[-1]).all()


@given(comparisons(), st.floats(0.01, 100), st.floats(-100, 100))
def test_costs_do_not_depend_on_the_unit_of_the_metric(entries, scale, shift):
    def rescaled(record):
        marks = tuple(
            replace(m, metrics={"gap": scale * m.metrics["gap"] + shift}) for m in record.trace
        )
        return replace(record, trace=marks)

    def near(runs, tau):
        targets = runs.targets(tau)
        gaps = (np.abs(curve.values - targets[j]).min() for (_, j), curve in runs.curves.items())
        return any(gap < 1e-9 * max(1.0, scale) for gap in gaps)

    others = [replace(e, records=tuple(map(rescaled, e.records))) for e in entries]
    before, after = run_matrix(entries), run_matrix(others)
    if not near(before, 0.1) and (before.unsolved == after.unsolved):
        np.testing.assert_array_equal(before.costs("steps", 0.1), after.costs("steps", 0.1))

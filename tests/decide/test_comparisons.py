"""Runs as a rule of decision takes them: what counts, at what cost, and to which tolerance."""

import math
from dataclasses import replace

import pytest
from records import altered, record

from orthobench.contract.solver import Work
from orthobench.decide.comparisons import compare, compare_by
from orthobench.decide.rule import TOLERANCE, Verdict
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.results.tuning import choose


def run(solver, seed, final, seconds=1.0, **more):
    start = Checkpoint(0.0, 0.0, Work(), {"gap": 1.0, "other": 1.0})
    end = Checkpoint(seconds, 0.0, Work(5, 6, 7), {"gap": final, "other": 1 - final})
    status = RunStatus.ERROR if math.isinf(final) else RunStatus.DONE
    values = {"status": status, "trace": (start, end), "solver_name": solver, **more}
    return record(f"{solver} {seed} {more.get('problem')}", solver=solver, seed=seed, **values)


def runs(solver, final, seconds=1.0, seeds=6, **more):
    return [run(solver, s, final + 1e-7 * s, seconds, **more) for s in range(seeds)]


def decided(records, **more):
    (found,) = compare(choose(records), **more)
    return found, {d.solver: d for d in found.decisions}


def test_costs_are_those_of_calls():
    found, by_solver = decided([*runs("a", 0.1, 3.0), *runs("b", 0.1, 1.0), *runs("c", 0.9, 0.1)])
    assert [d.solver for d in found.as_good] == ["b", "a"]
    assert [by_solver[s].cost for s in "abc"] == [3, 1, 0.1]
    assert by_solver["a"].factor == pytest.approx(3)
    assert by_solver["c"].verdict is Verdict.WORSE
    assert found.cost == "seconds"
    work, by_work = decided([*runs("a", 0.1), *runs("b", 0.1)], cost="flops")
    assert {d.cost for d in by_work.values()} == {7}
    assert work.cost == "flops"


def test_a_run_that_misses_is_no_part_of_the_cost_but_of_the_seeds():
    mixed = [*runs("a", 0.1, 2.0, seeds=11), run("a", 11, 0.9, 8.0)]
    found, by_solver = decided([*mixed, *runs("b", 0.1, 50.0, seeds=12)])
    assert (by_solver["a"].cost, by_solver["a"].reached, by_solver["a"].call.seeds) == (2, 11, 12)
    assert found.cheapest == "a"
    found, _ = decided([*mixed, *runs("b", 0.1, 3.9, seeds=12)])
    assert found.cheapest == "b"  # which is sure, and costs less than twice as much
    assert (found.seeds, found.distinct) == (12, 12)


def test_the_stop_is_what_a_caller_can_set():
    """A run that the clock cut has no end, and one that a budget ended has that budget."""
    steps = (0, 1, 2, 3, 4, 5, 6, 7, 9)
    for name, budget in {"own": {}, "steps": {"steps": 9}, "clock": {"seconds": 1.0}}.items():
        own = [
            altered(
                r, status=RunStatus.BUDGET if budget else RunStatus.DONE, budget=budget,
                trace=tuple(
                    Checkpoint(n, 0.0, Work(n, n, n), {"gap": (1 if n < 6 else 0.01) + r.seed})
                    for n in (steps[:-1] if name == "clock" and r.seed < 3 else steps)
                ),
            )
            for r in runs("a", 0.1)
        ]  # fmt: skip
        _, by_solver = decided(own, cost="steps")
        call = by_solver["a"].call
        assert dict(call.stop.limits) == ({} if name == "own" else {"steps": 6}), name
        assert call.cost == (9 if name == "own" else 6)  # the own end may cost 1.5 times as much
        assert call.reached == 6


def test_failed_missing_and_refused_runs_are_told_apart():
    failed = [run("b", s, math.inf) for s in range(2)] + runs("b", 0.1)[2:]
    missing = [altered(r, status=RunStatus.MISSING, trace=()) for r in runs("c", 0.1)]
    refused = [altered(r, status=RunStatus.REFUSED, trace=()) for r in runs("d", 0.1)]
    partial = runs("e", 0.1)[:2] + [
        altered(r, status=RunStatus.MISSING, trace=()) for r in runs("e", 0.1)[2:]
    ]
    found, by_solver = decided([*runs("a", 0.1), *failed, *missing, *refused, *partial])
    assert {s: d.verdict for s, d in by_solver.items()} == {
        "a": Verdict.AS_GOOD, "b": Verdict.UNDECIDED, "c": Verdict.ABSENT, "d": Verdict.ABSENT,
        "e": Verdict.UNTESTED,
    }  # fmt: skip
    assert (by_solver["b"].n_failed, by_solver["e"].seeds) == (2, 2)
    assert (by_solver["b"].seeds, by_solver["b"].copies) == (6, 0)  # failures are no copies
    for absent in (by_solver["d"], found.of("nobody")):
        counts = (absent.seeds, absent.copies, absent.n_failed, absent.reached)
        assert (counts, absent.more_seeds) == ((0,) * 4, None)
        assert (absent.low, absent.high, absent.cost) == (0, math.inf, math.inf)
    assert len(found.decisions) == 5


def test_copies_of_a_run_are_seeds_that_do_not_count():
    same = [run("a", s, 0.1) for s in range(6)]
    found, by_solver = decided([*same, *runs("b", 0.1)])
    assert (by_solver["a"].seeds, by_solver["a"].copies) == (1, 5)
    assert found.distinct == by_solver["b"].seeds == 6


def test_tolerance_is_given_or_the_suites_or_a_hundredth():
    entries = choose([*runs("a", 0.1), *runs("b", 0.15)])
    assert compare(entries)[0].tolerance == TOLERANCE
    own = [replace(entry, tolerance=0.2) for entry in entries]
    assert compare(own)[0].tolerance == 0.2
    assert len(compare(own)[0].as_good) == 2
    views = compare_by(own, [("seconds", None), ("flops", 1e-6)])
    assert [(v[0].cost, v[0].tolerance) for v in views] == [("seconds", 0.2), ("flops", 1e-6)]


def test_another_metric_may_be_compared():
    found, _ = decided([*runs("a", 0.1), *runs("b", 0.5)], metric="other")
    assert (found.metric, found.best) == ("other", "b")
    assert decided([*runs("a", 0.1), *runs("b", 0.5)])[0].best == "a"


def stopped(solver, values, status=RunStatus.BUDGET, cut=0, **budget):
    """Return runs on six seeds, a value a step; the first two end ``cut`` steps before the rest."""
    return [
        record(
            f"{solver} {seed}", solver=solver, solver_name=solver, seed=seed, budget=budget,
            status=status if cut and seed < 2 else RunStatus.BUDGET,
            trace=tuple(
                Checkpoint(float(n), 0.0, Work(n, n, n), {"gap": value + 1e-7 * seed})
                for n, value in enumerate(values[: len(values) - cut * (seed < 2)])
            ),
        )
        for seed in range(6)
    ]  # fmt: skip


def test_a_limit_that_cut_no_seed_but_its_time_is_no_stop():
    values = [1, 0.5, 0.2, 0.101, 0.1, 0.1, 0.1]
    whole = stopped("a", values, samples=6)
    _, by_solver = decided(whole, cost="steps")
    assert str(by_solver["a"].call.stop) == "3 steps"
    late = stopped("a", values, RunStatus.TIMEOUT, cut=2, samples=6)
    _, by_solver = decided(late, cost="steps")
    assert by_solver["a"].verdict is Verdict.UNTESTED  # four runs were not cut
    assert dict(by_solver["a"].call.stop.limits) == {"steps": 4}


def test_a_dip_of_all_seeds_is_no_end_to_compare_with():
    """One solver passes below the end of the other, and ends above it."""
    falls = stopped("falls", [1, 0.5, 0.4, 0.3, 0.2], steps=4)
    dips = stopped("dips", [1, 0.1, 0.3, 0.3, 0.3], steps=4)
    found, by_solver = decided([*falls, *dips], cost="steps")
    assert (found.cheapest, found.best) == ("falls", "falls")
    assert by_solver["falls"].success == 1
    assert by_solver["dips"].verdict is Verdict.WORSE
    assert by_solver["dips"].difference == pytest.approx(0.1 / 0.8)


def test_runs_that_only_the_clock_ends_have_calls_in_steps():
    """Each seed is cut elsewhere, off the grid, and all passed the same numbers of it."""
    levels = [1, 0.5, 0.3, 0.25, 0.21, 0.205, 0.201, 0.2, 0.2]
    own = [
        altered(r, trace=(*r.trace[: 7 - r.seed % 2], replace(r.trace[8], metrics={"gap": 0.19})))
        for r in stopped("stream", levels, seconds=9.0)
    ]
    other = stopped("other", [1, 0.9, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8], seconds=9.0)
    found, by_solver = decided([*own, *other], cost="steps")
    assert found.cheapest == "stream"
    assert dict(by_solver["stream"].call.stop.limits) == {"steps": 5}
    assert by_solver["stream"].call.reached == 6

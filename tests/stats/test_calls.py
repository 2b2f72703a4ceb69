"""Calls that runs stand for: by an independent formula, and made again by real solvers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import one_of
from recomputed import calls as recomputed_calls
from recomputed import grid

import orthobench as ob
from orthobench.stats.calls import Call, Calls, Stop, calls_of, offered
from orthobench.stats.cost_curve import CostCurve


@st.composite
def runs(draw):
    """Return runs of one solver: recorded on the grid, and at the last step of some."""
    ending = draw(st.sampled_from(["own", "clock", "mixed"]))
    found = []
    for _ in range(draw(st.integers(1, 5))):
        if draw(st.integers(0, 9)) == 0:
            found.append(None)
            continue
        last = draw(st.integers(0, 30))
        steps = np.array(sorted({0, *grid(last), last}))
        values = np.array(draw(st.lists(st.floats(0, 1), min_size=len(steps), max_size=len(steps))))
        own = ending == "own" or (ending == "mixed" and draw(st.booleans()))
        found.append((steps, values, np.cumsum(values + 1), "own" if own else "clock"))
    return found


@given(runs())
def test_calls_are_those_of_an_independent_formula(runs):
    curves = [r and CostCurve(r[0], r[1], r[3] == "own") for r in runs]
    found = calls_of(curves, [r is None for r in runs])
    expected = recomputed_calls(runs)
    assert [dict(stop.limits).get("steps") for stop in found.stops] == [n for n, _ in expected]
    costs = found.costs([r and r[2] for r in runs])
    for j, (_, places) in enumerate(expected):
        for s, (run, place) in enumerate(zip(runs, places, strict=True)):
            if run is None:
                assert found.values[j, s] == np.inf
                assert np.isnan(costs[j, s])
            else:
                assert (found.values[j, s], costs[j, s]) == (run[1][place], run[2][place])


def curve(*steps, ended=False, limits=None):
    return CostCurve(np.array(steps), np.array(steps, float), ended, limits or {})


def stops(*curves):
    return [str(stop) for stop in calls_of(curves, [c is None for c in curves]).stops]


def test_a_seed_that_was_cut_hides_all_later_stops():
    long = curve(0, 1, 2, 3, 4, 5, 6, ended=True)
    assert stops(long, long) == ["1 step", *(f"{n} steps" for n in range(2, 6)), "own end"]
    assert stops(long, curve(0, 1, 2, 3)) == ["1 step", "2 steps", "3 steps"]
    assert stops(long, curve(0)) == stops(None, None) == []


def test_a_seed_that_ended_keeps_its_end():
    long, short = curve(0, 1, 2, 3, 4, 5, ended=True), curve(0, 1, 2, ended=True)
    found = calls_of([long, short, None], [False, False, True])
    np.testing.assert_array_equal(found.values[:, :2], [[1, 1], [2, 2], [3, 2], [4, 2], [5, 2]])
    np.testing.assert_array_equal(
        found.costs([long.values, short.values, None])[-1], [5, 2, np.nan]
    )
    assert found.stops[-1].own


def test_call_is_the_median_over_sound_runs():
    values, costs = np.array([0.0, 0.2, np.inf, np.nan, 0.1]), np.array([1, 2, np.nan, np.nan, 6.0])
    own = Calls((Stop.at(steps=3),), values[None], np.zeros((1, 5), int), whole=False)
    call = own.call(0, costs, np.full(5, 0.1))
    assert call == Call(Stop.at(steps=3), 2.0, 2, 4, 0)
    assert call.misses == 2
    assert own.call(0, np.full(5, np.nan), np.ones(5)).cost == np.inf


def test_metrics_of_a_call_are_the_largest_over_seeds():
    class Mark:
        def __init__(self, **metrics):
            self.metrics = metrics

    class Run:
        def __init__(self, *trace):
            self.trace = trace

    own = Calls((Stop(),), np.zeros((1, 3)), np.array([[1, 0, -1]]), whole=True)
    traces = Run(Mark(a=9.0), Mark(a=1.0, b=2.0)), Run(Mark(a=2.0)), None
    assert own.metrics(0, traces) == {"a": 2.0, "b": 2.0}


REAL = {
    "spiked-covariance n=12 k=2": ("oja", "batch-pca", "block-krylov"),
    "stiefel-brockett n=10 p=2": ("riemannian-gradient", "pogo"),
    "gaussian-polar": ("newton-schulz",),
}


@pytest.mark.parametrize("problem", one_of(3, REAL))
def test_a_call_repeats_the_stored_checkpoint_bit_for_bit(problem, tmp_path):
    name, *settings = problem.split()
    suite = {
        "seeds": 2, "budget": {"steps": 60, "samples": 600},
        "problem": [{"name": name, **{k: int(v) for k, v in (p.split("=") for p in settings)}}],
        "solver": [{"name": solver} for solver in REAL[problem]],
    }  # fmt: skip
    for run in ob.run(suite, tmp_path / "r.sqlite", executor="inline", quiet=True).records:
        marks = run.trace[1:-1]
        assert len(marks) > 2
        for stored in marks[::4]:
            budget = ob.Budget(steps=stored.work.steps)
            outcome = ob.solve(run.solver.label, problem, budget, seed=run.seed)
            assert outcome.work == stored.work
            assert dict(outcome.trace[-1].metrics) == dict(stored.metrics)


def test_seeds_that_different_limits_ended_have_both_in_their_stop():
    many, few = curve(0, 1, 2, 9, limits={"steps": 9}), curve(0, 1, 2, limits={"samples": 50})
    assert stops(many, few)[-1] == "9 steps, 50 samples"


def test_a_run_that_the_clock_cut_ends_at_the_last_stop_of_the_grid():
    assert [c.steps.tolist() for c in map(offered, (
        curve(0, 1, 2, 3, 4, 5, 6, 7, 8), curve(0, 1, 2, 3), curve(0),
        curve(0, 1, 8, ended=True), curve(0, 1, 8, limits={"steps": 8}),
    ))] == [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3], [0], [0, 1, 8], [0, 1, 8]]  # fmt: skip

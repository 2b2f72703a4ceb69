"""`ob.solve` returns when the solver is done: metrics are computed when they are read."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import orthobench as ob
from orthobench.api import SolverError
from orthobench.contract.problem import Instance
from orthobench.harness import run as harness
from orthobench.harness.identity import Streams
from orthobench.tools.environment import limited


@pytest.fixture
def judged(toys):
    """An instance whose judge keeps the points that it was called with."""
    plain, points = toys.Problem().build(None), []

    def measure(solution):
        points.append(solution.point.copy())
        return plain.measure(solution)

    return replace(plain, measure=measure), points


def solve(toys, instance, fault="none", **settings):
    return ob.solve(toys.Solver(fault=fault), instance, ob.Budget(steps=20), **settings)


def read(outcome):
    return [mark.metrics for mark in outcome.trace]


def test_judge_is_called_once_for_each_point_that_is_read(toys, judged):
    instance, points = judged
    outcome = solve(toys, instance)
    assert outcome.solution.shape == (6, 2)
    assert (outcome.weights, outcome.core, outcome.work.steps) == (None, None, 20)
    assert outcome.stop.status.value == "budget"
    assert not points
    for _ in range(2):
        assert outcome.trace[-1].metrics["gap"] == pytest.approx(0, abs=0.1)
        assert len(points) == 1
    assert outcome.trace[0].metrics["gap"] > outcome.trace[-1].metrics["gap"]
    assert len(points) == 2


@pytest.mark.parametrize("curve", [False, True])
def test_late_metrics_equal_those_of_a_judged_run(curve):
    X = np.random.default_rng(0).standard_normal((600, 30)) * np.linspace(3, 1, 30)
    instance, streams = ob.pca(X, k=3), Streams.of("instance", "gram-pca", 0)
    solver = ob.catalogue().solver("gram-pca")
    with limited(1):
        ran = harness.run(instance, solver, ob.Budget(), streams, curve=curve)
    one, other = (ob.solve("gram-pca", instance, curve=curve) for _ in range(2))
    # in another order, with another run in between
    assert one.trace[-1].metrics == ran.trace[-1].metrics
    assert read(ob.solve("gram-pca", instance, seed=1))
    assert read(other) == read(one) == read(ran)


def test_the_judge_has_the_threads_of_the_run(toys):
    seen = []

    def measure(solution):
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        seen.extend(pool["num_threads"] for pool in pools)
        return {"gap": 1.0}

    instance = Instance(toys.Problem().build(None).oracle, measure)
    assert read(solve(toys, instance))
    assert set(seen) == {1}


@pytest.mark.parametrize("error", [KeyError("gap"), ZeroDivisionError("gap"), ob.DataError("gap")])
def test_an_error_of_the_judge_is_raised_where_metrics_are_read(toys, error):
    def measure(solution):
        raise error

    outcome = solve(toys, Instance(toys.Problem().build(None).oracle, measure))
    assert outcome.solution.shape == (6, 2)
    for _ in range(2):
        with pytest.raises(type(error), match="gap"):
            outcome.trace[-1].metrics.get("gap", 0.0)
    assert outcome.stop.status.value == "budget"


def test_judge_refuses_data_that_changed_since_the_call():
    X = np.random.default_rng(0).standard_normal((300, 8)) * np.linspace(2, 1, 8)
    outcome = ob.solve("gram-pca", ob.pca(X, k=2))
    X[::2] *= -3
    with pytest.raises(ob.DataError, match="X is not what it was"):
        read(outcome)


def test_a_caller_may_write_into_the_solution(toys):
    plain, mine = (solve(toys, toys.Problem().build(None)) for _ in range(2))
    mine.solution[:] = 0
    assert read(mine) == read(plain)


@pytest.mark.parametrize(("fault", "said"), [("nan", "not finite"), ("drift", "constraint")])
def test_divergence_and_infeasibility_fail_without_the_judge(toys, judged, fault, said):
    instance, points = judged
    with pytest.raises(SolverError, match=said) as caught:
        solve(toys, instance, fault, curve=True)
    assert not points
    assert set(caught.value.outcome.trace[0].metrics) >= {"gap", "constraint_violation"}


def test_a_rule_has_the_points_judged_on_the_way(toys, judged):
    instance, points = judged
    outcome = solve(toys, instance, until=ob.Target("gap", 0.5))
    assert outcome.stop.status.value == "target"
    count = len(points)
    assert count >= len(outcome.trace)
    assert all("gap" in metrics for metrics in read(outcome))
    assert len(points) == count


def test_exhibits_are_made_when_they_are_read_and_kept(toys):
    made, plain = [], toys.Pictured().build(np.random.default_rng(0))

    def exhibits(solution):
        made.append(solution.point)
        return plain.exhibits(solution)

    outcome = solve(toys, replace(plain, exhibits=exhibits))
    assert not made
    assert outcome.exhibits is outcome.exhibits
    assert len(made) == 1
    assert np.array_equal(made[0], outcome.solution)


def test_the_core_of_a_basis_is_computed_when_it_is_read(monkeypatch):
    X = np.random.default_rng(0).standard_normal((40, 6)) ** 3
    instance = ob.symmetric_tucker(X, order=3, rank=2, core=True)
    data, calls = instance.measure.test, []
    core = type(data).core
    monkeypatch.setattr(type(data), "core", lambda self, Q: calls.append(1) or core(self, Q))
    outcome = ob.solve("pgd", instance)
    assert outcome.solution.shape == (6, 2)
    assert not calls
    assert outcome.core.shape == (2, 2, 2)
    assert outcome.core is outcome.core
    assert len(calls) == 1
    assert np.array_equal(pickle.loads(pickle.dumps(outcome)).core, outcome.core)  # noqa: S301


def test_printing_judges_nothing_and_shows_what_was_read(toys, judged):
    instance, points = judged
    many = {f"metric_{i}": float(i) for i in range(30)}
    measure = instance.measure
    instance = replace(instance, measure=lambda solution: {**measure(solution), **many})
    outcome = solve(toys, instance)
    for known in (False, True):
        for text in (repr(outcome), str(outcome)):
            assert len(text.splitlines()) <= 12, text
            assert ("gap  " in text) == known, text
            assert "20" in text
        assert bool(points) == known
        assert ("'gap'" in repr(outcome.trace[-1])) == known
        assert read(outcome)


def test_an_outcome_goes_to_another_process_judged(toys, judged):
    instance, points = judged
    outcome = solve(toys, instance)
    data = pickle.dumps(outcome)
    assert len(points) == 2
    again = pickle.loads(data)  # noqa: S301
    assert read(again) == read(outcome)
    assert len(points) == 2
    assert np.array_equal(again.solution, outcome.solution)
    assert (again.stop, again.work, again.exhibits) == (outcome.stop, outcome.work, {})

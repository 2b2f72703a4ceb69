"""The judge of symmetric Tucker decomposition against tensors formed by brute force."""

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_tucker import ComponentSolution, Judge, SampleMoment, sample_moments
from orthobench_tucker.judge import FullTensor
from orthobench_tucker.reference import composed, multiplied, objective
from orthobench_tucker.sample_moments import moment_tensor

from orthobench.contract.problem import Solution
from orthobench.tools.geometry import orthonormalize, random_point

ORDERS = (2, 3, 4, 5)
seeds = st.integers(0, 2**32 - 1)
orders = st.sampled_from(ORDERS)


def skewed(p, n, seed=0):
    return rng(seed).exponential(size=(p, n)) - 0.5


def data_tensor(form, X, order):
    return SampleMoment(X, order) if form == "samples" else FullTensor(moment_tensor(X, order))


def components(n, count, seed=0):
    V = rng(seed).standard_normal((n, count))
    return ComponentSolution(V / np.linalg.norm(V, axis=0), rng(seed + 1).standard_normal(count))


@pytest.mark.parametrize("solution", [Solution(random_point(30, 4, rng())), components(30, 4)])
def test_an_estimated_square_is_named_with_its_standard_error(solution, monkeypatch):
    X = skewed(400, 30)
    exact = Judge(SampleMoment(X, 3))(solution)
    assert "relative_error_standard_error" not in exact
    monkeypatch.setattr(sample_moments, "DEAR", 0)
    monkeypatch.setattr(sample_moments, "PARTNERS", 16)
    found = Judge(SampleMoment(X, 3))(solution)
    error = found.pop("relative_error_standard_error")
    assert list(found) == list(exact)
    assert 0 < error < 0.3 * abs(1 - exact["relative_error"])
    assert abs(found["relative_error"] - exact["relative_error"]) < 4 * error


def test_an_error_below_its_standard_error_is_not_reported_as_zero(monkeypatch):
    X = skewed(400, 30)
    monkeypatch.setattr(sample_moments, "DEAR", 0)
    moment = SampleMoment(X, 3)
    monkeypatch.setattr(moment, "error_from_objective", lambda objective: 0.0)
    found = Judge(moment)(Solution(random_point(30, 4, rng())))
    assert found["relative_error"] == found["relative_error_standard_error"] > 0


@pytest.mark.parametrize("form", ["samples", "tensor"])
@given(order=orders, n=st.integers(1, 5), p=st.integers(1, 20), seed=seeds)
def test_the_error_is_that_of_the_explicit_approximation(form, order, n, p, seed):
    X, r = skewed(p, n, seed), int(rng(seed).integers(1, n + 1))
    Q, T = random_point(n, r, rng(seed)), moment_tensor(X, order)
    judge = data_tensor(form, X, order)
    approximation = multiplied(T, *[Q @ Q.T] * order)
    square = np.sum(T**2)
    expected = np.sum((approximation - T) ** 2) / square
    assert judge.norm_squared == pytest.approx(square, rel=1e-9)
    assert judge.relative_error(Solution(Q)) == pytest.approx(expected, rel=1e-8, abs=1e-12)
    # remark 1: |X - X(P, ..., P)|² = |X|² - F(Q), with the core X(Q, ..., Q)
    core = multiplied(T, *[Q] * order)
    assert expected * square == pytest.approx(
        square - np.sum(core**2), rel=1e-8, abs=1e-12 * square
    )
    np.testing.assert_allclose(judge.core(Q), core, atol=1e-12 * np.sqrt(square))
    np.testing.assert_allclose(
        multiplied(core, *[Q.T] * order), approximation, atol=1e-12 * np.sqrt(square)
    )


@pytest.mark.parametrize("form", ["samples", "tensor"])
@given(order=orders, n=st.integers(1, 5), count=st.integers(1, 8), seed=seeds)
def test_the_error_of_components_is_that_of_their_explicit_sum(form, order, n, count, seed):
    X, solution = skewed(10, n, seed), components(n, count, seed)
    T = moment_tensor(X, order)
    explicit = composed(solution.point, solution.weights, order)
    error = data_tensor(form, X, order).relative_error(solution)
    square = np.sum(T**2)
    expected = np.sum((explicit - T) ** 2) / square
    assert error == pytest.approx(expected, rel=1e-8, abs=1e-10 * (1 + count**2 / square))


@pytest.mark.parametrize("form", ["samples", "tensor"])
@pytest.mark.parametrize("order", ORDERS)
def test_relative_gradient_is_the_slope_over_the_objective(form, order):
    X, Q = skewed(50, 6), random_point(6, 2, rng(1))
    T = moment_tensor(X, order)

    def F(Q):
        return objective(T, orthonormalize(Q))

    G, h = np.empty_like(Q), 1e-5
    for at in np.ndindex(*Q.shape):
        E = np.zeros_like(Q)
        E[at] = h
        G[at] = (F(Q + E) - F(Q - E)) / (2 * h)
    found = data_tensor(form, X, order).relative_gradient(Q)
    assert found == pytest.approx(np.linalg.norm(G) / F(Q), rel=1e-6)


@pytest.mark.parametrize("form", ["samples", "tensor"])
def test_relative_gradient_is_zero_if_the_core_is(form):
    X = skewed(50, 6) * (np.arange(6) < 3)
    assert data_tensor(form, X, 3).relative_gradient(np.eye(6)[:, 3:]) == 0


@pytest.mark.parametrize("order", ORDERS)
def test_the_metrics_are_those_that_are_documented(order):
    seen, test, validation = skewed(60, 7), skewed(80, 7, 1), skewed(30, 7, 2)
    known, Q = random_point(7, 3, rng(3)), random_point(7, 3, rng(4))
    judge = Judge(*(SampleMoment(X, order) for X in (test, seen, validation)), known)
    metrics = judge(Solution(Q))
    assert next(iter(metrics)) == "relative_error"
    T = {name: moment_tensor(X, order) for name, X in [("test", test), ("held", validation)]}

    def F(name, Q):
        return objective(T[name], Q)

    projectors = Q @ Q.T - known @ known.T
    assert metrics == pytest.approx(
        {
            "relative_error": 1 - F("test", Q) / np.sum(T["test"] ** 2),
            "validation_relative_error": 1 - F("held", Q) / np.sum(T["held"] ** 2),
            "objective": F("test", Q),
            "objective_ratio": F("test", Q) / F("test", known),
            "subspace_error": np.linalg.norm(projectors) / np.sqrt(2),
            "relative_gradient": SampleMoment(seen, order).relative_gradient(Q),
        },
        rel=1e-9,
    )
    assert judge(Solution(known))["objective_ratio"] == 1
    assert judge(Solution(known))["subspace_error"] < 1e-15
    assert {type(value) for value in metrics.values()} == {float}


def test_unknown_metrics_are_not_reported():
    test, Q = SampleMoment(skewed(20, 4), 3), Solution(random_point(4, 2, rng()))
    assert list(Judge(test)(Q)) == ["relative_error", "objective"]
    solution = components(4, 3)
    everything = Judge(test, test, test, np.eye(4)[:, :2])(solution)
    assert list(everything) == ["relative_error", "validation_relative_error"]


def test_an_error_of_rounding_is_never_negative():
    for seed in range(20):
        moment = SampleMoment(skewed(20, 5, seed), 3)
        assert 0 <= moment.relative_error(Solution(random_point(5, 5, rng(seed)))) < 1e-14
        v = random_point(5, 1, rng(seed))
        power = FullTensor(composed(v, np.ones(1), 3))
        assert 0 <= power.relative_error(ComponentSolution(v, np.ones(1))) < 1e-14

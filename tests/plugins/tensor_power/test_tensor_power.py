"""tensor-power against a plain loop of Algorithm 1, and on tensors of known decomposition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_orthogonal_tensor import orthogonal_tensor
from orthobench_orthogonal_tensor.judge import recovery_error
from orthobench_tensor_power.reference import robust_power
from orthobench_tensor_power.solvers.polar_power import PolarPower
from orthobench_tensor_power.solvers.tensor_power import TensorPower

from orthobench.contract.solver import Status
from orthobench.tools.geometry import drift, random_point

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
@pytest.mark.parametrize(("n", "L", "N"), [(1, 1, 1), (3, 4, 25), (5, 10, 20), (6, 1, 3)])
def test_with_all_its_iterations_it_is_algorithm_1(tensors, n, L, N, noise):
    made = tensors.instance(np.linspace(1.0, 2.0, n), seed=n, noise=noise)
    solver = TensorPower(restarts=L, iterations=N, tolerance=0.0)
    state = tensors.ended(solver, made, seed=5)
    factors, weights = robust_power(made.oracle.T, L, N, np.random.default_rng(5))
    np.testing.assert_allclose(state.weights, weights, atol=1e-12)
    np.testing.assert_allclose(state.factors, factors, atol=1e-12)


@given(d=st.integers(3, 20), seed=seeds, kind=st.sampled_from(["equal", "uniform", "linear"]))
def test_recovers_the_factors_exactly(tensors, d, seed, kind):
    weights = tensors.spectrum(kind, d, seed)
    made, solver = tensors.instance(weights, seed), TensorPower()
    solution = solver.solution(tensors.ended(solver, made, seed))
    metrics = made.measure(solution)
    assert metrics["recovery_error"] < 1e-10
    assert metrics["objective"] == pytest.approx(weights.sum(), rel=1e-12)
    np.testing.assert_allclose(np.sort(solution.weights), np.sort(weights), rtol=1e-12)


def test_solutions_gain_factor_by_factor(tensors):
    made, solver = tensors.instance(np.linspace(2, 1, 7)), TensorPower()
    state, factors = tensors.begun(solver, made), made.measure.factors
    while state.status is Status.RUNNING:
        solver.step(made.oracle, state)
        found = len(state.weights)
        if found:
            best = np.abs(factors.T @ solver.solution(state).point[:, :found]).max(axis=0)
            np.testing.assert_allclose(best, 1.0, atol=1e-12)


def test_zero_weights_end_the_run_and_leave_any_basis(tensors):
    made, solver = tensors.instance([1.0, 3.0, 2.0], d=9), TensorPower()
    state = tensors.ended(solver, made)
    solution = solver.solution(state)
    assert len(state.weights) == 3
    assert drift(solution.point) < 1e-13
    np.testing.assert_allclose(np.sort(solution.weights)[-3:], [1, 2, 3])
    np.testing.assert_allclose(np.sort(solution.weights)[:6], 0, atol=1e-13)
    assert made.measure(solution)["recovery_error"] < 1e-12


def test_projection_weighs_the_factors_and_improves_on_plain_polar(tensors):
    made, solver = tensors.instance(np.geomspace(1, 1e-2, 10), noise=0.03), TensorPower()
    state = tensors.ended(solver, made)
    left, _, right = np.linalg.svd(state.factors)
    solution = solver.solution(state)
    alignment = state.weights * np.sum(solution.point * state.factors, axis=0)
    unweighted = state.weights * np.sum((left @ right) * state.factors, axis=0)
    assert alignment.sum() > unweighted.sum()
    error, plainly = (
        recovery_error(Q, made.measure.factors[:, :5]) for Q in (solution.point, left @ right)
    )
    assert error < plainly


def test_metrics_show_that_deflation_ends_below_the_maximum(tensors):
    made = orthogonal_tensor(tensors.gaussian(8, np.random.default_rng(0)))
    made.oracle.start = random_point(8, 8, np.random.default_rng(1))
    found, best = (
        made.measure(solver.solution(tensors.ended(solver, made)))
        for solver in (TensorPower(), PolarPower())
    )
    assert found["objective"] < 0.95 * best["objective"]
    assert found["relative_gradient"] > 0.03
    assert best["relative_gradient"] < 1e-12

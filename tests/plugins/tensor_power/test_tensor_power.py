"""tensor-power against a plain loop of Algorithm 1, and on tensors of known decomposition."""

from __future__ import annotations

import itertools
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.symmetric_tensors import composed
from orthobench_orthogonal_tensor import STARTS, orthogonal_tensor
from orthobench_orthogonal_tensor.maker import recovery_error
from orthobench_tensor_power._kernels.contractions import norm
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


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
def test_restarts_that_end_early_change_nothing(tensors, noise):
    made = tensors.instance(np.linspace(1.0, 2.0, 8), noise=noise)
    short = tensors.ended(TensorPower(iterations=200), made)
    full = tensors.ended(TensorPower(iterations=200, tolerance=0.0), made)
    assert short.work.flops < full.work.flops / 2
    np.testing.assert_allclose(short.factors, full.factors, atol=1e-10)
    np.testing.assert_allclose(short.weights, full.weights, atol=1e-10)


@given(d=st.integers(3, 20), seed=seeds, kind=st.sampled_from(["equal", "uniform", "linear"]))
def test_recovers_the_factors_exactly(tensors, d, seed, kind):
    weights = tensors.spectrum(kind, d, seed)
    made, solver = tensors.instance(weights, seed), TensorPower()
    solution = solver.solution(tensors.ended(solver, made, seed))
    metrics = made.measure(solution)
    assert metrics["recovery_error"] < 1e-10
    assert metrics["objective"] == pytest.approx(weights.sum(), rel=1e-12)
    np.testing.assert_allclose(np.sort(solution.weights), np.sort(weights), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("d", [50, 100, 200])
def test_recovers_the_factors_of_large_tensors(tensors, d):
    made, solver = tensors.instance(tensors.spectrum("uniform", d)), TensorPower()
    metrics = made.measure(solver.solution(tensors.ended(solver, made)))
    assert metrics["recovery_error"] < 1e-10
    assert abs(metrics["objective_gap"]) < 1e-12


def test_recovers_the_factors_from_every_start(tensors):
    for case in product([1, 5, 30], STARTS):
        restarts, start = case
        made, solver = tensors.instance(np.linspace(1, 2, 6)), TensorPower(restarts, start=start)
        metrics = made.measure(solver.solution(tensors.ended(solver, made)))
        assert metrics["recovery_error"] < 1e-10, case


def test_a_restart_ends_at_the_root_of_the_tolerance_and_the_refinement_at_it(tensors):
    """Of one restart; with noise each iteration takes some share of the error."""
    made = tensors.instance(np.linspace(2.0, 1.0, 5), noise=0.3)
    theta = np.random.default_rng(0).standard_normal((5, 1))[:, 0]
    theta /= np.linalg.norm(theta)
    moved = []
    while not moved or moved[-1] > 1e-11:
        after = np.einsum("abc,b,c->a", made.oracle.T, theta, theta)
        after /= np.linalg.norm(after)
        moved, theta = [*moved, np.linalg.norm(after - theta)], after
    for tolerance in (1e-4, 1e-6, 1e-10):
        solver = TensorPower(restarts=1, iterations=1000, tolerance=tolerance)
        state, refined = tensors.begun(solver, made), None
        while not len(state.weights):
            solver.step(made.oracle, state)
            refined = refined or (state.work.steps if state.refining else None)
        first, last = (
            1 + next(i for i, each in enumerate(moved) if each <= most)
            for most in (tolerance**0.5, tolerance)
        )
        assert first < last
        assert (refined, state.work.steps) == (first, last)


def test_a_start_that_stays_has_converged_whatever_the_tolerance(tensors):
    made = orthogonal_tensor(composed(np.eye(3), np.array([3.0, 2.0, 1.0])))
    made.oracle.start = np.eye(3)
    state = tensors.ended(TensorPower(1, start="identity", tolerance=0.0), made)
    assert state.work.steps == 3 * 2


@pytest.mark.parametrize(("d", "restarts"), [(4, 9), (10, 3)])
def test_contractions_start_at_the_factors_first(tensors, d, restarts):
    made = tensors.instance(np.linspace(1, 2, min(d, restarts)), d=d)
    thetas = tensors.begun(TensorPower(restarts, start="contraction"), made).thetas
    assert thetas.shape == (d, restarts)
    aligned = np.abs(made.measure.factors.T @ thetas).max(axis=0)
    np.testing.assert_allclose(aligned, 1.0, atol=1e-12)


def test_the_next_unit_vectors_are_taken_in_turn(tensors):
    made, solver = tensors.instance(np.linspace(1, 2, 5)), TensorPower(3, start="identity")
    state = tensors.begun(solver, made)
    while len(state.weights) == 0:
        solver.step(made.oracle, state)
    assert np.array_equal(state.thetas, np.eye(5)[:, [3, 4, 0]])


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_each_deflation_takes_its_weight_from_the_norm(tensors, noise):
    made, solver = tensors.instance(np.linspace(1, 2, 8), noise=noise), TensorPower()
    state = tensors.begun(solver, made)
    norms = [state.norm]
    while state.status is Status.RUNNING:
        found = len(state.weights)
        solver.step(made.oracle, state)
        if len(state.weights) > found:
            norms.append(norm(state.deflated))
            expected = norms[-2] ** 2 - state.weights[-1] ** 2
            assert norms[-1] ** 2 == pytest.approx(expected, abs=1e-12)
    assert len(norms) == 9
    assert all(after < before for before, after in itertools.pairwise(norms))


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


def test_a_factor_of_negative_weight_comes_back_flipped(tensors):
    made, solver = tensors.instance([1.0, -3.0, 2.0]), TensorPower()
    solution = solver.solution(tensors.ended(solver, made))
    np.testing.assert_allclose(np.sort(solution.weights), [1, 2, 3])
    assert made.measure(solution)["residual"] < 1e-13


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


def test_the_metrics_say_that_deflation_ends_where_the_objective_still_rises(tensors):
    made = orthogonal_tensor(tensors.gaussian(8, np.random.default_rng(0)))
    made.oracle.start = random_point(8, 8, np.random.default_rng(1))
    found, best = (
        made.measure(solver.solution(tensors.ended(solver, made)))
        for solver in (TensorPower(), PolarPower())
    )
    assert found["objective"] < 0.95 * best["objective"]
    assert found["relative_gradient"] > 0.03
    assert best["relative_gradient"] < 1e-12

"""randomized-joint-diagonalization: exact without noise, near the noise with it."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.symmetric_tensors import composed
from orthobench_orthogonal_tensor import orthogonal_tensor
from orthobench_orthogonal_tensor.problems.odeco import Odeco, Odeco4
from orthobench_orthogonal_tensor.solvers.randomized_joint_diagonalization import (
    RandomizedJointDiagonalization,
)

from orthobench.contract.solver import Status
from orthobench.tools.geometry import drift, polar, random_point


def decomposed(solver, problem, seed=0):
    instance = problem.build(np.random.default_rng(seed))
    n = instance.oracle.n
    instance.oracle.start = random_point(n, n, np.random.default_rng(seed + 1))
    state = solver.init(instance.oracle, np.random.default_rng(seed))
    solver.advance(instance.oracle, state, 100)
    assert state.status is Status.COMPLETE
    return instance, state, solver.solution(state)


def published(T, trials, seed):
    """Algorithm 1 on the slices of T: the best eigenvectors of random combinations of them."""
    rng, best = np.random.default_rng(seed), (-np.inf, None)
    for _ in range(trials):
        mu = rng.standard_normal(len(T))
        combination = sum(weight * slab for weight, slab in zip(mu, T, strict=True))
        Q = np.linalg.eigh(combination)[1]
        value = sum(np.einsum("abc,a,b,c", T, q, q, q) ** 2 for q in Q.T)
        best = max(best, (value, Q), key=lambda pair: pair[0])
    return best[1]


@pytest.mark.parametrize("order", [3, 4])
@given(d=st.integers(2, 12), seed=st.integers(0, 2**32 - 1))
def test_recovers_the_factors_exactly(order, d, seed):
    problem = (Odeco if order == 3 else Odeco4)(d=d)
    instance, state, solution = decomposed(RandomizedJointDiagonalization(), problem, seed)
    assert instance.measure(solution)["recovery_error"] < 1e-10
    np.testing.assert_allclose(np.sort(solution.weights)[::-1], problem.weights, rtol=1e-11)
    assert 2 <= state.work.steps <= 4


@pytest.mark.parametrize(("trials", "noise"), [(1, 0.0), (1, 0.05), (3, 0.05)])
def test_without_refinement_it_is_the_algorithm_as_published(trials, noise):
    solver = RandomizedJointDiagonalization(trials=trials, refinements=0)
    instance, _, solution = decomposed(solver, Odeco(d=7, noise=noise), seed=3)
    Q = published(instance.oracle.T, trials, seed=3)
    np.testing.assert_allclose(np.abs(solution.point), np.abs(Q), atol=1e-12)


def test_refinement_is_the_polar_factor_of_weighted_contractions():
    problem = Odeco(d=7, noise=0.05)
    instance, _, before = decomposed(RandomizedJointDiagonalization(refinements=0), problem)
    _, _, after = decomposed(RandomizedJointDiagonalization(), problem)
    images = np.einsum("abc,bi,ci->ai", instance.oracle.T, before.point, before.point)
    np.testing.assert_allclose(after.point, polar(images * before.weights), atol=1e-12)


def test_error_is_of_the_order_of_the_noise_and_refinement_lowers_it():
    errors = {}
    for noise in (1e-6, 1e-4):
        for count in (0, 1):
            solver = RandomizedJointDiagonalization(refinements=count)
            errors[noise, count] = np.median(
                [
                    instance.measure(solution)["recovery_error"]
                    for seed in range(8)
                    for instance, _, solution in [
                        decomposed(solver, Odeco(d=15, noise=noise), seed)
                    ]
                ]
            )
        assert errors[noise, 1] < 2 * noise
        assert errors[noise, 1] < errors[noise, 0] / 3
    assert errors[1e-4, 0] / errors[1e-6, 0] == pytest.approx(100, rel=0.5)


def test_negative_weights_keep_their_sign_in_order_4_only():
    U, weights = random_point(5, 5, np.random.default_rng(0)), np.array([3.0, -2, 1, -1.5, 4])
    for order, expected in ((3, np.abs(weights)), (4, weights)):
        oracle = orthogonal_tensor(composed(U, weights, order)).oracle
        oracle.start = np.eye(5)
        solver = RandomizedJointDiagonalization()
        state = solver.init(oracle, np.random.default_rng(0))
        solver.advance(oracle, state, 9)
        found = solver.solution(state)
        np.testing.assert_allclose(np.sort(found.weights), np.sort(expected), rtol=1e-12)
        assert np.allclose(composed(found.point, found.weights, order), oracle.T)


def test_a_tensor_of_lower_rank_leaves_the_rest_orthonormal():
    U = random_point(6, 3, np.random.default_rng(0))
    instance = orthogonal_tensor(composed(U, np.array([3.0, 2, 1])), factors=U)
    instance.oracle.start = np.eye(6)
    solver = RandomizedJointDiagonalization()
    state = solver.init(instance.oracle, np.random.default_rng(0))
    solver.advance(instance.oracle, state, 9)
    solution = solver.solution(state)
    assert instance.measure(solution)["recovery_error"] < 1e-10
    assert drift(solution.point) < 1e-12


def test_contractions_that_overflow_fail_the_run():
    T = composed(np.eye(2), np.array([1.0, 1.0]))
    instance = orthogonal_tensor(T)
    instance.oracle.start = np.eye(2)
    solver = RandomizedJointDiagonalization()
    state = solver.init(instance.oracle, np.random.default_rng(0))
    huge = SimpleNamespace(T=np.full((2, 2, 2), 1e308), n=2)
    with np.errstate(over="ignore", invalid="ignore"):
        solver.step(huge, state)
    assert state.status is Status.FAILED
    assert state.reason == "a contraction of the tensor is not finite"

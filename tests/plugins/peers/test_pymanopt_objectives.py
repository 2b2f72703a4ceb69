"""Objectives for Pymanopt: values and derivatives against differences, and what they count."""

import numpy as np
import pytest
from orthobench_pymanopt.objectives import MomentObjective, StiefelObjective, TuckerObjective

import orthobench as ob
from orthobench.tools.geometry import random_point

N, R, COUNT = 6, 2, 30

RNG = np.random.default_rng(0)
X = RNG.exponential(size=(COUNT, N)) - 1
U, V = random_point(N, R, RNG), RNG.standard_normal((N, R))


def given(hessian=None):
    A = np.diag(np.arange(1.0, N + 1))
    return ob.stiefel(
        lambda U: float(np.vdot(U, A @ U)), lambda U: 2 * A @ U, n=N, p=R, hessian=hessian
    ).oracle


def of_tucker():
    oracle = ob.symmetric_tucker(X, order=3, rank=R).oracle
    return TuckerObjective(oracle, random_point(N, R, np.random.default_rng(1)))


@pytest.mark.parametrize(
    "target",
    [StiefelObjective(given()), of_tucker(), MomentObjective(X, R)],
    ids=lambda target: type(target).__name__,
)
def test_gradients_and_hessians_are_the_differences_of_values(target):
    def along(step):
        return target.value(U + step * V)

    slope = (along(1e-5) - along(-1e-5)) / 2e-5
    assert np.vdot(target.gradient(U), V) == pytest.approx(slope, rel=1e-7)
    curvature = (along(1e-3) - 2 * along(0) + along(-1e-3)) / 1e-6
    assert np.vdot(target.hessian(U, V), V) == pytest.approx(curvature, rel=1e-4)


def test_a_hessian_of_ones_own_is_called_in_place_of_differences():
    oracle = given(lambda U, V: 2 * np.arange(1.0, N + 1)[:, None] * V)
    target = StiefelObjective(oracle)
    target.scale(U)
    before = target.counted, target.calls
    np.testing.assert_allclose(target.hessian(U, V), oracle.hessian(U, V) / target.unit)
    spent = target.counted - before[0], target.calls - before[1]
    assert spent == (oracle.hessian_flops, oracle.terms)


def test_the_unit_of_costs_is_the_gradient_at_the_start():
    target, oracle = StiefelObjective(given()), given()
    assert target.scale(U) == 1.0
    assert np.linalg.norm(target.gradient(U)) == pytest.approx(1.0)
    assert target.value(U) == pytest.approx(oracle.value(U) / np.linalg.norm(oracle.gradient(U)))
    flat = ob.stiefel(lambda U: 5.0, np.zeros_like, n=N, p=R).oracle
    still = StiefelObjective(flat)
    still.scale(U)
    assert still.value(U) == 5.0


def test_a_tucker_objective_is_the_core_relative_to_that_of_the_start():
    start = random_point(N, R, np.random.default_rng(1))
    T = np.einsum("pa,pb,pc->abc", X, X, X) / COUNT

    def core(Q):
        return np.sum(np.einsum("abc,ai,bj,ck->ijk", T, Q, Q, Q) ** 2)

    target = of_tucker()
    assert target.value(start) == pytest.approx(-1.0)
    assert target.value(U) == pytest.approx(-core(U) / core(start))


def test_unit_is_one_if_the_core_of_the_start_is_zero():
    T = np.zeros((N, N, N))
    T[0, 0, 0], T[-1, -1, -1] = 2.0, 1.0
    oracle = ob.symmetric_tucker(tensor=T, rank=R).oracle
    target = TuckerObjective(oracle, np.eye(N)[:, 1 : R + 1])
    assert target.value(np.eye(N, R)) == pytest.approx(-4.0)


def test_a_moment_has_trace_one_and_counts_its_products():
    target = MomentObjective(X, R)
    assert target.counted == 2 * N**2 * COUNT + N**2
    C = X.T @ X / np.sum(X * X)
    assert target.value(U) == pytest.approx(-np.trace(U.T @ C @ U))
    np.testing.assert_allclose(target.hessian(U, V), -2 * C @ V)
    once = 2 * N**2 * R + N * R
    assert target.counted == 2 * N**2 * COUNT + N**2 + 2 * once + 2 * N * R

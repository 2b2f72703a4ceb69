"""Functions of an orthogonal matrix: what is judged, and what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_kit.angles import minimize
from orthobench_stiefel import projected
from orthobench_stiefel.orthogonal_group import Judge, orthogonal
from scipy.linalg import expm

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.errors import UsageError
from orthobench.tools.geometry import random_point

N = 5
T = np.random.default_rng(0).standard_normal((N, N, N))
A = np.random.default_rng(1).standard_normal((N, N))


def cubic(U):
    return float(np.einsum("abc,ai,bi,ci->", T, U, U, U) + np.vdot(A, U))


def cubic_gradient(U):
    both = np.einsum("abc,bi,ci->ai", T, U, U) + np.einsum("abc,ai,ci->bi", T, U, U)
    return both + np.einsum("abc,ai,bi->ci", T, U, U) + A


def point(seed=0, n=N):
    return random_point(n, n, np.random.default_rng(seed))


def basis(n=N):
    for j in range(n):
        for i in range(j):
            H = np.zeros((n, n))
            H[i, j], H[j, i] = 1.0, -1.0
            yield i, j, H


def derivative(f, U, direction, step=1e-5):
    ahead, behind = f(U @ expm(step * direction)), f(U @ expm(-step * direction))
    return (ahead - behind) / (2 * step)


def test_the_metrics_in_their_order():
    U = point()
    full = ob.orthogonal_group(cubic, cubic_gradient, n=N, best=-20.0)
    metrics = full.measure(Solution(U))
    assert list(metrics) == [
        "objective_gap", "objective", "gradient_norm", "orthogonality_defect", "determinant",
    ]  # fmt: skip
    assert metrics["objective"] == cubic(U)
    assert metrics["objective_gap"] == cubic(U) + 20
    assert full.best == {"objective_gap": 0.0, "objective": -20.0}
    bare = ob.orthogonal_group(cubic, n=N)
    assert list(bare.measure(Solution(U))) == [
        "objective", "orthogonality_defect", "determinant",
    ]  # fmt: skip
    assert bare.best == {}


def test_the_riemannian_gradient_is_the_projection_of_the_gradient():
    U, G = point(), cubic_gradient(point())
    R = projected(U, G)
    assert np.abs(U.T @ R + R.T @ U).max() < 1e-14
    for _, _, H in basis():
        assert np.vdot(R, U @ H) == pytest.approx(derivative(cubic, U, H), rel=1e-7)
    judge = Judge(cubic, None, cubic_gradient)
    assert judge.stationarity(U, G)["gradient_norm"] == pytest.approx(np.linalg.norm(R), rel=1e-14)


def test_a_restriction_is_the_cost_along_the_rotations_of_a_plane():
    oracle = ob.orthogonal_group(cubic, n=N).oracle
    U = point()
    carried = oracle.carry(U)
    for i, j, H in basis():
        f = oracle.restricted(carried, i, j)
        for angle in (-2.0, 0.0, 0.3):
            assert f(angle) == pytest.approx(cubic(U @ expm(-angle * H)), rel=1e-12)
    assert np.array_equal(carried, U)


def test_a_restriction_costs_the_values_that_find_its_minimum():
    calls = []
    counted = SimpleNamespace(value=lambda U: calls.append(U) or cubic(U), n=N, cost_flops=7)
    oracle = orthogonal(counted)
    minimize(oracle.restricted(oracle.carry(point()), 0, 3))
    assert oracle.restriction_flops == 7 * len(calls)


def test_the_rotation_that_minimizes_is_that_of_the_oracle():
    """With the opposite sign the cost would rise."""
    oracle = ob.orthogonal_group(cubic, n=N).oracle
    U, rose = point(), 0
    for i, j, _ in basis():
        carried = oracle.carry(U)
        angle, gain, _ = minimize(oracle.restricted(carried, i, j))
        oracle.rotate(carried, i, j, angle)
        assert cubic(carried) == pytest.approx(cubic(U) - gain, abs=1e-12)
        wrong = oracle.carry(U)
        oracle.rotate(wrong, i, j, -angle)
        rose += cubic(wrong) > cubic(U)
    assert rose > 0


def test_the_other_component_is_two_away():
    U = point()
    sign = np.sign(np.linalg.det(U))
    for component, own in (("+1", 1.0), ("-1", -1.0)):
        violation = ob.orthogonal_group(cubic, n=N, component=component).violation(Solution(U))
        assert violation == pytest.approx(0.0 if sign == own else 2.0, abs=1e-12)
    assert ob.orthogonal_group(cubic, n=N).violation(Solution(U)) < 1e-12
    with pytest.raises(UsageError, match="unknown component of the orthogonal group '2'"):
        ob.orthogonal_group(cubic, n=N, component="2")


@pytest.mark.parametrize("n", [0, 2.5, "3"])
def test_a_wrong_size_is_refused(n):
    with pytest.raises(ob.UsageError, match="n must be a whole number >= 1"):
        ob.orthogonal_group(cubic, n=n)


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (lambda U: U[0], r"shape \(5, 5\), not float64 of \(5,\)"),
        (lambda U: -cubic_gradient(U), "not that of the cost"),
        (lambda U: cubic_gradient(U).T, "not that of the cost"),
    ],
)
def test_a_wrong_gradient_is_refused(gradient, message):
    with pytest.raises(ob.UsageError, match=message):
        ob.orthogonal_group(cubic, gradient, n=N)


def test_a_projected_gradient_is_one_too():
    ob.orthogonal_group(cubic, lambda U: projected(U, cubic_gradient(U)), n=N)
    ob.orthogonal_group(lambda U: 3.0, np.zeros_like, n=N)
    ob.orthogonal_group(lambda U: float(U[0, 0]), np.ones_like, n=1)

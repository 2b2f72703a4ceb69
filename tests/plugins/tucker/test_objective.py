"""The objective of the second-order methods: derivatives against definitions and differences."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_tucker._kernels.partial_cores import TensorCores
from orthobench_tucker.geodesics import Geodesic
from orthobench_tucker.judge import FullTensor
from orthobench_tucker.objective import core_metric, evaluate, gain, hessian
from orthobench_tucker.reference import gradient, multiplied, objective

from orthobench.tools.geometry import orthonormalize, random_point

ORDERS = (2, 3, 4, 5)


def symmetric(n, order, seed=0):
    """A random symmetric tensor."""
    T = np.random.default_rng([seed, n, order]).standard_normal((n,) * order)
    total = sum(T.transpose(axes) for axes in permutations(range(order)))
    return np.ascontiguousarray(total / np.linalg.norm(total))


def place(n, r, seed=1):
    """A basis and a tangent vector of length one."""
    rng = np.random.default_rng([seed, n, r])
    Q = random_point(n, r, rng)
    V = rng.standard_normal((n, r))
    V -= Q @ (Q.T @ V)
    return Q, V / np.linalg.norm(V)


def sym(A):
    return (A + A.T) / 2


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("pairs", [False, True])
def test_value_and_gradient_are_those_of_equations_6_and_27(order, pairs):
    n, r = 6, 3
    T, (Q, _) = symmetric(n, order), place(n, r)
    point = evaluate(TensorCores(T), Q, pairs=pairs)
    euclidean, square = gradient(T, Q), point.unit**2
    assert point.value * square == pytest.approx(objective(T, Q), rel=1e-13)
    assert point.value == pytest.approx(1, rel=1e-13)
    projected = euclidean - Q @ (Q.T @ euclidean)
    np.testing.assert_allclose(point.gradient * square, projected, atol=1e-14)
    np.testing.assert_allclose(point.B * square, Q.T @ euclidean, atol=1e-14)
    relative = FullTensor(T).relative_gradient(Q)
    assert point.relative_gradient == pytest.approx(relative, rel=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_the_hessian_is_that_of_equation_41(order):
    n, r, d = 6, 3, order
    T, (Q, V) = symmetric(n, order), place(n, r)
    P, D = Q @ Q.T, V @ Q.T + Q @ V.T
    inner = multiplied(T, None, *[P] * (d - 1)).reshape(n, -1)
    w = d * inner @ inner.T
    other = multiplied(T, None, None, *[P] * (d - 2)).reshape(n, -1)
    v = d * (d - 1) * multiplied(T, None, D, *[P] * (d - 2)).reshape(n, -1) @ other.T @ P
    equation_41 = 2 * sym((np.eye(n) - P) @ v + w @ D @ P - D @ w @ P)
    point = evaluate(TensorCores(T), Q)
    H = point.unit**2 * hessian(TensorCores(T), point, V)
    # a tangent vector of the projectors, ΔP = VQ' + QV', is twice as long as V when squared
    np.testing.assert_allclose(equation_41, sym(H @ Q.T), atol=1e-14)
    equation_27 = sym(2 * (np.eye(n) - P) @ w @ P)
    G = point.unit**2 * point.gradient
    np.testing.assert_allclose(equation_27, sym(G @ Q.T), atol=1e-14)


@given(order=st.integers(2, 5), r=st.integers(1, 4), seed=st.integers(0, 99))
def test_hessian_is_symmetric_horizontal_and_equivariant(order, r, seed):
    n = 5
    cores, (Q, V), (_, A) = TensorCores(symmetric(n, order, seed)), place(n, r, seed), place(n, r)
    A = A - Q @ (Q.T @ A)
    point = evaluate(cores, Q, pairs=True)
    HV, HA = hessian(cores, point, V), hessian(cores, point, A)
    size = 1 + np.linalg.norm(HV) + np.linalg.norm(HA)
    assert abs(np.vdot(HV, A) - np.vdot(V, HA)) < 1e-12 * size
    assert np.linalg.norm(Q.T @ HV) < 1e-13 * size
    O = random_point(r, r, np.random.default_rng(seed))  # noqa: E741 - an orthogonal matrix
    turned = evaluate(cores, Q @ O, point.unit)
    assert turned.value == pytest.approx(point.value, rel=1e-12)
    np.testing.assert_allclose(turned.gradient, point.gradient @ O, atol=1e-12 * size)
    np.testing.assert_allclose(hessian(cores, turned, V @ O), HV @ O, atol=1e-12 * size)


def test_the_gradient_keeps_its_digits_where_it_is_small():
    """Near a maximum: the part of W outside Q is 1e-9, and known to ten digits."""
    n, r, small = 12, 3, 1e-9
    Q, V = place(n, r)
    core = symmetric(r, 3)
    T = multiplied(core, Q.T, Q.T, Q.T)
    tilted = orthonormalize(Q + small * V)
    point = evaluate(TensorCores(T), tilted)
    expected = hessian(TensorCores(T), evaluate(TensorCores(T), Q, point.unit), V) * small
    np.testing.assert_allclose(point.gradient, expected, atol=1e-6 * small)
    assert np.linalg.norm(tilted.T @ point.gradient) < 1e-15 * point.slope


def test_a_gain_below_the_digits_of_f_is_taken_from_the_slopes():
    cores, (Q, V) = TensorCores(symmetric(8, 3)), place(8, 3)
    start, path = evaluate(cores, Q), Geodesic(Q, V)
    slope = np.vdot(start.gradient, V)
    for t, digits in [(1e-2, 1e-9), (1e-10, 1e-6), (1e-16, 1e-6)]:
        end = evaluate(cores, path.at(t), start.unit)
        slopes = (t * slope, t * np.vdot(end.gradient, path.velocity(t)))
        expected = t * slope + t * t / 2 * np.vdot(V, hessian(cores, start, V))
        found = gain(start.value, end.value, slopes)
        assert found == pytest.approx(expected, rel=max(digits, 10 * t))


@given(r=st.integers(1, 6), weak=st.integers(0, 5), seed=st.integers(0, 99))
def test_the_core_metric_inverts_the_core_where_it_is_not_weak(r, weak, seed):
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.1, 1.0, r)
    values[1 : 1 + weak] = 1e-12
    O = random_point(r, r, rng)  # noqa: E741
    inverse, scale = core_metric(7 * (O * values) @ O.T, preconditioned=True)
    assert scale == pytest.approx(7 * values.max(), rel=1e-12)
    expected = (O / np.maximum(values / values.max(), 1e-3)) @ O.T
    np.testing.assert_allclose(inverse, expected, atol=1e-8)
    plain, _ = core_metric(7 * (O * values) @ O.T, preconditioned=False)
    np.testing.assert_array_equal(plain, np.eye(r))


@pytest.mark.parametrize("order", [2, 3, 4])
def test_pymanopt_has_the_same_gradient_and_hessian(order):
    pymanopt = pytest.importorskip("pymanopt")
    n, r = 7, 3
    T, (Q, V) = symmetric(n, order), place(n, r)
    manifold = pymanopt.manifolds.Grassmann(n, r)

    h = 1e-5
    second = (gradient(T, Q + h * V) - gradient(T, Q - h * V)) / (2 * h)
    point = evaluate(TensorCores(T), Q, pairs=True)
    square = point.unit**2
    G = manifold.euclidean_to_riemannian_gradient(Q, gradient(T, Q))
    np.testing.assert_allclose(square * point.gradient, G, atol=1e-14)
    H = manifold.euclidean_to_riemannian_hessian(Q, gradient(T, Q), second, V)
    np.testing.assert_allclose(square * hessian(TensorCores(T), point, V), H, atol=1e-9)

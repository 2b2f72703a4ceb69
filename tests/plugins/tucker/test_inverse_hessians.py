"""Quasi-Newton approximations: the secant equation, and one kind against the other."""

from dataclasses import replace

import numpy as np
import pytest
from orthobench_tucker._kernels.partial_cores import SampleCores
from orthobench_tucker.geodesics import Geodesic, LimitedMemory, LocalMatrix, curved
from orthobench_tucker.objective import core_metric, evaluate

from orthobench.tools.geometry import random_point

KINDS = ("lbfgs", "bfgs")


@pytest.fixture(scope="module")
def cores():
    X = np.random.default_rng(0).exponential(size=(60, 8)) - 1
    return SampleCores(X * np.linspace(1, 2, 8), 3)


def blank(kind, point, preconditioned, memory=20):
    if kind == "lbfgs":
        return LimitedMemory(memory, preconditioned)
    return LocalMatrix.at(point, preconditioned)


def walk(cores, inverse, steps, point):
    """Steps of half the direction; the point at the end, and the last pair."""
    for _ in range(steps):
        path = Geodesic(point.Q, inverse.direction(point))
        new = evaluate(cores, path.at(0.5), point.unit)
        s, y = 0.5 * path.velocity(0.5), path.transport(point.gradient, 0.5) - new.gradient
        inverse.move(path, 0.5, s, y)
        point = new
    return point, s, y


def applied(inverse, point, V):
    """H V, of any horizontal V."""
    return inverse.direction(replace(point, gradient=V))


def begin(cores, seed=0):
    return evaluate(cores, random_point(8, 3, np.random.default_rng(seed)))


@pytest.mark.parametrize("preconditioned", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_last_pair_is_met(cores, kind, preconditioned):
    point = begin(cores)
    inverse = blank(kind, point, preconditioned)
    point, s, y = walk(cores, inverse, 4, point)
    assert curved(s, y)
    np.testing.assert_allclose(applied(inverse, point, y), s, atol=1e-11 * np.linalg.norm(s))


@pytest.mark.parametrize("preconditioned", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_symmetric_positive_definite_and_horizontal(cores, kind, preconditioned):
    point = begin(cores)
    inverse = blank(kind, point, preconditioned)
    point, *_ = walk(cores, inverse, 5, point)
    rng = np.random.default_rng(1)
    A, B = (rng.standard_normal((8, 3)) for _ in range(2))
    A, B = (V - point.Q @ (point.Q.T @ V) for V in (A, B))
    HA, HB = applied(inverse, point, A), applied(inverse, point, B)
    assert np.vdot(HA, B) == pytest.approx(np.vdot(A, HB), rel=1e-9)
    assert np.vdot(HA, A) > 0
    assert np.linalg.norm(point.Q.T @ HA) < 1e-12 * np.linalg.norm(HA)


def test_after_one_pair_local_and_global_coordinates_agree(cores):
    """Parallel transport: a frame that moves is the same as vectors that move."""
    ends = []
    for kind in KINDS:
        point = begin(cores)
        inverse = blank(kind, point, preconditioned=False)
        point, *_ = walk(cores, inverse, 1, point)
        ends.append(inverse.direction(point))
    np.testing.assert_allclose(*ends, atol=1e-12)


def test_the_two_loops_are_the_dense_formula(cores):
    point = begin(cores)
    inverse = LimitedMemory(3, preconditioned=True)
    point, *_ = walk(cores, inverse, 6, point)
    assert len(inverse.pairs) == 3
    M, _ = core_metric(point.B, preconditioned=True)
    s, y = inverse.pairs[-1]
    H = np.kron(np.eye(8), M) * np.vdot(s, y) / np.vdot(y, y @ M)
    for s, y in inverse.pairs:
        a, b = s.ravel(), y.ravel()
        left = np.eye(len(a)) - np.outer(a, b) / (a @ b)
        H = left @ H @ left.T + np.outer(a, a) / (a @ b)
    expected = (H @ point.gradient.ravel()).reshape(8, 3)
    np.testing.assert_allclose(inverse.direction(point), expected, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_without_curvature_is_left_out(cores, kind):
    point = begin(cores)
    inverse = blank(kind, point, preconditioned=True)
    path = Geodesic(point.Q, inverse.direction(point))
    end = evaluate(cores, path.at(0.5), point.unit)
    before = applied(inverse, end, end.gradient) if kind == "lbfgs" else inverse.H.copy()
    s = path.velocity(0.5)
    for y in (-s, np.zeros_like(s), 1e-12 * s - (s - s[::-1])):
        inverse.move(path, 0.0, s, y if np.vdot(y, s) <= 0 else -y)
    assert inverse.blank
    after = applied(inverse, end, end.gradient) if kind == "lbfgs" else inverse.H
    np.testing.assert_array_equal(after, before)

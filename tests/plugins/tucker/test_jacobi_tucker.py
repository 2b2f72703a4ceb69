"""The Jacobi algorithm: each rotation the best of its plane, F never falls, U is orthogonal."""

from itertools import product
from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.angles import Trigonometric
from orthobench_kit.geometry import rotate, subspace_error
from orthobench_tucker._kernels.rotations import (
    best_angle,
    derivatives,
    gain,
    plane,
    restrict,
    rotate_planes,
)
from orthobench_tucker.solvers import jacobi_tucker
from orthobench_tucker.solvers.jacobi_tucker import JacobiTucker

from orthobench.tools.geometry import drift

CASES = [(12, 3, 4), (7, 4, 3), (5, 5, 2), (10, 2, 3)]


def multiplied(T, V):
    for _ in range(T.ndim):
        T = np.tensordot(T, V, axes=([0], [0]))
    return T


def leading(T, r):
    block = T[(slice(r),) * T.ndim]
    return float(np.vdot(block, block))


def turned(T, i, j, angle):
    """T ·(G, ..., G), G the rotation that turns u_i towards u_j."""
    G = np.eye(len(T))
    rotate(G, i, j, angle)
    return multiplied(T, G)


def harmonics(T, r, i, j):
    d = T.ndim
    cosines, sines = np.zeros(d + 1), np.zeros(d + 1)
    restrict(T.reshape(-1), len(T), d, i, j, plane(r, d), cosines, sines)
    return cosines, sines


coefficient = st.floats(-1, 1).map(lambda x: 0.0 if abs(x) < 1e-9 else x)


@given(st.lists(st.tuples(coefficient, coefficient), min_size=1, max_size=6))
def test_the_angle_is_the_global_maximum(pairs):
    a, b = np.array([(0.0, 0.0), *pairs]).T.copy()
    x, size = best_angle(a, b), np.abs(a).sum() + np.abs(b).sum()
    assert -pi <= x <= pi
    h, grid = np.arange(len(a)), np.linspace(-pi, pi, 5001)[:, None]
    values = (a * (np.cos(h * grid) - 1) + b * np.sin(h * grid)).sum(axis=1)
    assert gain(a, b, x) >= values.max() - 2e-14 * size
    assert gain(a, b, x) >= 0
    exact = Trigonometric((-a).tolist(), (-b).tolist()).minimum()
    assert gain(a, b, x) == pytest.approx(exact.gain, abs=3e-14 * size)


def test_a_gain_far_below_rounding_is_found():
    a, b = np.array([0.0, 1.0, 0.5]), np.array([0.0, 1e-12, 0.0])
    assert best_angle(a, b) == pytest.approx(1e-12 / 3, rel=1e-6)
    assert gain(a, b, best_angle(a, b)) == pytest.approx(1e-24 / 6, rel=1e-6)


@given(st.floats(1e-4, 0.3))
def test_two_maxima_close_to_each_other(apart):
    """-(1 - cos(x - p))(1 - cos(x + p)) + a slight slope: the higher one of two at -p and p."""
    grid = 2 * pi * np.arange(7) / 7
    values = -(1 - np.cos(grid - apart)) * (1 - np.cos(grid + apart))
    transform = np.fft.rfft(values) * (2 / 7)
    a, b = transform.real.copy(), -transform.imag
    b[1] -= 1e-3 * apart**3
    assert best_angle(a, b) == pytest.approx(-apart, abs=0.01 * apart)
    b[1] += 2e-3 * apart**3
    assert best_angle(a, b) == pytest.approx(apart, abs=0.01 * apart)


def test_the_objective_in_a_plane(tucker):
    """The polynomial is F of the rotated tensor, and its first coefficient the derivative."""
    for case in [*CASES, (6, 3, 1), (4, 6, 2), (5, 4, 1)]:
        n, order, r = case
        T = tucker.symmetric(n, order)
        for i, j in [(0, r), (r - 1, n - 1)]:
            a, b = harmonics(T, r, i, j)
            size = np.vdot(T, T)
            for angle in np.linspace(-pi / 2, pi / 2, 11):
                difference = leading(turned(T, i, j, angle), r) - leading(T, r)
                assert gain(a, b, 2 * angle) == pytest.approx(difference, abs=1e-13 * size), case
            unfolded = T[(slice(None),) + (slice(r),) * (order - 1)].reshape(n, -1)
            slope = 2 * order * float(unfolded[i] @ unfolded[j])
            assert 2 * derivatives(a, b, 0.0)[0] == pytest.approx(slope, abs=1e-13 * size), case


@pytest.mark.parametrize(("n", "order", "r"), CASES)
def test_a_rotation_is_the_best_of_its_plane(tucker, n, order, r):
    """Against a dense grid, and with the tensor itself rotated."""
    T = tucker.symmetric(n, order)
    for i, j in [(0, r), (r - 1, n - 1), (0, n - 1)]:
        only = np.array([*range(r), j])
        small, G = T[np.ix_(*[only] * order)].copy(), np.eye(r + 1)
        before = leading(small, r)
        a, b = harmonics(small, r, i, r)
        rotated = multiplied(small, _rotation(r + 1, i, r, best_angle(a, b) / 2))
        dense = max(leading(turned(small, i, r, angle), r) for angle in np.linspace(0, pi, 2000))
        assert leading(rotated, r) >= dense - 1e-13 * np.vdot(small, small)
        flat = small.reshape(-1).copy()
        tried, done = rotate_planes(flat, G, r, order, plane(r, order), 0.0)
        assert tried == r >= done
        result = flat.reshape(small.shape)
        np.testing.assert_allclose(result, multiplied(small, G.T), atol=1e-12)
        assert leading(result, r) >= before
        assert drift(G) <= 1e-14


def _rotation(n, i, j, angle):
    G = np.eye(n)
    rotate(G, i, j, angle)
    return G


def test_the_objective_never_falls_and_u_stays_orthogonal(tucker):
    for case in product([0.0, 0.1, 1.0], CASES):
        threshold, (n, order, r) = case
        made = tucker.of_tensor(tucker.symmetric(n, order), r)
        solver = JacobiTucker(start="random", threshold=threshold, tolerance=0)
        state = tucker.begun(solver, made)
        values = [state.objective]
        for _ in range(25):
            solver.advance(made.oracle, state, 1)
            values.append(state.objective)
            assert drift(state.U) <= 1e-12, case
        assert (np.diff(values) >= -1e-14 * values[-1]).all(), case
        assert values[-1] > values[0], case


def test_it_converges_where_hooi_cycles(tucker):
    made = tucker.of_tensor(np.diag([1.0, -1.0, 0.5]), 1)
    state = tucker.converged(JacobiTucker(start="random"), made)
    assert state.objective == pytest.approx(1, rel=1e-13)


@pytest.mark.parametrize("threshold", [0.0, 0.5])
def test_start_where_only_the_objective_vanishes_is_left(tucker, threshold):
    """F and its gradient are zero there, T ·(I, q, q) is not: the planes lead away."""
    T = np.zeros((3, 3, 3))
    T[0, 0, 1] = T[0, 1, 0] = T[1, 0, 0] = 1
    made = tucker.of_tensor(T, 1)
    made.oracle.start = np.eye(3)[:, :1]
    state = tucker.converged(JacobiTucker(start="random", threshold=threshold), made)
    assert state.objective == pytest.approx(4 / 3, rel=1e-12)


def test_blocks_do_not_matter(tucker, monkeypatch):
    """One block of all planes, or a block for each column: the same sweep but for rounding."""
    made = tucker.of_tensor(tucker.symmetric(9, 3), 2)
    points = []
    for size in (1, 3, 7):
        monkeypatch.setattr(jacobi_tucker, "block_size", lambda *_, size=size: size)
        solver = JacobiTucker(start="random", threshold=0)
        state = tucker.begun(solver, made)
        solver.advance(made.oracle, state, 1)
        points.append(state.U[:, :2])
    assert subspace_error(points[0], points[1]) <= 1e-12
    assert subspace_error(points[0], points[2]) <= 1e-12

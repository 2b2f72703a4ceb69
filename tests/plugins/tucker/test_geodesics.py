"""Geodesics of the Grassmannian and the line search along them."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_tucker.geodesics import Geodesic
from orthobench_tucker.solvers.quasi_newton import FLATTER, SUFFICIENT, TRIALS, Trial, wolfe_search

from orthobench.tools.geometry import drift, random_point

seeds = st.integers(0, 999)


def place(n, r, seed, rank=None):
    rng = np.random.default_rng([seed, n, r])
    Q = random_point(n, r, rng)
    D = rng.standard_normal((n, r))
    if rank is not None:
        D[:, rank:] = 0
    return Q, D - Q @ (Q.T @ D)


@given(seed=seeds, r=st.integers(1, 4), rank=st.integers(0, 4), t=st.floats(-2, 2))
def test_a_geodesic_is_orthonormal_and_turns_by_its_angles(seed, r, rank, t):
    Q, D = place(9, r, seed, min(rank, r))
    path = Geodesic(Q, D)
    there = path.at(t)
    assert drift(there) < 1e-14
    np.testing.assert_allclose(path.at(0.0), Q, atol=1e-15)
    np.testing.assert_allclose(path.velocity(0.0), D, atol=1e-13)
    turns = np.linalg.svd(Q.T @ there, compute_uv=False)
    angles = np.linalg.svd(D, compute_uv=False) * t
    np.testing.assert_allclose(turns, np.sort(np.abs(np.cos(angles)))[::-1], atol=1e-13)


@given(seed=seeds, r=st.integers(1, 4), t=st.floats(0.01, 1))
def test_its_velocity_is_horizontal_and_its_acceleration_is_vertical(seed, r, t):
    Q, D = place(8, r, seed)
    path, h = Geodesic(Q, D / np.linalg.norm(D)), 1e-5
    there = path.at(t)
    assert np.linalg.norm(there.T @ path.velocity(t)) < 1e-13
    difference = (path.at(t + h) - path.at(t - h)) / (2 * h)
    np.testing.assert_allclose(path.velocity(t), difference, atol=1e-9)
    acceleration = (path.velocity(t + h) - path.velocity(t - h)) / (2 * h)
    assert np.linalg.norm(acceleration - there @ (there.T @ acceleration)) < 1e-9


@given(seed=seeds, r=st.integers(1, 4), t=st.floats(0.01, 1))
def test_transport_is_parallel_and_an_isometry(seed, r, t):
    n = 8
    Q, D = place(n, r, seed)
    path, h = Geodesic(Q, D / np.linalg.norm(D)), 1e-5
    A, B = (place(n, r, seed + k)[1] for k in (1, 2))
    A, B = A - Q @ (Q.T @ A), B - Q @ (Q.T @ B)
    moved = path.transport(A, t)
    assert np.linalg.norm(path.at(t).T @ moved) < 1e-12
    assert np.vdot(moved, path.transport(B, t)) == pytest.approx(np.vdot(A, B), abs=1e-12)
    along = path.transport(D, t) / np.linalg.norm(D)
    np.testing.assert_allclose(along, path.velocity(t), atol=1e-12)
    change = (path.transport(A, t + h) - path.transport(A, t - h)) / (2 * h)
    there = path.at(t)
    assert np.linalg.norm(change - there @ (there.T @ change)) < 1e-8


def test_the_longest_way_ends_at_a_right_angle():
    Q, D = place(9, 3, 4)
    path = Geodesic(Q, D)
    assert np.linalg.svd(Q.T @ path.at(path.longest), compute_uv=False)[-1] < 1e-14
    assert Geodesic(Q, np.zeros_like(D)).longest == np.inf


def test_a_basis_that_has_drifted_is_mended_on_the_way():
    Q, D = place(9, 3, 0)
    drifted = Q + 1e-9 * np.random.default_rng(0).standard_normal((9, 3))
    assert drift(drifted) > 1e-9
    assert drift(Geodesic(drifted, D - drifted @ (drifted.T @ D)).at(0.1)) < 1e-14


def curve(f, slope):
    """A curve for the line search, which takes note of what is asked."""

    def probe(t):
        probe.asked.append(t)
        return Trial(t, SimpleNamespace(value=f(t)), slope(t))

    probe.asked = []
    return probe


def is_strong_wolfe(start, end):
    rise = end.point.value - start.point.value
    return rise >= SUFFICIENT * end.t * start.slope and abs(end.slope) <= FLATTER * start.slope


@given(
    best=st.floats(1e-4, 30), sharp=st.floats(0.01, 5), wave=st.floats(0, 0.9), base=st.floats(1, 9)
)
def test_the_search_ends_at_a_strong_wolfe_point(best, sharp, wave, base):
    # a bump of log(1 + ...) with waves on it, rising at zero
    def f(t):
        u = t / best
        return base - sharp * (np.log(1 + (u - 1) ** 2) + wave / 9 * np.sin(9 * u))

    def slope(t):
        u = t / best
        inner = 2 * (u - 1) / (1 + (u - 1) ** 2) + wave * np.cos(9 * u)
        return -sharp * inner / best

    probe = curve(f, slope)
    start = probe(0.0)
    if start.slope <= 0:
        return
    end, trials = wolfe_search(probe, start, np.inf)
    assert end is not None
    assert is_strong_wolfe(start, end)
    assert trials == len(probe.asked) - 1 <= TRIALS


@pytest.mark.parametrize("best", [0.2, 0.3, 0.4])
def test_a_quadratic_takes_its_top_by_the_second_trial(best):
    probe = curve(lambda t: 5 - (t - best) ** 2, lambda t: -2 * (t - best))
    end, trials = wolfe_search(probe, probe(0.0), np.inf)
    assert (end.t, trials) == (pytest.approx(best, abs=1e-12), 2)


def test_nothing_beyond_the_longest_step_is_tried():
    probe = curve(lambda t: 5 + t, lambda t: 1.0)
    end, trials = wolfe_search(probe, probe(0.0), 0.25)
    assert (end.t, trials) == (0.25, 1)
    probe = curve(lambda t: 5 + t, lambda t: 1.0)
    end, _ = wolfe_search(probe, probe(0.0), 10.0)
    assert end.t == 10.0
    assert max(probe.asked) == 10.0


def test_a_curve_that_only_falls_has_no_end():
    probe = curve(lambda t: 5 - t, lambda t: 1.0 if t == 0 else -1.0)
    assert wolfe_search(probe, probe(0.0), np.inf) == (None, TRIALS)


def test_slopes_decide_if_values_are_rounding():
    """The values say nothing, or the wrong thing; the slopes vanish at t = 0.5."""
    noise = np.random.default_rng(0)
    probe = curve(lambda t: 5 + 1e-15 * noise.standard_normal(), lambda t: 1e-12 * (1 - 2 * t))
    start = probe(0.0)
    end, trials = wolfe_search(probe, start, np.inf)
    assert end.t == pytest.approx(0.5)
    assert trials == 2


def test_not_a_number_is_not_taken():
    probe = curve(lambda t: np.nan if t > 0.1 else 5 + t, lambda t: np.nan if t > 0.1 else 0.5)
    start = Trial(0.0, SimpleNamespace(value=5.0), 1.0)
    end, _ = wolfe_search(probe, start, np.inf)
    assert 0 < end.t <= 0.1

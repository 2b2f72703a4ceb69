"""Truncated conjugate gradients against dense algebra."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_tucker.solvers.trust_region import truncated_cg

from orthobench.tools.geometry import random_point

N, R = 5, 3
seeds = st.integers(0, 999)


def model(seed, low, high):
    """A gradient, a Hessian with eigenvalues from `low` to `high`, and a metric."""
    rng = np.random.default_rng(seed)
    O = random_point(N * R, N * R, rng)  # noqa: E741 - an orthogonal matrix
    H = (O * rng.uniform(low, high, N * R)) @ O.T
    root = np.eye(R) + 0.3 * rng.standard_normal((R, R))
    inverse = root @ root.T
    return rng.standard_normal((N, R)), (H + H.T) / 2, inverse / np.linalg.norm(inverse, 2)


def solved(seed, low, high, radius, reduction=1e-13, most=200, metric=True):
    g, H, inverse = model(seed, low, high)
    inverse = inverse if metric else np.eye(R)
    step = truncated_cg(
        g, lambda V: (H @ V.ravel()).reshape(N, R), inverse, radius, reduction, most
    )
    return g, H, inverse, step


def length(V, inverse):
    return np.sqrt(np.vdot(V, V @ np.linalg.inv(inverse)))


@given(seed=seeds, metric=st.booleans())
def test_inside_it_is_newtons_step(seed, metric):
    g, H, _, step = solved(seed, -3, -0.5, 1e9, metric=metric)
    newton = np.linalg.solve(-H, g.ravel())
    np.testing.assert_allclose(step.V.ravel(), newton, atol=1e-9)
    assert step.gain == pytest.approx(g.ravel() @ newton / 2, rel=1e-9)
    assert not step.bounded


@given(seed=seeds, low=st.floats(-3, -0.5), high=st.floats(-0.4, 3), radius=st.floats(0.01, 3))
def test_gain_is_that_of_steepest_ascent_within_the_radius(seed, low, high, radius):
    g, H, inverse, step = solved(seed, low, high, radius)
    assert length(step.V, inverse) <= radius * (1 + 1e-9)
    if step.bounded:
        assert length(step.V, inverse) == pytest.approx(radius, rel=1e-9)
    V = step.V.ravel()
    assert step.gain == pytest.approx(g.ravel() @ V + V @ H @ V / 2, rel=1e-9)
    P = (g @ inverse).ravel()
    reach = radius / length(g @ inverse, inverse)
    curvature = P @ H @ P
    best = min(reach, (g.ravel() @ P) / -curvature) if curvature < 0 else reach
    assert step.gain >= (best * (g.ravel() @ P) + best**2 / 2 * curvature) * (1 - 1e-9)


@given(seed=seeds)
def test_positive_curvature_is_followed_to_the_boundary(seed):
    *_, inverse, step = solved(seed, 0.5, 3, 0.7)
    assert step.bounded
    assert step.products == 1
    assert length(step.V, inverse) == pytest.approx(0.7, rel=1e-12)


def test_the_metric_makes_an_easy_problem_of_a_hard_one():
    g, _, _ = model(0, -1, -0.9)
    scale = np.array([1.0, 1e-2, 1e-4])
    runs = [
        truncated_cg(g, lambda V: -V * scale, inverse, 1e9, 1e-10, 100)
        for inverse in (np.eye(R), np.diag(1 / scale))
    ]
    np.testing.assert_allclose(runs[0].V, g / scale, rtol=1e-6)
    np.testing.assert_allclose(runs[1].V, g / scale, rtol=1e-12)
    assert (runs[0].products, runs[1].products) == (3, 1)


@pytest.mark.parametrize("reduction", [0.1, 1e-2, 1e-5])
def test_steihaug_ends_if_the_residual_has_fallen(reduction):
    def fallen(**settings):
        g, H, inverse, step = solved(1, -30, -0.5, 1e9, reduction, **settings)
        residual = g + (H @ step.V.ravel()).reshape(N, R)
        squares = np.vdot(residual, residual @ inverse) / np.vdot(g, g @ inverse)
        return np.sqrt(squares), step.products

    size, products = fallen()
    assert size <= reduction
    size, before = fallen(most=products - 1)
    assert size > reduction
    assert before == products - 1

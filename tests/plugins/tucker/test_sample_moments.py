"""Implicit moments against tensors formed by brute force, for orders 2 to 5."""

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_tucker import sample_moments
from orthobench_tucker.reference import moment, multiplied
from orthobench_tucker.sample_moments import (
    core_norm_squared,
    estimated_norm_squared,
    full_core,
    gradient,
    moment_norm_squared,
    partial_core,
    vanishes,
)

from orthobench.tools.geometry import random_point

ORDERS = (2, 3, 4, 5)
shapes = {
    "order": st.sampled_from(ORDERS),
    "n": st.integers(1, 5),
    "p": st.integers(1, 12),
    "seed": st.integers(0, 2**32 - 1),
}


def skewed(p, n, seed=0):
    return rng(seed).exponential(size=(p, n)) - 0.5


@given(**shapes)
def test_the_core_and_the_objective_are_those_of_the_tensor(order, n, p, seed):
    X, r = skewed(p, n, seed), int(rng(seed).integers(1, n + 1))
    Q, T = rng(seed + 1).standard_normal((n, r)), moment(X, order)
    W = partial_core(X, Q, order)
    S = Q.T @ W
    core = multiplied(T, *[Q] * order)
    scale = np.abs(T).max() * max(1, np.abs(Q).max()) ** order * n**order
    np.testing.assert_allclose(full_core(S, order), core, atol=1e-13 * scale)
    np.testing.assert_allclose(
        sample_moments.tensor_core(sample_moments.moment_tensor(X, order), Q), W, atol=1e-13 * scale
    )
    assert core_norm_squared(S, order) == pytest.approx(np.sum(core**2), rel=1e-10, abs=1e-20)


@pytest.mark.parametrize("order", ORDERS)
def test_objective_is_the_sum_of_powers_of_the_gram_matrix(order):
    # section 4.4 prints the norm of this matrix in place of the sum of its entries
    X, Q = skewed(40, 6), random_point(6, 3, rng(1))
    gram = (X @ Q @ Q.T @ X.T) ** order
    S = Q.T @ partial_core(X, Q, order)
    assert core_norm_squared(S, order) == pytest.approx(gram.sum() / 40**2, rel=1e-11)


@pytest.mark.parametrize("order", ORDERS)
def test_the_gradient_is_that_of_equation_13(order):
    X, Q = skewed(30, 5), random_point(5, 2, rng(1))
    W = partial_core(X, Q, order)
    gram = (X @ Q @ Q.T @ X.T) ** (order - 1)
    expected = 2 * order / 30**2 * X.T @ gram @ (X @ Q)
    np.testing.assert_allclose(gradient(W, Q.T @ W, order), expected, rtol=1e-11)


@given(**shapes)
def test_the_square_of_the_moment_is_the_same_either_way(order, n, p, seed):
    X = skewed(p, n, seed)
    square = np.sum(moment(X, order) ** 2)
    many = np.tile(X, (500, 1))  # the same moment, from more samples than the tensor has entries
    assert moment_norm_squared(X, order) == pytest.approx(square, rel=1e-9)
    assert moment_norm_squared(many, order) == pytest.approx(square, rel=1e-9)


@pytest.mark.parametrize(
    ("p", "order"),
    [(165, 3), *(pytest.param(160, order, marks=pytest.mark.wide) for order in ORDERS)],
)
def test_the_estimated_square_has_no_bias_and_the_error_that_it_says(p, order, monkeypatch):
    monkeypatch.setattr(sample_moments, "PARTNERS", 8)
    monkeypatch.setattr(sample_moments, "leading_count", lambda n, order: 2)
    X = skewed(p, 5)
    square = moment_norm_squared(X, order)
    found = np.array([estimated_norm_squared(rng(i).permutation(X), order) for i in range(400)])
    off, error = found[:, 0] - square, found[:, 1]
    spread = np.sqrt(np.mean(off**2))
    assert abs(off.mean()) < 4 * spread / 20
    # 20 blocks, whose number the samples limit: what pairs share makes errors a little smaller
    assert 0.75 < spread / np.sqrt(np.mean(error**2)) < 1.15


def test_the_estimated_square_resolves_small_errors_near_a_subspace():
    n, r, order = 200, 6, 4
    noise = 1e-3 * rng(2).standard_normal((6000, n))
    X = rng(0).exponential(size=(6000, r)) @ random_point(n, r, rng(1)).T + noise
    square, (found, error) = moment_norm_squared(X, order), estimated_norm_squared(X, order)
    assert abs(found - square) < 1e-6 * square
    assert error < 1e-6 * square


@pytest.mark.parametrize("order", ORDERS)
def test_only_odd_moments_of_symmetric_data_vanish(order):
    X = skewed(1000, 6) * 1e3
    assert not vanishes(X, order)
    mirrored = np.concatenate([X, -X])[rng(1).permutation(2000)]
    assert vanishes(mirrored, order) == (order % 2 == 1)
    mirrored[0] *= 1 + 1e-7
    assert not vanishes(mirrored, order)

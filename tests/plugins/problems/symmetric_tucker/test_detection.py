"""Anomaly scores, ROC curves, and the sparsest mixture of images."""

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_tucker.problems.detection import (
    anomaly_scores,
    area_under_roc,
    random_classifier,
    roc,
    sparsest,
)

from orthobench.tools.geometry import random_point


@given(st.integers(1, 5), st.integers(0, 20))
def test_scores_are_mahalanobis_distances_whatever_the_basis(r, seed):
    Z = rng(seed).exponential(size=(50, r))
    inverse = np.linalg.inv(Z.T @ Z / 50)
    expected = np.sqrt(np.einsum("ij,jk,ik->i", Z, inverse, Z))
    assert np.allclose(anomaly_scores(Z), expected)
    change = rng(seed + 1).standard_normal((r, r)) + 3 * np.eye(r)
    assert np.allclose(anomaly_scores(Z @ change), expected, rtol=1e-6)


def test_directions_without_variance_do_not_count():
    Z = rng().standard_normal((50, 3))
    more = np.column_stack([Z, Z[:, 0] - Z[:, 1], 0 * Z])
    assert np.allclose(anomaly_scores(more), anomaly_scores(Z))


@given(st.integers(0, 30), st.integers(1, 6))
def test_the_area_counts_pairs_and_is_that_below_the_curve(seed, levels):
    scores = rng(seed).integers(0, levels, 40).astype(np.float64)
    anomalies = np.arange(40) < 9
    wins = scores[anomalies][:, None] - scores[~anomalies]
    expected = np.mean((wins > 0) + 0.5 * (wins == 0))
    assert area_under_roc(scores, anomalies) == pytest.approx(expected)
    curve = roc(scores, anomalies)
    below = np.diff(curve.x) @ (curve.y[1:] + curve.y[:-1]) / 2
    assert below == pytest.approx(expected, abs=1e-6)
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, 1)


def test_the_curve_has_corners_only_and_says_what_it_shows():
    anomalies = rng(1).random(5000) < 0.01
    curve = roc(rng(2).random(5000), anomalies)
    assert len(curve.x) <= 2 * anomalies.sum() + 2
    steps = np.sign([np.diff(curve.x), np.diff(curve.y)])
    assert not (steps[:, 1:] == steps[:, :-1]).all(axis=0).any()
    chance = random_classifier()
    assert chance.reference
    assert not curve.reference
    assert roc(rng(2).random(5000), anomalies, reference=True).reference
    assert (curve.x_label, curve.y_label) == (chance.x_label, chance.y_label)
    assert np.array_equal(chance.x, chance.y)


# --- the sparsest mixture ---


def total(Z, W):
    return np.abs(Z @ W).sum(axis=0)


@pytest.mark.parametrize("seed", range(6))
def test_sparsest_image_of_two_is_the_best_of_all_angles(seed):
    """Between the angles at which a pixel vanishes the sum is concave: one of them is best."""
    kinds = (rng(seed).standard_normal, rng(seed).standard_cauchy, rng(seed).exponential)
    Z = kinds[seed % 3](size=(400, 2)) * rng(seed).integers(1, 9, 2)
    angles = np.arctan2(Z[:, 1], Z[:, 0]) + np.pi / 2
    brute = total(Z, np.array([np.cos(angles), np.sin(angles)])).min()
    assert total(Z, sparsest(Z)) == pytest.approx(brute, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_one_sparse_image_among_dense_ones_is_recovered(seed):
    images = rng(seed).standard_normal((1000, 4))
    images[:, 2] = 0
    images[:20, 2] = 5 + rng(seed).random(20)
    images[:, 2] /= np.sqrt(np.mean(images[:, 2] ** 2))
    mix = random_point(4, 4, rng(seed + 5))
    Z = images @ mix
    assert np.abs(mix @ sparsest(Z))[2] == pytest.approx(1, abs=1e-5)
    assert np.sum(np.abs(Z @ sparsest(Z)) > 0.01) == 20


@pytest.mark.parametrize("r", [1, 3, 8])
def test_sparsest_image_is_no_worse_than_any_of_many(r):
    Z = rng(r).laplace(size=(500, r)) @ rng(r + 1).standard_normal((r, r))
    w = sparsest(Z)
    W = rng(9).standard_normal((r, 5000))
    W = np.hstack([W, w[:, None] + 0.01 * W])
    assert np.linalg.norm(w) == pytest.approx(1)
    assert total(Z, w) <= total(Z, W / np.linalg.norm(W, axis=0)).min() * (1 + 1e-6)
    assert np.linalg.norm(sparsest(np.zeros((9, r)))) == pytest.approx(1)

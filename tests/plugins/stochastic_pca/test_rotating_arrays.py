"""Rotations by array expressions, as on a device: here NumPy computes them."""

import numpy as np
import pytest
from orthobench_stochastic_pca._kernels.rotating_arrays import CLEANED, DEPENDENT, rotate
from orthobench_stochastic_pca._kernels.rotation_rules import GEODESIC, KRASULINA, OJA

from orthobench.tools.geometry import drift, random_point

D, K = 6, 2
U = random_point(D, K, np.random.default_rng(0)).T
X = np.random.default_rng(1).standard_normal((3, D))


def polar(Y):
    left, _, right = np.linalg.svd(Y, full_matrices=False)
    return left @ right


def turned(basis, x, eta, kind):
    """Return the basis after one sample, by the definition of each method."""
    w = basis.T @ x
    r = x - basis @ w
    if kind == OJA:
        return polar(basis + eta * np.outer(x, w))
    if kind == KRASULINA:
        return polar(basis + eta * np.outer(r, w))
    p, left = np.linalg.norm(w), np.linalg.norm(r)
    angle = eta * p * left
    along = (np.cos(angle) - 1) * basis @ w / p + np.sin(angle) * r / left
    return basis + np.outer(along, w / p)


@pytest.mark.parametrize("kind", [OJA, KRASULINA, GEODESIC])
def test_samples_rotate_a_basis_one_after_another(kind):
    etas, expected = np.array([0.3, 1.0, 0.1]), U.T
    for x, eta in zip(X, etas, strict=True):
        expected = turned(expected, x, eta, kind)
    found = rotate(U, X, etas, 0, kind).T
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-12)
    assert drift(found) < 1e-14


@pytest.mark.parametrize("kind", [OJA, KRASULINA, GEODESIC])
def test_samples_within_the_span_or_orthogonal_to_it_change_nothing(kind):
    across = X[0] - (U @ X[0]) @ U
    for x in (U[0] + U[1], across, np.zeros(D)):
        found = rotate(U, x[None], np.ones(1), 0, kind)
        np.testing.assert_allclose(found, U, atol=1e-15)


@pytest.mark.parametrize(("share", "moves"), [(0.1, False), (10.0, True)])
def test_a_residual_of_rounding_changes_nothing(share, moves):
    basis, eps = np.eye(K, D), 2.0**-52
    x = np.zeros((1, D))
    x[0, 0], x[0, 4] = 1.0, share * DEPENDENT * eps
    found = rotate(basis, x, np.ones(1), 0, GEODESIC)
    assert np.array_equal(found, basis) is not moves


@pytest.mark.parametrize(("first", "cleaned"), [(CLEANED - 2, False), (CLEANED - 1, True)])
def test_a_basis_is_orthonormalized_after_so_many_samples(first, cleaned):
    loose = U * 1.01
    found = rotate(loose, np.zeros((1, D)), np.ones(1), first, OJA)
    assert (drift(found.T) < 1e-14) is cleaned
    assert CLEANED == 256

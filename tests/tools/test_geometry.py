"""Orthonormal points: what is orthonormal stays so, and distances are those of the definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.geometry import rotate, subspace_error

from orthobench.tools.geometry import (
    complete,
    diagonal_signs,
    drift,
    orthonormalize,
    polar,
    random_point,
    unit_columns,
)

sizes = st.tuples(st.integers(1, 12), st.integers(1, 12)).map(lambda s: (max(s), min(s)))
seeds = st.integers(0, 2**32 - 1)


@given(sizes, seeds)
def test_a_random_point_is_orthonormal_and_drift_measures_the_defect(size, seed):
    n, k = size
    U = random_point(n, k, np.random.default_rng(seed))
    assert U.shape == (n, k)
    assert drift(U) < 1e-13
    # |(1 + e)² - 1| on each of the k diagonal entries
    assert np.isclose(drift(1.5 * U), 1.25 * np.sqrt(k))


def test_signs_are_those_of_the_diagonal_and_one_of_zero():
    A = np.array([[2.0, -1.0, 0.0], [1.0, -3.0, 4.0], [5.0, 5.0, 0.0]])
    assert diagonal_signs(A).tolist() == [1, -1, 1]


@given(sizes, seeds)
def test_orthonormalize_is_gram_schmidt(size, seed):
    n, k = size
    A = np.random.default_rng(seed).standard_normal((n, k))
    Q = orthonormalize(A)
    R = Q.T @ A
    scale = np.linalg.norm(A)
    assert drift(Q) < 1e-13
    assert np.allclose(Q @ R, A, atol=1e-12 * scale)
    assert np.all(np.abs(np.tril(R, -1)) < 1e-12 * scale)
    assert np.all(np.diagonal(R) > 0)
    assert Q.flags.c_contiguous


@given(sizes, seeds)
def test_orthonormalize_keeps_an_orthonormal_point(size, seed):
    U = random_point(*size, np.random.default_rng(seed))
    assert np.allclose(orthonormalize(U), U, atol=1e-13)


@given(sizes, seeds, st.integers(0, 12))
def test_complete_keeps_what_is_there_and_fills_up(size, seed, columns):
    n, k = size
    m = min(columns, n)
    rng = np.random.default_rng(seed)
    U, start = random_point(n, n, rng)[:, :m], random_point(n, k, rng)
    whole = complete(U, start, k)
    kept = min(k, m)
    assert whole.shape == (n, k)
    assert drift(whole) < 1e-12
    assert np.array_equal(whole[:, :kept], U[:, :kept])
    assert not np.shares_memory(whole, U)
    assert not np.shares_memory(whole, start)


def test_complete_fills_up_with_the_directions_of_the_start():
    rng = np.random.default_rng(0)
    U, start = random_point(20, 2, rng), random_point(20, 5, rng)
    added = complete(U, start, 5)[:, 2:]
    rest = start - U @ (U.T @ start)
    assert subspace_error(orthonormalize(rest), added) < 1e-13


@given(sizes, seeds)
def test_subspace_error_is_that_of_the_projections(size, seed):
    n, k = size
    rng = np.random.default_rng(seed)
    U, V = random_point(n, k, rng), random_point(n, k, rng)
    definition = np.linalg.norm(U @ U.T - V @ V.T) / np.sqrt(2)
    assert np.isclose(subspace_error(U, V), definition, atol=1e-12)
    assert np.isclose(subspace_error(V, U), definition, atol=1e-12)
    assert subspace_error(U, U @ random_point(k, k, rng)) < 1e-13


def test_small_angles_do_not_drown_in_rounding():
    U = np.array([[1.0], [0.0]])
    for angle in (1e-3, 1e-8, 1e-12):
        V = np.array([[np.cos(angle)], [np.sin(angle)]])
        assert subspace_error(U, V) == pytest.approx(angle, rel=1e-3), angle


def test_unit_columns_have_unit_length_or_stay_zero():
    Z = np.random.default_rng(0).standard_normal((5, 3)) * [1e-150, 1.0, 1e100]
    Z[:, 1] = 0
    kept = Z.copy()
    unit = unit_columns(Z)
    assert np.linalg.norm(unit, axis=0) == pytest.approx([1, 0, 1])
    assert np.array_equal(Z, kept)


@given(sizes, seeds)
def test_polar_is_the_factor_beside_a_positive_matrix(size, seed):
    A = np.random.default_rng(seed).standard_normal(size)
    U, P = scipy.linalg.polar(A)
    found = polar(A)
    assert np.allclose(found @ P, A, atol=1e-12)
    assert drift(found) < 1e-12
    if np.linalg.cond(A) < 1e6:
        assert np.allclose(found, U, atol=1e-8)
    assert found.flags.c_contiguous


def test_a_rotation_is_the_exponential_of_its_generator():
    A = np.random.default_rng(0).standard_normal((5, 4))
    H = np.zeros((4, 4))
    H[1, 3], H[3, 1] = 1, -1
    for angle in (0.3, -2.0, np.pi / 2):
        turned = A.copy()
        rotate(turned, 1, 3, angle)
        np.testing.assert_allclose(turned, A @ scipy.linalg.expm(-angle * H), atol=1e-14)

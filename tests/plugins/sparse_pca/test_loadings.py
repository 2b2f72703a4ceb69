"""Loadings that explain most variance in a given sparsity pattern."""

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.geometry import subspace_error
from orthobench_sparse_pca.judge import explained_variance
from orthobench_sparse_pca.loadings import solve_for_z

from orthobench.tools.geometry import polar, random_point, unit_columns


def data(d, n, seed=0, decay=0.7):
    """A matrix with singular values 1, decay, decay², ..., well apart."""
    k = min(d, n)
    left, right = random_point(d, k, rng(seed)), random_point(n, k, rng(seed + 1))
    return 10 * (left * decay ** np.arange(k)) @ right.T


def objective(A, Z, mu=1.0):
    """Return the maximum over orthonormal X of tr(X'A'ZN)."""
    return np.linalg.norm(A.T @ Z * mu, "nuc")


def same_up_to_sign(Z, expected, tolerance=1e-4):
    signs = np.sign(np.einsum("ij,ij->j", Z, expected))
    return np.abs(Z * signs - expected).max() < tolerance


def leading(A, rows):
    """Return the leading left singular vector of A restricted to some rows."""
    z = np.zeros(len(A))
    z[rows] = np.linalg.svd(A[rows])[0][:, 0]
    return z


@pytest.mark.parametrize("seed", range(5))
def test_one_component_is_the_restricted_singular_vector(seed):
    A = data(12, 9, seed)
    rows = rng(seed).choice(12, 5, replace=False)
    pattern = np.zeros((12, 1), dtype=bool)
    pattern[rows] = True
    start = random_point(9, 1, rng(seed))
    Z = solve_for_z(A, pattern, start)
    assert same_up_to_sign(Z, leading(A, rows)[:, None], 2e-3)
    top = np.linalg.svd(A[rows], compute_uv=False)[0] ** 2
    assert explained_variance(A, Z) == pytest.approx(top, rel=1e-6)
    assert not Z[~pattern].any()


def test_only_uncorrelated_blocks_are_solved_separately():
    A = np.zeros((9, 12))
    for block in range(3):
        A[3 * block : 3 * block + 3, 4 * block : 4 * block + 4] = data(3, 4, block)
    pattern = np.kron(np.eye(3, dtype=bool), np.ones((3, 1), dtype=bool))
    expected = np.stack([leading(A, np.arange(3 * b, 3 * b + 3)) for b in range(3)], axis=1)
    start = random_point(12, 3, rng(3))
    assert same_up_to_sign(solve_for_z(A, pattern, start), expected, 2e-3)
    # disjoint rows are not enough: the constraint X'X = I ties correlated components
    A = A + 3 * rng(4).standard_normal(12)
    apart = np.stack([leading(A, np.arange(3 * b, 3 * b + 3)) for b in range(3)], axis=1)
    together = solve_for_z(A, pattern, start)
    assert objective(A, together) > objective(A, apart) * (1 + 1e-4)
    assert not same_up_to_sign(together, apart, 0.05)


@given(d=st.integers(3, 12), n=st.integers(4, 10), m=st.integers(1, 4), seed=st.integers(0, 2**31))
def test_loadings_are_feasible_stationary_and_not_worse(d, n, m, seed):
    A, pattern = rng(seed).standard_normal((d, n)), rng(seed + 1).random((d, m)) < 0.5
    start = random_point(n, m, rng(seed + 2))
    Z = solve_for_z(A, pattern, start)
    assert Z.shape == (d, m)
    assert not Z[~pattern].any()
    filled = pattern.any(axis=0)
    assert np.linalg.norm(Z, axis=0) == pytest.approx(filled.astype(float))
    first = unit_columns(np.where(pattern, A @ start, 0.0))
    value = objective(A, Z)
    assert value >= objective(A, first) * (1 - 1e-12)
    again = unit_columns(np.where(pattern, A @ polar(A.T @ Z), 0.0))
    assert value * (1 - 1e-9) <= objective(A, again) <= value * (1 + 1e-6)


@given(d=st.integers(3, 10), n=st.integers(4, 8), m=st.integers(1, 3), seed=st.integers(0, 2**31))
def test_a_rotation_of_the_samples_changes_nothing(d, n, m, seed):
    A, pattern = rng(seed).standard_normal((d, n)), rng(seed + 1).random((d, m)) < 0.5
    U = random_point(n, n, rng(seed + 2))
    rotated = solve_for_z(A @ U, pattern)
    assert np.allclose(rotated, solve_for_z(A, pattern, U[:, :m]), atol=1e-6)
    explicit = solve_for_z(A @ U, pattern, np.eye(n, m))
    assert np.array_equal(rotated, explicit)


@pytest.mark.parametrize("m", [1, 2, 4])
def test_a_full_pattern_gives_the_subspace_of_pca(m):
    A = data(15, 8)
    Z = solve_for_z(A, np.ones((15, m), dtype=bool), random_point(8, m, rng(1)))
    expected = np.linalg.svd(A)[0][:, :m]
    assert subspace_error(np.linalg.qr(Z)[0], expected) < 5e-3
    best = np.sqrt(m * np.sum(np.linalg.svd(A, compute_uv=False)[:m] ** 2))
    # sum_j |A x_j| is largest where the m variances within the subspace are equal
    assert objective(A, Z) == pytest.approx(best, rel=1e-6)


def test_empty_columns_stay_zero_and_change_no_other():
    A, pattern = data(10, 6), rng(2).random((10, 2)) < 0.6
    start, mu = random_point(6, 4, rng(1)), np.array([3.0, 1.0, 2.0, 1.0])
    padded = np.zeros((10, 4), dtype=bool)
    padded[:, [0, 2]] = pattern
    Z = solve_for_z(A, padded, start, mu)
    assert not Z[:, [1, 3]].any()
    alone = solve_for_z(A, pattern, start[:, [0, 2]], mu[[0, 2]])
    assert np.allclose(Z[:, [0, 2]], alone, atol=1e-12)
    assert not solve_for_z(A, np.zeros((10, 4), dtype=bool), start).any()

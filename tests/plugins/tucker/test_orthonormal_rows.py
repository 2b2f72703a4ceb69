"""The QR retraction: unique, orthonormal to rounding, and nothing lost where A is deficient."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.geometry import subspace_error
from orthobench_tucker._kernels.orthonormal import orthonormalize as orthonormalize_rows

from orthobench.tools.geometry import orthonormalize, random_point


def retract(A):
    """The Q factor, by the kernel of rows."""
    rows = np.array(A.T, order="C")
    found = np.empty_like(rows)
    assert orthonormalize_rows(rows, found)
    return found.T


def largest_defect(Q):
    return np.abs(Q.T @ Q - np.eye(Q.shape[1])).max()


@given(
    seed=st.integers(0, 2**32 - 1),
    r=st.integers(1, 12),
    more=st.integers(0, 40),
    size=st.floats(-6, 12),
    rank=st.integers(1, 12),
)
def test_any_step_from_a_point_is_orthonormal_and_keeps_its_span(seed, r, more, size, rank):
    rng, n = np.random.default_rng(seed), r + more
    Q = random_point(n, r, rng)
    G = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, r))
    A = Q + 10.0**size * G / np.linalg.norm(G)
    found = retract(A)
    assert largest_defect(found) <= 1e-14
    assert np.linalg.norm(A - found @ (found.T @ A)) <= 1e-13 * np.linalg.norm(A)
    R = found.T @ A
    assert np.abs(np.tril(R, -1)).max() <= 1e-13 * np.linalg.norm(A)
    assert np.all(np.diagonal(R) >= -1e-13 * np.linalg.norm(A))


@pytest.mark.parametrize("shape", [(6, 6), (50, 3), (3000, 12), (200, 100)])
def test_well_conditioned_matrix_gives_its_q_factor(shape):
    rng = np.random.default_rng(0)
    A = random_point(*shape, rng) + 0.5 * random_point(*shape, rng)
    np.testing.assert_allclose(retract(A), orthonormalize(A), atol=1e-13)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_dependent_columns_still_give_an_orthonormal_basis_of_more(rank):
    rng = np.random.default_rng(rank)
    span = random_point(30, max(rank, 1), rng)[:, :rank]
    A = span @ rng.standard_normal((rank, 5)) if rank else np.zeros((30, 5))
    Q = retract(A)
    assert largest_defect(Q) <= 1e-14
    assert subspace_error(Q, span) <= 1e-12


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_matrix_that_is_not_finite_changes_nothing(bad):
    rows, out = np.eye(2, 5), np.full((2, 5), 7.0)
    rows[1, 3] = bad
    assert not orthonormalize_rows(rows, out)
    np.testing.assert_array_equal(out, 7.0)

"""Variance that sparse components explain, against projections and principal components."""

from itertools import permutations

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_sparse_pca.judge import adjusted_variance, explained_variance

from orthobench.tools.geometry import unit_columns


def sparse(d, m, seed=0, density=0.4):
    """Random unit columns, each with a non-zero at least."""
    pattern = rng(seed).random((d, m)) < density
    pattern[rng(seed + 1).integers(0, d, m), np.arange(m)] = True
    return unit_columns(np.where(pattern, rng(seed + 2).standard_normal((d, m)), 0.0))


shapes = {"d": st.integers(2, 12), "n": st.integers(1, 12), "seed": st.integers(0, 2**32 - 10)}


def by_projections(scores):
    """Take the columns by their norms, and add up what is left of each beside those before."""
    order = np.argsort(-np.linalg.norm(scores, axis=0), kind="stable")
    total = 0.0
    for j, column in enumerate(order):
        before = scores[:, order[:j]]
        rest = scores[:, column] - before @ np.linalg.pinv(before) @ scores[:, column]
        total += rest @ rest
    return total


@given(**shapes, m=st.integers(1, 5))
def test_adjusted_variance_is_the_sum_of_residuals(d, n, seed, m):
    A, Z = rng(seed).standard_normal((d, n)), sparse(d, m, seed)
    assert adjusted_variance(A, Z) == pytest.approx(by_projections(A.T @ Z), rel=1e-9)


@given(**shapes, m=st.integers(1, 5))
def test_adjusted_variance_is_at_most_plain_and_pca_variance(d, n, seed, m):
    A, Z = rng(seed).standard_normal((d, n)), sparse(d, m, seed)
    adjusted = adjusted_variance(A, Z)
    pca = np.sum(np.linalg.svd(A, compute_uv=False)[:m] ** 2)
    assert 0 <= adjusted <= explained_variance(A, Z) * (1 + 1e-12)
    assert adjusted <= pca * (1 + 1e-12)


@given(**shapes)
def test_the_loadings_of_pca_explain_what_pca_does(d, n, seed):
    A = rng(seed).standard_normal((d, n))
    left, s, _ = np.linalg.svd(A, full_matrices=False)
    for m in range(1, len(s) + 1):
        best = np.sum(s[:m] ** 2)
        assert adjusted_variance(A, left[:, :m]) == pytest.approx(best)
        assert explained_variance(A, left[:, :m]) == pytest.approx(best)


def test_uncorrelated_scores_need_no_adjustment_and_others_do():
    # three blocks of genes whose samples are orthogonal
    A = np.zeros((6, 9))
    for block in range(3):
        A[2 * block : 2 * block + 2, 3 * block : 3 * block + 3] = rng(block).standard_normal((2, 3))
    Z = unit_columns(np.kron(np.eye(3), [[1.0], [2.0]]))
    assert adjusted_variance(A, Z) == pytest.approx(explained_variance(A, Z))
    correlated = A + 0.5 * rng(9).standard_normal(9)
    assert adjusted_variance(correlated, Z) < 0.99 * explained_variance(correlated, Z)


@given(**shapes, m=st.integers(2, 4))
def test_adjusted_variance_ignores_order_and_signs_of_columns(d, n, seed, m):
    A, Z = rng(seed).standard_normal((d, n)), sparse(d, m, seed)
    first = adjusted_variance(A, Z)
    for order in permutations(range(m)):
        signs = rng(seed).choice([-1.0, 1.0], m)
        assert adjusted_variance(A, Z[:, order] * signs) == pytest.approx(first, rel=1e-9)


def test_the_order_is_by_variance_and_matters():
    A = np.diag([2.0, 1.0])
    Z = np.array([[1.0, 0.8], [0.0, 0.6]])
    # e_1 explains 4; of the second scores (1.6, .6) the first component is explained already
    assert adjusted_variance(A, Z) == pytest.approx(4 + 0.36)
    R = np.linalg.qr(A.T @ Z[:, ::-1], mode="r")
    assert np.sum(np.diagonal(R) ** 2) != pytest.approx(4.36)


@given(**shapes, m=st.integers(1, 4))
def test_duplicates_and_empty_columns_add_nothing(d, n, seed, m):
    A, Z = rng(seed).standard_normal((d, n)), sparse(d, m, seed)
    alone = adjusted_variance(A, Z)
    with_copy = np.hstack([Z, Z[:, :1]])
    with_empty = np.hstack([np.zeros((d, 1)), Z, np.zeros((d, 2))])
    assert adjusted_variance(A, with_copy) == pytest.approx(alone, rel=1e-9)
    assert explained_variance(A, with_copy) > explained_variance(A, Z)
    assert adjusted_variance(A, with_empty) == pytest.approx(alone, rel=1e-12)
    assert explained_variance(A, with_empty) == pytest.approx(explained_variance(A, Z))
    assert adjusted_variance(A, np.zeros((d, m))) == 0

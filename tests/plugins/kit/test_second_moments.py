"""Second moments against the explicit d x d matrix."""

import tracemalloc

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit import second_moments
from orthobench_kit.geometry import subspace_error
from orthobench_kit.rows import SparseRows
from orthobench_kit.second_moments import DenseMoment, RowMoment, second_moment
from orthobench_kit.sources import ArraySource
from scipy import sparse

from orthobench.errors import DataError
from orthobench.tools.geometry import drift, random_point

seeds = st.integers(0, 2**32 - 1)


def rows(n, d, seed=0):
    """Rows with a decaying spectrum, so that the leading subspaces are well separated."""
    return rng(seed).standard_normal((n, d)) * 0.8 ** np.arange(d)


@given(n=st.integers(1, 40), d=st.integers(1, 40), seed=seeds)
def test_both_forms_agree_with_the_matrix(n, d, seed):
    X = rows(n, d, seed)
    C = X.T @ X / n
    k = int(rng(seed).integers(1, d + 1))
    V = rng(seed + 1).standard_normal((d, 3))
    expected = np.linalg.eigvalsh(C)[::-1][:k]
    scale = np.trace(C)
    for moment in (DenseMoment(C), RowMoment(X), second_moment(ArraySource(X))):
        assert moment.d == d
        assert np.allclose(moment.variances(V), np.diag(V.T @ C @ V), rtol=0, atol=1e-10 * scale)
        assert moment.trace == pytest.approx(scale)
        values, vectors = moment.leading(k)
        assert np.allclose(values, expected, rtol=0, atol=1e-12 * scale)
        assert drift(vectors) < 1e-12
        assert np.allclose(C @ vectors, vectors * values, rtol=0, atol=1e-12 * scale)


def frozen(X):
    X.flags.writeable = False
    return X


def test_rows_that_are_not_copied_have_the_moment_of_copies(monkeypatch):
    monkeypatch.setattr(second_moments, "COPIED", 0)
    X, order = np.round(rows(600, 640), 1), np.arange(0, 600, 2)[::-1]
    single = X.astype(np.float32)
    for data, moved, expected in (
        (frozen(X.copy()), {}, X),
        (frozen(single.copy()), {}, single),
        (frozen(X.copy()), {"order": order}, X[order]),
        (frozen(X.copy()), {"scale": 2.0, "centre": np.arange(640)}, 2 * (X - np.arange(640))),
        (SparseRows(sparse.csr_array(X)), {}, X),
        (SparseRows(sparse.csr_array(X)), {"order": order}, X[order]),
        (SparseRows(sparse.csr_array(single)), {}, single),
    ):
        moment, copied = second_moment(ArraySource(data, **moved)), RowMoment(expected)
        V = rows(640, 3)
        np.testing.assert_allclose(moment.variances(V), copied.variances(V), rtol=1e-6)
        np.testing.assert_allclose(moment.mean, expected.mean(axis=0), rtol=0, atol=1e-6)
        assert moment.trace == pytest.approx(copied.trace)
        (values, vectors), (others, _) = moment.leading(4), copied.leading(4)
        np.testing.assert_allclose(values, others, rtol=1e-6)
        assert not moment.tied(values, vectors)
        assert np.allclose(moment.variances(vectors), values)


def test_a_later_change_of_the_callers_rows_changes_no_moment(monkeypatch):
    monkeypatch.setattr(second_moments, "COPIED", 0)
    X, V = rows(30, 40), rows(40, 2)
    moment = second_moment(ArraySource(X))
    before = moment.variances(V)
    X *= 2
    assert np.array_equal(moment.variances(V), before)


def test_moment_of_few_rows_takes_less_memory_than_the_rows():
    for X in (rows(600, 10_000), rows(600, 10_000).astype(np.float32)):
        source = ArraySource(frozen(X))
        tracemalloc.start()
        second_moment(source).leading(2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.3 * 8 * 2 * 256 * 10_000  # two blocks and the Gram matrix


def test_rows_keep_the_accuracy_that_their_gram_matrix_has_not():
    # singular values down to 1e-7: their squares drown in the Gram matrix's rounding
    U, V = random_point(30, 8, rng(1)), random_point(60, 8, rng(2))
    s = 10.0 ** -np.arange(8)
    values, vectors = RowMoment((U * s) @ V.T).leading(8)
    assert np.allclose(values * 30, s**2, rtol=1e-6)
    assert subspace_error(V[:, :6], vectors[:, :6]) < 1e-8


def test_pairs_beyond_the_rank_are_zero_and_orthonormal():
    moment = RowMoment(rows(3, 10))
    values, vectors = moment.leading(6)
    assert np.all(values[:3] > 0)
    assert np.all(values >= 0)
    assert np.all(values[3:] < 1e-15)
    assert drift(vectors) < 1e-12


@pytest.mark.parametrize(
    ("C", "message"),
    [
        (np.ones((2, 3)), "symmetric matrix, not of shape"),
        (np.ones(3), "matrix"),
        (np.array([[1.0, 2.0], [3.0, 4.0]]), "symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "row of the covariance 0"),
        (np.eye(2) * 1j, "real numbers"),
    ],
)
def test_other_matrices_than_covariances_are_refused(C, message):
    with pytest.raises(DataError, match=message):
        DenseMoment(C)


def test_a_bad_row_of_the_judges_data_is_named():
    X = np.ones((400, 3))
    X[321, 2] = np.inf
    with pytest.raises(DataError, match=r"sample 321 .*feature 2"):
        second_moment(ArraySource(X))

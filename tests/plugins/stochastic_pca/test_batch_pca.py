"""batch-pca against an independent SVD of the samples."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca.solvers import batch_pca
from orthobench_stochastic_pca.solvers.batch_pca import BLOCK, BatchPCA, erm_flops, leading_rows

from orthobench.contract.samples import SampleOracle
from orthobench.tools.geometry import drift, random_point, subspace_error


def reached(X, k, chunks=()):
    oracle = SampleOracle(ArraySource(X), k)
    oracle.start = random_point(X.shape[1], k, np.random.default_rng(0))
    oracle.prepare(len(X))
    solver = BatchPCA()
    state = solver.init(oracle, np.random.default_rng(0))
    for chunk in [*chunks, len(X) - sum(chunks)]:
        solver.advance(oracle, state, chunk)
        state = pickle.loads(pickle.dumps(state))  # noqa: S301
    return state


def point(X, k, chunks=()):
    return BatchPCA().solution(reached(X, k, chunks)).point


def decaying(n, d, seed=1):
    return np.random.default_rng(seed).standard_normal((n, d)) * 0.8 ** np.arange(d)


def test_returns_the_leading_right_singular_vectors():
    for n, d, k in (
        (600, 30, 4), (257, 30, 4), (100, 30, 4), (29, 30, 4), (30, 30, 30), (50, 400, 5),
        (900, 300, 3),
    ):  # fmt: skip
        X = decaying(n, d)
        U = point(X, k)
        _, _, Vt = np.linalg.svd(X, full_matrices=False)
        assert drift(U) <= 1e-13
        np.testing.assert_allclose(np.abs(np.sum(U * Vt[:k].T, axis=0)), 1.0, atol=1e-10)
        assert subspace_error(Vt[:k].T, U) <= 1e-9, (n, d, k)


def test_more_samples_than_features_never_make_a_gram_matrix(monkeypatch):
    def refused(X, k):
        raise AssertionError(f"the Gram matrix of {len(X)} samples of {X.shape[1]} features")

    X = decaying(200, 10)
    expected = point(X, 3)
    monkeypatch.setattr(batch_pca, "leading_rows", refused)
    np.testing.assert_array_equal(point(X, 3), expected)
    with pytest.raises(AssertionError, match="10 samples of 10"):
        point(X[:10], 3)


@pytest.mark.parametrize("scale", [1e-160, 1.0, 1e150])
def test_few_samples_are_completed_from_the_start(scale):
    X = scale * decaying(2, 20)
    U = point(np.vstack([X, 0 * X, X]), 4)
    assert drift(U) <= 1e-13
    assert subspace_error(U, np.linalg.qr(X.T)[0]) <= 1e-12
    start = random_point(20, 4, np.random.default_rng(0))
    both = np.linalg.qr(np.hstack([X.T / scale, start]))[0]
    assert subspace_error(both, U) <= 1e-12


def test_no_samples_and_zero_samples_leave_the_start():
    start = random_point(9, 3, np.random.default_rng(0))
    assert subspace_error(start, point(np.zeros((5, 9)), 3)) <= 1e-14
    oracle = SampleOracle(ArraySource(np.zeros((5, 9))), 3)
    oracle.start = start
    state = BatchPCA().init(oracle, np.random.default_rng(0))
    assert subspace_error(start, BatchPCA().solution(state).point) <= 1e-14


@settings(max_examples=15)
@given(st.lists(st.integers(0, 700), max_size=6), st.sampled_from([20, 290, 800]))
def test_bits_do_not_depend_on_chunks(cuts, d):
    X = decaying(700, d)
    chunks = np.diff([0, *sorted(cuts)]).tolist()
    whole, parts = reached(X, 2), reached(X, 2, chunks)
    assert BatchPCA().solution(whole).point.tobytes() == BatchPCA().solution(parts).point.tobytes()
    assert whole.work == parts.work


def test_flops_are_those_of_one_decomposition():
    work = reached(decaying(600, 30), 4, chunks=(10, 90)).work
    assert (work.steps, work.samples) == (600, 600)
    assert work.flops == 2 * 600 * 30**2 + 9 * 30**3
    assert erm_flops(10, 30, 4) == 2 * 10**2 * 30 + 9 * 10**3 + 2 * 10 * 30 * 4


def test_rows_of_low_rank_have_as_many_singular_vectors():
    X = np.zeros((4, 6))
    assert leading_rows(X, 2).shape == (6, 0)
    X[0, 0], X[1, 1] = 1.0, 1e-9
    assert leading_rows(X, 3).shape == (6, 1)
    X[1, 1] = 1e-5
    np.testing.assert_allclose(np.abs(leading_rows(X, 3)), np.eye(6, 2), atol=1e-8)


@pytest.mark.parametrize("d", [BLOCK - 1, BLOCK + 2])
def test_samples_are_summed_once_there_are_as_many_as_features_and_a_block(d):
    X = np.random.default_rng(0).standard_normal((2 * BLOCK + 9, d))
    first = max(d, BLOCK)
    for count, summed in ((first - 1, 0), (first, BLOCK), (2 * BLOCK, 2 * BLOCK)):
        state = reached(X[:count], 2)
        assert state.summed == summed
        assert sum(map(len, state.recent)) == count - summed

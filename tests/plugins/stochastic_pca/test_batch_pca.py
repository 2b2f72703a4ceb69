"""batch-pca against an independent SVD of the samples."""

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_kit.sources import ArraySource
from orthobench_stochastic_pca.solvers.batch_pca import BatchPCA

from orthobench.contract.samples import SampleOracle
from orthobench.tools.geometry import drift, random_point


def point(X, k):
    oracle = SampleOracle(ArraySource(X), k)
    oracle.start = random_point(X.shape[1], k, np.random.default_rng(0))
    oracle.prepare(len(X))
    solver = BatchPCA()
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, len(X))
    return solver.solution(state).point


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

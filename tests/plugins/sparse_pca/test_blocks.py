"""Block diagonalization: blocks, their optimum, and what the threshold costs."""

import numpy as np
import pytest
from features import most_variance, of_features
from orthobench_sparse_pca.solvers.blocks import SparsePCABlocks, blocks

import orthobench as ob
from orthobench.errors import UsageError


def factor(S):
    values, vectors = np.linalg.eigh(S)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def variance(outcome, S):
    z = outcome.solution[:, 0]
    return z @ S @ z


def test_blocks_are_connected_by_what_is_above_the_threshold():
    S = np.eye(6)
    for i, j, value in ((0, 1, 0.9), (1, 2, -0.8), (3, 4, 0.7), (2, 3, 0.2), (4, 5, 0.1)):
        S[i, j] = S[j, i] = value
    assert [list(own) for own in blocks(S, 3)] == [[0, 1, 2], [3, 4], [5]]
    assert [list(own) for own in blocks(S, 2)] == [[0, 1], [2], [3], [4], [5]]
    assert len(blocks(S, 6)) == 1
    assert [list(own) for own in blocks(S[:1, :1], 1)] == [[0]]


def test_a_block_diagonal_covariance_is_solved_exactly():
    for count in (2, 3, 5):
        rng = np.random.default_rng(count)
        S = np.zeros((12, 12))
        for own in (slice(0, 4), slice(4, 8), slice(8, 12)):
            part = rng.standard_normal((4, 6))
            S[own, own] = part @ part.T
        turned = rng.permutation(12)
        S = S[np.ix_(turned, turned)]
        problem = of_features(factor(S), 1, cardinality=count)
        outcome = ob.solve("sparse-pca-blocks", problem, block=4)
        assert variance(outcome, S) == pytest.approx(most_variance(S, count), rel=1e-9)


def test_lost_variance_is_within_the_bound_of_the_threshold():
    for seed in range(5):
        A = np.random.default_rng(seed).standard_normal((10, 30))
        S, count = A @ A.T, 3
        outcome = ob.solve("sparse-pca-blocks", of_features(A, 1, cardinality=count), block=4)
        inside = np.zeros_like(S, dtype=bool)
        for own in blocks(S, 4):
            inside[np.ix_(own, own)] = True
        threshold = np.abs(S[~inside]).max()
        best = most_variance(S, count)
        assert best - 2 * count * threshold <= variance(outcome, S) <= best * (1 + 1e-12)
        whole = ob.solve("sparse-pca-blocks", of_features(A, 1, cardinality=count), block=10)
        assert variance(whole, S) == pytest.approx(best, rel=1e-9)


def test_more_features_than_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr("orthobench_sparse_pca.solvers.blocks.MOST", 50)
    A = np.arange(102.0).reshape(51, 2)
    with pytest.raises(UsageError, match="block diagonalization takes"):
        ob.solve("sparse-pca-blocks", of_features(A, 1))
    oracle = of_features(A[:50], 1, cardinality=2).oracle
    assert SparsePCABlocks().init(oracle, np.random.default_rng(0)).A.shape == (50, 2)


def test_components_beyond_the_rank_stay_empty():
    A = np.outer([3.0, 2.0], [1.0, -1.0])
    outcome = ob.solve("sparse-pca-blocks", of_features(A, 2, cardinality=2))
    assert np.count_nonzero(outcome.solution, axis=0).tolist() == [2, 0]
    assert outcome.work.steps == 2
    # one that is far smaller than the first is within it
    A = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1e-9, -1e-9]])
    Z = ob.solve("sparse-pca-blocks", of_features(A, 2, cardinality=1)).solution
    np.testing.assert_array_equal(np.abs(Z), np.eye(2))

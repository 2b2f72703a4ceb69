"""givens-streaming-sparse-pca: Algorithm 5 step by step, memory, chunks, flops."""

import numpy as np
import pytest
from orthobench_givens._kernels.pairs import uniform_pairs
from orthobench_givens._kernels.sparse_columns import Columns, empty_columns
from orthobench_givens.solvers.streaming_sparse_pca import GivensStreamingSparsePCA
from orthobench_sparse_pca import SparsePCAOracle


def data(d=50, n=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((d, n)) * rng.standard_t(2, (d, 1))


def started(solver, A, m, seed=0):
    oracle = SparsePCAOracle(A, m)
    oracle.prepare(A.shape[1])
    return oracle, solver.init(oracle, np.random.default_rng(seed))


def reached(solver, A, m, steps=None, seed=0):
    oracle, state = started(solver, A, m, seed)
    solver.advance(oracle, state, A.shape[1] if steps is None else steps)
    return state


def plainly(A, m, gamma, rotations, seed=0):
    """The same, one sample at a time, with numpy and the rotations of the full method."""
    rng = np.random.default_rng(seed)
    gamma *= np.linalg.norm(A[:, :m], axis=1).max()
    array = empty_columns(m, len(A))
    columns = Columns(array, np.arange(len(A)), len(A), gamma)
    for t, sample in enumerate(A.T):
        at = t if t < m else np.argmin(np.linalg.norm(columns.AU, axis=0))
        columns.AU[:, at] = sample
        if t >= m - 1:
            columns.rotate(uniform_pairs(m, rotations, rng))
    return columns


@pytest.mark.parametrize("m", [2, 5, 39, 40])
def test_follows_algorithm_5(m):
    """If the first samples are zero so is gamma, nothing is rotated, and the first gives way."""
    late = data()
    late[:, :5] = 0.0
    # of a small penalty nearly all rows contribute, here more than the grid of angles is long
    for A, gamma in ((data(), 0.3), (late, 0.3), (data(200), 1e-3)):
        for rotations in (None, 0, 3):
            state = reached(GivensStreamingSparsePCA(gamma=gamma, rotations=rotations), A, m)
            expected = plainly(A, m, gamma, m if rotations is None else rotations)
            assert state.columns.gamma == pytest.approx(expected.gamma)
            tally = state.columns.tally
            assert tally[1:3] == expected.tally[1:3]  # planes and values; others end by rounding
            np.testing.assert_allclose(
                state.columns.AU, expected.AU, rtol=0, atol=1e-12 * np.abs(A).max()
            )


def test_the_first_samples_fill_the_columns():
    A, solver = data(), GivensStreamingSparsePCA(gamma=0.3)
    oracle, state = started(solver, A, 4)
    assert not solver.solution(state).point.any()
    for seen in range(1, 4):
        solver.advance(oracle, state, 1)
        np.testing.assert_array_equal(state.columns.AU[:, :seen], A[:, :seen])
        Z = solver.solution(state).point
        assert Z.shape == (50, 4)
        assert not Z[:, seen:].any()
        assert np.isfinite(Z).all()
    assert state.work.flops == 0
    solver.advance(oracle, state, 1)
    gamma = 0.3 * np.linalg.norm(A[:, :4], axis=1).max()
    assert state.columns.gamma == pytest.approx(gamma, rel=1e-15)
    gram = A[:, :4] @ A[:, :4].T
    np.testing.assert_allclose(state.columns.AU @ state.columns.AU.T, gram, atol=1e-10)
    solver.advance(oracle, state, 1)
    assert state.columns.gamma == pytest.approx(gamma, rel=1e-15)


def test_a_random_start_is_a_rotation_of_the_first_samples():
    A, solver = data(), GivensStreamingSparsePCA(gamma=0.3, start="random", rotations=0)
    assert reached(solver, A, 4, 3).work.flops == 0
    state = reached(solver, A, 4, 4)
    AU, first = state.columns.AU, A[:, :4]
    U = np.linalg.lstsq(first, AU, rcond=None)[0]
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-12)
    assert np.abs(U - np.eye(4)).max() > 0.1
    assert state.work.flops == 2 * 50 * 4 * 4


@pytest.mark.parametrize("start", ["identity", "random"])
def test_recovers_planted_sparse_components(start):
    """Each sample shows one of m components: its column takes the sample up, another gets free."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        d, n, m = 200, 100, 4
        planted = np.kron(np.eye(m), np.ones((15, 1))) / np.sqrt(15)
        A = 0.02 * rng.standard_normal((d, n))
        A[: 15 * m] += planted[:, rng.integers(m, size=n)] * rng.uniform(-2, 2, n)
        solver = GivensStreamingSparsePCA(gamma=0.2, start=start, rotations=40)
        Z = solver.solution(reached(solver, A, m)).point
        cosines = np.abs(planted.T @ Z[: 15 * m])
        assert (cosines.max(axis=1) > 0.99).sum() >= m - 1, seed
        assert np.count_nonzero(Z, axis=0).max() <= 15, seed

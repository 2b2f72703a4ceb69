"""block-krylov and subspace-iteration against the SVD and the Krylov space formed as it is."""

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_stochastic_pca.solvers.krylov import BlockKrylov, SubspaceIteration

import orthobench as ob
from orthobench.tools.geometry import drift

METHODS = (BlockKrylov, SubspaceIteration)


def matrix(n, d, values, seed=0):
    """Return a matrix with given singular values, and its right singular vectors."""
    rng = np.random.default_rng(seed)
    left = np.linalg.qr(rng.standard_normal((n, len(values))))[0]
    right = np.linalg.qr(rng.standard_normal((d, len(values))))[0]
    return left @ np.diag(values) @ right.T, right


@pytest.mark.parametrize("cls", METHODS)
def test_finds_the_leading_singular_vectors(cls):
    for n, d, k in ((300, 40, 4), (40, 300, 4), (60, 25, 25), (30, 15, 3), (12, 30, 12)):
        X, right = matrix(n, d, np.arange(1.0, min(n, d) + 1) ** -1)
        found, _ = cls(tolerance=1e-12, iterations=400).fit(X, k, seed=0)
        assert drift(found) < 1e-13
        assert subspace_error(right[:, :k], found) < 1e-10, (n, d, k)
        # each in its place
        assert np.abs(np.sum(right[:, :k] * found, axis=0)).min() > 1 - 1e-10, (n, d, k)


@pytest.mark.parametrize("cls", METHODS)
def test_data_of_low_rank_are_completed(cls):
    for shape in ((90, 30), (30, 90)):
        X, right = matrix(*shape, [3.0, 2.0])
        found, _ = cls(tolerance=0.0).fit(X, 4, seed=0)
        assert found.shape == (shape[1], 2)
        assert subspace_error(right, found) < 1e-10
        outcome = ob.solve(cls(), ob.stochastic_pca(X, k=4), budget=ob.Budget(samples=1))
        assert drift(outcome.solution) < 1e-13


@pytest.mark.parametrize("rank", [21, 24, 27])
def test_the_krylov_space_ends_where_it_is_invariant(rank):
    """Blocks of 12 columns: the third has fewer directions than columns, or than are left."""
    X, _ = matrix(80, 30, np.linspace(2, 1, rank))
    X[:, -1] = X[:, -2]
    found, _ = BlockKrylov(tolerance=0.0).fit(X, 4, seed=0)
    assert drift(found) < 1e-13
    assert subspace_error(np.linalg.svd(X)[2][:4].T, found) < 1e-10


@pytest.mark.parametrize("q", [0, 2, 4])
def test_the_krylov_space_is_that_of_the_powers(q):
    X, _ = matrix(80, 50, np.arange(1.0, 51) ** -0.5)
    k, b = 3, 5
    A, G = X.T, np.random.default_rng(7).standard_normal((80, b))
    powers = [A @ G]
    for _ in range(q):
        powers.append(A @ (A.T @ powers[-1]))
    Q = np.linalg.qr(np.hstack(powers))[0]
    values, Y = np.linalg.eigh(Q.T @ A @ A.T @ Q)
    solver = BlockKrylov(oversampling=b - k, tolerance=0.0, iterations=q + 1)
    found, _ = solver.fit(X, k, seed=7)
    assert subspace_error(Q @ Y[:, :-4:-1], found) < 1e-9
    variances = np.linalg.norm(X @ found, axis=0) ** 2
    np.testing.assert_allclose(variances, values[:-4:-1], rtol=1e-12)


def test_the_spectral_error_is_within_the_published_factor():
    values = np.arange(1.0, 301) ** -0.5
    X, _ = matrix(300, 400, values)
    worst = {}
    for cls in METHODS:
        for products in (3, 6):
            solver = cls(oversampling=0, tolerance=0.0, iterations=products)
            V, _ = solver.fit(X, 10, seed=1)
            worst[cls, products] = np.linalg.norm(X - (X @ V) @ V.T, 2) / values[10] - 1
    assert worst[BlockKrylov, 6] < 1e-6
    assert worst[BlockKrylov, 3] < 0.05
    assert worst[BlockKrylov, 3] < 0.2 * worst[SubspaceIteration, 3]
    assert worst[SubspaceIteration, 6] < 0.05


@pytest.mark.parametrize("cls", METHODS)
def test_it_ends_where_the_residuals_are_below_the_tolerance(cls):
    X, _ = matrix(200, 60, 0.9 ** np.arange(60))
    flops = []
    for tolerance in (1e-2, 1e-4, 1e-8):
        V, count = cls(tolerance=tolerance).fit(X, 4, seed=0)
        C = X.T @ X
        residuals = np.linalg.norm(C @ V - V * np.diag(V.T @ C @ V), axis=0)
        assert residuals.max() <= 1.01 * tolerance
        flops.append(count)
    assert flops == sorted(flops)
    assert flops[0] < flops[-1]

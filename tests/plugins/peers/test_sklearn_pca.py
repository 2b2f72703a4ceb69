"""PCA of scikit-learn, with the mean put back, and its flops, which no counter sees."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_stochastic_pca.solvers.sklearn_pca import (
    EPS,
    SklearnIncrementalPCA,
    SklearnPCA,
    with_mean,
)

import orthobench as ob
from orthobench.tools.flops import eigh, qr, svd

N, D, K = 60, 8, 3


def samples(n=N, d=D):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) * np.linspace(2, 1, d) + rng.standard_normal(d)


def mean_back(components, d):
    """Return the flops of a Gram matrix of components and a mean, and of its eigenvectors."""
    least, most = sorted((components + 1, d))
    return least**2 * most + eigh(least)


@pytest.mark.parametrize("n", [5, 7, 8, N])
def test_the_mean_put_back_gives_the_uncentred_moment(n):
    X = samples(n)
    mean = X.mean(axis=0)
    _, values, vectors = np.linalg.svd(X - mean, full_matrices=False)
    pca = SimpleNamespace(singular_values_=values, components_=vectors, mean_=mean)
    right = np.linalg.svd(X)[2][:K]
    np.testing.assert_allclose(np.abs(right @ with_mean(pca, n, K)), np.eye(K), atol=1e-10)


@pytest.mark.parametrize(("share", "rank"), [(4.0, 2), (0.25, 1)])
def test_directions_of_rounding_are_left_out(share, rank):
    """Eigenvalues are compared: squares of singular values."""
    pca = SimpleNamespace(
        singular_values_=[1.0, (share * 3 * EPS) ** 0.5],
        components_=np.eye(2, 3),
        mean_=np.zeros(3),
    )
    assert with_mean(pca, 10, 3).shape == (3, rank)


COUNTS = [
    ("covariance_eigh", (N, D), N * D + 2 * N * D**2 + 3 * D**2 + eigh(D) + mean_back(D, D)),
    ("covariance_eigh", (D, D), D * D + 2 * D**3 + 3 * D**2 + eigh(D) + mean_back(D, D)),
    ("covariance_eigh", (5, D), 2 * 5 * D + svd(5, D) + mean_back(5, D)),
    ("covariance_eigh", (1, D), qr(D, 1)),
    ("full", (2, D), 2 * 2 * D + svd(2, D) + mean_back(2, D)),
    ("full", (N, D), 2 * N * D + svd(N, D) + mean_back(D, D)),
]


@pytest.mark.parametrize(("svd_solver", "shape", "count"), COUNTS)
def test_decompositions_are_exact_and_counted(svd_solver, shape, count):
    X = samples(*shape)
    outcome = ob.solve(SklearnPCA(svd_solver=svd_solver), ob.stochastic_pca(X, k=K))
    assert outcome.work.flops == count
    found, right = outcome.solution, np.linalg.svd(X, full_matrices=False)[2][:K].T
    assert np.linalg.norm(right - found @ (found.T @ right)) < 1e-7


def test_each_batch_is_a_decomposition_with_what_is_kept_and_a_mean():
    solver = SklearnIncrementalPCA(batch=20)
    outcome = ob.solve(solver, ob.stochastic_pca(samples(), k=K))
    assert outcome.work.flops == 3 * svd(K + 20 + 1, D)
    assert (outcome.work.steps, outcome.work.samples) == (3, N)

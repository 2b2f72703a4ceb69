"""PCA of cuML, which needs a GPU: here NumPy stands in for it, and centres as it does."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from orthobench_stochastic_pca.solvers.cuml_pca import CumlIncrementalPCA, CumlPCA, mirrored

import orthobench as ob
from orthobench.tools.flops import eigh, svd
from orthobench.tools.geometry import subspace_error

N, D, K = 30, 8, 3
SEEDED = SimpleNamespace(seed=0)


def samples(n=N):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, D)) * np.linspace(2, 1, D) + rng.standard_normal(D)


@pytest.fixture(autouse=True)
def seen(monkeypatch):
    class PCA:
        def __init__(self, n_components, output_type, svd_solver="full"):
            self.k = n_components
            assert (output_type, svd_solver) == ("cupy", "full")

        def fit(self, X):
            seen.append(X)
            _, _, right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
            self.components_ = right[: self.k]
            return self

        partial_fit = fit

    seen, module = [], ModuleType("cuml.decomposition")
    module.PCA = module.IncrementalPCA = PCA
    monkeypatch.setitem(sys.modules, "cuml", ModuleType("cuml"))
    monkeypatch.setitem(sys.modules, "cuml.decomposition", module)
    return seen


def test_samples_and_their_negatives_have_mean_zero_and_the_same_moment():
    X = samples()
    both = mirrored(X)
    assert both.shape == (2 * N, D)
    np.testing.assert_allclose(both.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(both.T @ both, 2 * X.T @ X)


def test_pca_is_that_of_the_uncentred_moment_and_counted():
    X = samples()
    found, spent = CumlPCA().fit(X, K, SEEDED)
    assert subspace_error(found, np.linalg.svd(X)[2][:K].T) < 1e-10
    assert spent == 4 * N * D**2 + 3 * D**2 + eigh(D) + 2 * N * D


def test_incremental_pca_takes_batches_of_as_many_samples_as_components_or_more(seen):
    rows = iter([samples(5), samples(K), samples(K - 1)])
    oracle = SimpleNamespace(start=np.eye(D, K), n=D, k=K, take=lambda _: next(rows))
    solver = CumlIncrementalPCA(batch=5)
    state = solver.begin(oracle, np.random.default_rng(0))
    np.testing.assert_array_equal(solver.solution(state).point, oracle.start)
    for _ in range(3):
        solver.advance(oracle, state, 1)
    assert [len(X) for X in seen] == [10, 2 * K]
    work = state.work
    assert (work.steps, work.samples) == (3, 5 + K + K - 1)
    assert work.flops == sum(svd(K + 2 * b + 1, D) for b in (5, K, K - 1))
    right = np.linalg.svd(samples(K))[2][:K].T
    assert subspace_error(solver.solution(state).point, right) < 1e-10


def test_a_batch_below_the_components_is_refused():
    oracle = SimpleNamespace(start=np.eye(D, K), k=K)
    CumlIncrementalPCA(batch=K).begin(oracle, None)
    with pytest.raises(ob.UsageError, match="batch must be at least k = 3, not 2"):
        CumlIncrementalPCA(batch=K - 1).begin(oracle, None)


@pytest.mark.parametrize("cls", [CumlPCA, CumlIncrementalPCA])
def test_both_need_cupy_and_cuml(cls):
    assert cls().packages[-1] == "cuml-cu12"
    assert any("cupy" in package for package in cls().packages)

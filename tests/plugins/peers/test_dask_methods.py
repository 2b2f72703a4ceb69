"""PCA of Dask and dask-ml, of samples in chunks: what it finds, and its flops."""

import subprocess
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from orthobench_stochastic_pca.solvers.dask_methods import (
    DaskMLIncrementalPCA,
    DaskMLPCA,
    DaskSVDCompressed,
    DaskTSQR,
    chunked,
)

import orthobench as ob
from orthobench.tools.flops import eigh, qr, svd
from orthobench.tools.geometry import random_point, subspace_error

PACKAGES = ("dask",)

N, D, K = 60, 8, 3


def samples(n=N, d=D):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) * np.linspace(2, 1, d) + rng.standard_normal(d)


def in_chunks(n, d, *chunks):
    """Return the flops of the QR of each chunk, and of all their factors together."""
    rows = sum(min(b, d) for b in chunks)
    return sum(qr(max(b, d), min(b, d)) for b in chunks) + qr(max(rows, d), min(rows, d))


def compressed(n, d, drawn, power, *chunks):
    """Return those of products, of both bases, and of the small decomposition."""
    products = 2 * (power + 1) * 2 * n * drawn * d + 2 * n * drawn**2 + 2 * 2 * d * drawn**2
    return products + in_chunks(n, drawn, *chunks) + in_chunks(d, drawn, d) + svd(drawn, drawn)


def mean_back(components, d):
    least, most = sorted((components + 1, d))
    return least**2 * most + eigh(least)


@pytest.mark.parametrize(
    ("chunk", "n", "count"),
    [
        (25, N, in_chunks(N, D, 25, 25, 25) + svd(D, D)),
        (N - 1, N, in_chunks(N, D, N - 1, N - 1) + svd(D, D)),
        (N, N, in_chunks(N, D, N) + svd(D, D)),
        (D, D, in_chunks(D, D, D) + svd(D, D)),
        (6, 5, in_chunks(D, 5, 6, 6) + svd(5, 5) + 2 * 2 * D * 5**2),
    ],
)
def test_tall_skinny_qr_of_samples_or_of_their_transpose(chunk, n, count):
    X = samples(n)
    outcome = ob.solve(DaskTSQR(chunk=chunk), ob.stochastic_pca(X, k=K))
    assert subspace_error(outcome.solution, np.linalg.svd(X)[2][:K].T) < 1e-10
    assert outcome.work.flops == count


@pytest.mark.parametrize(
    ("solver", "shape", "k", "drawn", "chunks"),
    [
        (DaskSVDCompressed(power=2), (N, 40), 3, 20, (N,)),
        (DaskSVDCompressed(power=2), (N, 40), 10, 20, (N,)),
        (DaskSVDCompressed(power=2), (N, 40), 11, 21, (N,)),
        (DaskSVDCompressed(power=0, chunk=30), (N, D), 3, D, (30, 30)),
        (DaskSVDCompressed(power=1), (5, D), 3, 5, (5,)),
    ],
)
def test_compressed_decompositions_draw_so_many_vectors(solver, shape, k, drawn, chunks):
    outcome = ob.solve(solver, ob.stochastic_pca(samples(*shape), k=k))
    assert outcome.work.flops == compressed(*shape, drawn, solver.power, *chunks)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_compressed_decompositions_are_exact_where_the_rank_is_low(scale):
    basis = random_point(30, 4, np.random.default_rng(0))
    X = scale * np.random.default_rng(1).standard_normal((60, 4)) @ basis.T
    found, _ = DaskSVDCompressed().fit(X, 4, SimpleNamespace(seed=0))
    assert subspace_error(found, basis) < 1e-10


def test_chunks_have_so_many_rows_at_most_and_all_columns():
    assert chunked(samples(), 25).chunks == ((25, 25, 10), (D,))
    assert chunked(samples(), N + 1).chunks == ((N,), (D,))


@pytest.fixture
def stand_in(monkeypatch):
    """dask-ml's decompositions by scikit-learn, which are called as theirs."""
    from sklearn import decomposition

    class PCA:
        def __init__(self, wanted, **settings):
            self.wanted, self.settings = wanted, settings

        def fit(self, X):
            settings = self.settings
            asked = self.wanted, settings["svd_solver"], settings["iterated_power"]
            made.append((*asked, X.chunks[0]))
            vars(self).update(vars(decomposition.PCA(self.wanted).fit(X.compute())))

    class IncrementalPCA(decomposition.IncrementalPCA):
        def partial_fit(self, X):
            made.append(X.chunks[0])
            return super().partial_fit(X.compute())

    made, module = [], ModuleType("dask_ml.decomposition")
    module.PCA, module.IncrementalPCA = PCA, IncrementalPCA
    monkeypatch.setitem(sys.modules, "dask_ml", ModuleType("dask_ml"))
    monkeypatch.setitem(sys.modules, "dask_ml.decomposition", module)
    return made


LARGE = (N, 40)


@pytest.mark.parametrize(
    ("settings", "shape", "asked", "count"),
    [
        ({}, (N, D), (D, "tsqr", 2, (N,)), svd(N, D) + mean_back(D, D)),
        ({}, (5, D), (5, "tsqr", 2, (5,)), svd(5, D) + mean_back(5, D)),
        ({"chunk": N}, (N, D), (D, "tsqr", 2, (N,)), svd(N, D) + mean_back(D, D)),
        (
            {"chunk": 30}, (N, D), (D, "tsqr", 2, (30, 30)),
            in_chunks(N, D, 30, 30) + svd(D, D) + mean_back(D, D),
        ),
        (
            {"svd_solver": "randomized", "power": 3}, LARGE, (K, "randomized", 3, (N,)),
            compressed(*LARGE, 20, 3, N) + mean_back(K, LARGE[1]),
        ),
    ],
)  # fmt: skip
def test_pca_of_dask_ml_is_asked_for_all_components_or_those_sought(
    settings, shape, asked, count, stand_in
):
    X = samples(*shape)
    found, spent = DaskMLPCA(**settings).fit(X, K, SimpleNamespace(seed=0))
    assert stand_in == [asked]
    assert spent == 2 * shape[0] * shape[1] + count
    if settings.get("svd_solver") != "randomized":
        assert subspace_error(found, np.linalg.svd(X)[2][:K].T) < 1e-7


def test_one_sample_has_no_variance(stand_in):
    found, spent = DaskMLPCA().fit(np.array([[3.0, 0.0, 4.0]]), 1, SimpleNamespace(seed=0))
    np.testing.assert_allclose(found[:, 0], [0.6, 0.0, 0.8])
    assert (spent, stand_in) == (qr(3, 1), [])


def test_incremental_pca_of_dask_ml_takes_a_batch_as_one_chunk(stand_in):
    solver, X = DaskMLIncrementalPCA(batch=20), samples()
    estimator = solver.estimator(K)
    for batch in np.split(X, 3):
        solver.fit(estimator, batch)
    assert stand_in == [(20,)] * 3
    assert estimator.components_.shape == (K, D)


@pytest.mark.parametrize(
    ("batch", "k", "count"),
    [
        (20, K, qr(20, D) + qr(D, K) + qr(D, 1) + qr(D + K + 1, D) + svd(D, D) + 8 * 20 * D),
        (4, 2, qr(D, 4) + qr(D, 2) + qr(D, 1) + qr(D, 7) + svd(7, D) + 8 * 4 * D),
    ],
)
def test_flops_of_a_batch_are_those_of_three_factors_and_of_them_together(batch, k, count):
    assert DaskMLIncrementalPCA(batch=batch).flops(D, k) == count


LOADED_ON_THE_CLOCK = """
import gc
import numpy as np, orthobench as ob
ob.solve("dask-tsqr", ob.stochastic_pca(np.random.default_rng(0).standard_normal((60, 8)), 2))
import dask.array
dask.array.zeros((9, 2), chunks=3)[:4]
print(gc.isenabled())
"""


def test_slices_of_dask_leave_the_garbage_collector_on_after_a_run():
    code = [sys.executable, "-c", LOADED_ON_THE_CLOCK]
    assert subprocess.check_output(code, text=True) == "True\n"

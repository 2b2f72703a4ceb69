"""Leading eigenvectors of Gram matrices, and the end of a run as the optimum."""

import tracemalloc

import numpy as np
import pytest
from orthobench_pca import own_optimum, scatter
from orthobench_pca.maker import matrix_of
from orthobench_pca.oracle import PCAOracle
from scipy import sparse


@pytest.mark.parametrize("order", ["C", "F"])
def test_lanczos_misses_no_eigenvector_of_equal_eigenvalues(order):
    values = np.r_[[3.0] * 4, [2.0] * 9, np.linspace(1, 0, 587)]
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((600, 600)))[0]
    C = (Q * values) @ Q.T
    found, V = scatter.leading(np.asarray(np.triu(C), order=order), 10)
    np.testing.assert_allclose(found, values[:10], rtol=1e-13)
    assert np.abs(C @ V - V * found).max() < 1e-12


@pytest.mark.parametrize("side", [255, 256, 257, 600])
def test_mirrored_matrix_has_its_upper_triangle_twice(side):
    C = np.random.default_rng(0).standard_normal((side, side))
    upper = np.triu(C)
    np.testing.assert_array_equal(scatter.mirrored(C), upper + np.triu(upper, 1).T)


def test_scatter_of_a_sparse_matrix_in_blocks_is_that_at_once(monkeypatch):
    X = sparse.random_array((50_000, 100), density=0.1, format="csr", rng=0)
    oracle = PCAOracle(matrix_of(X), 1, True, np.linspace(1, 2, 100))
    at_once = scatter.scatter(oracle)
    monkeypatch.setattr(scatter, "block_length", lambda width, dtype: 500)
    tracemalloc.start()
    in_blocks = scatter.scatter_in_blocks(oracle)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(in_blocks, at_once, rtol=1e-12, atol=1e-9)
    assert peak < 0.5 * X.data.nbytes


@pytest.mark.parametrize(
    ("center", "scale"), [(True, None), (False, None), (True, np.array([2.0, 1, 1, 2]))]
)
def test_own_end_is_the_optimum_up_to_its_bounds(center, scale, monkeypatch):
    monkeypatch.setattr(own_optimum, "LEAST", 0)
    X = np.random.default_rng(0).standard_normal((320, 4)) * [8.0, 4.0, 1.0, 0.5] + 3
    oracle = PCAOracle(matrix_of(X), 1, center, scale)
    Z = (X - X.mean(axis=0) if center else X) / (1.0 if scale is None else scale)
    values, Vt = np.linalg.svd(Z)[1:]
    start, other, gap = np.eye(4, 1), np.full((4, 1), 0.5), 1 - (values[1] / values[0]) ** 2
    for sine in (0.0, 1e-7):
        V = (Vt[:1] + sine * Vt[1:2]).T / np.sqrt(1 + sine**2)
        reference, products = own_optimum.own_optimum(oracle, [start, other, V])
        assert reference.optimal == pytest.approx(values[0] ** 2)
        assert 0.99 * sine <= reference.off < 2 * sine + 1e-12
        assert 0.5 * gap < reference.gap <= gap * (1 + 1e-12)
        for U, product in zip((start, other, V), products, strict=True):
            np.testing.assert_allclose(product, Z.T @ (Z @ U), rtol=1e-9, atol=1e-6)
    # an end that is a little off is no optimum, nor is another eigenvector
    for end in (Vt[:1] + 1e-5 * Vt[1:2], Vt[1:2]):
        assert own_optimum.own_optimum(oracle, [start, end.T / np.linalg.norm(end)]) is None

"""Moments, leading parts and products over samples: what they keep, and what they lose."""

import numpy as np
import pytest
from orthobench_stochastic_pca._kernels import sums
from orthobench_stochastic_pca._kernels.sums import (
    AT_ONCE,
    LowRankSum,
    add_product,
    block_product,
    leading_part,
    panel_width,
    second_moment,
)
from orthobench_stochastic_pca.solvers.batch_pca import BatchPCA, MomentSum, unpacked
from orthobench_stochastic_pca.solvers.frequent_directions import shrunk, sketched

D, K = 12, 3
ORDERS = {
    "rows": lambda A: A,
    "columns": np.asfortranarray,
    "a part of the columns": lambda A: np.hstack([A, A])[:, : A.shape[1]],
    "single": lambda A: np.asfortranarray(A.astype(np.float32)),
}


def samples(n, d=D):
    return np.random.default_rng(0).standard_normal((n, d)) * np.linspace(2, 1, d)


def test_a_sketch_lowers_squares_by_that_of_its_size():
    X = np.diag([3.0, 2.0, 1.0, 0.5])
    for size, kept in ((2, [5.0]), (3, [8.0, 3.0]), (4, [8.75, 3.75, 0.75]), (5, [9, 4, 1, 0.25])):
        found = shrunk(X, size)
        squares = np.sort(np.linalg.svd(found, compute_uv=False) ** 2)[::-1]
        np.testing.assert_allclose(squares, kept)
        assert (found is X) is (size == 5)
        narrow, _ = sketched(np.vstack([X, np.zeros((1, 4))]), size)
        np.testing.assert_allclose(np.linalg.svd(narrow, compute_uv=False) ** 2, kept)


def test_a_part_of_low_rank_loses_the_next_eigenvalue():
    for m, k in ((5, 1), (5, 4), (5, 5), (30, 1), (30, 7), (30, 8)):
        X = samples(m)[:, :8]
        values = np.linalg.svd(X, compute_uv=False) ** 2
        factor, lost = leading_part(X, k)
        assert factor.shape == (k, 8)
        np.testing.assert_allclose(np.sum(factor**2, axis=1), values[:k])
        assert lost == pytest.approx(values[k] if k < len(values) else 0.0), (m, k)


def test_a_part_of_no_rows_or_of_rounding_is_empty():
    factor, lost = leading_part(np.zeros((0, 4)), 2)
    assert (factor.shape, lost) == ((0, 4), 0.0)
    X = np.diag([1.0, 1e-4, 1e-7])
    assert len(leading_part(X, 3)[0]) == 2
    assert len(leading_part(X[:, [0, 1, 2, 2]], 3)[0]) == 2


def test_a_sum_of_leading_parts_adds_rows_losses_and_flops():
    a, b = LowRankSum.of(samples(20), K), LowRankSum.of(samples(5), K)
    both = a.plus(b)
    assert both.rows == 25
    assert both.factor.shape == (K, D)
    assert both.lost > a.lost + b.lost
    assert both.flops > a.flops + b.flops


def test_a_few_samples_are_kept_and_more_are_summed():
    assert MomentSum.of(samples(D)).values.shape == (D, D)
    assert MomentSum.of(samples(D + 1)).values.shape == (D * (D + 1) // 2,)
    both = BatchPCA().merge(MomentSum.of(samples(5)), MomentSum.of(samples(20)))
    assert both.rows == 25
    X = np.vstack([samples(5), samples(20)])
    np.testing.assert_allclose(unpacked(both.values), np.triu(X.T @ X))


def test_single_precision_is_summed_in_chunks(monkeypatch):
    X = samples(50).astype(np.float32)
    monkeypatch.setattr(sums, "CHUNK", 7)
    found = second_moment(X)
    assert found.dtype == np.float64
    np.testing.assert_allclose(np.triu(found), np.triu(X.T @ X), rtol=1e-5, atol=1e-3)


def test_products_are_summed_over_panels(monkeypatch):
    monkeypatch.setattr(sums, "SMALL_PRODUCT", D * K * AT_ONCE)
    X, Q = samples(50), np.linalg.qr(samples(D))[0][:, :K]
    expected = X.T @ (X @ Q)
    for found in (block_product(X, Q), sums.product(X.T, X @ Q), sums.moment_product(X.T, Q)):
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("order", ORDERS)
def test_a_product_is_added_in_place(order):
    rng = np.random.default_rng(0)
    A = ORDERS[order](rng.integers(-9, 9, (30, 7)).astype(float))
    B, total = rng.integers(-9, 9, (7, 4)).astype(A.dtype), np.ones((30, 4))
    add_product(total, A, B)
    assert (total == 1 + A @ B).all()


@pytest.mark.parametrize(("entries", "width"), [(32_000, 24), (100_000, 8), (200_000, 500)])
def test_panels_have_multiples_of_eight_samples_or_all(entries, width):
    assert panel_width(entries, 500) == width

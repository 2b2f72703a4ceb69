"""Moments, leading parts and products over samples: what they keep, and what they lose."""

import numpy as np
import pytest
from orthobench_stochastic_pca._kernels.sums import leading_part
from orthobench_stochastic_pca.solvers.frequent_directions import shrunk, sketched


def samples(n):
    return np.random.default_rng(0).standard_normal((n, 8)) * np.linspace(2, 1, 8)


def test_a_sketch_lowers_squares_by_that_of_its_size():
    X = np.diag([3.0, 2.0, 1.0, 0.5])
    for size, kept in ((2, [5.0]), (3, [8.0, 3.0]), (4, [8.75, 3.75, 0.75]), (5, [9, 4, 1, 0.25])):
        found = shrunk(X, size)
        squares = np.sort(np.linalg.svd(found, compute_uv=False) ** 2)[::-1]
        np.testing.assert_allclose(squares, kept)
        assert (found is X) is (size == 5)
        narrow, _ = sketched(np.vstack([X, np.zeros((1, 4))]), size)
        np.testing.assert_allclose(np.linalg.svd(narrow, compute_uv=False) ** 2, kept)


def test_the_leading_part_is_that_of_the_svd():
    for m, k in ((5, 1), (5, 4), (5, 5), (30, 1), (30, 7), (30, 8)):
        X = samples(m)
        singular, right = np.linalg.svd(X)[1:]
        values = singular**2
        factor, lost = leading_part(X, k)
        np.testing.assert_allclose(np.abs(factor), np.abs(singular[:k, None] * right[:k]))
        assert lost == pytest.approx(values[k] if k < len(values) else 0.0), (m, k)


def test_a_part_of_no_rows_or_of_rounding_is_empty():
    factor, lost = leading_part(np.zeros((0, 4)), 2)
    assert (factor.shape, lost) == ((0, 4), 0.0)
    X = np.diag([1.0, 1e-4, 1e-7])
    assert len(leading_part(X, 3)[0]) == 2
    assert len(leading_part(X[:, [0, 1, 2, 2]], 3)[0]) == 2

import numpy as np
import pytest
from orthobench_stochastic_pca._kernels.factored_sum import MIN_ROWS, FactoredSum


def summed(factors):
    total = FactoredSum()
    for P in factors:
        total = total.plus(P)
    return total


def matrix(total):
    values, vectors = total.spectrum()
    return (vectors * values) @ vectors.T


@pytest.mark.parametrize(("d", "rank"), [(400, 5), (400, 150), (30, 30)])
def test_the_sum_is_kept_whatever_its_rank(d, rank):
    rng = np.random.default_rng(rank)
    basis = rng.standard_normal((rank, d))
    factors = [rng.standard_normal((7, rank)) @ basis for _ in range(150)]
    exact = sum(P.T @ P for P in factors)
    np.testing.assert_allclose(matrix(summed(factors)), exact, atol=1e-12 * np.abs(exact).max())


def test_memory_follows_the_rank_not_the_number_of_factors():
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((5, 2000))
    total = summed(rng.standard_normal((7, 5)) @ basis for _ in range(300))
    assert total.dense is None
    assert total.rows <= MIN_ROWS


def test_eigenvalues_descend_and_vectors_are_orthonormal():
    rng = np.random.default_rng(1)
    for d in (20, 700):
        values, vectors = summed(rng.standard_normal((7, d)) for _ in range(60)).spectrum()
        assert np.all(np.diff(values) <= 0)
        assert np.abs(vectors.T @ vectors - np.eye(len(values))).max() < 1e-13


def test_nothing_sums_to_nothing():
    values, vectors = summed([np.empty((0, 6)), np.empty((0, 6))]).spectrum()
    assert values.shape == (0,)
    assert vectors.shape == (6, 0)

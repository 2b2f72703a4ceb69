"""The maker of canonical correlation analysis at its bounds, and its problems."""

import tracemalloc

import numpy as np
import pytest
from orthobench_cca.maker import LEAST, cca
from orthobench_cca.oracle import Centred, PairsOracle
from orthobench_cca.problems.pairs import PlantedCorrelations, SparsePairs
from orthobench_cca.problems.pencils import DigitDiscriminants
from scipy.sparse import csr_matrix

from orthobench.contract import Solution
from orthobench.errors import DataError, UsageError

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((40, 4)) + 1, RNG.standard_normal((40, 3)) - 2


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_a_matrix_less_its_means_is_never_formed(form):
    Z = X - X.mean(axis=0)
    side = Centred(form(X), X.mean(axis=0))
    V, U = RNG.standard_normal((4, 2)), RNG.standard_normal((40, 2))
    np.testing.assert_allclose(side.times(V), Z @ V, atol=1e-12)
    np.testing.assert_allclose(side.adjoint(U), Z.T @ U, atol=1e-12)
    np.testing.assert_allclose(side.covariance(0.5), Z.T @ Z / 40 + 0.5 * np.eye(4), atol=1e-12)
    np.testing.assert_allclose(side.variances(), X.var(axis=0))
    other = Centred(form(Y), Y.mean(axis=0))
    np.testing.assert_allclose(side.cross(other), Z.T @ (Y - Y.mean(axis=0)) / 40, atol=1e-12)


def test_mixed_pairs_become_dense():
    assert isinstance(cca(csr_matrix(X), Y, 2).oracle, PairsOracle)
    assert not isinstance(cca(csr_matrix(X), csr_matrix(Y), 2).oracle, PairsOracle)


def test_halves_have_to_vary_by_numbers_with_digits():
    with pytest.raises(DataError, match="Y does not vary"):
        cca(X, np.ones((40, 3)), 1)
    unit = np.sqrt(LEAST / Y.var(axis=0).max())
    with pytest.raises(DataError, match="Y is so small"):
        cca(X, 0.9 * unit * Y, 1)
    found = cca(X, 1.1 * unit * Y, 1).measure.correlations
    np.testing.assert_allclose(found, cca(X, Y, 1).measure.correlations)


@pytest.mark.parametrize(("form", "count"), [(np.asarray, 50_000), (csr_matrix, 200_000)])
def test_pairs_are_held_once_beside_the_callers(form, count):
    rows = np.random.default_rng(1).standard_normal((count, 40))
    given = form(np.where(rows > 1, rows, 0.0)), form(np.where(rows < -1, rows, 0.0)[::-1])
    held = sum(M.data.nbytes if form is np.asarray else 1.5 * M.data.nbytes for M in given)
    tracemalloc.start()
    instance = cca(*given, 2)
    instance.measure(Solution(np.vstack([np.eye(40)[:, :2]] * 2)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < peak < 1.3 * held


def test_sparse_test_parts_are_measured_as_dense_ones():
    point = Solution(np.random.default_rng(1).standard_normal((7, 2)))
    sparse = cca(X, Y, 2, test=(csr_matrix(X[:9]), csr_matrix(Y[:9]))).measure(point)
    dense = cca(X, Y, 2, test=(X[:9], Y[:9])).measure(point)
    assert sparse["test_captured"] == pytest.approx(dense["test_captured"])


def test_test_part_of_another_shape_is_refused():
    assert cca(X, Y, 1, test=(X[:5], Y[:5])).measure.test is not None
    with pytest.raises(DataError, match="other columns than X and Y"):
        cca(X, Y, 1, test=(X[:5], Y[:5, :2]))
    for left, right in ((5, 4), (4, 5)):
        with pytest.raises(DataError, match="must be pairs"):
            cca(X, Y, 1, test=(X[:left], Y[:right]))


def test_planted_pairs_have_their_condition_and_a_test_part():
    problem = PlantedCorrelations(p=5, q=4, k=2, samples=4000, condition=10.0, test=30)
    instance = problem.build(np.random.default_rng(0))
    assert instance.oracle.count == 4000
    assert instance.measure.test[0].data.shape == (30, 5)
    values = np.linalg.svd(instance.oracle.X, compute_uv=False)
    assert values[0] / values[-1] == pytest.approx(10, rel=0.1)
    assert PlantedCorrelations().build(np.random.default_rng(0)).measure.test is None


def test_planted_correlations_are_those_of_many_samples():
    problem = PlantedCorrelations(samples=40_000)
    found = problem.build(np.random.default_rng(0)).measure.correlations
    np.testing.assert_allclose(found, problem.correlations, atol=0.02)


def test_sparse_pairs_count_more_in_columns_of_their_group():
    problem = SparsePairs(k=2, samples=300, p=30, q=20, density=0.1, strength=50.0)
    groups = np.repeat([0, 1, 2], 100)
    counts = problem.counts(groups, 30, np.random.default_rng(0)).toarray()
    totals = np.expm1(counts).sum(axis=1)
    np.testing.assert_allclose(totals, 3)
    own = sum(np.expm1(counts[groups == g, 10 * g : 10 * g + 10]).sum() for g in range(3))
    share = 49 / 52 + (3 / 52) / 3
    assert own / totals.sum() == pytest.approx(share, abs=0.03)
    with pytest.raises(UsageError, match="k must be below 20, not 20"):
        SparsePairs(k=20, p=30, q=20)
    assert SparsePairs(k=19, p=30, q=20).k == 19


def test_discriminants_are_those_of_the_scatters_of_digits():
    from sklearn.datasets import load_digits

    pixels = load_digits().data
    oracle = DigitDiscriminants(ridge=0.5).build(None).oracle
    total = np.cov(pixels.T, bias=True)
    ridge = 0.5 * pixels.var(axis=0).mean() * np.eye(64)
    np.testing.assert_allclose(oracle.A + oracle.B, total + ridge, atol=1e-10)
    assert np.linalg.matrix_rank(oracle.A, tol=1e-8) == 9

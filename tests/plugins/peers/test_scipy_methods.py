"""Iterative solvers of scipy: what they find, and their flops, which no counter sees."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_stochastic_pca.solvers.scipy_methods import NULL, ScipyLOBPCG, ScipySVDS

import orthobench as ob
from orthobench.tools.flops import eigh, svd
from orthobench.tools.geometry import random_point, subspace_error

K = 3
BOTH = pytest.mark.parametrize(("n", "d"), [(60, 20), (20, 60)])


def samples(n, d):
    return np.random.default_rng(0).standard_normal((n, d)) * np.linspace(2, 1, d)


def spent(solver, X, k=K):
    return ob.solve(solver, ob.stochastic_pca(X, k=k)).work.flops


@BOTH
@pytest.mark.parametrize("solver", [ScipySVDS(), ScipyLOBPCG()])
def test_each_leading_basis_is_that_of_the_samples(solver, n, d):
    X = samples(n, d)
    right = np.linalg.svd(X)[2]
    for k in (1, K):
        found = ob.solve(solver, ob.stochastic_pca(X, k=k)).solution
        assert subspace_error(found, right[:k].T) < 1e-8


def test_singular_values_of_rounding_have_no_vectors():
    for value, rank in ((2 * NULL, 2), (NULL / 2, 1)):
        found, count = ScipySVDS().fit(np.diag([1.0, value]), 2, None)
        assert found.shape == (2, rank)
        assert count == svd(2, 2)
    assert 1e-14 < NULL < 1e-12


def test_vectors_come_in_the_order_of_their_singular_values():
    X = samples(60, 20)
    state = SimpleNamespace(start=random_point(20, K, np.random.default_rng(1)), seed=0)
    right = np.linalg.svd(X)[2][:K]
    for solver in (ScipySVDS(), ScipyLOBPCG()):
        found, _ = solver.fit(X, K, state)
        np.testing.assert_allclose(np.abs(right @ found), np.eye(K), atol=1e-7)


@pytest.mark.parametrize(("n", "d"), [(60, 12), (12, 60)])
def test_two_products_are_counted_for_each_vector_that_arpack_multiplies(n, d):
    """Of 12 dimensions it takes them all, and perhaps a few of them again."""
    vectors, rest = divmod(spent(ScipySVDS(), samples(n, d)), 4 * n * d)
    assert 12 <= vectors <= 16
    assert rest in (0, 2 * n * d)


@pytest.mark.parametrize("n", [2, 3])
def test_as_many_vectors_as_samples_are_those_of_lapack(n):
    assert spent(ScipySVDS(), samples(n, 8)) == svd(n, 8)


@BOTH
def test_the_moment_and_each_iteration_of_lobpcg_are_counted(n, d):
    X = samples(n, d)
    first, second = (spent(ScipyLOBPCG(iterations=i, tolerance=1e-15), X) for i in (3, 4))
    assert second - first == 2 * 20**2 * K + 36 * 20 * K**2 + eigh(3 * K)
    moment = 2 * 60 * 20**2 + (4 * 60 * 20 * K if n < d else 0)
    assert (first - moment) % (second - first) == 0
    assert first - moment >= 3 * (second - first)


def test_what_lobpcg_leaves_to_lapack_is_counted_as_such():
    assert spent(ScipyLOBPCG(), samples(60, 8)) == 2 * 60 * 8**2 + eigh(8)

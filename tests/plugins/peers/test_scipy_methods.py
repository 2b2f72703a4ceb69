"""Iterative solvers of scipy: what they find, and their flops, which no counter sees."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_stochastic_pca.solvers.scipy_methods import ScipyLOBPCG, ScipySVDS

import orthobench as ob
from orthobench.tools.geometry import random_point

K = 3
BOTH = pytest.mark.parametrize(("n", "d"), [(60, 20), (20, 60)])


def samples(n, d):
    return np.random.default_rng(0).standard_normal((n, d)) * np.linspace(2, 1, d)


@BOTH
@pytest.mark.parametrize("solver", [ScipySVDS(), ScipyLOBPCG()])
def test_each_leading_basis_is_that_of_the_samples(solver, n, d):
    X = samples(n, d)
    right = np.linalg.svd(X)[2]
    for k in (1, K):
        found = ob.solve(solver, ob.stochastic_pca(X, k=k)).solution
        assert subspace_error(found, right[:k].T) < 1e-8


def test_vectors_come_in_the_order_of_their_singular_values():
    X = samples(60, 20)
    state = SimpleNamespace(start=random_point(20, K, np.random.default_rng(1)), seed=0)
    right = np.linalg.svd(X)[2][:K]
    for solver in (ScipySVDS(), ScipyLOBPCG()):
        found, _ = solver.fit(X, K, state)
        np.testing.assert_allclose(np.abs(right @ found), np.eye(K), atol=1e-7)

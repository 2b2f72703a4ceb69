"""Sparse PCA of scikit-learn: scales, penalties, and flops, which no counter sees."""

import numpy as np
import pytest
from features import of_features
from orthobench_sparse_pca.solvers.sklearn_sparse_pca import (
    SklearnMiniBatchSparsePCA,
    SklearnSparsePCA,
)

import orthobench as ob
from orthobench.harness.stopping import Budget
from orthobench.tools.flops import svd

D, N, M = 20, 9, 2

BOTH = pytest.mark.parametrize("cls", [SklearnSparsePCA, SklearnMiniBatchSparsePCA])


def data():
    return np.random.default_rng(0).standard_normal((D, N)) * np.linspace(3, 1, D)[:, None]


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_the_unit_of_the_data_does_not_matter(scale):
    one, other = (
        ob.solve(SklearnSparsePCA(), of_features(unit * data(), m=M), Budget(steps=3)).solution
        for unit in (1.0, scale)
    )
    np.testing.assert_allclose(other, one, atol=1e-9)


@BOTH
def test_a_start_and_each_iteration_are_counted(cls):
    solver = cls(tolerance=0.0) if cls is SklearnSparsePCA else cls(features=D)
    outcome = ob.solve(solver, of_features(data(), m=M), Budget(steps=3))
    assert outcome.work.steps == 3
    first, *_, last = (mark.work.flops for mark in outcome.trace)
    assert first == svd(D, N)
    assert last == svd(D, N) + 3 * 4 * D * N * M


def test_a_larger_penalty_leaves_fewer_loadings():
    instance = of_features(data(), m=M)
    many, few, fewest = (
        np.count_nonzero(ob.solve("sklearn-sparse-pca", instance, gamma=gamma).solution)
        for gamma in (0.0, 0.4, 0.99)
    )
    assert D * M == many > few > fewest


@pytest.mark.parametrize(("each", "asked", "width"), [(False, 13, M), (True, 5, 1)])
def test_all_fits_of_a_bisection_are_counted(each, asked, width):
    fits = []
    instance = of_features(data(), m=M, cardinality=asked, each=each)
    solver = SklearnSparsePCA(tolerance=0.0)
    oracle = instance.oracle
    oracle.start = np.eye(D, M)
    state = solver.init(oracle, np.random.default_rng(0))

    class Counting(SklearnSparsePCA):
        def estimator(self, *arguments):
            fits.append(super().estimator(*arguments))
            return fits[-1]

    run = Counting(tolerance=0.0).run(oracle, state, 2)
    iterations = sum(min(fit.n_iter_, 2) for fit in fits)
    assert len(fits) > 1
    assert run.flops == iterations * 4 * D * N * width + (len(fits) - 1) * svd(D, N)
    assert run.iterations == 2

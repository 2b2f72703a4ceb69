"""Sparse PCA of scikit-learn: scales, penalties, and flops, which no counter sees."""

import numpy as np
import pytest
from features import of_features
from orthobench_sparse_pca.solvers.sklearn_sparse_pca import (
    SklearnSparsePCA,
)

import orthobench as ob
from orthobench.harness.stopping import Budget

D, N, M = 20, 9, 2


def data():
    return np.random.default_rng(0).standard_normal((D, N)) * np.linspace(3, 1, D)[:, None]


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_the_unit_of_the_data_does_not_matter(scale):
    one, other = (
        ob.solve(SklearnSparsePCA(), of_features(unit * data(), m=M), Budget(steps=3)).solution
        for unit in (1.0, scale)
    )
    np.testing.assert_allclose(other, one, atol=1e-9)


def test_a_larger_penalty_leaves_fewer_loadings():
    instance = of_features(data(), m=M)
    many, few, fewest = (
        np.count_nonzero(ob.solve("sklearn-sparse-pca", instance, gamma=gamma).solution)
        for gamma in (0.0, 0.4, 0.99)
    )
    assert D * M == many > few > fewest

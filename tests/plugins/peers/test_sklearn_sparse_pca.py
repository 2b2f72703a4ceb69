"""Sparse PCA of scikit-learn: penalties, and flops, which no counter sees."""

import numpy as np
from features import of_features

import orthobench as ob

D, N, M = 20, 9, 2


def data():
    return np.random.default_rng(0).standard_normal((D, N)) * np.linspace(3, 1, D)[:, None]


def test_a_larger_penalty_leaves_fewer_loadings():
    instance = of_features(data(), m=M)
    many, few, fewest = (
        np.count_nonzero(ob.solve("sklearn-sparse-pca", instance, gamma=gamma).solution)
        for gamma in (0.0, 0.4, 0.99)
    )
    assert D * M == many > few > fewest

"""Planted loadings: what is drawn is what is said, and supports are compared with the truth."""

from itertools import permutations

import numpy as np
import pytest
from drawn import built, rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_sparse_pca.problems.planted import PlantedSparse, support_f1

from orthobench.contract.problem import Solution
from orthobench.tools.geometry import drift

overlaps = st.integers(1, 8).flatmap(
    lambda s: st.tuples(st.just(s), st.integers(0, s // 4).map(lambda h: 2 * h))
)


@given(m=st.integers(1, 6), sizes=overlaps, extra=st.integers(0, 9), seed=st.integers(0, 2**32 - 1))
def test_loadings_are_orthonormal_with_the_supports_asked_for(m, sizes, extra, seed):
    nonzeros, overlap = sizes
    d = max(2, m * nonzeros - (m - 1) * overlap + extra)
    problem = PlantedSparse(m=m, d=d, samples=50, nonzeros=nonzeros, overlap=overlap)
    V = problem.loadings(rng(seed))
    assert V.shape == (d, m)
    assert drift(V) < 1e-14
    support = (V != 0).astype(int)
    common = support.T @ support
    for i in range(m):
        for j in range(m):
            assert common[i, j] == {0: nonzeros, 1: overlap}.get(abs(i - j), 0)
    assert np.allclose(np.abs(V[V != 0]), nonzeros**-0.5)


@pytest.mark.parametrize("overlap", [0, 4])
def test_the_samples_have_the_covariance_that_is_documented(overlap):
    problem = PlantedSparse(
        m=3, d=30, nonzeros=8, overlap=overlap, samples=60_000, test=40_000, spread=9.0, noise=0.5
    )
    assert problem.variances == pytest.approx([9, 3, 1])
    instance = built(problem)
    V = instance.measure.args[1]
    C = V @ np.diag([9.0, 3.0, 1.0]) @ V.T + 0.5 * np.eye(30)
    train, test = instance.oracle.A, instance.measure.args[0].test
    assert train.shape == (30, 60_000)
    assert test.shape == (30, 40_000)
    assert np.abs(train @ train.T / 60_000 - C).max() < 0.06
    assert np.abs(test @ test.T / 40_000 - C).max() < 0.06
    assert np.abs(train.mean(axis=1)).max() < 1e-12
    # the mean of the test part is that of its own draws, less that of the training part
    assert 1e-6 < np.abs(test.mean(axis=1)).max() < 0.05


@pytest.mark.wide
def test_the_truth_has_f1_of_one_and_explains_what_it_must():
    problem = PlantedSparse(test=20_000)
    instance = built(problem)
    V = instance.measure.args[1]
    metrics = instance.measure(Solution(V))
    assert next(iter(metrics)) == "unexplained_variance"
    assert metrics["support_f1"] == instance.best["support_f1"] == 1
    signal = problem.variances.sum() + 5 * problem.noise
    total = problem.variances.sum() + 500 * problem.noise
    assert metrics["explained_variance"] == pytest.approx(signal / total, rel=0.02)
    assert metrics["nonzeros"] == 20
    shuffled = -V[:, [3, 1, 4, 0, 2]]
    assert instance.measure(Solution(shuffled))["support_f1"] == 1


@given(d=st.integers(2, 10), m=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_f1_is_the_best_over_all_matchings(d, m, seed):
    found = rng(seed).random((d, m)) < 0.5
    true = rng(seed + 1).random((d, m)) < 0.5
    true[0] = True

    def f1(s, t):
        hits = np.sum(s & t)
        if hits == 0:
            return 0.0
        precision, recall = hits / s.sum(), hits / t.sum()
        return 2 * precision * recall / (precision + recall)

    best = max(
        np.mean([f1(found[:, i], true[:, j]) for i, j in enumerate(order)])
        for order in permutations(range(m))
    )
    assert support_f1(found, true) == pytest.approx(best)

"""Planted loadings: what is drawn is what is said, and supports are compared with the truth."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_sparse_pca.loadings import solve_for_z
from orthobench_sparse_pca.problems.planted import PlantedSparse, support_f1

from orthobench.contract.problem import Solution
from orthobench.errors import UsageError
from orthobench.tools.geometry import drift, unit_columns


def rng(seed=0):
    return np.random.default_rng(seed)


def built(problem, seed=0):
    return problem.build(rng(seed))


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


def test_features_signs_and_samples_differ_from_seed_to_seed():
    problem = PlantedSparse(overlap=4)
    first, again, other = (built(problem, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.measure.args[1], again.measure.args[1])
    assert np.array_equal(first.oracle.A, again.oracle.A)
    assert not np.array_equal(first.measure.args[1], other.measure.args[1])
    signs = np.sign(first.measure.args[1]).sum(axis=0)
    assert np.abs(signs).max() < 20


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


@pytest.mark.parametrize("overlap", [0, 10])
def test_samples_without_much_noise_show_their_supports(overlap):
    instance = built(PlantedSparse(noise=1e-4, overlap=overlap, spread=16.0, samples=2000))
    A = instance.oracle.A
    left, _, right = np.linalg.svd(A, full_matrices=False)
    pattern = np.abs(left[:, :5]) > 0.1
    Z = solve_for_z(A, pattern, right[:5].T)
    assert instance.measure(Solution(Z))["support_f1"] > 0.95
    if not overlap:
        assert instance.measure(Solution(Z))["support_f1"] == 1


def test_f1_of_wrong_supports_is_that_of_the_formula():
    true = np.zeros((12, 2), dtype=bool)
    true[0:4, 0] = True
    true[4:8, 1] = True
    assert support_f1(true, true) == 1
    found = np.zeros_like(true)
    found[0:2, 1] = True  # half of the first: precision 1, recall 1/2
    found[2:10, 0] = True  # all of the second and four more: precision 1/2, recall 1
    assert support_f1(found, true) == pytest.approx((2 / 3 + 2 / 3) / 2)
    found[:, 1] = False
    assert support_f1(found, true) == pytest.approx((0 + 2 / 3) / 2)
    assert support_f1(np.zeros_like(true), true) == 0
    assert support_f1(~true.any(axis=1, keepdims=True) & np.ones((1, 2), bool), true) == 0
    dense = np.ones_like(true)
    assert support_f1(dense, true) == pytest.approx(2 * 4 / (12 + 4))


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


def test_the_judge_is_that_of_the_family_and_one_metric_more():
    instance = built(PlantedSparse())
    Z = Solution(unit_columns(rng().standard_normal((500, 5))))
    metrics = instance.measure(Z)
    f1 = metrics.pop("support_f1")
    assert metrics == instance.measure.args[0](Z)
    assert f1 == pytest.approx(2 * 20 / 520)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PlantedSparse(m=26), "26 components of 20 non-zeros need 520 features, d is 500"),
        (lambda: PlantedSparse(m=7, samples=6), "m = 7 .* 500 features and 6 training samples"),
        (lambda: PlantedSparse(m=7, d=6), "m = 7 .* 6 features and 200 training samples"),
        (lambda: PlantedSparse(overlap=3), "overlap must be even and at most half of nonzeros"),
        (lambda: PlantedSparse(overlap=12), "overlap must be even and at most half of nonzeros"),
        (lambda: PlantedSparse(noise=0.0), "noise must be >= 1e-12"),
        (lambda: PlantedSparse(spread=0.5), "spread must be >= 1"),
        (lambda: PlantedSparse(test=0), "test must be >= 1"),
    ],
)
def test_bad_parameters_are_refused_before_any_work(make, message):
    with pytest.raises(UsageError, match=message):
        make()

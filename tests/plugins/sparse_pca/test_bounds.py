"""Bounds on explained variance against all supports, and in the judge."""

import numpy as np
import pytest
from features import most_variance, of_features
from hypothesis import given
from hypothesis import strategies as st
from orthobench_sparse_pca import bounds
from orthobench_sparse_pca.bounds import VarianceBounds, leading_bound

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.tools.geometry import unit_columns


def moment(d, N, seed=0):
    A = np.random.default_rng(seed).standard_normal((d, N)) * np.linspace(2, 1, d)[:, None]
    return A @ A.T


@pytest.mark.parametrize(
    "S",
    [
        moment(9, 12),
        moment(9, 4, seed=1),
        np.diag(np.r_[np.ones(5), 2.0, 2.0, 0.0, 0.0]),
        np.ones((8, 8)),
        np.eye(6) + 0.5,
        np.zeros((4, 4)),
    ],
)
def test_the_bound_of_few_features_is_the_optimum(S):
    for count in range(1, len(S) + 1):
        assert leading_bound(S, count) == pytest.approx(most_variance(S, count), rel=1e-10)


def test_planted_loadings_among_29_features_are_the_optimum():
    v = np.r_[np.ones(6), np.zeros(23)] / np.sqrt(6)
    S = 5 * np.outer(v, v) + np.diag(np.linspace(1, 2, 29))
    assert leading_bound(S, 6) >= most_variance(S[:8, :8], 6)
    assert leading_bound(S, 6) == pytest.approx(np.linalg.eigvalsh(S[:6, :6])[-1], rel=1e-12)


@given(data=st.data())
def test_no_sparse_vector_exceeds_the_bound_of_many_features(data):
    d, count = data.draw(st.integers(30, 40)), data.draw(st.integers(1, 30))
    S = moment(d, data.draw(st.integers(1, 50)), seed=data.draw(st.integers(0, 9)))
    bound = leading_bound(S, count)
    for own in (np.argsort(-np.diag(S))[:count], np.argsort(-np.abs(S).sum(axis=0))[:count]):
        assert np.linalg.eigvalsh(S[np.ix_(own, own)])[-1] <= bound * (1 + 1e-12)
    assert bound <= np.linalg.eigvalsh(S)[-1] * (1 + 1e-12)


def test_bound_of_components_is_at_most_that_of_pca():
    A = np.random.default_rng(0).standard_normal((12, 30))
    values = np.linalg.eigvalsh(A @ A.T)[::-1]
    known = VarianceBounds(A)
    assert known([12, 12]) == pytest.approx(values[:2].sum())
    assert known([3, 0, 1]) == pytest.approx(most_variance(A @ A.T, 3) + np.diag(A @ A.T).max())


@pytest.mark.parametrize("count", [1, 4, 9])
def test_the_judge_reports_a_bound_that_no_loadings_are_below(count):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((14, 3)) @ rng.standard_normal((3, 40)) + rng.standard_normal((14, 40))
    instance = of_features(A, m=2, test=A[:, ::-1] * np.linspace(1, 2, 40))
    Z = np.zeros((14, 2))
    for z in Z.T:
        z[rng.permutation(14)[:count]] = rng.standard_normal(count)
    metrics = instance.measure(Solution(unit_columns(Z)))
    assert 0 <= metrics["unexplained_variance_bound"] < metrics["unexplained_variance"]


def test_the_judge_of_many_features_has_no_bound():
    A = np.random.default_rng(0).standard_normal((501, 5))
    assert "unexplained_variance_bound" not in of_features(A, m=1).measure(Solution(np.eye(501, 1)))


def test_tpower_reaches_the_bound_where_a_component_stands_out():
    rng = np.random.default_rng(2)
    v = np.r_[np.ones(5), np.zeros(15)] / np.sqrt(5)
    A = 2 * np.outer(v, rng.standard_normal(60)) + 0.3 * rng.standard_normal((20, 60))
    outcome = ob.solve("tpower", of_features(A, m=1), cardinality=5)
    metrics = outcome.trace[-1].metrics
    gap = metrics["unexplained_variance"] - metrics["unexplained_variance_bound"]
    assert abs(gap) < 1e-7


def test_search_that_is_cut_short_is_still_a_bound(monkeypatch):
    S = moment(14, 20)
    optimum, found = most_variance(S, 5), []
    for nodes in (0, 2, 20, 200, 20_000):
        monkeypatch.setattr(bounds, "NODES", nodes)
        found.append(leading_bound(S, 5))
    assert min(found) >= optimum * (1 - 1e-12)
    assert np.diff(found).max() <= 1e-12 * optimum
    assert found[0] > found[-1] * 1.001


@pytest.mark.parametrize("count", [1, 7, 40])
def test_gershgorins_bound_of_equal_correlations_is_exact(count):
    assert leading_bound(np.eye(40) + 0.5, count) == pytest.approx(1 + 0.5 * count)

"""GeoSPCA: the order of supports, what it ends at, and the best of all shared supports."""

from itertools import combinations

import numpy as np
import pytest
from features import of_features

import orthobench as ob
from orthobench.errors import UsageError


def explained(A, support, m):
    return np.linalg.eigvalsh(A[list(support)] @ A[list(support)].T)[-m:].sum()


def data(seed, d=9, N=14):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((d, N)) * np.geomspace(3, 1, d)[rng.permutation(d), None]


@pytest.mark.parametrize(("m", "count"), [(1, 3), (2, 2), (2, 4), (3, 5)])
def test_it_ends_at_the_best_of_all_shared_supports(m, count):
    for seed in range(3):
        A = data(seed)
        Z = ob.solve("geospca", of_features(A, m, cardinality=count)).solution
        best = max(explained(A, s, m) for s in combinations(range(len(A)), count))
        assert np.sum((A.T @ Z) ** 2) == pytest.approx(best, rel=1e-10)
        np.testing.assert_allclose(Z.T @ Z, np.eye(m), atol=1e-12)
        assert np.count_nonzero(Z.any(axis=1)) == count


def test_it_ends_where_little_enough_is_left():
    A = data(1)
    variances = np.sum(A**2, axis=1)
    first = np.argsort(-variances)[:4]
    left = (variances[first].sum() - explained(A, first, 2)) / variances.sum()
    outcome = ob.solve("geospca", of_features(A, 2, cardinality=4), eta=1.01 * left)
    assert outcome.trace[-1].work.steps == 1
    assert set(np.flatnonzero(outcome.solution.any(axis=1))) == set(first)
    more = ob.solve("geospca", of_features(A, 2, cardinality=4), eta=0.99 * left)
    assert more.trace[-1].work.steps > 1


def test_it_refuses_a_support_that_is_too_small():
    with pytest.raises(UsageError, match="must be from 3, the components, to 9"):
        ob.solve("geospca", of_features(data(0), 3, cardinality=2))


def test_after_the_most_supports_it_does_not_say_that_it_converged():
    problem = of_features(data(1), 2, cardinality=4)
    assert ob.solve("geospca", problem).stop.converged
    assert ob.solve("geospca", problem, cuts=1).stop.reason == "complete after 1 step"

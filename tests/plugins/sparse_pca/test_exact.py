"""Branch and bound, and supports by their totals: what is ruled out, counted and refused."""

from itertools import combinations, product

import numpy as np
import pytest
from features import of_features
from orthobench_sparse_pca.solvers.exact import SparsePCAExact, left
from orthobench_sparse_pca.solvers.geospca import GeoSPCA

import orthobench as ob
from orthobench.tools.flops import eigh

D, N = 9, 5


def data(d=D, seed=0):
    return np.random.default_rng(seed).standard_normal((d, N))


def begun(solver, A, m=1):
    oracle = of_features(A, m).oracle
    return oracle, solver.init(oracle, np.random.default_rng(0))


def test_a_part_has_the_features_with_which_its_row_may_win():
    for count, seed in product((1, 2, 3), range(5)):
        A = data(seed=seed)
        S = A @ A.T
        best = max(
            np.linalg.eigvalsh(S[np.ix_(own, own)])[-1]
            for own in map(list, combinations(range(D), count))
        )
        parts = left(A, count)
        first = parts[0]
        assert first.inside == 0
        assert len(first.features) == count
        reached = np.linalg.eigvalsh(first.S)[-1]
        assert reached <= best * (1 + 1e-12)
        for features, own, inside in parts[1:]:
            assert inside == 1
            np.testing.assert_allclose(own, S[np.ix_(features, features)])
            i, row = features[0], np.abs(S[features[0]])
            others = np.sort(np.delete(row, i))[::-1][: max(count - 2, 0)].sum()
            for j in set(range(D)) - {i}:
                wins = row[i] + others + row[j] > reached * (1 + 1e-9)
                assert (j in features) == (count > 1 and wins)


def test_the_optimum_is_found_with_as_many_loadings_as_features_and_no_more():
    A = data(4)
    oracle, state = begun(SparsePCAExact(cardinality=4), A)
    assert state.search.best == pytest.approx(np.linalg.eigvalsh(A @ A.T)[-1] / oracle.unit**2)
    with pytest.raises(ob.UsageError, match="cardinality = 5 is more than the 4 features"):
        begun(SparsePCAExact(cardinality=5), A)


def test_supports_are_counted_and_explained_variance_is_the_largest():
    A = data()
    oracle, state = begun(GeoSPCA(cardinality=3, cuts=7), A, 2)
    assert state.work.flops == 2 * D * N
    solver, best = GeoSPCA(cardinality=3, cuts=7), 0.0
    for step in range(1, 8):
        places = state.heap[0][1]
        solver.step(oracle, state)
        support = state.order[list(places)]
        values = np.linalg.eigvalsh(state.A[support] @ state.A[support].T)
        best = max(best, values[-2:].sum())
        assert state.best == pytest.approx(best)
        assert state.work.flops == 2 * D * N + step * (2 * 9 * N + eigh(3))
        if state.status.name != "RUNNING":
            break
    found = np.sum((state.A.T @ state.Z) ** 2)
    assert found == pytest.approx(best)
    assert state.status.name in ("CONVERGED", "COMPLETE")

"""Sparse PCA at the cardinality that a problem asks for."""

from itertools import combinations

import numpy as np
import pytest
from features import most_variance, of_features
from orthobench_gpower.solvers.gpower import GPower
from orthobench_sparse_pca.problems.classics import ClassicSparse
from orthobench_sparse_pca.solvers.aman_pg import AManPG
from orthobench_sparse_pca.solvers.exact import left, row_sums
from orthobench_sparse_pca.solvers.tpower import TPower

import orthobench as ob
from orthobench.errors import UsageError
from orthobench.racing.entrants import entrants_on


def built(**parameters):
    return ClassicSparse(**parameters).build(np.random.default_rng(0))


def counts(outcome):
    return np.count_nonzero(outcome.solution, axis=0).tolist()


def test_mtcars_gives_the_published_row():
    """msPCA 0.5.1, benchmarking article: nsprcomp, (4, 4, 4), .832 at an overlap of .078."""
    outcome = ob.solve("tpower", built())
    found = outcome.trace[-1].metrics
    assert counts(outcome) == [4, 4, 4]
    assert round(found["explained_variance"], 3) == 0.832
    assert round(found["overlap"], 3) == 0.078


@pytest.mark.parametrize(("data", "m", "dense"), [("mtcars", 3, 0.899), ("pitprops", 6, 0.877)])
def test_dense_components_explain_what_was_published(data, m, dense):
    A = built(data=data, m=m).oracle.A
    np.testing.assert_allclose(np.linalg.norm(A, axis=1) ** 2, A.shape[1] ** (data == "mtcars"))
    values = np.linalg.eigvalsh(A @ A.T)
    assert values[-m:].sum() / values.sum() == pytest.approx(dense, abs=1e-3)


@pytest.mark.parametrize("solver", [GPower(), GPower(block=True), AManPG()])
def test_a_penalty_is_found_that_delivers_no_more_than_asked_for(solver):
    for data in ("mtcars", "wine"):
        for m, asked in ((1, 3), (3, 4)):
            outcome = ob.solve(solver, built(data=data, m=m, cardinality=asked))
            assert all(1 <= count <= asked for count in counts(outcome))
            assert outcome.trace[-1].metrics["undelivered"] == 0
            assert outcome.work.steps == 1


def test_total_cardinality_comes_from_one_penalty():
    for solver in ("gpower", "aman-pg"):
        outcome = ob.solve(solver, built(cardinality=12, each=False))
        assert max(counts(outcome)) > 4
        assert sum(counts(outcome)) <= 12
    assert counts(ob.solve("tpower", built(cardinality=11, each=False))) == [4, 4, 3]
    # of a shared support it is what all components can have
    shared = ob.solve("geospca", built(cardinality=11, each=False)).solution
    assert np.count_nonzero(shared.any(axis=1)) == 3


def test_single_components_are_those_of_deflated_data():
    instance = built(data="wine")
    Z = ob.solve("aman-pg", instance).solution
    A = instance.oracle.A
    rest = A - np.outer(Z[:, 0], Z[:, 0] @ A)
    own = ob.solve("aman-pg", of_features(rest, 1, cardinality=4)).solution
    np.testing.assert_allclose(own[:, 0], Z[:, 1], atol=1e-9)


def test_a_table_is_compared_at_the_cardinality_that_it_asks_for():
    assert ClassicSparse(cardinality=12, each=False).at == {"undelivered": (0.0,)}
    assert "density" in ClassicSparse(cardinality=None).at


def test_branch_and_bound_finds_the_best_of_all_supports():
    for seed in range(3):
        A = np.random.default_rng(seed).standard_normal((9, 12))
        S = A @ A.T
        outcome = ob.solve("sparse-pca-exact", of_features(A, 2, cardinality=3))
        z = outcome.solution[:, 0]
        assert z @ S @ z == pytest.approx(most_variance(S, 3), rel=1e-10)
        rest = A - np.outer(z, z @ A)
        own = ob.solve("sparse-pca-exact", of_features(rest, 1), cardinality=3).solution
        np.testing.assert_allclose(abs(own[:, 0] @ outcome.solution[:, 1]), 1, atol=1e-9)
    wide = of_features(np.random.default_rng(0).standard_normal((120, 12)), 1)
    with pytest.raises(UsageError, match="of 120 features, and branch and bound takes 100"):
        ob.solve("sparse-pca-exact", wide, cardinality=20)


def test_the_best_pair_of_many_features_is_found():
    A = np.random.default_rng(0).standard_normal((120, 6))
    S = A @ A.T
    mean, half = (
        (S.diagonal()[:, None] + S.diagonal()) / 2,
        (S.diagonal()[:, None] - S.diagonal()) / 2,
    )
    values = mean + np.hypot(half, S)
    np.fill_diagonal(values, 0.0)
    outcome = ob.solve("sparse-pca-exact", of_features(A, 1, cardinality=2))
    z = outcome.solution[:, 0]
    assert counts(outcome) == [2]
    assert z @ S @ z == pytest.approx(values.max(), rel=1e-10)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_best_support_is_in_a_part_that_is_left(count):
    """Power iterations miss the best two features for seed 8, the best three for seed 10."""
    supports = list(map(list, combinations(range(9), count)))
    for seed in (0, 8, 10):
        A = np.random.default_rng(seed).standard_normal((9, 4))
        values = [np.linalg.norm(A[own], 2) ** 2 for own in supports]
        best = supports[int(np.argmax(values))]
        assert any(set(best) <= set(part.features) for part in left(A, count))
        assert max(values) <= row_sums(A, count).max() * (1 + 1e-12)


def test_one_component_is_that_of_the_truncated_power_method():
    instance = built(m=1)
    one, other = (ob.solve(name, instance).solution for name in ("tpower-orthogonal", "tpower"))
    assert abs(one[:, 0] @ other[:, 0]) == pytest.approx(1, abs=1e-6)


def test_a_parameter_without_effect_is_raced_once():
    assert TPower(cardinality=3).refuses(ClassicSparse(cardinality=None)) is None
    assert "leave it out" in str(TPower(cardinality=3).refuses(ClassicSparse()))
    assert "leave it out" in str(GPower(gamma=0.4).refuses(ClassicSparse()))
    raced = list(entrants_on(ClassicSparse()).order.values())
    assert raced.count("tpower") == raced.count("aman-pg") == 1
    assert raced.count("givens-streaming-sparse-pca") > 1

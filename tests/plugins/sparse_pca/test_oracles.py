"""The oracle of sparse PCA: the objective, its unit, samples, and loadings elsewhere."""

import tracemalloc

import numpy as np
import pytest
from orthobench_sparse_pca import SparsePCAOracle, SparseSolution, sparse_pca
from orthobench_sparse_pca.loadings import solve_for_z

from orthobench.contract.problem import Solution
from orthobench.errors import DataError
from orthobench.tools.flops import svd
from orthobench.tools.geometry import random_point, unit_columns


def data(d=9, n=7, seed=0):
    return np.random.default_rng(seed).standard_normal((d, n)) * np.linspace(3, 1, d)[:, None]


def loadings(d, m, seed=1):
    Z = np.random.default_rng(seed).standard_normal((d, m))
    return unit_columns(np.where(np.abs(Z) > 0.7, Z, 0.0))


@pytest.mark.parametrize("gamma", [None, 0.0, 0.8])
def test_objective_is_penalty_less_nuclear_norm_of_scores(gamma):
    A, Z = data(), loadings(9, 3)
    oracle = SparsePCAOracle(A, 3)
    value, work = oracle.objective(SparseSolution(Z, gamma=gamma))
    expected = (gamma or 0) * np.abs(Z).sum() - np.linalg.norm(A.T @ Z, "nuc")
    assert value * oracle.unit == pytest.approx(expected)
    assert (work.flops, work.samples, work.steps) == (2 * 7 * 9 * 3 + svd(7, 3), 0, 0)
    assert oracle.objective(Solution(Z))[0] == oracle.objective(SparseSolution(Z, gamma=None))[0]


def test_the_unit_is_a_power_of_two_above_the_longest_row():
    for length in (1e-100, 0.3, 1.0, 1e100):
        unit = SparsePCAOracle(np.diag([length, length / 2]), 1).unit
        assert np.log2(unit) % 1 == 0
        assert unit / 2 <= length < unit
    for entry, message in ((0.0, "squares underflow"), (np.inf, "too large"), (np.nan, "finite")):
        with pytest.raises(DataError, match=message):
            _ = SparsePCAOracle(np.full((2, 2), entry), 1).unit


def test_the_stream_of_samples_is_that_of_its_oracle():
    A = data()
    oracle = SparsePCAOracle(A, 2, passes=2, order=np.array([3, 1, 0, 2, 6, 5, 4]))
    oracle.rewind(np.random.default_rng(0))
    oracle.prepare(9)
    assert oracle.remaining() == 14
    np.testing.assert_array_equal(oracle.take(9), A.T[[3, 1, 0, 2, 6, 5, 4, 3, 1]])
    assert (oracle.taken, oracle.remaining(), oracle.samples) == (9, 5, 7)
    for order in ([0, 1], [*range(7), 0]):
        with pytest.raises(DataError, match=f"all 7 samples, and names {len(order)}"):
            SparsePCAOracle(A, 2, order=np.array(order))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("started", [False, True])
def test_loadings_elsewhere_are_those_of_numpy(weighted, started):
    strict = pytest.importorskip("array_api_strict")
    A = data(8, 6)
    pattern = np.random.default_rng(2).random((8, 3)) < 0.5
    pattern[:, 2] &= np.arange(8) < 3
    more = {}
    if weighted:
        more["mu"] = np.array([3.0, 2.0, 1.0])
    if started:
        more["start"] = random_point(6, 3, np.random.default_rng(4))
    here = solve_for_z(A, pattern, **more)
    there = solve_for_z(
        strict.asarray(A), strict.asarray(pattern),
        **{name: strict.asarray(value) for name, value in more.items()},
    )  # fmt: skip
    np.testing.assert_allclose(np.asarray(there), here, atol=1e-4)
    np.testing.assert_array_equal(np.asarray(there) == 0, here == 0)


def test_the_data_are_copied_once():
    X = np.random.default_rng(0).standard_normal((4000, 600))
    tracemalloc.start()
    sparse_pca(X, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * X.nbytes


def test_norms_of_features_are_those_of_all_samples():
    A = np.random.default_rng(0).standard_normal((30, 20_000))
    norms = SparsePCAOracle(A, 1).norms
    assert np.array_equal(norms, np.linalg.norm(np.asfortranarray(A), axis=1))

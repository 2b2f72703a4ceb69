"""tpower against a plain transcription and all supports."""

import numpy as np
import pytest
from features import most_variance, of_features
from orthobench_sparse_pca.reference import truncated_power
from orthobench_sparse_pca.solvers.tpower import TPower

import orthobench as ob
from orthobench.errors import UsageError


def spiked(d, N, seed, nonzeros=4):
    rng = np.random.default_rng(seed)
    v = np.zeros(d)
    v[rng.permutation(d)[:nonzeros]] = nonzeros**-0.5
    A = rng.standard_normal((d, N)) + 1.2 * np.outer(v, rng.standard_normal(N))
    return A - A.mean(axis=1, keepdims=True)


@pytest.mark.parametrize(("start", "phases"), [("warm", (8, 4, 2, 1)), ("largest", (1,))])
def test_follows_the_plain_method(start, phases):
    for seed in range(4):
        A = spiked(40, 60, seed)
        solver = TPower(cardinality=4, start=start, tolerance=0.0)
        z = ob.solve(solver, of_features(A, m=1)).solution[:, 0]
        x = truncated_power(A @ A.T, 4, phases)
        np.testing.assert_allclose(z * np.sign(z @ x), x, atol=1e-7)


def test_warm_start_finds_the_best_support_more_often():
    found = {"warm": 0, "largest": 0}
    for seed in range(12):
        A = spiked(12, 100, seed)
        optimum = most_variance(A @ A.T, 4)
        for start in found:
            z = ob.solve(TPower(cardinality=4, start=start), of_features(A, m=1)).solution
            variance = float(np.sum((A.T @ z) ** 2))
            assert variance <= optimum * (1 + 1e-12)
            found[start] += variance >= optimum * (1 - 1e-6)
    assert found["warm"] >= max(9, found["largest"])


def test_components_are_those_of_the_deflated_data():
    A = spiked(30, 50, 0) + 2 * spiked(30, 50, 1, nonzeros=5)
    Z = ob.solve(TPower(cardinality=5), of_features(A, m=3)).solution
    left = A
    for z in Z.T:
        own = ob.solve(TPower(cardinality=5), of_features(left, m=1)).solution[:, 0]
        np.testing.assert_allclose(np.abs(own), np.abs(z), atol=1e-6)
        left = left - np.outer(z, z @ left)
    assert np.array_equal(np.count_nonzero(Z, axis=0), [5, 5, 5])


def test_all_loadings_give_the_leading_singular_vector():
    A = spiked(12, 30, 0)
    z = ob.solve(TPower(cardinality=12, tolerance=0.0), of_features(A, m=1)).solution[:, 0]
    assert abs(z @ np.linalg.svd(A)[0][:, 0]) == pytest.approx(1, abs=1e-10)


def test_a_step_within_a_phase_lowers_no_variance():
    instance = of_features(spiked(60, 30, 3), m=1)
    solver = TPower(cardinality=5, start="largest", tolerance=0.0)
    state = solver.init(instance.oracle, np.random.default_rng(0))
    values = []
    for _ in range(8):
        solver.step(instance.oracle, state)
        values.append(state.scores @ state.scores)
    assert np.diff(values).min() >= -1e-12 * values[0]


def test_low_rank_leaves_columns_empty():
    A = np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0, -2.0])
    Z = ob.solve(TPower(cardinality=3), of_features(A, m=2)).solution
    assert np.array_equal(Z.any(axis=0), [True, False])
    with pytest.raises(UsageError, match="cardinality = 10 is more than the 3 features"):
        ob.solve("tpower", of_features(A, m=2))


def test_component_far_smaller_than_the_first_is_found():
    A = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1e-9, -1e-9]])
    Z = ob.solve(TPower(cardinality=1), of_features(A, m=2)).solution
    np.testing.assert_array_equal(np.abs(Z), np.eye(2))

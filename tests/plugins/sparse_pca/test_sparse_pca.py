"""The instance maker, the judge and the oracle of sparse PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from features import of_features
from hypothesis import given
from hypothesis import strategies as st
from orthobench_sparse_pca import SparsePCA, SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.bounds import VarianceBounds
from orthobench_sparse_pca.delivery import bisected
from orthobench_sparse_pca.maker import (
    adjusted_variance,
    explained_variance,
    objectives,
    violation,
)

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.contract.solver import Solver, State, Status
from orthobench.errors import DataError, UsageError
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import Budget, RunStatus
from orthobench.tools.geometry import polar, random_point, unit_columns


def rng(seed=0):
    return np.random.default_rng(seed)


def data(d=9, n=7, seed=0):
    A = rng(seed).standard_normal((d, n)) * np.linspace(3, 1, d)[:, None]
    return A - A.mean(axis=1, keepdims=True)


def loadings(d, m, seed=0):
    Z = rng(seed).standard_normal((d, m))
    return unit_columns(np.where(np.abs(Z) > 0.7, Z, 0.0))


def soft(x, gamma):
    return np.sign(x) * np.maximum(np.abs(x) - gamma, 0)


# --- the judge ---


def test_metrics_on_the_training_part_and_their_order():
    A, Z = data(), loadings(9, 3)
    metrics = of_features(A, 3).measure(Solution(Z))
    total = np.sum(A**2)
    assert next(iter(metrics)) == SparsePCA.primary == "unexplained_variance"
    assert metrics == pytest.approx(
        {
            "unexplained_variance": 1 - adjusted_variance(A, Z) / total,
            "adjusted_explained_variance": adjusted_variance(A, Z) / total,
            "explained_variance": explained_variance(A, Z) / total,
            "training_unexplained_variance": 1 - adjusted_variance(A, Z) / total,
            "nonzeros": np.mean(np.sum(Z != 0, axis=0)),
            "density": np.mean(Z != 0),
            "fewest_nonzeros": min(np.sum(Z != 0, axis=0)),
            "most_nonzeros": max(np.sum(Z != 0, axis=0)),
            "empty": 0,
            "span_explained_variance": np.sum((np.linalg.pinv(Z) @ A) * (Z.T @ A)) / total,
            "overlap": sum(abs(Z[:, s] @ Z[:, t]) for s in range(3) for t in range(s)),
            "score_correlation": max(np.abs(np.corrcoef(Z.T @ A)[[0, 0, 1], [1, 2, 2]])),
            "shared": np.sum(np.sum(Z != 0, axis=1) > 1),
            "unexplained_variance_bound": 1 - VarianceBounds(A)(np.sum(Z != 0, axis=0)) / total,
        }
    )


def test_with_a_test_part_all_but_tuning_is_measured_there():
    A, test, Z = data(), 5 * data(n=4, seed=1), loadings(9, 3)
    metrics = of_features(A, 3, test=test).measure(Solution(Z))
    there = of_features(test, 3).measure(Solution(Z))
    here = of_features(A, 3).measure(Solution(Z))
    assert SparsePCA.tuned_by == "training_unexplained_variance"
    assert metrics.pop("training_unexplained_variance") == here["unexplained_variance"]
    assert there.pop("training_unexplained_variance") != here["unexplained_variance"]
    assert metrics == pytest.approx(there, rel=1e-12)


@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_shares_do_not_depend_on_the_units(factor):
    A, solution = data(), Solution(loadings(9, 3))
    expected = of_features(A, 3).measure(solution)
    assert of_features(factor * A, 3).measure(solution) == pytest.approx(expected, rel=1e-9)


def test_pca_leaves_the_least_unexplained_and_a_full_basis_nothing():
    A = data()
    left = np.linalg.svd(A)[0]
    s = np.linalg.svd(A, compute_uv=False)
    judge = of_features(A, 3).measure
    least = judge(Solution(left[:, :3]))["unexplained_variance"]
    assert least == pytest.approx(np.sum(s[3:] ** 2) / np.sum(s**2))
    for seed in range(20):
        assert judge(Solution(loadings(9, 3, seed)))["unexplained_variance"] >= least
    assert judge(Solution(left[:, :6]))["unexplained_variance"] == pytest.approx(0, abs=1e-12)


def test_what_is_not_delivered_are_loadings_beyond_and_empty_components():
    Z = np.zeros((9, 3))
    Z[:5, 0], Z[5:7, 1] = 5**-0.5, 2**-0.5
    measures = {
        3: of_features(data(), 3, cardinality=3).measure,
        5: of_features(data(), 3, cardinality=5).measure,
        6: of_features(data(), 3, cardinality=6, each=False).measure,
    }
    found = {asked: measure(Solution(Z))["undelivered"] for asked, measure in measures.items()}
    assert found == {3: 2 + 1, 5: 1, 6: 1 + 1}
    assert "undelivered" not in of_features(data(), 3).measure(Solution(Z))
    for wrong, each in ((0, True), (10, True), (2, False), (28, False)):
        with pytest.raises(UsageError, match="cardinality must be a whole number between"):
            of_features(data(), 3, cardinality=wrong, each=each)


def test_bisection_ends_at_what_was_asked_for_or_at_the_most_below():
    d, m = 9, 3
    A = np.linalg.qr(rng().standard_normal((d, d)))[0] @ np.diag(np.arange(d, 0, -1.0))
    oracle = of_features(A - A.mean(axis=1, keepdims=True), m, cardinality=4).oracle

    def dense(count):
        return np.eye(d, 1) if count == 1 else unit_columns((np.arange(d) < count)[:, None] * 1.0)

    Z = bisected(lambda gamma, own: dense(round(9 * (1 - gamma))), oracle)
    assert np.count_nonzero(Z, axis=0).tolist() == [4, 4, 4]
    Z = bisected(lambda gamma, own: dense(3 if gamma > 0.3 else 5), oracle)
    assert np.count_nonzero(Z, axis=0).tolist() == [3, 3, 3]
    seen = []
    bisected(lambda gamma, own: (seen.append(own.A), dense(4))[1], oracle)
    z = dense(4)
    np.testing.assert_allclose(seen[1], seen[0] - z @ (z.T @ seen[0]))
    oracle.cardinality, oracle.each = 8, False
    Z = bisected(lambda gamma, own: np.tile(dense(4), own.k) * (gamma < 0.2) + dense(2), oracle)
    assert np.count_nonzero(Z) == 6


def test_empty_components_are_counted():
    Z = loadings(9, 4)
    Z[:, [1, 3]] = 0
    metrics = of_features(data(), 4).measure(Solution(Z))
    assert metrics["empty"] == 2
    assert metrics["fewest_nonzeros"] == 0
    assert metrics["most_nonzeros"] == np.count_nonzero(Z, axis=0).max()
    nothing = of_features(data(), 4).measure(SparseSolution(np.zeros((9, 4)), gamma=0.5))
    assert nothing["unexplained_variance"] == 1
    assert nothing["penalized_objective"] == nothing["squared_objective"] == 0


def test_objectives_are_reported_of_methods_with_a_penalty_only():
    judge, Z = of_features(data(), 3).measure, loadings(9, 3)
    plain = set(judge(SparseSolution(Z)))
    assert set(judge(Solution(Z))) == plain
    both = {"penalized_objective", "squared_objective"}
    assert set(judge(SparseSolution(Z, gamma=0.0))) == plain | both


def test_objectives_are_those_of_the_training_part():
    A, solution = data(), SparseSolution(loadings(9, 3), gamma=0.5)
    here = of_features(A, 3).measure(solution)
    there = of_features(A, 3, test=data(seed=3)).measure(solution)
    for name in ("penalized_objective", "squared_objective"):
        assert here[name] == there[name]


# --- the two formulations ---


def penalized(A, U, Z, gamma):
    """Equation 5, entry by entry."""
    d, m = Z.shape
    scores = [[A[i] @ U[:, j] for j in range(m)] for i in range(d)]
    return sum(
        Z[i, j] * scores[i][j] - gamma * abs(Z[i, j]) for i in range(d) for j in range(m)
    )  # fmt: skip


def squared(A, U, gamma):
    """Equation 6, entry by entry."""
    return sum(max(abs(a @ u) - gamma, 0) ** 2 for a in A for u in U.T)


@given(
    d=st.integers(2, 8),
    n=st.integers(3, 8),
    m=st.integers(1, 3),
    seed=st.integers(0, 2**31),
    gamma=st.floats(0, 3),
)
def test_the_penalized_objective_is_the_maximum_over_u(d, n, m, seed, gamma):
    A, Z = rng(seed).standard_normal((d, n)), unit_columns(rng(seed + 1).standard_normal((d, m)))
    found = objectives(A, Z, gamma)
    singular = np.linalg.svd(A.T @ Z, compute_uv=False)
    assert found["penalized_objective"] == pytest.approx(
        singular.sum() - gamma * np.abs(Z).sum(), abs=1e-9
    )
    best = polar(A.T @ Z)
    assert found["penalized_objective"] == pytest.approx(penalized(A, best, Z, gamma), abs=1e-9)
    for other in range(5):
        U = random_point(n, m, rng(seed + other))
        assert penalized(A, U, Z, gamma) <= found["penalized_objective"] + 1e-9
    assert found["squared_objective"] == pytest.approx(squared(A, best, gamma), abs=1e-9)


def test_without_a_penalty_the_squared_form_of_a_full_basis_is_the_total():
    A = data(9, 4)
    Z = random_point(9, 4, rng(1))
    assert objectives(A, Z, 0.0)["squared_objective"] == pytest.approx(np.sum(A**2))


def test_empty_components_count_for_nothing_in_any_basis_of_the_samples():
    A, Z = data(), loadings(9, 3)
    Z[:, 1] = 0
    found = objectives(A, Z, 0.5)
    assert found == pytest.approx(objectives(A, Z[:, [0, 2]], 0.5))
    assert found == pytest.approx(objectives(A @ random_point(7, 7, rng(1)), Z, 0.5))


def test_for_one_component_eliminating_z_gives_the_squared_form():
    A, gamma = data(), 1.5
    for seed in range(20):
        u = random_point(7, 1, rng(seed))
        z = unit_columns(soft(A @ u, gamma))
        assert penalized(A, u, z, gamma) ** 2 == pytest.approx(squared(A, u, gamma))
        for other in range(5):
            w = unit_columns(rng(other).standard_normal((9, 1)))
            assert penalized(A, u, w, gamma) <= penalized(A, u, z, gamma)


@pytest.mark.wide
def test_for_more_components_it_does_not():
    """Equations 5 and 6 of Shalit and Chechik (2014) have their maxima at different U."""
    A, gamma = np.array([[3.0, 0.0], [0.0, 1.0]]), 0.25
    angles = np.linspace(0, np.pi / 2, 20001)
    first, second = [], []
    for angle in angles:
        U = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        Z = unit_columns(soft(A @ U, gamma))
        value = penalized(A, U, Z, gamma)
        assert value == pytest.approx(np.linalg.norm(soft(A @ U, gamma), axis=0).sum())
        first.append(value)
        second.append(squared(A, U, gamma))
    # the squares prefer one large score and one small one, the norms two alike
    at_5, at_6 = angles[np.argmax(first)], angles[np.argmax(second)]
    assert at_5 == pytest.approx(np.pi / 4, abs=1e-3)
    assert at_6 in (0, np.pi / 2)
    assert max(first) > first[np.argmax(second)] * 1.1
    assert max(second) > second[np.argmax(first)] * 1.05


# --- the constraint ---


def test_columns_must_have_unit_length_or_be_zero():
    Z = loadings(9, 3)
    assert violation(Solution(Z)) < 1e-15
    Z[:, 0] = 0
    assert violation(Solution(Z)) < 1e-15
    assert violation(Solution(np.zeros((9, 3)))) == 0
    Z[:, 1] *= 1.25
    Z[:, 2] *= 0.9
    assert violation(Solution(Z)) == pytest.approx(0.25)
    assert of_features(data(), 3).violation(Solution(Z)) == pytest.approx(0.25)


@dataclass(kw_only=True)
class Shape(State):
    shape: tuple[int, int]


@dataclass(frozen=True)
class Constant(Solver[SparsePCAOracle, Shape]):
    """Returns e_1, e_1, ..., of a length."""

    name: ClassVar[str] = "constant"
    length: float = 1.0

    def init(self, oracle, rng):
        return Shape(shape=(oracle.n, oracle.k))

    def step(self, oracle, state):
        state.work.steps += 1
        state.status = Status.CONVERGED

    def solution(self, state):
        Z = np.zeros(state.shape)
        Z[0] = self.length
        return SparseSolution(Z, gamma=0.1)


@pytest.mark.parametrize(("length", "ending"), [(1.0, RunStatus.DONE), (1.1, RunStatus.INFEASIBLE)])
def test_the_harness_runs_it_and_holds_it_to_its_constraint(length, ending):
    instance = of_features(data(), 2)
    outcome = run(instance, Constant(length), Budget(steps=5), Streams.of("p", "s", 0))
    assert outcome.stop.status is ending
    assert outcome.solution.shape == (9, 2)


# --- the oracle ---


def drained(oracle):
    oracle.prepare(10**6)
    return oracle.take(int(oracle.remaining()))


def test_the_oracle_shows_the_data_read_only_with_contiguous_samples():
    A = data()
    oracle = of_features(A, 3).oracle
    assert (oracle.n, oracle.k, oracle.samples) == (9, 3, 7)
    assert np.array_equal(oracle.A, A)
    assert oracle.A.flags.f_contiguous
    assert not oracle.A.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        oracle.A[0, 0] = 1
    assert oracle.norms == pytest.approx([np.sqrt(row @ row) for row in A])


@pytest.mark.parametrize("order", ["C", "F"])
def test_later_changes_of_the_callers_array_change_no_instance(order):
    X = np.array(data().T, order=order)
    SparsePCAOracle(X.T, 2)
    instance = ob.sparse_pca(X, 2, test=X)
    before = instance.measure(Solution(loadings(9, 2)))
    X[:] = 1
    np.testing.assert_allclose(instance.oracle.A, data(), atol=1e-15)
    assert instance.measure(Solution(loadings(9, 2))) == before


def test_samples_come_as_columns_in_the_order_asked_for():
    A, order = data(), rng(5).permutation(7)
    assert np.array_equal(drained(of_features(A, 2).oracle), A.T)
    assert np.array_equal(drained(of_features(A, 2, order=order).oracle), A[:, order].T)
    assert np.array_equal(drained(of_features(A, 2, order=list(order)).oracle), A[:, order].T)
    twice = drained(of_features(A, 2, order=order, passes=2).oracle)
    assert np.array_equal(twice, np.tile(A[:, order].T, (2, 1)))


@pytest.mark.wide
def test_a_wide_matrix_of_many_features_has_a_window_of_bounded_memory():
    d = 2**19
    A = np.zeros((d, 20))
    A[:, 0] = 1
    oracle = of_features(A, 1).oracle
    assert oracle.window * d * 8 <= 32 * 2**20
    rows = []
    while oracle.remaining():
        oracle.prepare(min(oracle.window, int(oracle.remaining())))
        rows.append(oracle.take(1)[0, :2].copy())
    assert np.array_equal(rows, A[:2].T)


# --- what the instance maker takes and refuses ---


@pytest.mark.parametrize("kind", ["f4", ">f8", "i1", "?"])
def test_samples_of_every_type_are_centred_in_float64(kind):
    X = (data().T > 0 if kind == "?" else np.round(10 * data().T + 3)).astype(kind)
    kept = X.copy()
    oracle = ob.sparse_pca(X, 2, test=X + 1 if kind != "?" else X).oracle
    np.testing.assert_allclose(oracle.A, (X - X.mean(axis=0, dtype=float)).T, atol=1e-14)
    np.testing.assert_array_equal(ob.sparse_pca(X, 2, center=False).oracle.A, X.T)
    np.testing.assert_array_equal(X, kept)
    moved = ob.sparse_pca(X.astype(float) + 1e3, 2, test=data(n=5, seed=1).T + 1e3)
    here = ob.sparse_pca(X.astype(float), 2, test=data(n=5, seed=1).T)
    Z = Solution(loadings(9, 2))
    assert moved.measure(Z) == pytest.approx(here.measure(Z), abs=1e-9)


@pytest.mark.parametrize("part", ["the data", "the test part"])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.nan, r"sample 4 \(counted from 0\) is not finite: feature 2 is nan"),
        (np.inf, r"sample 4 .* feature 2 is inf"),
        (1e200, r"sample 4 .* is too large to be squared: feature 2"),
    ],
)
def test_numbers_that_are_none_are_named(part, bad, message):
    A = data()
    A[2, 4] = bad
    with pytest.raises(DataError, match=f"{part}: {message}"):
        of_features(*((A, 2) if part == "the data" else (data(), 2, A)))


@pytest.mark.parametrize("part", ["the data", "the test part"])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.ones(5), r"must be a matrix \(samples, features\), not of shape \(5,\)"),
        (7.0, "not of type float"),
        (np.ones((0, 3)), "empty"),
        (np.ones((9, 7)) * 1j, "must be real numbers, not of dtype complex128"),
    ],
)
def test_what_is_no_real_matrix_is_refused(part, bad, message):
    with pytest.raises(DataError, match=f"{part} .*{message}"):
        ob.sparse_pca(*((bad, 1) if part == "the data" else (data().T, 1, bad)))


@pytest.mark.parametrize(
    ("d", "n", "m"),
    [(9, 7, 8), (5, 7, 6), (9, 7, 0), (9, 7, -1), (1, 7, 2), (3, 2, 3), (9, 7, 2.5)],
)
def test_more_components_than_features_or_samples_are_refused(d, n, m):
    message = f"m must be a whole number between 1 and {min(d, n)}, not {m}: there are {d} features"
    with pytest.raises(UsageError, match=message):
        of_features(data(d, n), m)


def test_samples_passed_by_keyword_are_refused():
    with pytest.raises(UsageError, match=r"samples are rows now: pass X\.T"):
        ob.sparse_pca(samples=data(), m=2)


def test_a_test_part_of_other_features_or_without_variance_is_refused():
    with pytest.raises(DataError, match="the test part has 8 features, the data 9"):
        of_features(data(), 2, test=data(8))
    with pytest.raises(DataError, match="the test part: the sum of squares is zero"):
        of_features(data(), 2, test=np.zeros((9, 3)))
    # of any number of samples
    for n in (1, 2, 50):
        metrics = of_features(data(), 4, test=rng(1).standard_normal((9, n))).measure(
            Solution(loadings(9, 4))
        )
        assert 0 <= metrics["unexplained_variance"] <= 1


def test_sums_of_squares_that_under_or_overflow_are_refused():
    with pytest.raises(DataError, match="the data: the sum of squares is zero"):
        of_features(data() * 1e-200, 2)
    with pytest.raises(DataError, match="the data: the sum of squares overflows"):
        of_features(rng().uniform(1, 2, (5, 12)) * 2e153, 2)
    with pytest.raises(DataError, match="the test part: the sum of squares overflows"):
        of_features(data(5), 2, test=rng().uniform(1, 2, (5, 12)) * 2e153)


def test_a_wrong_order_and_wrong_passes_are_refused():
    with pytest.raises(DataError, match="order names rows that are not among the 7"):
        of_features(data(), 2, order=np.arange(1, 8))
    for order in (np.arange(6), np.arange(14) % 7):
        with pytest.raises(DataError, match=f"all 7 samples, and names {len(order)}"):
            of_features(data(), 2, order=order)
    with pytest.raises(DataError, match="integers of shape"):
        of_features(data(), 2, order=np.ones(7, dtype=bool))
    for passes in (0, 1.5):
        with pytest.raises(UsageError, match=f"passes must be a whole number >= 1, not {passes}"):
            of_features(data(), 2, passes=passes)

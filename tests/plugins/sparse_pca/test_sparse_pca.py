"""The instance maker, the judge and the oracle of sparse PCA."""

import numpy as np
import pytest
from drawn import rng
from features import of_features
from hypothesis import given
from hypothesis import strategies as st
from orthobench_sparse_pca import SparsePCA, SparseSolution
from orthobench_sparse_pca.bounds import VarianceBounds
from orthobench_sparse_pca.judge import adjusted_variance, explained_variance, objectives
from orthobench_sparse_pca.maker import violation

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.errors import DataError, UsageError
from orthobench.tools.geometry import polar, random_point, unit_columns


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


def test_undelivered_counts_extra_loadings_and_empty_components():
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


def test_objectives_are_reported_of_methods_with_a_penalty_only():
    judge, Z = of_features(data(), 3).measure, loadings(9, 3)
    plain = set(judge(SparseSolution(Z)))
    assert set(judge(Solution(Z))) == plain
    both = {"penalized_objective", "squared_objective"}
    assert set(judge(SparseSolution(Z, gamma=0.0))) == plain | both


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


def test_for_one_component_eliminating_z_gives_the_squared_form():
    A, gamma = data(), 1.5
    for seed in range(20):
        u = random_point(7, 1, rng(seed))
        z = unit_columns(soft(A @ u, gamma))
        assert penalized(A, u, z, gamma) ** 2 == pytest.approx(squared(A, u, gamma))
        for other in range(5):
            w = unit_columns(rng(other).standard_normal((9, 1)))
            assert penalized(A, u, w, gamma) <= penalized(A, u, z, gamma)


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


# --- the oracle ---


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

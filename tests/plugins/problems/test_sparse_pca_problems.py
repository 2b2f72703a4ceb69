"""Digits and a user's matrix as problems of sparse PCA."""

from __future__ import annotations

import numpy as np
import pytest
from orthobench_kit.data import digits
from orthobench_sparse_pca.problems.files import NpySparse
from orthobench_sparse_pca.problems.images import DigitsSparse

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.errors import DataError, UsageError


def rng(seed=0):
    return np.random.default_rng(seed)


def built(problem, seed=0):
    return problem.build(rng(seed))


def streamed(oracle):
    oracle.prepare(10**6)
    return oracle.take(int(oracle.remaining()))


# --- digits-sparse ---


def test_digits_are_split_and_the_pixels_that_vary_are_centred():
    pixels = digits.pixels().astype(float)
    instance = built(DigitsSparse())
    order = rng(0).permutation(1797)
    train, test = pixels[np.sort(order[797:])], pixels[np.sort(order[:797])]
    varies = train.min(axis=0) < train.max(axis=0)
    assert 55 <= np.count_nonzero(varies) <= 61
    centre = train[:, varies].mean(axis=0)
    assert np.allclose(instance.oracle.A, (train[:, varies] - centre).T, atol=1e-12)
    assert np.allclose(instance.measure.test, (test[:, varies] - centre).T, atol=1e-12)
    assert instance.oracle.samples == DigitsSparse().samples == 1000


def test_the_leading_component_of_the_digits_explains_what_pca_says():
    from sklearn.decomposition import PCA

    instance = built(DigitsSparse(test=0, m=5))
    pca = PCA(5, svd_solver="full").fit(digits.pixels()[:, np.ptp(digits.pixels(), axis=0) > 0])
    metrics = instance.measure(Solution(pca.components_.T))
    share = pca.explained_variance_ratio_.sum()
    assert metrics["adjusted_explained_variance"] == pytest.approx(share)
    assert metrics["explained_variance"] == pytest.approx(share)


def test_the_digits_streamed_are_those_of_the_matrix_in_a_random_order():
    instance = built(DigitsSparse(passes=2))
    X = streamed(instance.oracle)
    assert X.shape[0] == 2000
    assert np.array_equal(X[:1000], X[1000:])
    A = instance.oracle.A.T
    assert not np.array_equal(X[:1000], A)
    assert np.array_equal(np.unique(X[:1000], axis=0), np.unique(A, axis=0))


def test_other_digits_than_those_known_are_refused(monkeypatch):
    assert DigitsSparse().checksum() == digits.CHECKSUM
    monkeypatch.setattr(digits, "CHECKSUM", "0" * 64)
    with pytest.raises(DataError, match="not those expected"):
        built(DigitsSparse())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DigitsSparse(m=62), "m = 62 .* 61 features and 1000 training samples"),
        (lambda: DigitsSparse(m=4, test=1794), "m = 4 .* 61 features and 3 training samples"),
        (lambda: DigitsSparse(test=1797), "nothing is left to train on"),
        (lambda: DigitsSparse(scaling="none"), "unknown value of scaling 'none'"),
        (lambda: DigitsSparse(test=-1), "test must be >= 0"),
        (lambda: DigitsSparse(passes=0), "passes must be >= 1"),
    ],
)
def test_bad_parameters_are_refused_before_any_work(make, message):
    with pytest.raises(UsageError, match=message):
        make()


def test_pixels_lost_in_a_small_training_part_are_too_few_for_m():
    with pytest.raises(UsageError, match=r"m must be a whole number between 1 and .*features"):
        built(DigitsSparse(m=61, test=1597))


# --- npy-sparse ---


@pytest.fixture
def X():
    return rng().standard_normal((50, 8)) * np.arange(1, 9) + np.arange(8)


@pytest.fixture
def path(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


def own(path, **parameters):
    return NpySparse(path=str(path), **parameters)


@pytest.mark.parametrize("scaling", ["standardized", "centred", "none"])
def test_rows_of_the_file_are_samples(path, X, scaling):
    instance = built(own(path, m=3, scaling=scaling))
    Z = X if scaling == "none" else X - X.mean(axis=0)
    Z = Z / X.std(axis=0) if scaling == "standardized" else Z
    assert np.allclose(instance.oracle.A, Z.T, rtol=1e-13)
    assert instance.measure.test is instance.measure.train
    order = rng(0)
    order.permutation(50)
    assert np.allclose(streamed(instance.oracle), Z[order.permutation(50)], rtol=1e-13)


def test_a_share_of_the_file_is_held_out(path, X):
    problem = own(path, m=2, test=0.3, scaling="centred")
    instance = built(problem)
    order = rng(0).permutation(50)
    train, test = X[np.sort(order[15:])], X[np.sort(order[:15])]
    assert instance.oracle.samples == problem.samples == 35
    assert np.allclose(instance.oracle.A, (train - train.mean(axis=0)).T)
    assert np.allclose(instance.measure.test, (test - train.mean(axis=0)).T)
    assert not np.array_equal(built(problem, 1).oracle.A, instance.oracle.A)
    assert np.array_equal(built(problem).oracle.A, instance.oracle.A)


def test_the_number_of_samples_is_read_off_the_header(tmp_path, path):
    assert own(path).samples == 50
    assert own(path, test=0.01).samples == 50
    assert own(tmp_path / "nowhere.npy").samples is None
    (tmp_path / "bad.npy").write_bytes(b"not numpy")
    assert own(tmp_path / "bad.npy").samples is None


@pytest.mark.parametrize("form", [np.asfortranarray, np.float32, np.int16, lambda X: X > 0])
def test_every_real_matrix_is_taken_in_any_order(tmp_path, X, form):
    np.save(tmp_path / "x.npy", form(np.round(X)))
    instance = built(own(tmp_path / "x.npy", scaling="none"))
    assert np.array_equal(instance.oracle.A, form(np.round(X)).astype(float).T)


def test_features_that_do_not_vary_have_no_loadings(tmp_path, X):
    path = tmp_path / "x.npy"
    without = np.delete(X, 3, axis=1)
    np.save(path, without)
    expected = ob.solve("gpower", built(own(path)), gamma=0.1).solution
    X[:, 3] = 0.1
    np.save(path, X)
    with pytest.warns(UserWarning, match="column 3"):
        found = ob.solve("gpower", built(own(path)), gamma=0.1).solution
    np.testing.assert_allclose(found, np.insert(expected, 3, 0, axis=0), atol=1e-12)
    X[:] = 2
    np.save(path, X)
    with pytest.raises(DataError, match=r"x\.npy: no feature varies"):
        built(own(path, m=1))


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_bad_sample_is_named_by_its_row_in_the_file(tmp_path, X, bad):
    X[13, 5] = bad
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(DataError, match=r"x\.npy: sample 13 .*feature 5"):
        built(own(tmp_path / "x.npy", test=0.5))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(5), "must be a matrix"),
        (np.ones((50, 2)) * 1j, "must be real numbers"),
        (np.array([[None, 1]] * 10, dtype=object), "cannot be read"),
        (np.ones((0, 3)), "bad.npy"),
    ],
)
def test_what_is_no_real_matrix_is_refused(tmp_path, array, message):
    np.save(tmp_path / "bad.npy", array, allow_pickle=True)
    with pytest.raises(DataError, match=message) as raised:
        built(own(tmp_path / "bad.npy"))
    assert "bad.npy" in str(raised.value)


def test_too_many_components_and_wrong_shares_are_refused(path):
    with pytest.raises(UsageError, match=r"m = 9 .* 8 features and 50 training samples"):
        built(own(path, m=9))
    with pytest.raises(UsageError, match=r"m = 6 .* 8 features and 5 training samples"):
        built(own(path, m=6, test=0.9))
    with pytest.raises(UsageError, match=r"test = 0\.005 of 50 samples is less than one"):
        built(own(path, test=0.005))
    with pytest.raises(UsageError, match="nothing is left to train on"):
        built(own(path, test=0.999))
    with pytest.raises(UsageError, match="test must be >= 0 and < 1"):
        own(path, test=1.0)


def test_the_checksum_changes_with_the_file_and_not_with_the_reader(path, X):
    problem = own(path)
    first = problem.checksum()
    built(problem)
    assert problem.checksum() == first == own(path, m=3, test=0.2).checksum()
    X[0, 0] += 1
    np.save(path, X)
    assert problem.checksum() != first
    changed = built(problem).oracle.A
    assert np.allclose(changed, ((X - X.mean(axis=0)) / X.std(axis=0)).T)

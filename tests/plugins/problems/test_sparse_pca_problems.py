"""Digits and a user's matrix as problems of sparse PCA."""

import numpy as np
import pytest
from drawn import built, rng
from orthobench_kit.data import digits
from orthobench_sparse_pca.problems.files import NpySparse
from orthobench_sparse_pca.problems.images import DigitsSparse

import orthobench as ob
from orthobench.contract.problem import Solution
from orthobench.errors import DataError, UsageError


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


# --- npy-sparse ---


@pytest.fixture
def X():
    return rng().standard_normal((50, 8)) * np.arange(1, 9) + np.arange(8)


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

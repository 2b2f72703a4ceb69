"""Splits and scalings of the sparse PCA problems against their definitions."""

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_sparse_pca.problems.images import DigitsSparse
from orthobench_sparse_pca.problems.parts import scaled, split, split_parts

from orthobench.errors import DataError


def data(n, d, seed=0):
    return rng(seed).standard_normal((n, d)) * rng(seed).uniform(0.1, 9, d) + rng(seed + 1).uniform(
        -5, 5, d
    )


@given(n=st.integers(2, 200), d=st.integers(1, 8), seed=st.integers(0, 2**31))
def test_standardized_features_have_mean_zero_and_norm_sqrt_n(n, d, seed):
    parts = scaled(data(n, d, seed), None, "standardized")
    assert parts.test is None
    assert np.abs(parts.train.mean(axis=0)).max() < 1e-10
    assert np.linalg.norm(parts.train, axis=0) == pytest.approx(np.full(d, np.sqrt(n)))


@pytest.mark.parametrize("scaling", ["standardized", "centred", "none"])
def test_the_test_part_is_scaled_by_what_the_training_part_says(scaling):
    X, test = data(50, 4), data(20, 4, 7)
    kept = X.copy(), test.copy()
    centre = 0 if scaling == "none" else X.mean(axis=0)
    unit = X.std(axis=0) if scaling == "standardized" else 1
    parts = scaled(X, test, scaling)
    assert np.allclose(parts.train, (X - centre) / unit, rtol=1e-14)
    assert np.allclose(parts.test, (test - centre) / unit, rtol=1e-14)
    assert np.array_equal(X, kept[0])
    assert np.array_equal(test, kept[1])


@pytest.mark.parametrize("scaling", ["standardized", "centred", "none"])
@pytest.mark.parametrize("constant", [0.0, 0.1, -1e9, 1e150])
def test_features_constant_in_the_training_part_are_dropped(scaling, constant):
    X, test = data(999, 5), data(20, 5, 7)
    X[:, [1, 4]] = constant
    parts = scaled(X, test, scaling)
    assert np.array_equal(parts.features, [0, 2, 3])
    assert parts.train.shape == (999, 3)
    alone = scaled(X[:, [0, 2, 3]], test[:, [0, 2, 3]], scaling)
    assert np.allclose(parts.train, alone.train, rtol=1e-12)
    assert np.allclose(parts.test, alone.test, rtol=1e-12)


def test_a_bad_sample_is_named_by_its_row_in_the_data():
    X = data(30, 4)
    X[17, 2] = np.inf
    for held_out in (0, 29):
        with pytest.raises(DataError, match=r"sample 17 .*feature 2 is inf"):
            split_parts(X, held_out, "standardized", rng())


def test_an_instance_has_the_parts_and_streams_in_a_random_order():
    X = data(40, 6)
    parts, problem = split_parts(X, 15, "centred", rng(3)), DigitsSparse(m=2, passes=2)
    train, test = split(40, 15, rng(3))
    assert np.allclose(parts.train, X[train] - X[train].mean(axis=0))
    assert np.allclose(parts.test, X[test] - X[train].mean(axis=0))
    instance = problem.instance(parts, rng(4))
    assert np.array_equal(instance.oracle.A, parts.train.T)
    assert np.array_equal(instance.measure.test, parts.test.T)
    order = rng(4).permutation(25)
    assert not np.array_equal(order, np.arange(25))
    instance.oracle.prepare(50)
    assert np.array_equal(instance.oracle.take(50), np.tile(parts.train[order], (2, 1)))

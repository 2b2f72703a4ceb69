"""Full tensors: moments and means over permutations, of any order, symmetric to the last bit."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.symmetric_tensors import symmetrized
from orthobench_tucker import reference, sample_moments
from orthobench_tucker.sample_moments import moment_tensor


def is_symmetric(T):
    return all((T.transpose(p) == T).all() for p in permutations(range(T.ndim)))


def mean(T):
    return sum(T.transpose(p) for p in permutations(range(T.ndim))) / factorial(T.ndim)


@given(st.integers(1, 6), st.integers(2, 5), st.integers(1, 12), st.integers(0, 100), st.booleans())
def test_moments(n, order, p, seed, fortran):
    X = np.random.default_rng(seed).standard_normal((p, n))
    T = moment_tensor(np.asfortranarray(X) if fortran else X, order)
    expected = reference.moment(X, order)
    np.testing.assert_allclose(T, expected, atol=1e-13 * np.abs(X).max() ** order)
    assert is_symmetric(T)


@given(st.integers(1, 5), st.integers(2, 5), st.integers(0, 100))
def test_almost_symmetric_tensors_become_so_and_symmetric_ones_stay(n, order, seed):
    rng = np.random.default_rng(seed)
    T = moment_tensor(rng.standard_normal((7, n)), order)
    assert (symmetrized(T) == T).all()
    T *= 1 + 1e-12 * rng.standard_normal(T.shape)
    symmetric = symmetrized(T)
    assert is_symmetric(symmetric)
    np.testing.assert_allclose(symmetric, mean(T), rtol=0, atol=1e-14 * np.abs(T).max())


@pytest.mark.parametrize(("n", "order"), [(130, 2), (52, 3), (13, 4)])
def test_moments_in_blocks_are_those_of_all_samples(monkeypatch, n, order):
    """Samples fill the scratch space several times; 52 variables are more than a block's rows."""
    X = np.random.default_rng(n).standard_normal((37, n))
    monkeypatch.setattr(sample_moments, "SCRATCH_BYTES", 8 * n * 10)
    T = moment_tensor(X, order)
    np.testing.assert_allclose(T, reference.moment(X, order), atol=1e-12)
    assert is_symmetric(T)

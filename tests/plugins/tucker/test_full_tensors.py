"""Full tensors: moments and means over permutations, of any order, symmetric to the last bit."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.symmetric_tensors import symmetrized
from orthobench_tucker import full_tensors, reference
from orthobench_tucker.full_tensors import moment_tensor


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


@pytest.mark.parametrize(("n", "order"), [(130, 2), (52, 3), (48, 3), (13, 4)])
def test_moments_in_blocks(monkeypatch, n, order):
    """More samples than fit into the scratch space, more variables than rows of a block."""
    X = np.random.default_rng(n).standard_normal((37, n))
    monkeypatch.setattr(full_tensors, "SCRATCH_BYTES", 8 * n * 10)
    T = moment_tensor(X, order)
    np.testing.assert_allclose(T, reference.moment(X, order), atol=1e-12)
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


@pytest.mark.parametrize("n", [48, 49, 97])
def test_matrices_of_several_blocks(n):
    A = np.random.default_rng(n).standard_normal((n, n))
    S = A + A.T
    noisy = S + 1e-13 * A
    assert (symmetrized(S) == S).all()
    assert is_symmetric(symmetrized(noisy))
    np.testing.assert_allclose(symmetrized(noisy), mean(noisy), rtol=0, atol=1e-15 * S.max())

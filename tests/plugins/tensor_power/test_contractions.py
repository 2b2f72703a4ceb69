"""The packed kernels against the definitions, by einsum."""

from itertools import product

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.symmetric_tensors import composed
from orthobench_tensor_power._kernels.contractions import (
    ROWS,
    contracted,
    deflate,
    norm,
    packed,
    power_iteration,
    weighted_slices,
)

seeds = st.integers(0, 2**32 - 1)


def test_contractions_are_the_definition(tensors):
    for case in product([1, 2, 7, 22, 23, 40], [1, 3, 40]):
        n, m = case
        # n = 22 is the last whose pairs fit into one product
        assert (n * (n + 1) // 2 <= ROWS) == (n <= 22), case
        T, X = tensors.gaussian(n, rng(n)), rng(m).standard_normal((n, m))
        expected = np.einsum("abc,bi,ci->ai", T, X, X)
        np.testing.assert_allclose(
            contracted(packed(T), X), expected, atol=1e-13 * n, err_msg=f"{case}"
        )


@given(n=st.integers(1, 12), seed=seeds)
def test_norms_and_weighted_slices_are_those_of_the_tensor(tensors, n, seed):
    T, w = tensors.gaussian(n, rng(seed)), rng(seed + 1).standard_normal(n)
    M = weighted_slices(packed(T), w)
    assert norm(packed(T)) == pytest.approx(np.linalg.norm(T))
    assert np.array_equal(M, M.T)
    np.testing.assert_allclose(M, T @ w, atol=1e-13)


@given(n=st.integers(1, 12), seed=seeds)
def test_deflation_subtracts_the_component_and_returns_the_norm(tensors, n, seed):
    T, u = tensors.gaussian(n, rng(seed)), rng(seed + 1).standard_normal(n)
    P = packed(T)
    left = T - composed(u[:, None], np.array([0.7]))
    assert deflate(P, u, 0.7) == pytest.approx(np.linalg.norm(left))
    np.testing.assert_allclose(P, packed(left), atol=1e-13 * n)


def test_vectors_whose_contraction_is_zero_stay():
    P = packed(composed(np.eye(3)[:, :1], np.array([2.0])))
    Y, values, moved = power_iteration(P, np.eye(3))
    assert np.array_equal(Y, np.eye(3))
    assert np.array_equal(values, [2, 0, 0])
    assert np.array_equal(moved, [0, 0, 0])

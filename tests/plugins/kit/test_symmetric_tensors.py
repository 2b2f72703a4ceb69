"""Symmetric tensors of order 3 and 4, by their definitions; and what is no such tensor."""

import numpy as np
import pytest
from orthobench_kit.symmetric_tensors import (
    checked_tensor,
    composed,
    contracted,
    norm,
    partly_contracted,
    residual_norm,
)

from orthobench.errors import DataError

N, K = 5, 3
RNG = np.random.default_rng(0)
V, W = RNG.standard_normal((N, K)), np.array([2.0, -1.0, 0.5])
INDICES = {2: "ab", 3: "abc", 4: "abcd"}


def outer(U, weights, order):
    letters = INDICES[order]
    return np.einsum(f"{','.join(c + 'k' for c in letters)},k->{letters}", *[U] * order, weights)


def symmetric(order):
    return outer(RNG.standard_normal((N, 7)), RNG.standard_normal(7), order)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_a_composed_tensor_is_the_sum_of_its_terms(order):
    np.testing.assert_allclose(composed(V, W, order), outer(V, W, order), atol=1e-12)


@pytest.mark.parametrize("order", [3, 4])
def test_contractions_norms_and_residuals_are_those_of_all_entries(order):
    T, letters = symmetric(order), INDICES[order]
    every = ",".join(f"{c}k" for c in letters)
    np.testing.assert_allclose(
        contracted(T, V), np.einsum(f"{letters},{every}->k", T, *[V] * order)
    )
    rest = ",".join(f"{c}k" for c in letters[1:])
    np.testing.assert_allclose(
        partly_contracted(T, V), np.einsum(f"{letters},{rest}->ak", T, *[V] * (order - 1))
    )
    assert norm(T) == pytest.approx(np.linalg.norm(T))
    assert residual_norm(T, V, W) == pytest.approx(np.linalg.norm(T - outer(V, W, order)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((2, 2)), r"must be a cube, not of shape \(2, 2\)"), (np.ones((2,) * 5), "a cube"),
        (np.ones((2, 2, 3)), "a cube"), (np.ones((0, 0, 0)), "a cube"),
        (np.zeros((2, 2, 2)), "the tensor is zero"), (np.ones((2, 2, 2), complex), "real numbers"),
        (np.where(np.arange(8).reshape(2, 2, 2) == 3, np.nan, 1.0), r"entry \(0, 1, 1\) .* is nan"),
    ],
)  # fmt: skip
def test_tensors_of_other_orders_are_refused(given, message):
    with pytest.raises(DataError, match=message):
        checked_tensor(given, 3, 4, "a cube")


def test_tensors_of_the_orders_asked_for_are_taken_as_float64():
    for order in (3, 4):
        found = checked_tensor(np.ones((2,) * order, int), 3, 4, "")
        assert (found.dtype, found.ndim) == (np.float64, order)

"""Symmetric tensors of order 3 and 4, by their definitions; and what is no such tensor."""

import numpy as np
import pytest
from orthobench_kit.symmetric_tensors import (
    ROWS,
    checked_tensor,
    composed,
    contracted,
    fill,
    mirror,
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


@pytest.mark.parametrize("n", [1, ROWS, ROWS + 1, 2 * ROWS + 3])
def test_a_matrix_is_mirrored_from_above_its_diagonal_blocks(n):
    G = RNG.standard_normal((n, n))
    expected = G.copy()
    mirror(G)
    np.testing.assert_array_equal(G, G.T)
    for row in range(0, n, ROWS):
        end = row + ROWS
        np.testing.assert_array_equal(G[row:end, end:], expected[row:end, end:])
        block = expected[row:end, row:end]
        np.testing.assert_allclose(G[row:end, row:end], (block + block.T) / 2)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_a_tensor_is_filled_from_the_entries_whose_first_index_is_the_least(order):
    T, filled, asked = symmetric(order), np.full((N,) * order, np.nan), []

    def corner(a, rest):
        asked.append((a, rest.shape))
        rest[...] = T[a][(slice(a, None),) * (order - 1)]

    fill(filled, corner)
    np.testing.assert_allclose(filled, T, atol=1e-12)
    assert asked == [(a, (N - a,) * (order - 1)) for a in range(N)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((2, 2)), r"must be a cube, not of shape \(2, 2\)"), (np.ones((2,) * 5), "a cube"),
        (np.ones((2, 2, 3)), "a cube"), (np.ones((0, 0, 0)), "a cube"),
        (np.zeros((2, 2, 2)), "the tensor is zero"), (np.ones((2, 2, 2), complex), "real numbers"),
        (np.where(np.arange(8).reshape(2, 2, 2) == 3, np.nan, 1.0), r"entry \(0, 1, 1\) .* is nan"),
    ],
)  # fmt: skip
def test_what_is_no_tensor_of_these_orders_is_refused(given, message):
    with pytest.raises(DataError, match=message):
        checked_tensor(given, 3, 4, "a cube")


def test_tensors_of_the_orders_asked_for_are_taken_as_float64():
    for order in (3, 4):
        found = checked_tensor(np.ones((2,) * order, int), 3, 4, "")
        assert (found.dtype, found.ndim) == (np.float64, order)

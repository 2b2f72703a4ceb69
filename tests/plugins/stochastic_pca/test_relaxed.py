"""Subspaces of matrices of the relaxation: sampled corners, filled traces, sums of iterates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_stochastic_pca.rank_updates import MIN_ROWS, FactoredSum
from orthobench_stochastic_pca.relaxed import corners, fill_trace, sampled

from orthobench.tools.geometry import drift, random_point


@st.composite
def feasible(draw):
    """Values in [0, 1] with a whole sum k, some of them 0 or 1."""
    k = draw(st.integers(1, 5))
    n = draw(st.integers(k, 16))
    raw = np.array(draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))
    low, high = -1.0, 1.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.clip(raw + middle, 0, 1).sum() < k else (low, middle)
    return np.clip(raw + high, 0, 1), k


@given(feasible())
def test_the_corners_combine_to_the_spectrum(case):
    values, k = case
    pieces = list(corners(values, k))
    total = np.zeros(len(values))
    for weight, chosen in pieces:
        assert len(set(chosen.tolist())) == k
        assert weight > 0
        total[chosen] += weight
    assert sum(weight for weight, _ in pieces) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(total, values, atol=1e-11)
    assert len(pieces) <= len(values)


def test_the_expected_corner_is_the_spectrum():
    values, rng = np.array([1.0, 0.9, 0.6, 0.3, 0.2]), np.random.default_rng(0)
    draws = 20_000
    counts = np.zeros(5)
    for _ in range(draws):
        counts[sampled(values, 3, rng)] += 1
    spread = 4 * np.sqrt(values * (1 - values) / draws) + 1e-12
    assert np.all(np.abs(counts / draws - values) <= spread)


@pytest.mark.parametrize(("m", "d"), [(0, 9), (2, 9), (7, 9), (9, 9)])
def test_a_matrix_of_smaller_trace_is_filled_up_feasibly(m, d):
    rng = np.random.default_rng(m)
    vectors, start = random_point(d, max(m, 1), rng)[:, :m], random_point(d, 3, rng)
    values = np.sort(rng.random(m))[::-1] * 0.3
    basis, spread = fill_trace(vectors, values, 0.0, start)
    assert drift(basis) < 1e-13
    assert spread.sum() == pytest.approx(3.0, abs=1e-12)
    assert spread.min() >= 0.0
    assert spread.max() <= 1.0
    assert np.array_equal(basis[:, :m], vectors)


def test_a_floor_gets_eigenvectors_of_its_own():
    rng = np.random.default_rng(5)
    vectors, values = random_point(8, 3, rng), np.array([0.9, 0.6, 0.25])
    basis, spread = fill_trace(vectors, values, 0.05, random_point(8, 2, rng))
    assert drift(basis) < 1e-13
    assert np.array_equal(basis[:, :3], vectors)
    assert spread.tolist() == [*values, *[0.05] * 5]


def summed(factors):
    total = FactoredSum()
    for P in factors:
        total = total.plus(P)
    return total


@pytest.mark.parametrize(("d", "rank"), [(400, 5), (400, 150), (30, 30)])
def test_a_sum_is_kept_whatever_its_rank(d, rank):
    rng = np.random.default_rng(rank)
    basis = rng.standard_normal((rank, d))
    factors = [rng.standard_normal((7, rank)) @ basis for _ in range(150)]
    exact = sum(P.T @ P for P in factors)
    values, vectors = summed(factors).spectrum()
    assert np.all(np.diff(values) <= 0)
    assert drift(vectors) < 1e-13
    found = (vectors * values) @ vectors.T
    np.testing.assert_allclose(found, exact, atol=1e-12 * np.abs(exact).max())


def test_memory_follows_the_rank_not_the_number_of_factors():
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((5, 2000))
    total = summed(rng.standard_normal((7, 5)) @ basis for _ in range(300))
    assert total.dense is None
    assert total.rows <= MIN_ROWS
    wide = summed([np.eye(MIN_ROWS + 1, 3 * MIN_ROWS)])
    assert (wide.rows, wide.limit) == (MIN_ROWS + 1, 2 * MIN_ROWS + 2)

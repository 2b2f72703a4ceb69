"""frequent-directions: its error bound for all splits and merges, and what it keeps exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.geometry import subspace_error
from orthobench_stochastic_pca.solvers.frequent_directions import FrequentDirections, shrunk

import orthobench as ob
from orthobench.errors import UsageError


def decaying(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.geomspace(10, 0.1, d)


def sketched(A, size):
    """Return the sketch of rows, as the solver makes it."""
    B = A[:0]
    for x in A:
        B = np.vstack([B, x])
        if len(B) == 2 * size:
            B = shrunk(B, size)
    return B


def merge(one, other, size):
    return shrunk(np.concatenate([one, other]), size)


def bound(A, size):
    """Return the least |A - A_j|² / (l - j)."""
    squares = np.linalg.svd(A, compute_uv=False) ** 2
    return min(squares[j:].sum() / (size - j) for j in range(size))


def errors(A, B):
    """Return the least and the largest eigenvalue of A'A - B'B, relative to that of A'A."""
    values = np.linalg.eigvalsh(A.T @ A - B.T @ B)
    return values[[0, -1]] / np.linalg.norm(A, 2) ** 2


@given(data=st.data())
def test_the_error_is_within_the_bound_for_all_splits_and_merges(data):
    size, d = data.draw(st.integers(2, 8)), data.draw(st.integers(2, 12))
    kind = data.draw(st.sampled_from(["decaying", "discrete"]))
    n = data.draw(st.integers(1, 60))
    A = decaying(n, d, data.draw(st.integers(0, 5)))
    A = A if kind == "decaying" else np.round(A)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=5)))
    parts = [sketched(part, size) for part in np.split(A, cuts)]
    while len(parts) > 1:
        i = data.draw(st.integers(0, len(parts) - 2))
        parts[i : i + 2] = [merge(parts[i], parts[i + 1], size)]
    unit = max(np.linalg.norm(A, 2) ** 2, 1e-300)
    least, largest = errors(A, parts[0]) if A.any() else (0.0, 0.0)
    assert least >= -1e-12
    assert largest <= bound(A, size) / unit + 1e-12


@pytest.mark.parametrize("rank", [3, 7])
def test_samples_of_low_rank_are_decomposed_exactly(rank):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, rank)) @ rng.standard_normal((rank, 30))
    outcome = ob.solve("frequent-directions", ob.stochastic_pca(X, k=3), size=8)
    assert outcome.trace[-1].metrics["suboptimality"] < 1e-10
    exact = np.linalg.svd(X)[2][:3].T
    assert subspace_error(exact, outcome.solution) < 1e-10


def test_fewer_rows_than_directions_are_refused():
    instance = ob.stochastic_pca(decaying(20, 10), k=5)
    with pytest.raises(UsageError, match="size must be above k = 5, not 5"):
        ob.solve(FrequentDirections(size=5), instance)

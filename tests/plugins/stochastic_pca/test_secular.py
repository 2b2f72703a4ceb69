import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from orthobench_stochastic_pca._kernels.secular import eigenvalues, eigenvectors, secular_workspace


def updated(d, z):
    """Return eigenvalues and eigenvectors, as rows, of diag(d) + zz'."""
    n = len(d)
    W, work = np.eye(n), secular_workspace(n)
    active = eigenvalues(d.copy(), z.copy(), W, work)
    slots = work.active[:active]
    V = np.empty((active, active))
    eigenvectors(active, np.arange(active), active, work, V)
    W[slots] = V @ W[slots]
    return work.lam.copy(), W


def check(d, z):
    values, W = updated(d, z)
    A = np.diag(d) + np.outer(z, z)
    scale = max(np.abs(A).max(), 1e-250)
    assert np.abs(np.sort(values) - np.linalg.eigvalsh(A)).max() <= 1e-13 * scale
    assert np.abs(W @ A - values[:, None] * W).max() <= 2e-13 * scale
    assert np.abs(W @ W.T - np.eye(len(d))).max() <= 1e-13


entries = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1) | st.floats(0, 1e-12)
components = st.just(0.0) | st.floats(-1, 1) | st.floats(-1e-9, 1e-9)


@settings(max_examples=100)
@given(st.lists(st.tuples(entries, components), min_size=1, max_size=24), st.integers(-60, 60))
def test_any_update_agrees_with_a_dense_eigendecomposition(pairs, exponent):
    pairs.sort()
    d, z = np.array(pairs).T * 2.0**exponent
    if np.dot(z, z) > 1e-270:
        check(np.ascontiguousarray(d), np.ascontiguousarray(z))


@pytest.mark.parametrize("width", [0.0, 1e-16, 1e-13, 1e-9, 1e-5])
def test_clusters(width):
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(2, 40))
        d = np.sort(rng.integers(0, 4, n) + width * rng.random(n))
        check(d, rng.standard_normal(n) * 10.0 ** rng.uniform(-4, 2, n))

"""Restarted Lanczos bidiagonalization against LAPACK, and the statements of its paper."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from kinds import one_of
from orthobench_pca.solvers.irlba import IRLBA
from scipy.linalg import toeplitz

import orthobench as ob


def with_values(values, shape, seed=0):
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((n, len(values))))[0] for n in shape)
    return (U * np.asarray(values)) @ V.T


def found(X, k, **settings):
    """Return singular values and vectors, from the run that has them."""
    outcome = ob.solve(IRLBA(**settings), ob.pca(X, k, center=False))
    V = outcome.solution.astype(np.float64)
    assert outcome.stop.converged
    assert outcome.trace[-1].metrics["residual"] < 100 * settings.get("tolerance", 1e-6)
    return np.linalg.norm(X @ V, axis=0), V


SPECTRA = {
    "power": 1 / np.arange(1.0, 41),
    "clustered": 0.8 ** (np.arange(40) // 4) * (1 - 1e-7 * (np.arange(40) % 4)),
    "repeated": np.repeat([3.0, 2.0, 1.0, 0.5], 10),
    "rank deficient": np.r_[3.0, 2.0, np.zeros(38)],
}


@pytest.mark.parametrize("unit", one_of(2, [1.0, 1e6]))
@pytest.mark.parametrize("shape", [(200, 60), (60, 200)])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_singular_values_are_those_of_lapack(spectrum, shape, unit):
    X = unit * with_values(SPECTRA[spectrum], shape)
    for form, k in ((X, 5), (sp.csr_array(X), 5), (X, 1)):
        values, V = found(form, k, tolerance=1e-10)
        np.testing.assert_allclose(values, unit * SPECTRA[spectrum][:k], atol=1e-9 * unit)
        assert np.abs(V.T @ V - np.eye(k)).max() < 1e-12
    values, _ = found(X.astype(np.float32), 5, tolerance=1e-5)
    np.testing.assert_allclose(values, unit * SPECTRA[spectrum][:5], atol=1e-5 * unit)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=25),
    st.integers(0, 5),
    st.booleans(),
    st.integers(1, 4),
)
def test_any_spectrum_is_found(values, more, wide, k):
    values = np.sort(values)[::-1]
    assume(values[0] > 0)
    shape = (len(values) + more, len(values))
    X = with_values(values, shape[::-1] if wide else shape)
    k = min(k, len(values))
    got, _ = found(X, k, tolerance=1e-9)
    np.testing.assert_allclose(got, values[:k], atol=1e-7)


def test_peer_example_of_two_clusters_is_solved():
    """A test of the R package irlba: the prolate matrix, by its bound."""
    i = np.arange(1, 512)
    X = toeplitz(np.r_[0.5, np.sin(np.pi * i / 2) / (np.pi * i)])
    values, _ = found(X, 20, tolerance=1e-5)
    assert np.abs(values - 1).max() < 1e-3


def after_cycles(X, k, cycles, extra):
    oracle = ob.pca(X, k, center=False).oracle
    oracle.start = np.eye(X.shape[1], k)
    solver = IRLBA(extra=extra, tolerance=1e-14)
    state = solver.init(oracle, np.random.default_rng(0))
    first = state.P
    solver.advance(oracle, state, cycles)
    return state, first


def test_restart_space_is_that_of_exact_shifts():
    """Section 3.1: it is the Krylov space of p(X'X)v, p with the unwanted Ritz values as roots."""
    X, k, extra = with_values(np.linspace(2, 0.1, 40), (60, 40)), 2, 5
    m = k + extra
    state, v = after_cycles(X, k, 1, extra)
    kept = state.Q.shape[1]
    G = X.T @ X
    K = np.linalg.qr(np.column_stack([np.linalg.matrix_power(G, i) @ v for i in range(m)]))[0]
    roots = np.linalg.eigvalsh(K.T @ G @ K)[: m - kept]
    for root in roots:
        v = G @ v - root * v
    powers = [np.linalg.matrix_power(G, i) @ v for i in range(kept + 1)]
    expected = np.linalg.qr(np.column_stack(powers))[0]
    assert np.linalg.norm(state.P - expected @ (expected.T @ state.P), 2) < 1e-6

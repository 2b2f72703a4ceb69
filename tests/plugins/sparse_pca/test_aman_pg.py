"""aman-pg against a plain transcription and exact alternating minimization."""

import numpy as np
import pytest
from features import of_features
from orthobench_sparse_pca.solvers.aman_pg import AManPG

import orthobench as ob

D, N, M = 30, 50, 3


@pytest.fixture(scope="module")
def A():
    rng = np.random.default_rng(0)
    V = np.zeros((D, M))
    for j in range(M):
        V[5 * j : 5 * j + 5, j] = 5**-0.5
    A = V @ np.diag([3.0, 2.5, 2.0]) @ rng.standard_normal((M, N))
    A += 0.3 * rng.standard_normal((D, N))
    return A - A.mean(axis=1, keepdims=True)


def soft(Y, bound):
    return np.sign(Y) * np.maximum(np.abs(Y) - bound, 0)


def scaled(A, gamma):
    """Return S with the largest eigenvalue 1, and mu."""
    A = A / np.linalg.norm(A, 2)
    return A @ A.T, 2 * gamma * np.linalg.norm(A, axis=1).max()


def objective(S, X, Y, mu, ridge):
    fit = np.trace(Y.T @ S @ Y) if ridge is not None else 0.0
    l2 = (1.0 if ridge is None else ridge) * np.sum(Y**2)
    return fit - 2 * np.trace(X.T @ S @ Y) + l2 + mu * np.abs(Y).sum()


def plain(S, mu, ridge, steps):
    """Algorithm 1 of Chen et al. (2020) on the matrix, with the polar factor by eigenvectors."""
    X = Y = np.linalg.eigh(S)[1][:, ::-1][:, :M]
    L = 2 + 2 * (ridge or 0)
    t, tau = 1 / L, 100 / D
    for _ in range(steps):
        if ridge is None:
            Y = soft(S @ X, mu / 2)
        else:
            before, cut = objective(S, X, Y, mu, ridge), False
            while True:
                new = soft(Y - 2 * t * (S @ (Y - X) + ridge * Y), t * mu)
                decrease = 1e-3 * np.sum((new - Y) ** 2) / t
                if objective(S, X, new, mu, ridge) <= before - decrease:
                    break
                t, cut = t / 2, True
            Y, t = new, max(1 / L, t / 1.01) if cut else 1.01 * t
        G, cut = -2 * S @ Y, False
        R = G - X @ (X.T @ G + G.T @ X) / 2
        while True:
            T = X - tau * R
            values, W = np.linalg.eigh(T.T @ T)
            new = T @ W @ np.diag(values**-0.5) @ W.T
            if np.vdot(new - X, G) <= -1e-3 * tau * np.sum(R**2):
                break
            tau, cut = tau / 2, True
        X, tau = new, tau if cut else 1.1 * tau
    return X, Y


def stepped(solver, A, steps):
    oracle = of_features(A, m=M).oracle
    state = solver.init(oracle, np.random.default_rng(0))
    values = [state.value]
    for _ in range(steps):
        solver.step(oracle, state)
        values.append(state.value)
    return state, values


@pytest.mark.parametrize("ridge", [None, 0.2])
def test_steps_are_those_of_the_plain_method(A, ridge):
    S, mu = scaled(A, 0.1)
    state, _ = stepped(AManPG(penalties="common", gamma=0.1, ridge=ridge, tolerance=0.0), A, 6)
    X, Y = plain(S, mu, ridge, 6)
    signs = np.sign(np.sum(X * state.X, axis=0))
    np.testing.assert_allclose(state.X * signs, X, atol=1e-9)
    np.testing.assert_allclose(state.Y * signs, Y, atol=1e-9)
    assert state.value == pytest.approx(objective(S, X, Y, mu, ridge), rel=1e-10)


def test_aman_pg_descends_and_ends_at_the_first_small_step(A):
    for ridge in (None, 0.05, 1.0):
        settings = {"penalties": "common", "gamma": 0.2, "ridge": ridge}
        _, values = stepped(AManPG(**settings, tolerance=0.0), A, 40)
        assert np.diff(values).max() <= 1e-12
        tolerance = 1.001 * abs(values[5] - values[4])
        last = next(t for t in range(1, 41) if abs(values[t] - values[t - 1]) <= tolerance)
        outcome = ob.solve(AManPG(**settings, tolerance=tolerance), of_features(A, m=M))
        assert outcome.work.steps == last


def test_it_ends_where_exact_alternating_minimization_does(A):
    S, mu = scaled(A, 0.1)
    X = np.linalg.eigh(S)[1][:, ::-1][:, :M]
    for _ in range(3000):
        Y = soft(S @ X, mu / 2)
        P, _, Qt = np.linalg.svd(S @ Y, full_matrices=False)
        X = P @ Qt
    state, _ = stepped(AManPG(penalties="common", gamma=0.1, tolerance=0.0), A, 400)
    assert state.value == pytest.approx(objective(S, X, Y, mu, None), abs=1e-9)


def test_without_a_penalty_the_loadings_are_principal_components(A):
    solver = AManPG(
        penalties="common", gamma=0.0, ridge=0.0, loadings="thresholded", tolerance=1e-15
    )
    Z = ob.solve(solver, of_features(A, m=M)).solution
    left = np.linalg.svd(A)[0][:, :M]
    np.testing.assert_allclose(np.abs(Z), np.abs(left), atol=1e-10)


def test_aman_pg_finds_the_planted_support(A):
    def solve(gamma):
        instance = of_features(A, m=M)
        return ob.solve("aman-pg", instance, gamma=gamma, penalties="common").solution

    expected = np.kron(np.eye(M), np.ones((5, 1)))
    found = (solve(0.25)[: 5 * M] != 0).astype(float)
    assert sorted(map(tuple, found.T)) == sorted(map(tuple, expected.T))
    assert not solve(0.999).any()

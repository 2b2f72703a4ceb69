"""Landing for X'BX = I: its direction, its safe step, and its limit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_cca.solvers.generalized_landing import PencilLanding, landing_direction
from scipy.linalg import eigh

import orthobench as ob


def pencil(n=12, condition=5.0, seed=0):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, n))
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return (M @ M.T) / n, (Q * np.geomspace(1 / condition, 1, n)) @ Q.T


@given(seed=st.integers(0, 2**32 - 1), attraction=st.floats(0.1, 3.0), k=st.integers(1, 4))
def test_a_direction_is_the_sum_of_two_orthogonal_terms(seed, attraction, k):
    A, B = pencil(seed=seed)
    X = np.random.default_rng(seed).standard_normal((12, k))
    AX, BX, S = A @ X, B @ X, X.T @ B @ X
    W = (AX @ BX.T - BX @ AX.T) / 2
    rising, pull = W @ BX, -attraction * BX @ (S - np.eye(k))
    found = landing_direction(AX, BX, S, attraction)
    size = max(np.linalg.norm(rising), np.linalg.norm(pull))
    np.testing.assert_allclose(found, rising + pull, atol=1e-10 * size)
    assert abs(np.vdot(rising, pull)) < 1e-9 * size**2
    flat = rising.T @ BX
    np.testing.assert_allclose(flat + flat.T, 0, atol=1e-9 * size * np.linalg.norm(BX))


@given(seed=st.integers(0, 2**32 - 1), attraction=st.floats(0.1, 3.0), defect=st.floats(0, 0.49))
def test_a_safe_step_keeps_the_defect_below_its_bound(seed, attraction, defect):
    A, B = pencil(seed=seed)
    rng = np.random.default_rng(seed)
    k, solver = 3, PencilLanding(attraction=attraction)
    E = rng.standard_normal((k, k))
    E = (E + E.T) * defect / np.linalg.norm(E + E.T)
    root = np.linalg.cholesky(np.eye(k) + E)
    X = np.linalg.inv(np.linalg.cholesky(B).T) @ np.linalg.qr(rng.standard_normal((12, k)))[0]
    X = X @ root.T
    S = X.T @ B @ X
    F = landing_direction(A @ X, B @ X, S, attraction)
    t = solver.safe_step(S, F.T @ B @ F, np.linalg.eigvalsh(X.T @ B @ B @ X))
    for step in (t, t / 2):
        Y = X + step * F
        assert np.linalg.norm(Y.T @ B @ Y - np.eye(k)) <= 0.5 + 1e-9


@pytest.mark.parametrize("units", [(1.0, 1.0), (1e8, 1e-6)])
def test_pencil_landing_finds_the_eigenvectors_in_any_unit(units):
    A, B = pencil()
    problem = ob.generalized_eigenvectors(A * units[0], B * units[1], 2)
    outcome = ob.solve("pencil-landing", problem, ob.Budget(steps=20_000))
    X, exact = outcome.solution, eigh(A, B)[0][::-1][:2]
    X = X * np.sqrt(units[1])
    np.testing.assert_allclose(X.T @ B @ X, np.eye(2), atol=1e-7)
    np.testing.assert_allclose(np.linalg.eigvalsh(X.T @ A @ X)[::-1], exact, rtol=1e-7)
    assert outcome.stop.reason.startswith("converged")


def test_steps_grow_with_the_condition_of_b():
    steps = [
        ob.solve(
            "pencil-landing", f"planted-pencil n=20 k=2 ratio=0.5 condition={condition}",
            ob.Budget(steps=20_000), until=ob.Target("suboptimality", 1e-6),
        ).work.steps
        for condition in (2, 16)
    ]  # fmt: skip
    assert 4 < steps[1] / steps[0] < 16

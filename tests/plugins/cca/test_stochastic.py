"""Units, averages and ends of stochastic methods for canonical correlations."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_cca.solvers.app_grad import AppGrad
from orthobench_cca.solvers.generalized_landing import PairsLanding
from orthobench_cca.solvers.stochastic import CCAEY, SGHA, GammaEigengame

from orthobench.errors import UsageError
from orthobench.tools.geometry import random_point

P, Q, K = 4, 3, 2
RNG = np.random.default_rng(0)
PAIRS = RNG.standard_normal((10, P + Q)) * np.repeat([3.0, 0.5], [P, Q])


def oracle_of(*batches, ridge=0.0):
    taken = iter(batches)
    return SimpleNamespace(
        p=P, n=P + Q, k=K, sizes=(P, Q, K), ridge=ridge, take=lambda _: next(taken),
        start=random_point(P + Q, K, np.random.default_rng(0)),
    )  # fmt: skip


@pytest.mark.parametrize("solver", [CCAEY, SGHA, GammaEigengame, PairsLanding])
@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_the_first_batch_sets_the_units_of_all(solver, ridge):
    """The ridge is that of data in their own units."""
    step = solver(step_size=0.1, batch=10)
    oracle = oracle_of(PAIRS, 2 * PAIRS, ridge=ridge)
    state = step.init(oracle, None)
    a, b = (np.sqrt(np.mean(M**2)) for M in (PAIRS[:, :P], PAIRS[:, P:]))
    units = np.repeat([a, b], [P, Q])
    expected, average = oracle.start, None
    for data in (PAIRS, 2 * PAIRS):
        S = (data / units).T @ (data / units) / 10
        A, B = S.copy(), S.copy()
        A[:P, :P] = A[P:, P:] = B[:P, P:] = B[P:, :P] = 0
        B += ridge * np.diag(units**-2.0)
        Z, AZ, BZ = expected, A @ expected, B @ expected
        if solver is GammaEigengame:
            average = BZ if average is None else average + 0.1 * (BZ - average)
            y, By = (
                Z / np.sqrt(np.sum(Z * average, axis=0)),
                average / np.sqrt(np.sum(Z * average, axis=0)),
            )
            own_a, own_b = np.sum(Z * AZ, axis=0), np.sum(Z * BZ, axis=0)
            direction = own_b * AZ - own_a * BZ
            z = Z[:, 1]
            direction[:, 1] -= (z @ A @ y[:, 0]) * (own_b[1] * By[:, 0] - (z @ By[:, 0]) * BZ[:, 1])
            moved = Z + 0.1 * direction
            expected = moved / np.linalg.norm(moved, axis=0)
        elif solver is PairsLanding:
            W = (AZ @ BZ.T - BZ @ AZ.T) / 2
            expected = Z + 0.1 * (W @ BZ - BZ @ (Z.T @ BZ - np.eye(K)))
        else:
            held = BZ if solver is CCAEY else AZ
            expected = Z + 0.1 * (AZ - BZ @ (Z.T @ held))
        step.step(oracle, state)
        assert state.units == pytest.approx((a, b))
        np.testing.assert_allclose(state.Z, expected, atol=1e-12)


@pytest.mark.parametrize("relative", [True, False])
def test_a_step_of_appgrad_is_that_with_the_ridge(relative):
    solver, ridge = AppGrad(step_size=0.5, batch=10, relative=relative), 0.3
    oracle = oracle_of(PAIRS, ridge=ridge)
    state = solver.init(oracle, None)
    solver.step(oracle, state)
    halves = PAIRS[:, :P], PAIRS[:, P:]
    units = [np.sqrt(np.mean(np.sum(M**2, axis=1))) if relative else 1.0 for M in halves]
    X, Y = (M / unit for M, unit in zip(halves, units, strict=True))
    A, B = oracle.start[:P], oracle.start[P:]
    expected = []
    for M, own, target, unit, free, white in (
        (X, A, Y @ B, units[0], state.free_a, state.A),
        (Y, B, X @ A, units[1], state.free_b, state.B),
    ):
        S = M.T @ M / 10 + ridge / unit**2 * np.eye(M.shape[1])
        length = 0.5 / (np.mean(np.sum(M * M, axis=1)) + ridge / unit**2)
        expected.append(own - length * (S @ own - M.T @ target / 10))
        np.testing.assert_allclose(free, expected[-1], atol=1e-12)
        np.testing.assert_allclose(white.T @ S @ white, np.eye(K), atol=1e-10)
        expected[-1] = expected[-1] / unit
    np.testing.assert_allclose(solver.solution(state).point, np.vstack(expected))


def test_a_batch_has_as_many_pairs_as_variables():
    AppGrad(batch=K).init(oracle_of(), None)
    with pytest.raises(UsageError, match="at least k = 2, not 1"):
        AppGrad(batch=K - 1).init(oracle_of(), None)

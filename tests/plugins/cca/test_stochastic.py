"""Units, averages and ends of stochastic methods for canonical correlations."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_cca.solvers.app_grad import AppGrad, _size
from orthobench_cca.solvers.sklearn_methods import ROWS_OF_UNIT, _in_units, _padded
from orthobench_cca.solvers.stochastic import CCAEY, HUGE, SGHA, GammaEigengame, _root_mean_square

from orthobench.contract.solver import Status
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


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_units_are_root_mean_squares_of_entries_and_of_rows(unit):
    X = unit * np.array([[3.0, 0.0], [0.0, 4.0]])
    assert _root_mean_square(X) == pytest.approx(2.5 * unit)
    assert _size(X) == pytest.approx(np.sqrt(12.5) * unit)
    assert _root_mean_square(0 * X) == _size(0 * X) == 1


@pytest.mark.parametrize("solver", [CCAEY, SGHA, GammaEigengame])
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
        else:
            held = BZ if solver is CCAEY else AZ
            expected = Z + 0.1 * (AZ - BZ @ (Z.T @ held))
        step.step(oracle, state)
        assert state.units == pytest.approx((a, b))
        np.testing.assert_allclose(state.Z, expected, atol=1e-12)


@pytest.mark.parametrize(("size", "status"), [(0.9, Status.RUNNING), (1.1, Status.FAILED)])
def test_weights_that_grow_beyond_all_bounds_fail(size, status):
    solver, oracle = SGHA(batch=10), oracle_of(0 * PAIRS)
    state = solver.init(oracle, None)
    state.Z = np.full((P + Q, K), size * HUGE)
    solver.step(oracle, state)
    assert state.status is status
    assert ("lower `step`" in state.reason) is (status is Status.FAILED)


@pytest.mark.parametrize("relative", [True, False])
def test_a_step_of_appgrad_in_its_units_with_a_ridge(relative):
    solver, ridge = AppGrad(step_size=0.5, batch=10, relative=relative), 0.3
    oracle = oracle_of(PAIRS, ridge=ridge)
    state = solver.init(oracle, None)
    solver.step(oracle, state)
    units = (_size(PAIRS[:, :P]), _size(PAIRS[:, P:])) if relative else (1.0, 1.0)
    X, Y = PAIRS[:, :P] / units[0], PAIRS[:, P:] / units[1]
    A, B = oracle.start[:P], oracle.start[P:]
    expected = []
    for M, own, target, unit in ((X, A, Y @ B, units[0]), (Y, B, X @ A, units[1])):
        r = ridge / unit**2
        scale = 0.5 / (np.mean(np.sum(M * M, axis=1)) + r)
        expected.append((own - scale * (M.T @ (M @ own - target) / 10 + r * own)) / unit)
    np.testing.assert_allclose(solver.solution(state).point, np.vstack(expected))
    for M, weights, unit in ((X, state.A, units[0]), (Y, state.B, units[1])):
        S = M.T @ M / 10 + ridge / unit**2 * np.eye(M.shape[1])
        np.testing.assert_allclose(weights.T @ S @ weights, np.eye(K), atol=1e-10)


def test_a_batch_has_as_many_pairs_as_variables():
    AppGrad(batch=K).init(oracle_of(), None)
    with pytest.raises(UsageError, match="at least k = 2, not 1"):
        AppGrad(batch=K - 1).init(oracle_of(), None)


def test_before_the_first_batch_the_start_is_the_solution():
    oracle = oracle_of()
    state = AppGrad().init(oracle, None)
    np.testing.assert_array_equal(AppGrad().solution(state).point, oracle.start)


def test_halves_are_divided_by_powers_of_two_near_some_of_their_entries():
    X = np.array([[3.0, -5.0], [1.0, 2.0]])
    found = _in_units(SimpleNamespace(X=X, Y=X / 8))
    for M in found:
        np.testing.assert_array_equal(M, X / 8)
    exact, _ = _in_units(SimpleNamespace(X=4 * np.eye(2), Y=np.eye(2)))
    np.testing.assert_array_equal(exact, np.eye(2))
    zero, bad = _in_units(SimpleNamespace(X=np.zeros((2, 2)), Y=np.full((2, 2), np.inf)))
    assert not zero.any()
    assert np.isinf(bad).all()


@pytest.mark.parametrize(("rows", "looked_at"), [(ROWS_OF_UNIT, 1), (ROWS_OF_UNIT + 1, 2)])
def test_of_many_rows_every_so_many_is_looked_at(rows, looked_at):
    X = np.ones((rows, 1))
    X[1] = 4.0
    found, _ = _in_units(SimpleNamespace(X=X, Y=X))
    assert found[0, 0] == (0.25 if looked_at == 1 else 1.0)
    only = np.zeros((rows, 1))
    only[1] = 4.0
    assert _in_units(SimpleNamespace(X=only, Y=only))[0].max() == 1.0


def test_components_that_are_not_found_are_zero():
    found = _padded(np.array([[1.0], [np.nan]]), 2)
    np.testing.assert_array_equal(found, [[1.0, 0.0], [0.0, 0.0]])

"""Directions of limited-memory BFGS on the Stiefel manifold."""

import numpy as np
import pytest
from orthobench_stiefel import projected
from orthobench_stiefel._kernels.secants import PAIRS, Pair, direction, first_guess, pair
from orthobench_stiefel.problems.brockett import StiefelBrockett
from orthobench_stiefel.problems.diagonalization import JointDiagonalization
from orthobench_stiefel.problems.procrustes import StiefelProcrustes
from orthobench_stiefel.solvers.riemannian_gradient import RiemannianGradient

import orthobench as ob
from orthobench.tools.geometry import random_point

SHAPE = 9, 3


def pairs(count, X, seed=0):
    """Return pairs of a function with a positive Hessian, with tangent changes."""
    rng, found, before = np.random.default_rng(seed), [], 1.0
    scales = rng.uniform(0.5, 2, SHAPE)
    for _ in range(count):
        S = projected(X, rng.standard_normal(SHAPE))
        found.append(pair(X, S, projected(X, scales * S), before))
        before = found[-1].step
    return found


@pytest.fixture
def X():
    return random_point(*SHAPE, np.random.default_rng(1))


@pytest.mark.parametrize("weight", [1.0, 8.0])
def test_direction_operator_is_symmetric_positive_and_tangent(X, weight):
    known, rng = pairs(PAIRS, X), np.random.default_rng(2)
    R, T = (projected(X, rng.standard_normal(SHAPE)) for _ in range(2))
    HR, HT = (direction(X, D, known, weight) for D in (R, T))
    assert np.abs(projected(X, HR) - HR).max() < 1e-14
    assert np.vdot(R, HR) > 0
    assert np.vdot(T, HR) == pytest.approx(np.vdot(R, HT), rel=1e-12)


def test_the_last_pair_is_a_secant(X):
    """BFGS takes HY = S of the last changes, whatever the first approximation is."""
    known = pairs(PAIRS, X)
    assert np.abs(direction(X, known[-1].Y, known, 8.0) - known[-1].S).max() < 1e-13


def test_a_pair_without_positive_curvature_changes_nothing(X):
    known, rng = pairs(2, X), np.random.default_rng(3)
    R, S = (projected(X, rng.standard_normal(SHAPE)) for _ in range(2))
    for Y in (-S, 0 * S):
        ignored = pair(X, S, Y, known[-1].step)
        assert ignored.over == 0
        columns = (known[0].columns + known[1].columns) / 2
        ignored = ignored._replace(step=known[-1].step, columns=columns)
        found = direction(X, R, [*known, ignored], 2.0)
        assert np.abs(found - direction(X, R, known, 2.0)).max() < 1e-14


@pytest.mark.parametrize("metric", ["euclidean", "turning"])
@pytest.mark.parametrize(
    "problem",
    [StiefelBrockett(n=30, p=4), StiefelProcrustes(n=20, p=3), JointDiagonalization(n=8)],
    ids=lambda problem: problem.name,
)
def test_runs_reach_the_optimum(problem, metric):
    instance = problem.build(np.random.default_rng(0))
    solver = RiemannianGradient(metric=metric, steps="lbfgs", tolerance=1e-8)
    run = ob.solve(solver, instance)
    last = run.trace[-1].metrics
    assert run.work.steps < 300
    assert last["objective_gap"] < 1e-10
    assert last["relative_gradient_norm"] < 1e-6


def test_step_of_a_pair_is_that_of_the_parts_outside(X):
    """Those of columns are within a factor of ten of it."""
    S, Y = np.random.default_rng(4).standard_normal((2, *SHAPE))
    found = pair(X, S, Y, 0.7)
    outside, change = (M - X @ (X.T @ M) for M in (S, Y))
    common = abs(np.vdot(outside, change)) / np.vdot(change, change)
    each = np.sum(outside * change, axis=0) / np.sum(change**2, axis=0)
    assert found.step == pytest.approx(common)
    expected = np.clip(each, common / 10, 10 * common)
    np.testing.assert_allclose(np.exp(found.columns)[0], expected)


def test_first_guess_scales_columns_outside_and_the_turn(X):
    columns = np.log([[1.0, 4.0, 16.0]]), np.zeros((1, 3))
    known = [Pair(X, X, 1.0, step, each) for step, each in zip((0.5, 0.25), columns, strict=True)]
    R = projected(X, np.random.default_rng(5).standard_normal(SHAPE))
    turn = X.T @ R
    outside = (R - X @ turn) * 0.25 * np.array([0.5, 1.0, 2.0])
    expected = outside - X @ (X.T @ outside) + X @ (3 * 0.25 / 2 * (turn - turn.T))
    np.testing.assert_allclose(first_guess(X, R, known, 3.0), expected, atol=1e-14)

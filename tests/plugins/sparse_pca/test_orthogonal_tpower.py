"""A round of tpower-orthogonal by its formulas: violations, growth of the penalty, and ends."""

import numpy as np
import pytest
from features import of_features
from orthobench_sparse_pca.solvers.orthogonal_tpower import (
    FAST,
    SLOW,
    OrthogonalTPower,
    _penalized,
)

from orthobench.contract.solver import Status

D, N, M = 8, 30, 2

BOTH = pytest.mark.parametrize("constraint", ["orthogonal", "disjoint"])


def data():
    """Features of which the first three are in both of the leading components."""
    rng = np.random.default_rng(0)
    V = np.zeros((D, 2))
    V[:3, 0], V[:3, 1] = 1.0, (1.0, -0.5, -0.5)
    A = V @ (np.array([[3.0], [2.5]]) * rng.standard_normal((2, N))) + 0.1 * rng.standard_normal(
        (D, N)
    )
    return A - A.mean(axis=1, keepdims=True)


def begun(**settings):
    solver = OrthogonalTPower(cardinality=3, **settings)
    oracle = of_features(data(), m=M).oracle
    return solver, oracle, solver.init(oracle, None)


def violation(Z, constraint):
    overlap = np.abs(Z.T @ Z) if constraint == "orthogonal" else np.abs(Z).T @ np.abs(Z)
    return overlap.sum() - np.trace(overlap)


@BOTH
def test_a_penalty_takes_the_variance_of_others_from_the_covariance(constraint):
    rng = np.random.default_rng(0)
    A, others, weights = (
        rng.standard_normal((5, 9)),
        rng.standard_normal((5, 2)),
        np.array([2.0, 3]),
    )
    found = _penalized(A, others, weights, constraint)
    if constraint == "orthogonal":
        less = (others * weights) @ others.T
        less -= np.linalg.norm(others * np.sqrt(weights), 2) ** 2 * np.eye(5)
    else:
        squares = others**2 @ weights
        less = np.diag(squares - squares.max())
    C = A @ A.T - less
    assert np.linalg.eigvalsh(C - A @ A.T + 1e-12 * np.eye(5))[0] > 0  # it is definite beside AA'
    support, z = np.array([0, 2, 3]), np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(found.times(support, z), C[:, support] @ z)
    values, vectors = np.linalg.eigh(C[np.ix_(support, support)])
    assert values[-1] > values[-2]
    np.testing.assert_allclose(abs(found.leading(support) @ vectors[:, -1]), 1)
    diagonal = found.diagonal(np.sum(A * A, axis=1)) - np.diag(C)
    np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-12)


@BOTH
def test_the_penalty_grows_by_the_violation_and_then_by_variance_over_it(constraint):
    solver, oracle, state = begun(constraint=constraint, rounds=20, tolerance=1e-12)
    assert (SLOW * 20, FAST * 20) == (3, 15)
    unit = np.sum(state.A**2) / D
    for done in range(1, 21):
        penalty, growth = state.penalty, state.growth
        solver.step(oracle, state)
        assert state.penalty == penalty + growth
        assert state.work.steps == done
        found = max(violation(state.Z, constraint), 1e-7)
        variance = np.sum((state.A.T @ state.Z) ** 2)
        assert state.variance == pytest.approx(variance)
        rate = 0.01 if done < 15 else 0.05
        expected = rate * (found if done < 3 else variance / unit / found)
        if violation(state.Z, constraint) > 1e-6:
            assert state.growth == pytest.approx(expected, rel=1e-6)
        if state.status is not Status.RUNNING:
            break
    assert done > 3


@BOTH
def test_components_end_as_the_constraint_says(constraint):
    solver, oracle, state = begun(constraint=constraint)
    ends, best = [], (-np.inf, None)
    while state.status is Status.RUNNING:
        before = state.variance
        solver.step(oracle, state)
        found = violation(state.Z, constraint)
        # it is over where variance is still, and where the violation is small; neither alone is
        still = abs(state.variance - before) <= 1e-8 * state.variance
        ends.append((still, found <= 1e-4))
        if found <= 1e-4 and state.variance > best[0]:
            best = (state.variance, state.Z)
    assert state.status is Status.CONVERGED
    assert ends.index((True, True)) == len(ends) - 1
    Z = solver.solution(state).point
    np.testing.assert_array_equal(Z, best[1])
    assert violation(Z, constraint) < 1e-4
    np.testing.assert_allclose(np.linalg.norm(Z, axis=0), 1)
    assert (Z != 0).all(axis=1).any() == (constraint == "orthogonal")


@BOTH
def test_a_violation_is_of_products_or_of_their_absolute_values(constraint):
    """Two orthogonal components that share their features violate disjointness alone."""

    class Fixed(OrthogonalTPower):
        def _component(self, oracle, state, Z, t):
            return np.eye(D, 2) @ np.array([[0.6, 0.8], [0.8, -0.6]])[t]

    _, oracle, state = begun()
    Fixed(constraint=constraint, tolerance=0.5).step(oracle, state)
    expected = 1e-7 if constraint == "orthogonal" else 2 * 2 * 0.48
    assert state.growth == pytest.approx(0.01 * expected)
    assert state.score[0] == pytest.approx(-max(expected - 0.5, 0.0))


def test_a_run_is_over_after_its_rounds():
    solver, oracle, state = begun(rounds=2, tolerance=1e-300)
    solver.step(oracle, state)
    assert state.status is Status.RUNNING
    solver.step(oracle, state)
    assert (state.status, state.work.steps) == (Status.COMPLETE, 2)

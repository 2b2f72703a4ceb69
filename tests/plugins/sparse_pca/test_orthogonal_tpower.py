"""A round of tpower-orthogonal by its formulas: violations, growth of the penalty, and ends."""

import numpy as np
import pytest
from features import of_features
from orthobench_sparse_pca.solvers.orthogonal_tpower import OrthogonalTPower, _penalized

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


def test_a_run_is_over_after_its_rounds():
    solver, oracle, state = begun(rounds=2, tolerance=1e-300)
    solver.step(oracle, state)
    assert state.status is Status.RUNNING
    solver.step(oracle, state)
    assert (state.status, state.work.steps) == (Status.COMPLETE, 2)


@BOTH
def test_a_penalty_takes_the_variance_of_other_components(constraint):
    rng = np.random.default_rng(0)
    A, others = rng.standard_normal((5, 9)), rng.standard_normal((5, 2))
    weights = np.array([2.0, 3.0])
    taken = (others * weights) @ others.T
    if constraint == "disjoint":
        taken = np.diag(np.diag(taken))
    C = A @ A.T - taken + np.linalg.norm(taken, 2) * np.eye(5)
    found = _penalized(A, others, weights, constraint)
    support, z = np.array([0, 2, 3]), np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(found.times(support, z), C[:, support] @ z)
    leading = np.linalg.eigh(C[np.ix_(support, support)])[1][:, -1]
    np.testing.assert_allclose(abs(found.leading(support) @ leading), 1)
    np.testing.assert_allclose(found.diagonal(np.sum(A * A, axis=1)), np.diag(C))

"""Generalized eigenvectors: closed forms, scipy, canonical correlations, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from orthobench_cca.pencil import generalized_eigenvectors
from orthobench_cca.problems.pairs import PlantedCorrelations
from orthobench_cca.problems.pencils import DigitDiscriminants, PlantedPencil
from orthobench_cca.solvers.generalized import GenELinK, GeneralizedExact, conjugate_gradients
from scipy.linalg import eigh, subspace_angles
from scipy.sparse.linalg import cg

from orthobench.contract.solver import Status
from orthobench.errors import DataError, UsageError
from orthobench.tools.geometry import random_point

SOLVERS = (GeneralizedExact(), GenELinK(inner=20))


def ended(solver, instance, most=3000):
    oracle = instance.oracle
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(0))
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, most)
    return state


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
@pytest.mark.parametrize("problem", [PlantedPencil(n=20), DigitDiscriminants()])
def test_solvers_find_the_eigenvectors_of_scipy(solver, problem):
    instance = problem.build(np.random.default_rng(0))
    A, B, k = instance.oracle.A, instance.oracle.B, instance.oracle.k
    state = ended(solver, instance)
    assert state.status is Status.CONVERGED
    assert np.abs(state.X.T @ B @ state.X - np.eye(k)).max() < 1e-10
    assert abs(instance.measure(solver.solution(state))["suboptimality"]) < 1e-10
    values, vectors = eigh(A, B)
    np.testing.assert_allclose(instance.measure.values, values[: -k - 1 : -1], rtol=1e-10)
    assert subspace_angles(state.X, vectors[:, -k:]).max() < 1e-6


def test_planted_values_are_the_generalized_eigenvalues():
    problem = PlantedPencil(n=12, k=5, ratio=0.5, condition=1000.0)
    instance = problem.build(np.random.default_rng(1))
    np.testing.assert_allclose(instance.measure.values, 0.5 ** np.arange(5), rtol=1e-10)


def test_canonical_correlations_are_the_positive_eigenvalues():
    pairs = PlantedCorrelations(p=4, q=3).build(np.random.default_rng(0))
    S = pairs.oracle.pairs.T @ pairs.oracle.pairs / len(pairs.oracle.pairs)
    within = S.copy()
    within[:4, 4:] = within[4:, :4] = 0
    instance = generalized_eigenvectors(S - within, within, k=3)
    np.testing.assert_allclose(instance.measure.values, pairs.measure.correlations, rtol=1e-10)
    with pytest.raises(DataError, match="only 3 eigenvalues are positive"):
        generalized_eigenvectors(S - within, within, k=4)


def test_iterations_converge_at_the_ratio_of_the_eigenvalues():
    instance = PlantedPencil(n=20, ratio=0.5).build(np.random.default_rng(0))
    solver = GenELinK(inner=40, tolerance=0.0)
    errors = [
        instance.measure(solver.solution(ended(solver, instance, steps)))["error"]
        for steps in (9, 10)
    ]
    assert errors[1] / errors[0] == pytest.approx(0.5, rel=0.05)


def published_step(A, B, W, inner):
    """GenELinK of Ge et al. (2016), with Gram-Schmidt, and scipy's conjugate gradients."""
    gamma = np.linalg.solve(W.T @ B @ W, W.T @ A @ W)
    columns = zip((A @ W).T, (W @ gamma).T, strict=True)
    Z = np.array([cg(B, right, x0=start, rtol=0, maxiter=inner)[0] for right, start in columns]).T
    return np.linalg.solve(np.linalg.cholesky(Z.T @ B @ Z), Z.T).T


def test_a_step_spans_what_one_of_the_published_method_spans():
    instance = PlantedPencil(n=20, condition=100.0).build(np.random.default_rng(0))
    solver = GenELinK(inner=3, tolerance=0.0)
    X = [ended(solver, instance, steps).X for steps in range(4)]
    for before, after in pairwise(X):
        expected = published_step(instance.oracle.A, instance.oracle.B, before, inner=3)
        assert subspace_angles(after, expected).max() < 1e-10


def test_start_at_a_negative_eigenvalue_adds_a_multiple_of_b():
    """A step is then one for A + shift B, whose eigenvectors are those of A."""
    rng = np.random.default_rng(0)
    Q, M = random_point(12, 12, rng), rng.standard_normal((12, 12))
    A, B = Q * [2.0, 1, 0.5, *[-3.0] * 9] @ Q.T, M @ M.T + np.eye(12)
    instance, solver = generalized_eigenvectors((A + A.T) / 2, B, 2), GenELinK(inner=4)
    before, state = (ended(solver, instance, steps) for steps in (0, 1))
    assert state.shift > 0
    expected = published_step(instance.oracle.A + state.shift * B, B, before.X, inner=4)
    assert subspace_angles(state.X, expected).max() < 1e-9


def test_conjugate_gradients_are_exact_after_n_steps():
    rng = np.random.default_rng(0)
    M, right = rng.standard_normal((6, 6)), rng.standard_normal((6, 2))
    B, right[:, 1] = M @ M.T + np.eye(6), 0
    found = conjugate_gradients(B, right, np.zeros((6, 2)), 6)
    np.testing.assert_allclose(found, np.linalg.solve(B, right), atol=1e-10)


def test_unfit_pencils_are_refused():
    for arguments, error, message in (
        ({"k": 0}, UsageError, "between 1 and 3, not 0"),
        ({"k": 4}, UsageError, "between 1 and 3, not 4"),
        ({"B": np.eye(2)}, DataError, "must be the same"),
        ({"B": -np.eye(3)}, DataError, "must be positive semidefinite"),
        ({"A": np.full((3, 3), np.nan)}, DataError, "row of A 0 .* is not finite"),
        ({"A": -np.eye(3)}, DataError, "only 0 eigenvalues are positive"),
    ):
        with pytest.raises(error, match=message):
            generalized_eigenvectors(**{"A": np.eye(3), "B": np.eye(3), "k": 1, **arguments})

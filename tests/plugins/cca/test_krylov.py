"""Regressions and bases of the block Krylov method."""

import numpy as np
import pytest
from orthobench_cca.oracle import Centred
from orthobench_cca.solvers.krylov import DROPPED, BlockKrylov, _whitened

import orthobench as ob
from orthobench.tools.geometry import random_point


def side_of(N, p):
    M = np.random.default_rng(0).standard_normal((N, p)) * np.geomspace(1, 30, p)
    return Centred(M, M.mean(axis=0))


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_regressions_solve_the_normal_equations(ridge):
    """By a factor, by conjugate gradients, and of one of them the steepest scaled step."""
    side, scores = side_of(60, 5), np.random.default_rng(1).standard_normal((60, 3))
    inverse, S = 1 / (side.variances() + ridge), side.covariance(ridge)
    rest = side.adjoint(scores) / 60
    solver = BlockKrylov(inner=20)
    root, _ = solver._root(side, ridge, inverse, 3)
    for each in (root, None):
        found = solver._regressed(side, scores, ridge, inverse, each)
        np.testing.assert_allclose(found, np.linalg.solve(S, rest), atol=1e-9)
    P = inverse[:, None] * rest
    length = np.sum(rest * P, axis=0) / np.sum(P * (S @ P), axis=0)
    first = BlockKrylov(inner=1)._regressed(side, scores, ridge, inverse, None)
    np.testing.assert_allclose(first, P * length)


def test_whitened_basis_has_the_span_of_columns_of_any_length():
    side, basis = side_of(60, 5), np.random.default_rng(0).standard_normal((5, 3))
    for units in (np.ones(3), np.array([1.0, 1e-9, 1e9]), np.full(3, 1e-100)):
        found, scores = _whitened(basis * units, side.times(basis * units), 0.5)
        gram = scores.T @ scores / 60 + 0.5 * found.T @ found
        np.testing.assert_allclose(gram, np.eye(3), atol=1e-9)
        rest = basis - found @ np.linalg.lstsq(found, basis, rcond=None)[0]
        np.testing.assert_allclose(rest, 0, atol=1e-12)
    # columns at a small angle have a Gram matrix with eigenvalues 1 + c and 1 - c
    for share, kept in ((0.9, 1), (1.1, 2)):
        c = 1 - 2 * share * DROPPED
        columns = np.array([[1.0, c], [0.0, np.sqrt(1 - c * c)]])
        assert _whitened(columns, columns, 0.0)[0].shape == (2, kept)


@pytest.mark.parametrize(("blocks", "widths"), [(2, [3, 3, 3, 3]), (3, [3, 6, 3, 6])])
def test_basis_of_so_many_blocks_becomes_the_ritz_vectors(blocks, widths):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((300, 40)), rng.standard_normal((300, 30))
    Y[:, :3] += X[:, :3] * [2.0, 1.0, 0.5]
    solver = BlockKrylov(oversampling=1, blocks=blocks, tolerance=1e-300)
    oracle = ob.cca(X, Y, k=2).oracle
    oracle.start = random_point(70, 2, rng)
    state, found, captured = solver.init(oracle, rng), [], [0.0]
    for _ in widths:
        solver.step(oracle, state)
        found.append(state.bases[0].shape[1])
        captured.append(state.captured)
    assert found == widths
    assert np.all(np.diff(captured) > -1e-12)

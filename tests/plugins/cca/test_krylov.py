"""Block Krylov for canonical correlations: what is factored, how bases grow, and where it ends."""

import numpy as np
import pytest
from orthobench_cca.oracle import Centred
from orthobench_cca.solvers.krylov import BlockKrylov, _whitened

import orthobench as ob
from orthobench.contract.solver import Status
from orthobench.tools.geometry import random_point


def pairs(N=80, p=12, q=10):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((N, p)), rng.standard_normal((N, q))
    Y[:, :3] += X[:, :3] * [2.0, 1.0, 0.5]
    return X, Y


def begun(solver, k=2, **sizes):
    oracle = ob.cca(*pairs(**sizes), k=k).oracle
    oracle.start = random_point(oracle.n, k, np.random.default_rng(0))
    return oracle, solver.init(oracle, np.random.default_rng(0))


def side_of(N, p, form=np.asarray):
    M = np.random.default_rng(0).standard_normal((N, p))
    return Centred(form(M), M.mean(axis=0))


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_regressions_are_the_same_by_a_factor_and_by_conjugate_gradients(ridge):
    side, scores = side_of(60, 5), np.random.default_rng(1).standard_normal((60, 3))
    inverse = 1 / (side.variances() + ridge)
    expected = np.linalg.solve(side.covariance(ridge), side.adjoint(scores) / 60)
    solver = BlockKrylov(inner=20)
    root, _ = solver._root(side, ridge, inverse, 3)
    for each in (root, None):
        found = solver._regressed(side, scores, ridge, inverse, each)
        np.testing.assert_allclose(found, expected, atol=1e-9)
    few = BlockKrylov(inner=1)._regressed(side, scores, ridge, inverse, None)
    rest = side.adjoint(scores) / 60
    P = inverse[:, None] * rest
    length = np.sum(rest * P, axis=0) / np.sum(P * (side.covariance(ridge) @ P), axis=0)
    np.testing.assert_allclose(few, P * length)


def test_a_block_does_not_depend_on_the_units_of_columns():
    X, Y = pairs()
    units = 2.0 ** np.random.default_rng(1).integers(-30, 30, X.shape[1])
    blocks = []
    for data in (X, X * units):
        oracle = ob.cca(data, Y, k=2).oracle
        oracle.start = random_point(oracle.n, 2, np.random.default_rng(0))
        blocks.append(BlockKrylov().init(oracle, np.random.default_rng(0)).block)
    np.testing.assert_allclose(*blocks, rtol=1e-12, atol=1e-12)


def test_a_whitened_basis_has_the_span_of_its_columns():
    """Whatever the lengths of the columns are."""
    side, basis = side_of(60, 5), np.random.default_rng(0).standard_normal((5, 3))
    for units in (np.ones(3), np.array([1.0, 1e-9, 1e9]), np.full(3, 1e-100)):
        found, scores = _whitened(basis * units, side.times(basis * units), 0.5)
        gram = scores.T @ scores / 60 + 0.5 * found.T @ found
        np.testing.assert_allclose(gram, np.eye(3), atol=1e-9)
        np.testing.assert_allclose(scores, side.times(found), atol=1e-12)
        rest = basis - found @ np.linalg.lstsq(found, basis, rcond=None)[0]
        np.testing.assert_allclose(rest, 0, atol=1e-12)


@pytest.mark.parametrize(("blocks", "widths"), [(2, [3, 3, 3, 3]), (3, [3, 6, 3, 6])])
def test_bases_of_so_many_blocks_are_replaced_by_the_ritz_vectors(blocks, widths):
    solver = BlockKrylov(oversampling=1, blocks=blocks, tolerance=1e-300)
    oracle, state = begun(solver, N=300, p=40, q=30)
    found, captured = [], [0.0]
    for _ in widths:
        solver.step(oracle, state)
        found.append(state.bases[0].shape[1])
        assert [M.shape[1] for M in state.scores] == [found[-1]] * 2
        assert state.block.shape == (300, 3)
        captured.append(state.captured)
    assert found == widths
    assert np.all(np.diff(captured) > -1e-12)


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_it_ends_where_correlations_gain_no_more_than_the_tolerance(share):
    plain = BlockKrylov(tolerance=1e-300)
    oracle, state = begun(plain)
    plain.step(oracle, state)
    first = state.captured
    plain.step(oracle, state)
    gain = (state.captured - first) / state.captured
    solver = BlockKrylov(tolerance=share * gain)
    oracle, state = begun(solver)
    solver.step(oracle, state)
    assert state.status is Status.RUNNING
    solver.step(oracle, state)
    assert (state.status is Status.CONVERGED) is (share > 1)

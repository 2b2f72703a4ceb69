"""Rows that screening skips change nothing: the iterates are those of plain numpy."""

import numpy as np
import pytest
from orthobench_gpower._kernels.kernels import begin, evaluate
from orthobench_gpower.reference import evaluated, greedy
from orthobench_gpower.solvers.gpower import GPower
from orthobench_sparse_pca import SparsePCAOracle
from orthobench_sparse_pca.loadings import solve_for_z

from orthobench.tools.geometry import polar

FORMS = [(penalty, mu) for penalty in ("l1", "l0") for mu in ("equal", "distinct")]


def gaussian(d, N, seed=0):
    stream = np.random.default_rng(seed)
    A = stream.standard_normal((d, N)) * np.linspace(2, 0.3, N)
    return A * stream.uniform(0.2, 1.0, (d, 1))


@pytest.mark.parametrize("m", [1, 2, 20])
@pytest.mark.parametrize(("penalty", "mu"), FORMS)
def test_iterates_are_those_of_plain_numpy(m, penalty, mu):
    A = gaussian(700, 25)
    for threshold in (0.0, 0.1, 0.3, 0.8):
        compare_to_plain_numpy(A, m, threshold, penalty, mu)


def compare_to_plain_numpy(A, m, threshold, penalty, mu):
    gamma = threshold if penalty == "l1" else threshold**2
    solver = GPower(penalty=penalty, block=True, mu=mu, gamma=gamma, tolerance=0.0)
    oracle = SparsePCAOracle(A, m)
    state = solver.init(oracle, np.random.default_rng(1))
    bound = threshold * np.linalg.norm(A, axis=1).max()
    factors = 1.0 / np.arange(1, m + 1) if mu == "distinct" else np.ones(m)
    for _ in range(12):
        X = state.ascent.X.T.copy()
        value, gradient, active = evaluated(A, X, bound, factors, penalty == "l0")
        following = polar(gradient)
        assert state.ascent.value[0] * state.unit**2 == pytest.approx(value, rel=1e-12)
        clear = np.abs(np.abs(A @ X) - bound) > 1e-12
        mine = np.zeros_like(active)
        mine[state.kept] = state.ascent.active
        np.testing.assert_array_equal(mine[clear], active[clear])
        solver.advance(oracle, state, 1)
        moved = active.any(axis=0)  # the polar factor of a zero column is any completion
        np.testing.assert_allclose(
            state.ascent.X.T[:, moved], following[:, moved], rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("penalty", ["l1", "l0"])
def test_a_whole_greedy_run_is_that_of_plain_numpy(penalty):
    A = gaussian(400, 25)
    gamma = 0.4 if penalty == "l1" else 0.16
    solver = GPower(penalty=penalty, gamma=gamma, tolerance=1e-6)
    state = solver.init(SparsePCAOracle(A, 5), np.random.default_rng(1))
    solver.advance(SparsePCAOracle(A, 5), state, 10_000)
    Z, steps = greedy(A, 5, gamma, 1e-6, solve_for_z, penalty == "l0")
    np.testing.assert_array_equal(state.loadings != 0, Z != 0)
    assert state.work.steps == steps


@pytest.mark.parametrize("m", [1, 3, 20])
def test_no_row_is_due_later_than_it_may_become_active(m):
    """The margin of a row, over its norm, is how far the column may move before it is active."""
    A = gaussian(700, 25)
    solver = GPower(block=True, gamma=0.1, tolerance=0.0)
    oracle = SparsePCAOracle(A, m)
    state = solver.init(oracle, np.random.default_rng(1))
    for _ in range(10):
        before, path = state.ascent.X.copy(), state.ascent.path.copy()
        solver.advance(oracle, state, 1)
        ascent = state.ascent
        moved = np.linalg.norm(ascent.X - before, axis=1)
        assert (ascent.path - path >= moved).all()
        assert (ascent.path - path <= moved + 1e-13).all()
        margin = ascent.bound - np.abs(ascent.rows @ ascent.X.T)
        slack = ascent.due - ascent.path[:, None]
        assert (slack <= (margin / ascent.norms[:, None]).T)[~ascent.active.T].all()


def test_a_row_at_the_bound_is_not_active():
    rows = np.array([[3.0, 4.0], [5.0, 0.0], *[[0.0, 4.0]] * 5])
    ascent = begin(rows, np.linalg.norm(rows, axis=1), 3.0, True, np.ones(1), np.eye(1, 2))
    for _ in range(2):  # at first all rows are due, then few
        np.testing.assert_array_equal(ascent.gradient, [[25.0, 0.0]])
        assert ascent.value == [5.0**2 - 3.0**2]
        assert np.flatnonzero(ascent.active).tolist() == [1]
        evaluate(ascent)


def test_few_inactive_rows_are_evaluated_once_the_point_moves_little():
    A = gaussian(700, 25)
    solver = GPower(block=True, gamma=0.5, tolerance=0.0)
    oracle = SparsePCAOracle(A, 3)
    state = solver.init(oracle, np.random.default_rng(1))
    solver.advance(oracle, state, 40)
    ascent = state.ascent
    evaluated = ascent.due <= ascent.path[:, None]
    assert len(ascent.rows) < 700
    assert ascent.active.sum() <= evaluated.sum() < 1.1 * ascent.active.sum()

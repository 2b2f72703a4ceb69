"""Rows that screening skips change nothing: the iterates are those of plain numpy."""

import numpy as np
import pytest
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

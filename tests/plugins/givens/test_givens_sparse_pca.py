"""givens-sparse-pca: invariants of rotations, convergence, chunks, flops, refusals."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_givens._kernels.pairs import round_robin, uniform_pairs
from orthobench_givens._kernels.sparse_columns import Columns, empty_columns
from orthobench_givens.solvers.sparse_pca import GivensSparsePCA
from orthobench_kit.geometry import rotate
from orthobench_sparse_pca import SparsePCA, SparsePCAOracle, sparse_pca

from orthobench.contract.solver import Status
from orthobench.errors import DataError, UsageError
from orthobench.tools.geometry import unit_columns


def data(d=40, n=7, seed=0, heavy=True):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((d, n))
    return A * rng.standard_t(2, (d, 1)) if heavy else A


def started(solver, A, seed=0):
    oracle = SparsePCAOracle(A, A.shape[1])
    return oracle, solver.init(oracle, np.random.default_rng(seed))


def reached(solver, A, steps, seed=0):
    oracle, state = started(solver, A, seed)
    solver.advance(oracle, state, steps)
    return state


def objective(state):
    return state.columns.objective


def equation_6(AU, gamma):
    return np.sum(np.maximum(np.abs(AU) - gamma, 0.0) ** 2)


def columns_of(AU, gamma):
    """AU as the solver keeps it."""
    d, m = AU.shape
    array = empty_columns(m, d)
    array[:, :d] = AU.T
    return Columns(array, np.arange(d), d, gamma)


@given(
    seed=st.integers(0, 2**32),
    d=st.integers(1, 150),
    n=st.integers(2, 9),
    gamma=st.floats(0.0, 0.99),
    start=st.sampled_from(["identity", "random"]),
    order=st.sampled_from(["random", "cyclic"]),
)
def test_no_step_lowers_the_objective(seed, d, n, gamma, start, order):
    A = data(d, n, seed)
    solver = GivensSparsePCA(gamma=gamma, start=start, order=order)
    oracle, state = started(solver, A, seed)
    before, total = objective(state), np.sum(A * A)
    for _ in range(60):
        solver.advance(oracle, state, 1)
        now = objective(state)
        assert now >= before - 1e-14 * total
        before = now


def test_the_objective_is_equation_6_of_au():
    A = data()
    state = reached(GivensSparsePCA(gamma=0.1), A, 50)
    gamma = 0.1 * np.linalg.norm(A, axis=1).max()
    assert state.columns.gamma == pytest.approx(gamma, rel=1e-15)
    assert objective(state) == pytest.approx(equation_6(state.columns.AU, gamma), rel=1e-13)


@pytest.mark.wide
def test_a_million_rotations_do_not_drift():
    """A gamma that changes keeps it from coming to rest."""
    A = data(60, 6, heavy=False)
    both = columns_of(A, 0.1)
    pairs = uniform_pairs(6, 1000, np.random.default_rng(0))
    for k in range(1000):
        both.gamma = (0.1, 0.5, 1.0, 0.3)[k % 4]
        both.rotate(pairs)
    assert both.tally.planes == 1_000_000
    AU = both.AU
    assert both.tally.rotated > 10_000
    gram = A @ A.T
    assert np.linalg.norm(AU @ AU.T - gram) <= 1e-10 * np.linalg.norm(gram)
    U = np.linalg.lstsq(A, AU, rcond=None)[0]
    assert np.linalg.norm(U.T @ U - np.eye(6)) <= 1e-10
    np.testing.assert_allclose(
        np.linalg.svd(AU, compute_uv=False), np.linalg.svd(A, compute_uv=False), rtol=1e-10
    )


@pytest.mark.parametrize("order", ["random", "cyclic"])
@pytest.mark.parametrize("gamma", [0.05, 0.3])
def test_at_the_end_no_pair_can_gain(order, gamma):
    A = data(30, 6)
    solver = GivensSparsePCA(gamma=gamma, order=order, tolerance=1e-12)
    state = reached(solver, A, 1_000_000)
    assert state.status is Status.CONVERGED
    assert state.work.steps % 15 == 0
    AU, reached_value = state.columns.AU, objective(state)
    for i in range(6):
        for j in range(i):
            before = equation_6(AU[:, [i, j]], state.columns.gamma)
            for angle in np.linspace(0, np.pi / 2, 500):
                turned = AU[:, [i, j]].copy()
                rotate(turned, 0, 1, angle)
                gain = equation_6(turned, state.columns.gamma) - before
                assert gain <= 1e-9 * reached_value


def test_random_order_ends_with_a_pass_in_cyclic_order():
    state = reached(GivensSparsePCA(gamma=0.1), data(), 1_000_000)
    assert state.status is Status.CONVERGED
    assert state.cyclic
    assert objective(state) == pytest.approx(state.value + state.columns.tally.gain)
    assert sorted(map(tuple, state.pairs)) == [(i, j) for i in range(7) for j in range(i + 1, 7)]


@pytest.mark.parametrize(("start", "equal"), [("identity", True), ("random", False)])
def test_only_a_random_start_depends_on_the_seed(start, equal):
    A = np.random.default_rng(0).standard_normal((9, 4))
    solver = GivensSparsePCA(gamma=0.1, start=start)
    one, other = (started(solver, A, seed)[1].value for seed in range(2))
    assert (one == other) is equal


@pytest.mark.parametrize("start", ["identity", "random"])
def test_dropping_rows_that_never_count_changes_nothing(start):
    class Whole(GivensSparsePCA):
        screens = False

    A = data(150, 9)
    for gamma in (0.02, 0.1, 0.5, 0.9):
        few = reached(GivensSparsePCA(gamma=gamma, start=start), A, 300)
        all_ = reached(Whole(gamma=gamma, start=start), A, 300)
        assert len(few.columns.features) < len(all_.columns.features) == 150
        kept = all_.columns.AU[few.columns.features]
        np.testing.assert_allclose(few.columns.AU, kept, rtol=0, atol=1e-12 * np.abs(A).max())
        assert few.work == all_.work


@pytest.mark.parametrize("loadings", ["filled", "thresholded"])
def test_loadings_have_the_pattern_of_au_and_unit_columns(loadings):
    A = data(100, 8)
    solver = GivensSparsePCA(gamma=0.2, loadings=loadings)
    state = reached(solver, A, 500)
    solution = solver.solution(state)
    Z, norms = solution.point, np.linalg.norm(solution.point, axis=0)
    pattern = np.zeros((100, 8), dtype=bool)
    pattern[state.columns.features] = np.abs(state.columns.AU) > state.columns.gamma
    assert solution.gamma == state.columns.gamma
    assert not Z[~pattern].any()
    np.testing.assert_allclose(norms[pattern.any(axis=0)], 1.0, rtol=1e-14)


def test_thresholded_loadings_are_the_best_for_equation_5():
    solver = GivensSparsePCA(gamma=0.2, loadings="thresholded")
    state = reached(solver, data(100, 8), 500)
    AU, gamma = state.columns.AU, state.columns.gamma
    Z = solver.solution(state).point[state.columns.features]
    at_best = np.vdot(Z, AU) - gamma * np.abs(Z).sum()
    rng = np.random.default_rng(0)
    for _ in range(100):
        other = unit_columns(Z + 0.1 * rng.standard_normal(Z.shape) * (np.abs(AU) > gamma))
        assert np.vdot(other, AU) - gamma * np.abs(other).sum() <= at_best


def test_recovers_planted_sparse_components():
    rng = np.random.default_rng(0)
    d, n, planted = 300, 12, 3
    Z = np.zeros((d, planted))
    for j in range(planted):
        Z[20 * j : 20 * (j + 1), j] = 1 / np.sqrt(20)
    A = 10 * Z @ rng.standard_normal((planted, n)) + 0.05 * rng.standard_normal((d, n))
    solver = GivensSparsePCA(gamma=0.25, tolerance=1e-10)
    found = solver.solution(reached(solver, A, 100_000)).point
    closest = np.abs(Z.T @ found).max(axis=1)
    assert (closest > 0.99).all()


def test_round_robin_has_every_pair_once_and_rounds_are_disjoint():
    for n in range(9):
        pairs = round_robin(n)
        assert sorted(map(tuple, pairs)) == [(i, j) for i in range(n) for j in range(i + 1, n)]
        each = n // 2
        for first in range(0, len(pairs), max(each, 1)):
            assert len(np.unique(pairs[first : first + each])) == 2 * each


@dataclass(frozen=True)
class Recipe(SparsePCA):
    name: ClassVar[str] = "recipe"
    m: int = 3
    count: int | None = None

    @property
    def samples(self):
        return self.count

    def build(self, rng):
        return sparse_pca(data(), self.m)


def test_fewer_components_than_samples_are_refused_with_advice():
    solver = GivensSparsePCA()
    reason = solver.refuses(Recipe(3, 10))
    assert "m = 3 of 10" in reason
    assert "givens-streaming-sparse-pca" in reason
    assert solver.refuses(Recipe(3, 3)) is None
    assert solver.refuses(Recipe(3, None)) is None
    with pytest.raises(UsageError, match="m = 3 of 7"):
        solver.init(SparsePCAOracle(data(), 3), np.random.default_rng(0))


def test_data_that_are_zero_or_not_finite_cannot_get_in():
    for bad in (np.nan, np.inf, 1e200, 0.0):
        A = data() * (bad != 0)
        A[3, 2] = bad
        with pytest.raises(DataError):
            sparse_pca(A, 7)
        with np.errstate(over="ignore"), pytest.raises(DataError, match="largest row norm"):
            started(GivensSparsePCA(), A)

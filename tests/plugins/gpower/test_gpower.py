"""gpower against the definitions of Journée et al. (2010), in plain numpy."""

from itertools import chain, combinations

import numpy as np
import pytest
from drawn import rng
from hypothesis import given
from hypothesis import strategies as st
from orthobench_gpower._kernels.kernels import begin
from orthobench_gpower.reference import evaluated
from orthobench_gpower.solvers.gpower import GPower
from orthobench_sparse_pca import SparsePCAOracle

from orthobench.contract.parameters import ParameterError
from orthobench.contract.solver import Status
from orthobench.tools.geometry import drift, polar

FORMS = [(penalty, block) for penalty in ("l1", "l0") for block in (False, True)]
LONG = 10_000


def data(d, N, seed=0):
    """Rows of different length, in a spectrum that falls off."""
    noise = rng(seed)
    A = noise.standard_normal((d, N)) * np.linspace(1.5, 0.2, N)
    return A * noise.uniform(0.3, 1.0, (d, 1))


def started(solver, A, m, seed=0):
    oracle = SparsePCAOracle(A, m)
    return oracle, solver.init(oracle, rng(seed))


def reached(solver, A, m, steps=LONG, seed=0):
    oracle, state = started(solver, A, m, seed)
    solver.advance(oracle, state, steps)
    return state


def loadings(solver, A, m, steps=LONG):
    return solver.solution(reached(solver, A, m, steps)).point


def weights(solver, m):
    return 1.0 / np.arange(1, m + 1) if solver.mu == "distinct" else np.ones(m)


@pytest.mark.parametrize("unit", [0.3, 700.0])
@pytest.mark.parametrize("penalty", ["l1", "l0"])
def test_elsewhere_a_block_moves_through_the_same_points(penalty, unit):
    solver = GPower(block=True, gamma=0.2, penalty=penalty, mu="distinct")
    oracle, here = started(solver, unit * data(40, 9), 3)
    there = solver._init_elsewhere(oracle, rng())
    assert there.work.flops == here.work.flops
    for _ in range(4):
        np.testing.assert_allclose(there.ascent.X, here.ascent.X, rtol=0, atol=1e-13)
        np.testing.assert_array_equal(there.ascent.active[here.kept], here.ascent.active)
        assert there.ascent.value == pytest.approx(here.ascent.value[0], rel=1e-12)
        solver.step(oracle, there)
        solver.advance(oracle, here, 1)
    assert here.work.steps == there.work.steps == 4


def at(solver, A, X):
    """The objective and half its gradient, by plain numpy."""
    hard = solver.penalty == "l0"
    bound = (solver.gamma**0.5 if hard else solver.gamma) * np.linalg.norm(A, axis=1).max()
    return evaluated(A, X, bound, weights(solver, X.shape[1]), hard)[:2]


def attained(state):
    """The objective of the block, or of the component in progress, as the solver has it."""
    return state.ascent.value[0] * state.unit**2


def point(state):
    return state.ascent.X.T.copy()


def settings_of(form, gamma=0.3, **more):
    penalty, block = form
    return {
        "penalty": penalty,
        "block": block,
        "gamma": gamma if penalty == "l1" else gamma**2,
    } | more


@pytest.mark.parametrize(
    ("form", "mu"),
    [*((form, "equal") for form in FORMS), *((form, "distinct") for form in FORMS if form[1])],
    ids=str,
)
def test_the_objective_is_that_of_the_definition(form, mu):
    A, solver = data(80, 12), GPower(**settings_of(form, mu=mu))
    oracle, state = started(solver, A, 3)
    for _ in range(5):
        X, rest = point(state), A.copy()
        for z in state.loadings.T[: state.component]:
            rest -= np.outer(z, z @ rest)
        assert attained(state) == pytest.approx(at(solver, rest, X)[0], rel=1e-12)
        solver.advance(oracle, state, 1)


@pytest.mark.parametrize("form", FORMS, ids=str)
@given(d=st.integers(2, 30), N=st.integers(2, 8), m=st.integers(1, 4),
       gamma=st.floats(0, 0.95), seed=st.integers(0, 100))  # fmt: skip
def test_no_step_lowers_the_objective(form, d, N, m, gamma, seed):
    A = data(d, N, seed)
    m = min(m, d, N)
    solver = GPower(**settings_of(form, gamma, tolerance=0.0))
    oracle, state = started(solver, A, m)
    for _ in range(30):
        before, component = attained(state), state.component
        solver.advance(oracle, state, 1)
        X = point(state)
        assert drift(X) <= 1e-13
        if state.component == component:
            assert attained(state) >= before * (1 - 1e-13)
    assert np.isfinite(solver.solution(state).point).all()


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("penalty", ["l1", "l0"])
def test_it_ends_at_a_fixed_point(penalty, m):
    A = planted(3)[0]
    solver = GPower(**settings_of((penalty, True), tolerance=0.0))
    state = reached(solver, A, m)
    X = point(state)
    assert state.status is Status.CONVERGED
    np.testing.assert_allclose(polar(at(solver, A, X)[1]), X, atol=1e-6)


def with_spectrum(d, N, seed=0):
    noise = rng(seed)
    left = np.linalg.qr(noise.standard_normal((d, N)))[0]
    right = np.linalg.qr(noise.standard_normal((N, N)))[0]
    return left, (left * 2.0 ** -np.arange(N)) @ right.T


@pytest.mark.parametrize("penalty", ["l1", "l0"])
def test_without_penalty_it_is_pca(penalty):
    left, A = with_spectrum(40, 6)
    for more in ({"block": True, "mu": "distinct"}, {"block": False}):
        solver = GPower(penalty=penalty, gamma=0.0, tolerance=1e-15, **more)
        for m in (1, 4):
            Z = loadings(solver, A, m)
            np.testing.assert_allclose(np.abs(Z), np.abs(left[:, :m]), atol=1e-6)


def planted(m, d=120, N=6, size=12, noise=0.02, seed=0):
    """Components with disjoint supports and orthogonal scores, the first the strongest."""
    stream = rng(seed)
    scores = np.linalg.qr(stream.standard_normal((N, m)))[0] * np.linspace(10, 6, m)
    support = np.zeros((d, m), dtype=bool)
    for j in range(m):
        support[j * size : (j + 1) * size, j] = True
    order = stream.permutation(d)
    support = support[order]
    Z = support * stream.uniform(0.8, 1.2, (d, m)) * stream.choice([-1, 1], (d, m))
    Z /= np.linalg.norm(Z, axis=0)
    return Z @ scores.T + noise * stream.standard_normal((d, N)), support


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_planted_supports_come_back(form):
    for seed in range(3):
        A, support = planted(3, seed=seed)
        found = loadings(GPower(**settings_of(form, 0.2)), A, 3) != 0
        assert sorted(map(tuple, found.T)) == sorted(map(tuple, support.T)), seed


def subsets(n):
    return chain.from_iterable(combinations(range(n), size) for size in range(1, n + 1))


def best_subset(A, g):
    """The pattern of the largest variance less g for each loading, by enumeration."""
    values = {
        rows: np.linalg.norm(A[list(rows)], 2) ** 2 - g * len(rows) for rows in subsets(len(A))
    }
    return max(values.items(), key=lambda item: item[1])


def test_l0_finds_no_more_than_the_best_subset_and_stays_there():
    for seed in range(6):
        A = data(8, 5, seed)
        solver = GPower(penalty="l0", gamma=0.15, tolerance=0.0)
        g = 0.15 * (A**2).sum(axis=1).max()
        rows, value = best_subset(A, g)
        state = reached(solver, A, 1)
        found = np.flatnonzero(state.ascent.active[:, 0])
        filled = np.linalg.norm(A[found], 2) ** 2 - g * len(found)
        assert attained(state) <= filled * (1 + 1e-12) <= value * (1 + 1e-12)
        x = np.linalg.svd(A[list(rows)])[2][:1]
        old = state.ascent
        state.ascent = begin(old.rows, old.norms, old.bound, old.hard, old.weights, x.copy())
        state.status, state.component = Status.RUNNING, 0
        solver.advance(SparsePCAOracle(A, 1), state, 50)
        assert np.flatnonzero(state.ascent.active[:, 0]).tolist() == list(rows)
        assert attained(state) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("penalty", ["l1", "l0"])
def test_a_column_without_active_rows_stays_empty(penalty):
    stream = rng()
    x = stream.standard_normal(9)
    A = np.outer(stream.uniform(5, 6, 20), x / np.linalg.norm(x)) + 1e-3 * stream.standard_normal(
        (20, 9)
    )
    solver = GPower(penalty=penalty, block=True, gamma=0.5)
    state = reached(solver, A, 3)
    Z = solver.solution(state).point
    assert np.isfinite(state.ascent.X).all()
    assert drift(state.ascent.X.T) <= 1e-13
    assert np.count_nonzero(Z, axis=0).tolist() == [20, 0, 0]


def test_components_beyond_the_rank_are_zero():
    stream = rng()
    A = stream.standard_normal((40, 2)) @ stream.standard_normal((2, 12))
    solver = GPower(gamma=0.0, tolerance=1e-15)
    state = reached(solver, A, 6)
    Z = solver.solution(state).point
    assert state.status is Status.CONVERGED
    assert np.linalg.norm(Z, axis=0) == pytest.approx([1, 1, 0, 0, 0, 0])
    # one that is far smaller than the first is within it
    A = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1e-9, -1e-9]])
    np.testing.assert_array_equal(np.abs(loadings(GPower(), A, 2)), np.eye(2))


def test_wrong_parameters_are_named():
    for wrong in (
        {"gamma": 1.0}, {"gamma": -0.1}, {"gamma": np.nan}, {"mu": "1/j"}, {"penalty": "l2"},
        {"tolerance": -1.0}, {"block": False, "mu": "distinct"},
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=next(reversed(wrong))):
            GPower(**wrong)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_any_scale_gives_the_same_loadings(form):
    A, solver = data(60, 10), GPower(**settings_of(form))
    expected = loadings(solver, A, 3)
    for exponent in (-400, -10, 10, 400):
        assert loadings(solver, A * 2.0**exponent, 3).tobytes() == expected.tobytes(), exponent


@pytest.mark.parametrize("penalty", ["l1", "l0"])
def test_later_components_are_those_of_the_deflated_data(penalty):
    A, solver = data(90, 10), GPower(**settings_of((penalty, False)))
    Z, rest = loadings(solver, A, 4), A.copy()
    for j in range(4):
        z = loadings(solver, rest, 1)[:, 0]
        np.testing.assert_allclose(Z[:, j], z, atol=1e-11)
        rest = rest - np.outer(z, z @ rest)


@pytest.mark.parametrize("mu", ["equal", "distinct"])
def test_thresholded_loadings_are_the_best_for_the_penalized_form(mu):
    A = data(40, 12)
    solver = GPower(gamma=0.2, block=True, mu=mu, loadings="thresholded")
    state = reached(solver, A, 3)
    X, Z = state.ascent.X.T, solver.solution(state).point
    weight = weights(solver, 3)
    g = 0.2 * weight * np.linalg.norm(A, axis=1).max()

    def penalized(Z):
        return (weight * (A @ X) * Z).sum(axis=0) - g * np.abs(Z).sum(axis=0)

    for seed in range(50):
        other = Z + 0.1 * rng(seed).standard_normal(Z.shape)
        assert (penalized(other / np.linalg.norm(other, axis=0)) < penalized(Z)).all()

"""Single steps of each method against its formula."""

from dataclasses import replace

import numpy as np
import pytest
from orthobench_stiefel import projected
from orthobench_stiefel.landing_field import landing_field, safe_step
from orthobench_stiefel.solvers.cdopt import CDOpt
from orthobench_stiefel.solvers.landing import Landing
from orthobench_stiefel.solvers.landing_newton import LandingNewton
from orthobench_stiefel.solvers.manifold_muon import (
    ManifoldMuon,
    dual_admm,
    dual_ascent,
    off_tangent,
)
from orthobench_stiefel.solvers.pogo import POGO
from orthobench_stiefel.solvers.random_submanifold import RandomSubmanifold
from orthobench_stiefel.solvers.riemannian_gradient import RiemannianGradient
from orthobench_stiefel.solvers.spel import SPEL
from orthobench_stiefel.solvers.wen_yin import WenYin
from scipy.linalg import expm

import orthobench as ob
from orthobench.contract import Status
from orthobench.tools.geometry import drift, orthonormalize, random_point

N, P = 9, 3
A = np.random.default_rng(0).standard_normal((N, N))
A = A + A.T
WEIGHTS = np.array([3.0, 2.0, 1.0])


def cost(X):
    return float(np.vdot(X * WEIGHTS, A @ X))


def gradient(X):
    return 2 * (A @ X) * WEIGHTS


def skew(S):
    return (S - S.T) / 2


def ready(solver):
    """Return an oracle, the state at its start, and the start; steps are absolute."""
    solver = replace(solver, relative=False)
    oracle = ob.stiefel(cost, gradient, n=N, p=P).oracle
    oracle.start = random_point(N, P, np.random.default_rng(0))
    return oracle, solver.init(oracle, np.random.default_rng(1)), oracle.start


def stepped(solver, count=1):
    oracle, state, X = ready(solver)
    solver.advance(oracle, state, count)
    return state, X


def random_pair(defect, seed):
    rng = np.random.default_rng(seed)
    X = random_point(N, P, rng) @ np.diag(1 + defect * rng.uniform(-1, 1, P))
    return X, rng.standard_normal(X.shape)


def test_the_two_parts_of_the_landing_field_are_orthogonal():
    X, G = random_pair(0.2, 0)
    along, _, _ = landing_field(X, G, 0.0)
    whole, defect, _ = landing_field(X, G, 2.0)
    pull = whole - along
    assert np.abs(along - skew(G @ X.T) @ X).max() < 1e-14
    assert np.abs(pull - 2 * X @ (X.T @ X - np.eye(P))).max() < 1e-14
    assert abs(np.vdot(along, pull)) < 1e-13 * np.linalg.norm(along) * np.linalg.norm(pull)
    assert defect == pytest.approx(drift(X))


def test_the_safe_step_keeps_the_defect_below_its_bound():
    for seed in range(300):
        X, G = random_pair(0.15, seed)
        G *= 10.0 ** np.random.default_rng(seed).uniform(-2, 2)
        field, defect, _ = landing_field(X, G, 1.0)
        step = safe_step(defect, float(np.linalg.norm(field)), 1.0, 0.5)
        assert drift(X - step * field) <= 0.5


def test_a_step_of_landing():
    state, X = stepped(Landing(step_size=1e-3))
    assert np.abs(state.X - (X - 1e-3 * skew(gradient(X) @ X.T) @ X)).max() < 1e-13


def test_a_step_of_pogo_and_its_defect():
    defects = []
    for step in (0.02, 0.01):
        state, X = stepped(POGO(step_size=step))
        M = X - step * skew(gradient(X) @ X.T) @ X
        assert np.abs(state.X - (1.5 * M - 0.5 * M @ M.T @ M)).max() < 1e-13
        defects.append(drift(state.X))
    assert defects[0] / defects[1] == pytest.approx(16, rel=0.1)


def half_canonical(X, G):
    return skew(G @ X.T) @ X


def newton_schulz(M):
    return 1.5 * M - 0.5 * M @ M.T @ M


def test_momentum_of_pogo_sums_gradients():
    state, X = stepped(POGO(step_size=1e-3, momentum=0.9), 2)
    B = gradient(X)
    X = newton_schulz(X - 1e-3 * half_canonical(X, B))
    B = 0.9 * B + gradient(X)
    assert np.abs(state.X - newton_schulz(X - 1e-3 * half_canonical(X, B))).max() < 1e-13


def test_vector_adam_divides_by_the_root_mean_square_norm():
    state, X = stepped(POGO(step_size=1e-2, base="vector-adam"), 2)
    first = gradient(X)
    X = newton_schulz(X - 1e-2 * half_canonical(X, first / np.linalg.norm(first)))
    second = gradient(X)
    mean = (0.09 * first + 0.1 * second) / (1 - 0.81)
    square = (0.000999 * np.sum(first**2) + 0.001 * np.sum(second**2)) / (1 - 0.998001)
    expected = newton_schulz(X - 1e-2 * half_canonical(X, mean / np.sqrt(square)))
    assert np.abs(state.X - expected).max() < 1e-9


@pytest.mark.parametrize("step", [1e-3, 0.05, 0.2])
def test_the_best_normal_step_leaves_the_least_defect(step):
    state, X = stepped(POGO(step_size=step, best_normal=True))
    M = X - step * half_canonical(X, gradient(X))
    weights = np.linspace(0, 1, 2001)
    defects = [drift(M + w * (M - M @ M.T @ M)) for w in weights]
    assert drift(state.X) <= min(defects) * (1 + 1e-6) + 1e-14


@pytest.mark.parametrize("sampling", ["permutation", "rotation"])
def test_submanifold_of_all_coordinates_is_riemannian_descent(sampling):
    solver = RandomSubmanifold(sampling=sampling, size=N, step_size=0.05)
    oracle, state, _ = ready(solver)
    X = oracle.start.copy()
    for _ in range(5):
        solver.step(oracle, state)
        X = orthonormalize(np.eye(N) - 0.05 * skew(gradient(X) @ X.T)) @ X
    assert np.abs(state.X - X).max() < 1e-12


def test_a_step_on_a_submanifold_changes_so_many_rows():
    solver = RandomSubmanifold(size=4, step_size=0.1)
    oracle, state, X = ready(solver)
    solver.step(oracle, state)
    changed = np.flatnonzero(np.abs(state.X - X).max(axis=1) > 0)
    assert len(changed) == 4
    G = gradient(X)[changed]
    turn = orthonormalize(np.eye(4) - 0.1 * skew(G @ X[changed].T))
    assert np.abs(state.X[changed] - turn @ X[changed]).max() < 1e-14


@pytest.mark.parametrize(("metric", "weight"), [("euclidean", 1), ("canonical", 2), ("turning", 8)])
def test_a_constant_step_of_riemannian_gradient(metric, weight):
    state, X = stepped(RiemannianGradient(metric=metric, steps="constant", step_size=0.01))
    G = gradient(X)
    R = G - X @ X.T @ G + weight * X @ skew(X.T @ G)
    assert np.abs(state.X - orthonormalize(X - 0.01 * R)).max() < 1e-13


def test_momentum_moves_the_last_direction_by_projection():
    settings = {"steps": "constant", "step_size": 0.01}
    solver = RiemannianGradient(momentum=0.5, **settings)
    oracle, state, X = ready(solver)
    D = projected(X, gradient(X))
    for _ in range(3):
        solver.step(oracle, state)
        X = orthonormalize(X - 0.01 * D)
        D = projected(X, gradient(X)) + 0.5 * projected(X, D)
    assert np.abs(state.X - X).max() < 1e-13
    plain, _ = stepped(RiemannianGradient(**settings), 3)
    assert np.abs(plain.X - X).max() > 1e-3


def test_barzilai_borwein_steps_are_those_of_the_differences():
    solver = RiemannianGradient()
    oracle, state, _ = ready(solver)
    for count in (1, 2):
        X, R = state.X, state.R
        solver.step(oracle, state)
        S, Y = state.X - X, state.R - R
        product = abs(np.vdot(S, Y))
        expected = product / np.vdot(Y, Y) if count == 1 else np.vdot(S, S) / product
        assert state.length == pytest.approx(expected, rel=1e-12)


def test_adaptive_steps_are_long_or_the_least_short_one():
    """A short one if it is below .3 of the long one: the minimum of the last five."""
    solver = RiemannianGradient(steps="adaptive")
    oracle, state, _ = ready(solver)
    shorts, kinds = [], set()
    for _ in range(30):
        X, R = state.X, state.R
        solver.step(oracle, state)
        S, Y = state.X - X, state.R - R
        product = abs(np.vdot(S, Y))
        long = np.vdot(S, S) / product
        shorts = [*shorts[-4:], product / np.vdot(Y, Y)]
        steep = shorts[-1] < 0.3 * long
        kinds.add(steep)
        assert state.length == pytest.approx(min(shorts) if steep else long, rel=1e-9)
    assert kinds == {True, False}


def test_armijo_steps_lower_the_cost():
    solver = RiemannianGradient(steps="armijo")
    oracle, state, _ = ready(solver)
    costs = [oracle.value(state.X)]
    for _ in range(30):
        solver.step(oracle, state)
        costs.append(oracle.value(state.X))
    assert max(np.diff(costs)) < 0
    short = RiemannianGradient(steps="armijo", step_size=1e-3)
    oracle, state, _ = ready(short)
    for length in (2e-3, 4e-3):  # twice the last one, which was accepted at once
        short.step(oracle, state)
        assert state.length == pytest.approx(length)


def test_armijo_steps_end_where_the_cost_is_rounding():
    solver = RiemannianGradient(steps="armijo", tolerance=0.0)
    oracle, state, _ = ready(solver)
    solver.advance(oracle, state, 5000)
    assert state.status is Status.CONVERGED
    assert state.work.steps < 5000


def test_a_step_of_wen_yin():
    state, X = stepped(WenYin(step_size=1e-3))
    G, identity = gradient(X), np.eye(N)
    W = G @ X.T - X @ G.T
    expected = np.linalg.solve(identity + 5e-4 * W, (identity - 5e-4 * W) @ X)
    assert np.abs(state.X - expected).max() < 1e-13


TARGET = np.eye(N)[:, :P]


def test_wen_yin_may_rise_without_the_safe_search():
    """The fifth trial is a ten-thousandth of the first, and is accepted whatever it costs."""
    turn = expm(0.1 * skew(np.random.default_rng(0).standard_normal((N, N))))
    costs = {}
    for safe in (False, True):
        instance = ob.stiefel(
            lambda X: -1e4 * float(np.vdot(TARGET, X)), lambda X: -1e4 * TARGET,
            n=N, p=P, start=turn @ TARGET,
        )  # fmt: skip
        instance.oracle.start = TARGET  # a start of one's own stays
        solver = WenYin(step_size=1e6, safe_search=safe)
        state = solver.init(instance.oracle, np.random.default_rng(0))
        first = state.value
        solver.step(instance.oracle, state)
        costs[safe] = state.value
    assert costs[True] < first < costs[False]


def polar_factor(A):
    U, _, Vt = np.linalg.svd(A, full_matrices=False)
    return U @ Vt


@pytest.mark.parametrize("projection", [True, False])
def test_steps_of_spel_are_polar_factors(projection):
    solver = SPEL(step_size=0.1, momentum=0.5, projection=projection)
    oracle = ob.stiefel(cost, gradient, n=N, p=P).oracle
    oracle.start = X = random_point(N, P, np.random.default_rng(0))
    state = solver.init(oracle, np.random.default_rng(1))
    B = np.zeros_like(X)
    for count in (1, 2, 3):
        solver.step(oracle, state)
        B = 0.5 * B + gradient(X)
        along = projected(X, B) if projection else B
        X = polar_factor(X - 0.1 / np.sqrt(count) * polar_factor(along))
        assert np.abs(state.X - X).max() < 1e-13


def test_spectral_steps_converge_only_where_they_fall():
    """A step of spectral norm t ends about t away, so that the gap is of the order of t²."""
    gaps = {}
    for schedule in ("constant", "1/sqrt(t)", "1/t"):
        instance = ob.stiefel(cost, gradient, n=N, p=P)
        best = ob.solve("riemannian-gradient", instance).trace[-1].metrics["objective"]
        solver = SPEL(step_size=0.5 if schedule == "1/t" else 0.1, schedule=schedule)
        outcome = ob.solve(solver, instance, ob.Budget(steps=1000))
        gaps[schedule] = outcome.trace[-1].metrics["objective"] - best
    assert gaps["constant"] > 100 * gaps["1/sqrt(t)"] > 1000 * gaps["1/t"] > 0


@pytest.mark.parametrize("solve", [dual_ascent, dual_admm])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_manifold_muon_finds_the_steepest_tangent(solve, scale):
    """Its value is that of the dual, a nuclear norm: neither can be improved."""
    rng = np.random.default_rng(0)
    X, G = random_point(64, 8, rng), scale * rng.standard_normal((64, 8))
    unit = np.linalg.norm(G) / np.sqrt(8)
    A, taken, _ = solve(X, G, 0.2 if solve is dual_ascent else 1.0, 400, unit)
    assert taken < 100
    assert np.linalg.norm(off_tangent(X, A)) < 2e-5
    assert np.linalg.norm(A, 2) < 1 + 1e-12
    L = symmetric_multiplier(X, G, A)
    assert np.vdot(G, A) == pytest.approx(np.linalg.norm(G + 2 * X @ L, "nuc"), rel=1e-5)
    other = projected(X, polar_factor(projected(X, G)))
    assert np.vdot(G, A) > np.vdot(G, other) / np.linalg.norm(other, 2)


def symmetric_multiplier(X, G, A):
    """Return the symmetric L for which A'(G + 2XL) is symmetric and positive, by least squares."""
    p = X.shape[1]
    basis = [
        (np.outer(i, j) + np.outer(j, i)) / 2
        for a, i in enumerate(np.eye(p))
        for j in np.eye(p)[: a + 1]
    ]
    outside = G - A @ (A.T @ G)
    columns = [(2 * (X @ E - A @ (A.T @ (X @ E)))).ravel() for E in basis]
    weights = np.linalg.lstsq(np.stack(columns, axis=1), -outside.ravel(), rcond=None)[0]
    return sum(w * E for w, E in zip(weights, basis, strict=True))


def test_manifold_muon_is_spel_on_the_orthogonal_group():
    """There msign(P(G)) is tangent already."""
    target = np.random.default_rng(3).standard_normal((6, 6))
    ends = []
    for solver in (SPEL(), ManifoldMuon(), ManifoldMuon(dual="admm")):
        instance = ob.stiefel(
            lambda X: -float(np.vdot(target, X)), lambda _: -target, n=6, p=6,
            start=random_point(6, 6, np.random.default_rng(0)),
        )  # fmt: skip
        ends.append(ob.solve(solver, instance, ob.Budget(steps=5)).solution)
    assert np.abs(ends[1] - ends[0]).max() < 1e-12
    assert np.abs(ends[2] - ends[0]).max() < 1e-4


def test_landing_newton_converges_quadratically():
    """The slope of log |R'| against log |R|, R the gradients of steps, until rounding."""
    B = np.random.default_rng(4).standard_normal((2 * N, P))
    M = np.random.default_rng(5).standard_normal((2 * N, N))
    for hessian in (None, lambda X, V: 2 * M.T @ (M @ V)):
        instance = ob.stiefel(
            lambda X: float(np.sum((M @ X - B) ** 2)), lambda X: 2 * M.T @ (M @ X - B),
            n=N, p=P, hessian=hessian,
        )  # fmt: skip
        oracle, solver = instance.oracle, LandingNewton(tolerance=1e-13)
        oracle.start = random_point(N, P, np.random.default_rng(0))
        state = solver.init(oracle, np.random.default_rng(0))
        norms = []
        while state.status.name == "RUNNING" and state.work.steps < 100:
            solver.step(oracle, state)
            norms.append(np.linalg.norm(state.R))
        end = [norm for norm in norms if 1e-8 < norm < 1e-1]
        assert len(end) >= 3
        slope = np.polyfit(np.log(end[:-1]), np.log(end[1:]), 1)[0]
        assert slope == pytest.approx(2, abs=0.35)
        assert drift(state.X) < 1e-12


def test_dissolved_gradient_is_that_of_differences():
    solver = CDOpt(penalty=0.7, relative=False)
    oracle, _, X = ready(solver)
    X = X + 0.05 * np.random.default_rng(2).standard_normal(X.shape)
    D = np.random.default_rng(3).standard_normal(X.shape)

    def dissolved(X):
        S = X.T @ X
        return cost(X @ (1.5 * np.eye(P) - S / 2)) + 0.7 / 4 * np.sum((S - np.eye(P)) ** 2)

    oracle.start = X
    state = solver.init(oracle, None)
    assert state.reference.cost == pytest.approx(dissolved(X), rel=1e-12)
    slope = (dissolved(X + 1e-5 * D) - dissolved(X - 1e-5 * D)) / 2e-5
    assert np.vdot(state.H, D) == pytest.approx(slope, rel=1e-8)

"""Where searches on the Stiefel manifold end, and what they keep of earlier steps."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_stiefel import projected
from orthobench_stiefel._kernels.line_search import Reference
from orthobench_stiefel._kernels.secants import first_guess
from orthobench_stiefel.problems.procrustes import StiefelProcrustes
from orthobench_stiefel.solvers.cdopt import CDOpt
from orthobench_stiefel.solvers.landing_newton import LONGEST, LandingNewton
from orthobench_stiefel.solvers.riemannian_gradient import RiemannianGradient
from orthobench_stiefel.solvers.wen_yin import WenYin

import orthobench as ob
from orthobench.contract.solver import Status
from orthobench.testing.check_of_libraries import readings
from orthobench.tools.geometry import random_point

N, P = 7, 2
RNG = np.random.default_rng(0)
A = RNG.standard_normal((N, N))
A = A @ A.T / N
X = random_point(N, P, RNG)


def oracle_of(scale=1.0):
    oracle = ob.stiefel(
        lambda X: scale * float(np.vdot(X, A @ X)), lambda X: 2 * scale * A @ X, n=N, p=P
    ).oracle
    oracle.start = X
    return oracle


def test_wen_yin_ends_if_point_and_cost_hardly_change_now_or_on_average():
    solver = WenYin(xtol=1e-3, ftol=1e-5)
    for moved, changed, ends in ((0.9e-3, 0.9e-5, True), (1.1e-3, 0.9e-5, False),
                                 (0.9e-3, 1.1e-5, False)):  # fmt: skip
        assert solver._still([(1.0, 1.0), (moved, changed)]) is ends
        assert solver._still([(10 * moved + d, 10 * changed) for d in (-1e-3, 1e-3)]) is ends


def test_a_first_step_of_dissolved_constraints_has_a_length_of_a_tenth():
    solver, oracle = CDOpt(relative=False), oracle_of()
    state = solver.init(oracle, None)
    D = solver._direction(state)
    assert np.linalg.norm(D) == pytest.approx(0.1)
    assert np.vdot(D, state.H) == pytest.approx(0.1 * np.linalg.norm(state.H))


def test_directions_of_dissolved_constraints_are_those_of_dense_bfgs():
    solver, oracle = CDOpt(memory=3, relative=False), oracle_of()
    state = solver.init(oracle, None)
    for _ in range(6):
        solver.step(oracle, state)
    assert len(state.changes) == 3
    S, Y, over = state.changes[-1]
    assert over == pytest.approx(1 / np.vdot(S, Y))
    H = np.vdot(S, Y) / np.vdot(Y, Y) * np.eye(N * P)
    for S, Y, over in state.changes:
        V = np.eye(N * P) - over * np.outer(S, Y)
        H = V @ H @ V.T + over * np.outer(S, S)
    np.testing.assert_allclose(solver._direction(state).ravel(), H @ state.H.ravel(), rtol=1e-8)


def test_changes_without_curvature_are_not_kept():
    for case in [(0.5, 0), (2.0, 1)]:
        share, kept = case
        solver, oracle = CDOpt(relative=False), oracle_of()
        state = solver.init(oracle, None)
        eps = 2.0**-52
        S, Y = np.zeros((N, P)), np.zeros((N, P))
        S[0, 0], Y[0, 0], Y[1, 0] = 1.0, share * eps, 1.0  # <S, Y> is a share of eps |Y|²
        state.X, state.H = np.zeros((N, P)), np.zeros((N, P))
        solver._accept(state, S, 1.0, Y)
        assert len(state.changes) == kept, case


def test_a_newton_step_is_no_longer_than_a_half():
    solver, oracle = LandingNewton(relative=False), oracle_of(1e-3)
    state = solver.init(oracle, None)
    state.R = 1e3 * state.R / np.linalg.norm(state.R)
    D = solver._newton(oracle, state)
    assert np.linalg.norm(D) == pytest.approx(LONGEST)
    gentle = solver.init(oracle, None)
    gentle.R = 1e-9 * gentle.R / np.linalg.norm(gentle.R)
    assert np.linalg.norm(solver._newton(oracle, gentle)) < 1e-3


def test_newtons_equation_is_solved_to_a_tenth_or_to_the_gradient_itself():
    """By as many products as plain conjugate gradients take to that."""
    solver, oracle = LandingNewton(relative=False), oracle_of()
    near = np.linalg.eigh(A)[1][:, :P] + 1e-2 * np.random.default_rng(0).standard_normal((N, P))
    oracle.start = np.linalg.qr(near)[0]
    for size in (0.3, 0.02):
        state = solver.init(oracle, None)
        state.R = size * state.R / np.linalg.norm(state.R)
        r = d = -state.R
        needed = 0
        while np.linalg.norm(r) > min(0.1, size) * size:
            Hd, square, needed = solver._product(oracle, state, d), np.vdot(r, r), needed + 1
            r = r - square / np.vdot(d, Hd) * Hd
            d = r + np.vdot(r, r) / square * d
        before = state.work.samples
        D = solver._newton(oracle, state)
        assert state.work.samples - before == needed > 1
        rest = np.linalg.norm(state.R + solver._product(oracle, state, D))
        assert rest == pytest.approx(np.linalg.norm(r), rel=1e-3)


def test_a_whole_step_that_halves_the_gradient_is_taken_whatever_it_costs():
    solver, oracle = LandingNewton(relative=False), oracle_of()
    near = np.linalg.eigh(A)[1][:, :P] + 1e-2 * np.random.default_rng(0).standard_normal((N, P))
    oracle.start = np.linalg.qr(near)[0]
    state = solver.init(oracle, None)
    state.value, before = -1e9, np.linalg.norm(state.R)  # no cost is below
    solver.step(oracle, state)
    assert np.linalg.norm(state.R) < before / 2
    assert np.abs(state.Y - oracle.start).max() > 1e-4


def test_where_the_curvature_is_negative_the_first_direction_is_the_gradient():
    oracle, solver = oracle_of(-1.0), LandingNewton(relative=False)
    oracle.start = random_point(N, P, np.random.default_rng(3))
    state = solver.init(oracle, None)
    assert np.vdot(state.R, solver._product(oracle, state, state.R)) < 0
    D = solver._newton(oracle, state)
    np.testing.assert_allclose(D, -state.R * min(1, LONGEST / np.linalg.norm(state.R)), atol=1e-9)


def test_a_landing_search_without_success_leaves_the_point_where_it_lands():
    """That is all where the point was on the manifold; elsewhere the step there is one."""
    for stretched, status in ((1.0, Status.CONVERGED), (1.05, Status.RUNNING)):
        solver, oracle = LandingNewton(relative=False, tolerance=0.0), oracle_of()
        oracle.start = stretched * X
        state = solver.init(oracle, None)
        landed = state.Y.copy()
        state.value = -1e9  # no trial is below
        object.__setattr__(solver, "_newton", lambda *_: np.zeros((N, P)))
        state.R = np.zeros((N, P))
        solver.step(oracle, state)
        np.testing.assert_allclose(state.X, landed, atol=1e-12)
        assert state.status is status
        assert state.work.samples == 1 + 12 + 1  # all trials, and the way back


@pytest.mark.parametrize(
    ("solver", "trials"), [(CDOpt(), 30), (WenYin(safe_search=True), 30), (WenYin(), 5)]
)
def test_a_search_gives_up_after_its_trials_or_takes_the_last(solver, trials):
    solver, oracle = replace(solver, relative=False), oracle_of()
    state = solver.init(oracle, None)
    state.reference, before = Reference(-1e9), state.X.copy()
    solver.step(oracle, state)
    assert state.work.samples == 1 + trials
    still = trials == 30
    assert (state.status is Status.CONVERGED) is still
    assert np.array_equal(state.X, before) is still


def test_a_first_guess_scales_columns_outside_and_the_turn_within():
    one = SimpleNamespace(step=0.5, columns=np.log([[1.0, 4.0]]))
    other = SimpleNamespace(step=0.25, columns=np.log([[1.0, 1.0]]))
    R = projected(X, RNG.standard_normal((N, P)))
    scales = 0.25 * np.array([1.0, 2.0]) / np.sqrt(2)
    outside = (R - X @ (X.T @ R)) * scales
    turn = X.T @ R
    expected = outside - X @ (X.T @ outside) + X @ (3.0 * 0.25 / 2 * (turn - turn.T))
    np.testing.assert_allclose(first_guess(X, R, [one, other], 3.0), expected, atol=1e-12)


def test_no_step_that_lowers_the_cost_means_that_it_has_converged():
    solver, oracle = RiemannianGradient(steps="armijo", relative=False), oracle_of()
    state = solver.init(oracle, None)
    state.reference = Reference(-1e9)
    before = state.X
    solver.step(oracle, state)
    assert state.status is Status.CONVERGED
    np.testing.assert_array_equal(state.X, before)
    assert state.work.samples == 1 + 30


def test_a_step_may_read_each_trial_and_each_bound_of_newton_schulz():
    instance = StiefelProcrustes(n=6, p=2, rows=9).build(np.random.default_rng(0))
    for retraction, each in (("qr", 0), ("newton-schulz", 1)):
        constant = RiemannianGradient(steps="constant", retraction=retraction)
        assert constant.readings == each
        assert readings(constant, instance, 5) == 1 + 5 * each
        assert RiemannianGradient(retraction=retraction).readings == 30 * (1 + each)


@pytest.mark.parametrize(("steps", "cut"), [("bb", 0.1), ("adaptive", 0.1), ("armijo", 0.5)])
def test_rejected_steps_are_cut_by_their_rule(steps, cut):
    solver, oracle = RiemannianGradient(steps=steps, relative=False), oracle_of()
    lengths = []

    def retracted(state, length):
        lengths.append(length)
        return state.X

    state = solver.init(oracle, None)
    state.reference, state.length = Reference(-1e9), 2.0
    object.__setattr__(solver, "_retracted", retracted)
    solver.step(oracle, state)
    np.testing.assert_allclose(lengths[:4], 2.0 * cut ** np.arange(4))
    assert len(lengths) == 30

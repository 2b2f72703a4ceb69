"""The flops of steps on the Stiefel manifold, written out to the last operation.

Values, gradients and Hessian products of the oracle are said to take a million flops, a million
times that, and as often again, so that how many there were can be read from a count.
"""

from itertools import product
from math import inf

import numpy as np
import pytest
from orthobench_stiefel import projected
from orthobench_stiefel._kernels.line_search import BOUNDS, Reference, barzilai_borwein
from orthobench_stiefel._kernels.retractions import RETRACTIONS, CayleyCurve
from orthobench_stiefel._kernels.secants import PAIRS
from orthobench_stiefel.descent import DRIFT, Iterate
from orthobench_stiefel.landing_field import safe_step
from orthobench_stiefel.solvers.cdopt import CDOpt
from orthobench_stiefel.solvers.landing import Landing
from orthobench_stiefel.solvers.landing_newton import LandingNewton
from orthobench_stiefel.solvers.manifold_muon import ManifoldMuon, dual_admm, dual_ascent
from orthobench_stiefel.solvers.pogo import POGO
from orthobench_stiefel.solvers.random_submanifold import RandomSubmanifold
from orthobench_stiefel.solvers.riemannian_gradient import RiemannianGradient
from orthobench_stiefel.solvers.spel import SPEL
from orthobench_stiefel.solvers.wen_yin import WenYin

import orthobench as ob
from orthobench.contract.solver import Status
from orthobench.tools.flops import eigh, qr, svd
from orthobench.tools.geometry import drift, random_point

N, P = 9, 3
NP, NPP, PP, PPP = N * P, N * P**2, P**2, P**3
VALUE, GRADIENT, HESSIAN = 10**6, 10**12, 10**18
A = np.random.default_rng(0).standard_normal((N, N))
A = A + A.T
WEIGHTS = np.array([3.0, 2.0, 1.0])


def oracle_of(hessian=False):
    """Return an oracle of tr(X'AXW)."""
    product = (lambda X, V: 2 * (A @ V) * WEIGHTS) if hessian else None
    oracle = ob.stiefel(
        lambda X: float(np.vdot(X * WEIGHTS, A @ X)), lambda X: 2 * (A @ X) * WEIGHTS,
        n=N, p=P, hessian=product,
    ).oracle  # fmt: skip
    oracle.cost_flops, oracle.gradient_flops, oracle.hessian_flops = VALUE, GRADIENT, HESSIAN
    oracle.start = random_point(N, P, np.random.default_rng(0))
    return oracle


def run(solver, steps=1, hessian=False):
    """Return the own flops of `init` and of each step, the last (values, gradients), and the state.

    The former are what is left without those of the oracle.
    """
    oracle = oracle_of(hessian)
    state = solver.init(oracle, np.random.default_rng(1))
    found, before = [state.work.flops], state.work.flops
    for _ in range(steps):
        solver.step(oracle, state)
        found.append(state.work.flops - before)
        before = state.work.flops
    calls = found[-1] % GRADIENT // VALUE, found[-1] % HESSIAN // GRADIENT
    return [each % VALUE for each in found], calls, state


NORM = 2 * NP
FIELD = 8 * NPP + NP + 7 * PP + 2 * NP + NORM
CORRECTION = 4 * NPP + 3 * PP


@pytest.mark.parametrize(
    ("solver", "first", "later"),
    [
        (Landing(relative=False), NORM + FIELD, FIELD),
        (Landing(), NP + NORM + FIELD, NP + FIELD),
        (POGO(relative=False), NORM + FIELD + CORRECTION, FIELD + CORRECTION),
        (POGO(relative=False, momentum=0.5),
         NORM + FIELD + CORRECTION + 2 * NP, FIELD + CORRECTION + 2 * NP),
        (POGO(relative=False, base="vector-adam"),
         NORM + FIELD + CORRECTION + 6 * NP, FIELD + CORRECTION + 6 * NP),
        (POGO(relative=False, best_normal=True),
         NORM + FIELD + CORRECTION + 4 * PPP + 13 * PP, FIELD + CORRECTION + 4 * PPP + 13 * PP),
    ],
)  # fmt: skip
def test_of_steps_along_the_landing_field(solver, first, later):
    found, calls, state = run(solver, 3)
    assert found == [0, first, later, later]
    assert calls == (0, 1)
    assert state.work.samples == 3


def turned(r):
    """Return those of a rotation of r coordinates, and of the norm of its gradient."""
    return 4 * r * r * P + qr(r, r) + 5 * r * r + 2 * r * r


def test_of_random_submanifolds():
    found, _, _ = run(RandomSubmanifold(size=4, relative=False, orthonormalize=2), 4)
    own = turned(4)
    assert found == [0, 2 * 4 * P + own, own + qr(N, P), own, own + qr(N, P)]
    found, _, _ = run(RandomSubmanifold(sampling="rotation", size=4, relative=False), 2)
    mixed = turned(4) + qr(N, 4) + 6 * N * P * 4 + 4 * P + NP
    assert found == [0, 2 * 4 * P + mixed, mixed]
    assert run(RandomSubmanifold())[2].size == 4
    assert run(RandomSubmanifold(size=N))[2].size == N
    for n, half in ((1, 1), (2, 2), (3, 2), (5, 2), (6, 3)):
        oracle = ob.stiefel(lambda X: 0.0, np.zeros_like, n=n, p=1).oracle
        oracle.start = np.eye(n, 1)
        assert RandomSubmanifold().init(oracle, None).size == half
    with pytest.raises(ob.UsageError, match="size = 10 coordinates are more than the 9 rows"):
        run(RandomSubmanifold(size=N + 1))


METRICS = {"euclidean": 2 * PP, "canonical": 0, "turning": 3 * PP}


@pytest.mark.parametrize("metric", METRICS)
def test_of_constant_steps_by_their_metric(metric):
    own = 4 * NPP + 3 * NP + METRICS[metric]
    constant = {"steps": "constant", "metric": metric, "relative": False, "step_size": 1e-3}
    found, calls, _ = run(RiemannianGradient(**constant), 2)
    step = qr(N, P) + 2 * NP + NP + own + NORM
    assert found == [NORM + own, step, step]
    assert calls == (0, 1)
    found, _, _ = run(RiemannianGradient(momentum=0.5, **constant), 2)
    assert found[2] == step + 4 * NPP + 3 * NP + 2 * PP


RULES = {
    "bb": lambda number: 6 * NP,
    "adaptive": lambda number: 10 * NP,
    "armijo": lambda number: 0,
    "lbfgs": lambda number: 20 * NPP + 9 * PP + (24 + 8 * min(number, PAIRS)) * NP,
}


@pytest.mark.parametrize("steps", RULES)
def test_of_searches_by_their_rule(steps):
    count = PAIRS + 2
    found, (values, gradients), state = run(RiemannianGradient(steps=steps, relative=False), count)
    assert values == gradients >= 1
    direction = 4 * NPP + 3 * NP + 2 * PP
    trial, last = qr(N, P) + 2 * NP + NP, direction + NORM + RULES[steps](count)
    assert found[0] == NORM + direction
    assert found[-1] == values * trial + last
    assert state.work.samples > count


RETRACTED = {
    "qr": qr(N, P) + 2 * NP,
    "polar": 4 * NPP + eigh(P) + 2 * PPP + PP + P + NP,
    "cayley": (6 * NPP + NP) + (4 * NPP + 3 * NP + 40 * PPP // 3 + 8 * PP) + 4 * NPP + NP + PP,
    "cholesky-qr": 3 * NPP + PPP // 3 + NP,
}


def test_of_retractions():
    for case in product(RETRACTED, [1, 2]):
        name, stack = case
        X = np.stack([random_point(N, P, np.random.default_rng(s)) for s in range(stack)])
        D = projected(X, 0.1 * np.random.default_rng(5).standard_normal(X.shape))
        if stack == 1:
            X, D = X[0], D[0]
        Y, spent = RETRACTIONS[name](X, D)
        assert spent == stack * RETRACTED[name], case
        defect = Y.swapaxes(-1, -2) @ Y - np.eye(P)
        assert np.abs(defect).max() < 1e-14, case


def test_of_newton_schulz_retractions_until_they_are_close():
    X = random_point(N, P, np.random.default_rng(0))
    for size in (1e-6, 0.1, 3.0):
        D = projected(X, np.random.default_rng(5).standard_normal((N, P)))
        D *= size / np.linalg.norm(D)
        found, spent = RETRACTIONS["newton-schulz"](X, D)
        U, values, Vt = np.linalg.svd(X + D, full_matrices=False)
        assert np.abs(found - U @ Vt).max() < 1e-14
        bound = np.sqrt(1 + size**2)
        values, count, defect = values / (bound if bound > np.sqrt(2) else 1.0), 0, 1.0
        while defect > 1e-8:
            defect = np.linalg.norm(values**2 - 1)
            values, count = values * (3 - values**2) / 2, count + 1
        assert spent == 4 * NP + count * (4 * NPP + 5 * PP)


def test_of_a_cayley_curve_by_the_smaller_system():
    for p in [3, 4, 5, 9]:
        rng = np.random.default_rng(0)
        X, G = random_point(N, p, rng), rng.standard_normal((N, p))
        curve, skew = CayleyCurve(X, G), G @ X.T - X @ G.T
        half = 0.35 * skew
        expected = np.linalg.solve(np.eye(N) + half, (np.eye(N) - half) @ X)
        np.testing.assert_allclose(curve(0.7), expected, atol=1e-12, err_msg=f"{p}")
        np.testing.assert_allclose(curve.slope, skew @ X, atol=1e-12, err_msg=f"{p}")
        first, gram = 4 * N * p * p + N * p, 2 * N * p * p
        if 2 * p < N:
            each = 4 * N * p * p + 3 * N * p + 40 * p**3 // 3 + 8 * p * p
            assert (curve.flops, curve.point_flops) == (first + gram, each), p
        else:
            each = 2 * N**3 // 3 + 2 * N * N * p + 2 * N * p + 2 * N * N
            assert (curve.flops, curve.point_flops) == (first + 2 * N * N * p + N * N, each), p


def test_of_wen_yin():
    found, (values, gradients), _ = run(WenYin(relative=False), 4)
    curve = 6 * NPP + NP
    trial = 4 * NPP + 3 * NP + 40 * PPP // 3 + 8 * PP + 2 * NPP + 3 * PP
    assert found[0] == NORM + curve
    assert values == gradients >= 1
    assert found[-1] == NORM + values * trial + curve + NORM + 6 * NP + NORM


def test_of_constraints_that_are_dissolved():
    found, calls, state = run(CDOpt(relative=False, memory=2), 5)
    far, near = 2 * NPP + 3 * PP, 10 * NPP + 3 * PP + NP + 7 * PP
    assert found[0] == near + NORM
    assert calls == (1, 1)
    trial = near + 2 * NP + 2 * NP + 8 * NP + NORM
    assert found[1] == NORM + trial
    assert (found[4] - (8 + 3) * NP - trial) % (far + 2 * NP) == 0  # there are points too far away
    assert found[5] == (16 + 3) * NP + trial
    assert len(state.changes) == 2
    solver, oracle = CDOpt(relative=False), oracle_of()
    state = solver.init(oracle, None)
    for stretched, inside in ((2.0**0.5 - 1e-3, True), (2.0**0.5 + 1e-3, False)):
        before, X = state.work.flops, oracle.start.copy()
        X[:, 0] *= stretched
        assert np.isfinite(solver._dissolved(oracle, state, X)[0]) == inside
        assert (state.work.flops - before) % VALUE == (near if inside else far)


TANGENT = 4 * NPP + 8 * PPP + NP + 2 * PP
MOVED = 6 * NPP + eigh(P) + 2 * NP + 4 * PP + TANGENT


@pytest.mark.parametrize("hessian", [False, True])
def test_of_newton_steps_by_their_products(hessian):
    found, (values, gradients), state = run(LandingNewton(relative=False), 1, hessian)
    assert found[0] == MOVED + 2 * NORM
    trials = values
    products = state.work.samples - 1 - trials
    assert gradients == trials + (0 if hessian else products)
    each = 4 * NPP + NP + 2 * PP + TANGENT + (NP if hessian else NORM + 5 * NP) + 12 * NP
    ends = TANGENT + 5 * NP + 2 * NORM + NORM + 3 * NP + NORM
    assert found[1] == products * each + trials * MOVED + ends


SIGN = svd(N, P) + 2 * NPP + NP
AROUND = 4 * NPP + NP + 2 * PP + NORM + SIGN + 2 * NP


@pytest.mark.parametrize(
    ("solver", "own"),
    [
        (SPEL(), 4 * NPP + NP + 2 * PP + SIGN),
        (SPEL(projection=False), SIGN),
        (SPEL(projection=False, momentum=0.5), SIGN + 2 * NP),
    ],
)
def test_of_spectral_steps(solver, own):
    found, calls, _ = run(solver, 2)
    relative = NP
    assert found == [0, NORM + relative + AROUND + own, relative + AROUND + own]
    assert calls == (0, 1)


@pytest.mark.parametrize(
    ("dual", "first", "each"),
    [
        ("ascent", 2 * NPP + 2 * PP, SIGN + 4 * NPP + 2 * NP + 3 * PP + 2 * PP),
        ("admm", 4 * NPP + 2 * NP + 2 * PP, 8 * NPP + svd(N, P) + 12 * NP + 2 * PP),
    ],
)
def test_of_dual_steps(dual, first, each):
    rng = np.random.default_rng(0)
    X, G = random_point(N, P, rng), rng.standard_normal((N, P))
    solve = dual_ascent if dual == "ascent" else dual_admm
    for most in (1, 4):
        _, taken, spent = solve(X, G, 0.3, most, 1.0)
        assert (taken, spent) == (most, first + most * each)
    _, taken, spent = solve(X, G, 1.0 if dual == "admm" else 0.2, 500, 1.0)
    assert taken < 500
    assert spent == first + taken * each - (2 * PP if dual == "ascent" else 0)
    found, _, _ = run(ManifoldMuon(dual=dual, dual_steps=3, relative=False), 2)
    own = first + 3 * each + 2 * NP
    assert found == [0, NORM + AROUND + own, AROUND + own]


def test_a_point_is_cleaned_where_it_has_drifted():
    X = random_point(N, P, np.random.default_rng(0))
    for size, spent in ((DRIFT / 4, 0), (4 * DRIFT, qr(N, P))):
        state, Y = Iterate(X=X), X * np.array([1 + size / 2, 1, 1])
        found = state.cleaned(Y)
        assert state.work.flops == 2 * NPP + 3 * PP + spent
        assert (found is Y) is (spent == 0)
        assert drift(found) < 1.1 * DRIFT


def test_the_first_gradient_that_is_not_zero_sets_the_unit():
    state = Iterate(X=np.zeros((2, 2)))
    zero = np.zeros((2, 2))
    assert state.scaled(zero) is zero
    assert state.factor is None
    np.testing.assert_allclose(state.scaled(2 * np.eye(2)), np.eye(2) / np.sqrt(2))
    np.testing.assert_allclose(state.scaled(np.eye(2)), np.eye(2) / np.sqrt(8))
    assert state.work.flops == 2 * 4
    stack = Iterate(X=np.zeros((2, 2, 2)))
    found = stack.scaled(np.stack([3 * np.eye(2), np.eye(2)]))
    assert np.sum(found**2) == pytest.approx(2)
    absolute = Iterate(X=zero, factor=1)
    assert absolute.scaled(zero) is zero
    assert absolute.work.flops == 0


def test_a_safe_step_is_at_most_half_the_inverse_attraction():
    assert safe_step(0.0, 1e-9, 4.0, 0.5) == 1 / 8
    assert safe_step(0.0, 0.0, 4.0, 0.5) == 1 / 8
    assert safe_step(0.1, 0.0, 0.0, 0.5) == inf
    for defect, norm, attraction in ((0.2, 3.0, 1.0), (0.0, 2.0, 0.0), (0.4, 5.0, 2.0)):
        t = safe_step(defect, norm, attraction, 0.5)
        reached = defect - 2 * t * attraction * defect * (1 - defect) + t**2 * norm**2
        assert reached == pytest.approx(0.5)
    several = safe_step(np.array([0.2, 0.0]), np.array([3.0, 2.0]), 1.0, 0.5)
    assert several == min(safe_step(0.2, 3.0, 1.0, 0.5), safe_step(0.0, 2.0, 1.0, 0.5))


def test_the_reference_is_a_weighted_mean_of_costs_and_forgives_rounding():
    reference = Reference(10.0)
    reference.include(4.0)
    assert reference.cost == pytest.approx((0.85 * 10 + 4) / 1.85)
    assert reference.weight == pytest.approx(1.85)
    reference.include(1.0, memory=0.0)
    assert (reference.cost, reference.weight) == (1.0, 1.0)
    eps = 2.0**-52
    assert reference.accepts(1.0 + 4 * eps, 0.0)
    assert not reference.accepts(1.0 + 5 * eps, 0.0)
    assert reference.accepts(0.75, 0.25)
    assert not reference.accepts(0.76, 0.25)


def test_barzilai_borwein_steps_stay_within_bounds():
    S, Y = np.array([[1.0, 0.0]]), np.array([[-2.0, 2.0]])
    assert barzilai_borwein(S, Y, long=True) == pytest.approx(1 / 2)
    assert barzilai_borwein(S, Y, long=False) == pytest.approx(2 / 8)
    assert barzilai_borwein(S, 0 * Y, long=True) == BOUNDS[1]
    assert barzilai_borwein(1e-30 * S, 1e30 * Y, long=True) == BOUNDS[0]


def test_a_submanifold_run_ends_after_steps_that_take_nearly_every_pair():
    for case in [(N, 4), (5, 13), (3, 36)]:
        size, enough = case
        solver = RandomSubmanifold(size=size, tolerance=10.0)
        oracle, count = oracle_of(), 0
        state = solver.init(oracle, np.random.default_rng(0))
        while state.status is Status.RUNNING:
            solver.step(oracle, state)
            count += 1
        assert (state.status, count) == (Status.CONVERGED, enough), case


@pytest.mark.parametrize(("schedule", "power"), [("constant", 0), ("1/sqrt(t)", 0.5), ("1/t", 1)])
def test_spectral_steps_fall_with_their_number(schedule, power):
    """On the circle a step t turns by arctan(t)."""
    angle = []
    oracle = ob.stiefel(lambda X: float(X[0, 0]), lambda X: np.eye(2, 1), n=2, p=1).oracle
    oracle.start = np.array([[1.0], [0.1]]) / np.hypot(1.0, 0.1)
    solver = SPEL(step_size=0.2, schedule=schedule)
    state = solver.init(oracle, None)
    for number in (1, 2, 3):
        before = state.X
        solver.step(oracle, state)
        angle.append(np.arccos((before.T @ state.X).item()))
        assert angle[-1] == pytest.approx(np.arctan(0.2 / number**power))

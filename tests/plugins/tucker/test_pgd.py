"""Projected gradient ascent: both forms, both rules, the theorem's bound, and its failures."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_kit.geometry import subspace_error
from orthobench_polar.problems.spectra import GaussianPolar
from orthobench_tucker import reference
from orthobench_tucker._kernels.ascent import evaluated
from orthobench_tucker.judge import FullTensor
from orthobench_tucker.problems.factors import GeneratedFactor, NIGFactor
from orthobench_tucker.problems.planted import RandomSymmetric
from orthobench_tucker.sample_moments import monomials
from orthobench_tucker.solvers.pgd import PGD
from orthobench_tucker.whole_tensor import refusal

from orthobench.contract.solver import Status
from orthobench.tools.geometry import drift, orthonormalize

ORDERS = [2, 3, 4, 5]
RULES = [
    ("ascending", 1000.0),
    ("adagrad", 1000.0),
    ("adagrad", 0.5),
    ("constant", 1.0),
    ("constant", 50.0),
]


@pytest.mark.parametrize("order", ORDERS)
def test_both_forms_agree_step_by_step(tucker, order):
    for start, (rule, step) in product(["hoevd", "random"], RULES):
        X, _ = tucker.factors(7, 50)
        made = tucker.of_samples(X, order, 3)
        solvers = [
            PGD(form=form, start=start, rule=rule, step_size=step, tolerance=0.0)
            for form in ("implicit", "explicit")
        ]
        states = [tucker.begun(solver, made) for solver in solvers]
        for _ in range(12):
            points = [solver.solution(s).point for solver, s in zip(solvers, states, strict=True)]
            np.testing.assert_allclose(*points, atol=1e-10, err_msg=f"{solvers[0]}")
            assert drift(points[0]) < 1e-12, solvers[0]
            for solver, state in zip(solvers, states, strict=True):
                solver.advance(made.oracle, state, 1)


@pytest.mark.parametrize("order", ORDERS)
def test_a_step_is_that_of_the_paper(tucker, order):
    T = tucker.symmetric(5, order)
    made = tucker.of_tensor(T, 2)
    solver = PGD(start="random", rule="adagrad", step_size=0.7)
    Q, measured = made.oracle.start, FullTensor(made.oracle.T)
    state, sums = tucker.begun(solver, made), None
    for _ in range(4):
        G = reference.gradient(T, Q)
        sums = 1e-10 * np.sum(G**2) if sums is None else sums
        sums = sums + np.sum(G**2, axis=0)
        Q = orthonormalize(Q + 0.7 * G / np.sqrt(sums))
        solver.advance(made.oracle, state, 1)
        np.testing.assert_allclose(solver.solution(state).point, Q, atol=1e-11)
        assert state.objective == pytest.approx(measured.objective(Q), rel=1e-12)
        assert state.relative_gradient == pytest.approx(measured.relative_gradient(Q), rel=1e-9)


@given(st.integers(2, 5), st.integers(1, 5), st.integers(0, 2**31), st.floats(0.05, 1.0))
def test_steps_within_the_bound_never_lower_the_objective(tucker, order, n, seed, step):
    T = tucker.symmetric(n, order, seed)
    r = 1 + seed % n
    made = tucker.of_tensor(T, r, seed)
    solver = PGD(start="random", rule="constant", step_size=step)
    state = tucker.begun(solver, made)
    for _ in range(30):
        before = state.objective
        solver.advance(made.oracle, state, 1)
        assert state.objective >= before * (1 - 1e-13)
        assert state.status is not Status.FAILED


def test_curvature_is_within_the_bound(tucker):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        order, n, r = 2 + seed % 4, 4, 2
        T = tucker.symmetric(n, order, seed)
        sigma = np.linalg.norm(T.reshape(n, -1), 2)
        measured = FullTensor(T)
        for _ in range(50):
            Q, V = orthonormalize(rng.standard_normal((n, r))), rng.standard_normal((n, r))
            Q *= rng.uniform(0, 1)
            h = 1e-4
            values = [measured.objective(Q + s * V) for s in (-h, 0, h)]
            curvature = (values[0] - 2 * values[1] + values[2]) / h**2
            unit = 2 * order * (order - 1) * sigma**2 * np.sum(V**2)
            assert curvature >= -unit * (1 + 1e-6), seed


def test_a_planted_subspace_is_recovered(tucker):
    X, basis = tucker.factors(15, 400, noise=0.0)
    for order, start in product([3, 4], ["hoevd", "shoevd", "random"]):
        made = tucker.of_samples(X, order, 3, basis=basis)
        state = tucker.converged(PGD(start=start), made, 5000)
        assert made.measure(PGD().solution(state))["subspace_error"] < 1e-10, (order, start)


def test_symmetric_samples_of_odd_order_end_with_the_reason(tucker):
    made = tucker.mirrored(tucker.factors(6, 200)[0], 3, 2)
    for rule, start, form in product(
        ["ascending", "adagrad", "constant"], ["hoevd", "random"], ["implicit", "explicit"]
    ):
        solver = PGD(form=form, start=start, rule=rule)
        state = tucker.ended(solver, made)
        assert state.status is Status.FAILED, solver
        assert "vanishes" in state.reason, solver
        assert np.isfinite(solver.solution(state).point).all(), solver


def away(basis, other):
    """The distance of two subspaces, bases transposed."""
    return subspace_error(basis.T, other.T)


def oscillating(tucker, order, n, rule, step):
    """Yield instances with their runs that fail, of random tensors of small even order."""
    for seed in range(40):
        made = tucker.of_tensor(tucker.symmetric(n, order, seed), 1, seed)
        solver = PGD(start="random", rule=rule, step_size=step)
        state = tucker.ended(solver, made, 400)
        if state.status is Status.FAILED:
            yield made, solver, state


@pytest.mark.parametrize(("order", "n"), [(4, 2), (4, 3), (2, 4)])
@pytest.mark.parametrize(("rule", "step"), [("constant", 1000.0), ("adagrad", 1000.0)])
def test_large_steps_oscillate_on_some_tensors(tucker, order, n, rule, step):
    found = 0
    for made, solver, state in oscillating(tucker, order, n, rule, step):
        found += 1
        assert state.reason.startswith("oscillates between two subspaces since step ")
        assert state.reason.endswith("lower `step`, or take the rule ascending")
        state.status = Status.RUNNING
        first = [state.basis, state.before]
        for turn in range(1, 5):
            solver.advance(made.oracle, state, 1)
            state.status, state.returns = Status.RUNNING, 0
            moved = away(state.basis, first[1 - turn % 2])
            assert moved > 1e-4
            assert away(state.basis, first[turn % 2]) < 0.02 * moved
        small = tucker.ended(PGD(start="random", rule="constant", step_size=1.0), made, 20000)
        assert small.status is Status.CONVERGED
        if found == 2:
            return
    assert found


def ascent(tucker, solver, made):
    """The state at the end of an ascending run, after F was seen never to fall."""
    state = tucker.begun(solver, made)
    while state.status is Status.RUNNING and state.work.steps < 20_000:
        iterate, before = state.iterate, state.objective
        solver.advance(made.oracle, state, 1)
        assert state.objective >= before * (1 - 1e-13)
        assert (state.iterate is iterate) or not np.array_equal(state.basis, iterate.basis)
    return state


@pytest.mark.parametrize("start", ["hoevd", "random"])
@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("n", range(2, 7))
@pytest.mark.wide
def test_the_ascending_rule_never_lowers_f_and_always_converges(tucker, n, order, start):
    for seed in range(5):
        T = tucker.symmetric(n, order, seed)
        for r in {1, n - 1}:
            made = tucker.of_tensor(T, r, seed)
            state = ascent(tucker, PGD(start=start), made)
            assert state.status is Status.CONVERGED, (seed, r, state.reason)
            assert tucker.measure(made, PGD().solution(state).point)["relative_gradient"] < 2e-11


@pytest.mark.parametrize(("order", "n"), [(4, 2), (4, 3), (2, 4)])
def test_the_ascending_rule_converges_where_adagrad_oscillates(tucker, order, n):
    found = 0
    for made, solver, state in oscillating(tucker, order, n, "adagrad", 1000.0):
        found += 1
        climbed = ascent(tucker, PGD(start="random"), made)
        assert climbed.status is Status.CONVERGED
        assert climbed.objective > state.objective
        assert climbed.relative_gradient <= 1e-12 < solver.tolerance + state.relative_gradient
    assert found


def test_a_step_that_is_taken_back_counts_and_shortens_the_next(tucker):
    made = tucker.of_tensor(np.diag([1.0, -1.0]), 1)
    made.oracle.start = np.array([[0.8], [0.6]])
    solver = PGD(start="random")
    state = tucker.begun(solver, made)
    first, flops = state.iterate, state.work.flops
    solver.advance(made.oracle, state, 1)
    assert state.iterate is first
    assert (state.work.steps, state.work.flops) == (1, 2 * flops)
    assert state.step_size == 100.0
    solver.advance(made.oracle, state, 3)
    assert state.iterate is not first
    assert state.step_size < 100.0
    lengths = []
    for _ in range(8):
        solver.advance(made.oracle, state, 1)
        lengths.append(state.step_size)
    assert max(lengths) > min(lengths)


@pytest.mark.parametrize("form", ["implicit", "explicit"])
def test_the_ascending_rule_ends_where_the_gradient_is_rounding(tucker, form):
    """All but a millionth of the samples cancels: six digits of the gradient are lost."""
    half = tucker.samples(12, 60, 3)
    X = np.vstack([half, -half + 1e-6 * np.roll(half, 1, axis=0)])
    for seed in range(3):
        state = tucker.converged(PGD(form=form), tucker.of_samples(X, 3, 3, seed), 200)
        assert state.relative_gradient < 1e-7
        assert form == "explicit" or state.relative_gradient > 1e-12


def test_unsuitable_problems_are_refused():
    assert "samples" in PGD(form="implicit").refuses(RandomSymmetric())
    assert "needs a SymmetricTensorOracle" in PGD().refuses(GeneratedFactor())
    huge = NIGFactor(n=10**5, order=4)
    assert "memory" in PGD(form="explicit").refuses(huge)
    assert PGD().refuses(huge) is None
    assert refusal(GaussianPolar(), "explicit", "sketch") is None  # of another family


@pytest.mark.parametrize("order", ORDERS)
def test_the_gradient_in_two_parts_is_the_gradient(tucker, order):
    rng = np.random.default_rng(order)
    Q = orthonormalize(rng.standard_normal((6, 2)))
    table = monomials(2, order - 1)
    T = tucker.symmetric(6, order)
    W = FullTensor(T).partial_core(Q)
    inner, tangent, objective, relative = evaluated(
        np.ascontiguousarray(W.T), np.ascontiguousarray(Q.T), table.multiplicities, order
    )
    G = reference.gradient(T, Q)
    np.testing.assert_allclose(Q @ inner + tangent.T, G, rtol=1e-10, atol=1e-9)
    assert np.abs(tangent @ Q).max() < 1e-12 * np.abs(tangent).max()
    assert objective == pytest.approx(reference.objective(T, Q), rel=1e-12)
    assert relative == pytest.approx(np.linalg.norm(tangent) / objective, rel=1e-13)


@pytest.mark.filterwarnings("ignore:rank = . is above the rank of the samples:UserWarning")
@pytest.mark.parametrize("order", ORDERS)
def test_columns_beyond_the_rank_of_the_samples_are_harmless(order, tucker):
    """One sample has F = |x|^2d; two factors without noise fill two of four columns."""
    x = np.arange(1.0, 6)
    for rank in (1, 3):
        state = tucker.converged(PGD(), tucker.of_samples(x[None], order, rank))
        Q = PGD().solution(state).point
        assert Q.shape == (5, rank)
        assert drift(Q) < 1e-12
        assert state.objective == pytest.approx((x @ x) ** order, rel=1e-12)
    X, basis = tucker.factors(8, 100, rank=2, noise=0.0)
    state = tucker.converged(PGD(), tucker.of_samples(X, order, 4))
    assert subspace_error(PGD().solution(state).point, basis) < 1e-9

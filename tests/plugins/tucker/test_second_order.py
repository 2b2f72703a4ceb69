"""quasi-newton and trust-region: what both promise, in all kinds."""

from __future__ import annotations

import pickle
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from orthobench_tucker import symmetric_tucker
from orthobench_tucker.solvers.quasi_newton import QuasiNewton
from orthobench_tucker.solvers.trust_region import TrustRegion

from orthobench.contract.solver import Status
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import Budget, RunStatus
from orthobench.tools.geometry import drift

KINDS = [
    pytest.param(partial(method, preconditioned=preconditioned), id=f"{name}-{metric}")
    for name, method in (
        ("lbfgs", partial(QuasiNewton, method="lbfgs")),
        ("bfgs", partial(QuasiNewton, method="bfgs")),
        ("trust-region", TrustRegion),
    )
    for preconditioned, metric in ((True, "core"), (False, "identity"))
]

kinds = pytest.mark.parametrize("kind", KINDS)
starts = pytest.mark.parametrize("start", ["hoevd", "random"])


@starts
@kinds
def test_f_never_falls_and_the_basis_stays_orthonormal(second_order, kind, start):
    oracle = second_order.moment(order=3, n=20, r=3, seed=2)
    _, way = second_order.ended(kind(start=start), oracle, most=300)
    values = np.array([point.value for point in way])
    assert np.all(np.diff(values) >= -1e-13 * values[1:])
    assert max(drift(point.Q) for point in way) < 1e-13


@kinds
def test_a_tensor_of_exact_rank_is_recovered(second_order, kind):
    for order in [2, 3, 4, 5]:
        rng = np.random.default_rng(order)
        X = (rng.exponential(size=(200, 2)) - 1) @ np.linalg.qr(rng.standard_normal((6, 2)))[0].T
        oracle = second_order.moment(order, r=2, X=X)
        state, _ = second_order.ended(kind(start="random", form="explicit"), oracle)
        assert second_order.objective(state.point) == pytest.approx(
            np.sum(oracle.T**2), rel=1e-12
        ), order


@kinds
def test_advance_in_two_parts_and_from_a_file_leaves_the_same_bits(second_order, kind):
    for form in ["implicit", "explicit"]:
        oracle = second_order.moment(order=4, n=12, r=2, seed=5)
        solver = kind(form=form, start="random")
        whole, parts = second_order.begun(solver, oracle), second_order.begun(solver, oracle)
        solver.advance(oracle, whole, 7)
        solver.advance(oracle, parts, 3)
        parts = pickle.loads(pickle.dumps(parts))  # noqa: S301
        solver.advance(oracle, parts, 4)
        np.testing.assert_array_equal(whole.point.Q, parts.point.Q, err_msg=f"{form}")
        assert whole.work == parts.work, form
        assert whole.point.relative_gradient == parts.point.relative_gradient, form
        assert getattr(whole, "radius", None) == getattr(parts, "radius", None), form


@starts
@kinds
def test_the_scale_of_the_data_changes_nothing(second_order, kind, start):
    X, ends = second_order.factors(n=12, r=2), []
    for scale in (1.0, 2.0**-50, 2.0**60):
        oracle = second_order.moment(order=4, r=2, X=X * scale)
        state, _ = second_order.ended(kind(start=start), oracle)
        assert state.status is Status.CONVERGED
        ends.append(state)
    assert len({state.work.steps for state in ends}) == 1
    np.testing.assert_allclose(ends[1].point.Q, ends[0].point.Q, atol=1e-10)
    np.testing.assert_allclose(ends[2].point.Q, ends[0].point.Q, atol=1e-10)


@kinds
def test_it_has_converged_where_there_is_only_one_subspace(second_order, kind):
    oracle = second_order.moment(order=3, r=4, X=second_order.factors(n=4, r=4))
    state = second_order.begun(kind(tolerance=0.0), oracle)
    assert state.status is Status.CONVERGED
    assert np.isfinite(kind().solution(state).point).all()


@kinds
def test_it_fails_where_the_objective_is_zero_at_the_start(second_order, kind):
    T = np.zeros((3, 3, 3))
    for i, j, k in permutations(range(3)):
        T[i, j, k] = 1.0
    oracle = second_order.tensor(T, 1)
    oracle.start = np.eye(3)[:, :1]
    state = second_order.begun(kind(start="random"), oracle)
    assert state.status is Status.FAILED
    assert "the objective vanishes at the first basis" in state.reason
    assert np.isfinite(state.point.Q).all()


@starts
@kinds
def test_it_fails_where_all_of_the_objective_is_rounding(second_order, kind, start):
    """The third moment of symmetric data vanishes."""
    half = np.random.default_rng(0).standard_normal((60, 10))
    oracle = second_order.moment(order=3, r=3, X=np.vstack([half, -half]))
    state, _ = second_order.ended(kind(start=start, form="implicit"), oracle)
    assert state.status is Status.FAILED
    assert "symmetric about zero" in state.reason


@kinds
def test_it_ends_where_the_gradient_is_rounding(second_order, kind):
    """All but a millionth of the samples cancels: six digits of the gradient are lost."""
    half = second_order.factors(n=12, r=3)
    X = np.vstack([half, -half + 1e-6 * np.roll(half, 1, axis=0)])
    state, _ = second_order.ended(kind(), second_order.moment(order=3, r=3, X=X))
    assert state.status is Status.CONVERGED
    assert 1e-12 < state.point.relative_gradient < 1e-7


@kinds
def test_with_no_tolerance_it_goes_on_and_stays_where_it_is(second_order, kind):
    oracle = second_order.moment(order=3, n=10, r=2)
    solver = kind(tolerance=0.0)
    state = second_order.begun(solver, oracle)
    solver.advance(oracle, state, 250)
    best = state.point.value
    solver.advance(oracle, state, 50)
    assert (state.status, state.work.steps) == (Status.RUNNING, 300)
    assert state.point.relative_gradient < 1e-13
    assert state.point.value == pytest.approx(best, rel=1e-13)
    assert drift(state.point.Q) < 1e-12


@pytest.mark.parametrize("solver", [QuasiNewton(), TrustRegion()], ids=lambda solver: solver.name)
def test_through_the_harness_the_judge_agrees(second_order, solver):
    X = second_order.factors(n=20, r=3)
    instance = symmetric_tucker(X, order=3, rank=3)
    outcome = run(instance, solver, Budget(steps=100), Streams.of("p", solver.name, 0))
    assert outcome.stop.status is RunStatus.DONE
    assert outcome.trace[-1].metrics["relative_gradient"] <= 1.1e-12
    errors = [mark.metrics["relative_error"] for mark in outcome.trace]
    assert np.all(np.diff(errors) <= 1e-12)
    assert outcome.work.flops > 0

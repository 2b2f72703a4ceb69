"""quasi-newton: its limits, its speed, and its refusals and failures."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import orthobench_kit.memory
import pytest
from orthobench_kit.geometry import subspace_error
from orthobench_tucker.problems.factors import NIGFactor
from orthobench_tucker.solvers.quasi_newton import QuasiNewton

from orthobench.contract.solver import Status
from orthobench.errors import UsageError

KINDS = [
    pytest.param({"method": method, "preconditioned": preconditioned}, id=f"{method}-{name}")
    for method in ("lbfgs", "bfgs")
    for preconditioned, name in ((True, "core"), (False, "identity"))
]


@pytest.mark.parametrize("order", [3, 4])
def test_all_kinds_and_forms_end_at_the_same_optimum(second_order, order):
    oracle, values, bases = second_order.moment(order), [], []
    for kind in [param.values[0] for param in KINDS]:
        for form in ("implicit", "explicit"):
            state, _ = second_order.ended(QuasiNewton(form=form, **kind), oracle)
            assert state.status is Status.CONVERGED
            assert state.point.relative_gradient <= 1e-12
            values.append(second_order.objective(state.point))
            bases.append(state.point.Q)
    np.testing.assert_allclose(values, values[0], rtol=1e-12)
    assert max(subspace_error(Q, bases[0]) for Q in bases) < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_matrix_gives_its_leading_eigenvectors(second_order, kind):
    oracle = second_order.moment(order=2, n=20, r=3, seed=1)
    state, _ = second_order.ended(QuasiNewton(start="random", **kind), oracle)
    values, vectors = np.linalg.eigh(oracle.X.T @ oracle.X / len(oracle.X))
    assert second_order.objective(state.point) == pytest.approx(np.sum(values[-3:] ** 2), rel=1e-12)
    assert subspace_error(state.point.Q, vectors[:, -3:]) < 1e-10


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("preconditioned", [True, False])
def test_bfgs_converges_superlinearly(second_order, preconditioned, seed):
    """The ratio of successive gradients falls: of a tensor without low rank, in few dimensions."""
    A = np.random.default_rng(seed).standard_normal((6, 6, 6))
    T = sum(A.transpose(axes) for axes in permutations(range(3))) / 6
    solver = QuasiNewton(
        method="bfgs", preconditioned=preconditioned, start="random", tolerance=1e-13
    )
    state, way = second_order.ended(solver, second_order.tensor(T, 1, seed))
    assert state.status is Status.CONVERGED
    rates = np.diff(np.log([point.slope for point in way]))
    late, before = np.exp(rates[-3:].mean()), np.exp(np.median(rates[:-6]))
    assert late < 0.05
    assert late < 0.2 * before


def test_the_core_makes_a_first_hessian_that_saves_most_steps(second_order):
    oracle = second_order.moment(order=3)
    steps = [
        second_order.ended(QuasiNewton(preconditioned=p), oracle)[0].work.steps
        for p in (True, False)
    ]
    assert steps[0] * 4 < steps[1]


def test_a_tolerance_ends_the_run(second_order):
    oracle = second_order.moment(order=3)
    for tolerance in (1e-3, 1e-8):
        state, way = second_order.ended(QuasiNewton(tolerance=tolerance, start="random"), oracle)
        assert way[-1].relative_gradient <= tolerance < way[-2].relative_gradient
        assert state.status is Status.CONVERGED


def test_matrix_beyond_memory_is_refused_with_its_size(second_order, monkeypatch):
    monkeypatch.setattr(orthobench_kit.memory, "total", lambda: 2**20)
    why = QuasiNewton(method="bfgs", form="implicit").refuses(NIGFactor())
    assert "475 x 475" in why
    assert "3.4 MiB" in why
    assert "lbfgs" in why
    assert QuasiNewton(method="lbfgs", form="implicit").refuses(NIGFactor()) is None
    assert QuasiNewton(method="bfgs", form="implicit").refuses(NIGFactor(n=20)) is None
    with pytest.raises(UsageError, match="475 x 475"):
        second_order.begun(QuasiNewton(method="bfgs"), second_order.moment(order=3, n=100))
    assert "explicit tensor" in QuasiNewton(form="explicit").refuses(NIGFactor())


def test_run_fails_after_a_cleared_memory_without_a_rise(second_order):
    oracle = second_order.moment(order=3, n=12, r=3)
    for tolerance, status in ((1e-12, Status.FAILED), (0.0, Status.RUNNING)):
        solver = QuasiNewton(start="random", tolerance=tolerance)
        state = second_order.begun(solver, oracle)
        solver.advance(oracle, state, 2)
        state.point = replace(state.point, value=10 * state.point.value)  # more than there is
        assert len(state.inverse.pairs) == 2
        solver.step(oracle, state)
        assert (state.status, state.inverse.pairs) == (Status.RUNNING, [])
        solver.step(oracle, state)
        assert state.status is status
        assert state.work.steps == 4
        assert ("no step raises the objective" in state.reason) is (tolerance > 0)

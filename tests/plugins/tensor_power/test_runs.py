"""What both solvers keep to: starts, streams, chunks, pickles, anytime solutions, flops."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from orthobench_kit.symmetric_tensors import contracted
from orthobench_orthogonal_tensor import STARTS, AnyOrderOracle, TensorOracle
from orthobench_tensor_power import orthobench_solvers
from orthobench_tensor_power.solvers import polar_power, tensor_power
from orthobench_tensor_power.solvers.polar_power import PolarPower
from orthobench_tensor_power.solvers.tensor_power import TensorPower

from orthobench import Budget
from orthobench.contract.solver import Status
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import RunStatus
from orthobench.testing import counted, counting
from orthobench.tools import flops
from orthobench.tools.geometry import drift

QUICK = [
    TensorPower(restarts=4, iterations=6, tolerance=0.0),
    TensorPower(restarts=12),
    PolarPower(),
]
STARTED = [cls(start=start) for cls in (TensorPower, PolarPower) for start in STARTS]


def named(solver):
    return " ".join(map(str, (solver.name, *vars(solver).values())))


def test_what_each_solver_of_the_plugin_needs():
    assert {solver.name: solver.needs for solver in orthobench_solvers()} == {
        "tensor-power": TensorOracle,
        "polar-power": TensorOracle,
        "subspace-power": AnyOrderOracle,
    }


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("solver", [*STARTED, *QUICK], ids=named)
def test_the_solution_is_orthonormal_and_its_weights_are_its_own_at_any_time(
    tensors, solver, noise
):
    made = tensors.instance([1.0, 2.0, 0.5, 1.5, 0.7, 1.1, 0.9], noise=noise)
    state = tensors.begun(solver, made)
    while True:
        solution = solver.solution(state)
        assert drift(solution.point) < 1e-12
        assert np.all(solution.weights >= 0)
        expected = contracted(made.oracle.T, solution.point)
        np.testing.assert_allclose(solution.weights, expected, atol=1e-13)
        if state.status is not Status.RUNNING or state.work.steps == 200:
            return
        solver.step(made.oracle, state)


@pytest.mark.parametrize("solver", [*STARTED, *QUICK], ids=named)
def test_chunks_and_pickles_leave_no_trace(tensors, solver):
    made = tensors.instance(np.linspace(1, 2, 9), noise=0.05)
    whole, parts = tensors.begun(solver, made, 3), tensors.begun(solver, made, 3)
    for count in (1, 2, 37, 5, 100):
        solver.advance(made.oracle, parts, count)
        parts = pickle.loads(pickle.dumps(parts))  # noqa: S301
    solver.advance(made.oracle, whole, 145)
    assert parts.work == whole.work
    assert parts.status is whole.status
    ours, theirs = solver.solution(parts), solver.solution(whole)
    assert np.array_equal(ours.point, theirs.point)
    assert np.array_equal(ours.weights, theirs.weights)


def test_only_the_solvers_stream_and_the_common_start_decide(tensors):
    made = tensors.instance(np.linspace(1, 2, 6), noise=0.3)
    for solver in (TensorPower(restarts=1, iterations=2), PolarPower(start="contraction")):
        points = []
        for seed in (1, 1, 2):
            state = tensors.begun(solver, made, seed)
            solver.advance(made.oracle, state, 8)
            points.append(solver.solution(state).point)
        assert np.array_equal(points[0], points[1])
        assert not np.array_equal(points[0], points[2])


def test_before_its_first_factor_a_solver_stands_at_the_common_start(tensors):
    made = tensors.instance([3.0, 2.0, 1.0, 0.5])
    for solver in (TensorPower(), PolarPower()):
        point = solver.solution(tensors.begun(solver, made)).point
        np.testing.assert_allclose(np.abs(point.T @ made.oracle.start), np.eye(4), atol=1e-13)


@pytest.mark.parametrize("solver", [TensorPower(restarts=5), PolarPower()], ids=named)
def test_a_run_of_the_harness_ends_converged_with_the_factors(tensors, solver):
    made = tensors.instance(tensors.spectrum("uniform", 12))
    outcome = run(made, solver, Budget(), Streams.of("problem", solver.name, 0))
    assert outcome.stop.status is RunStatus.DONE
    metrics = outcome.trace[-1].metrics
    assert metrics["recovery_error"] < 1e-10
    assert metrics["residual"] < 1e-10
    assert abs(metrics["objective_gap"]) < 1e-12
    assert outcome.weights.sum() == pytest.approx(metrics["objective"], rel=1e-13)


def test_one_dimension(tensors):
    for case in product([2.0, -2.0], STARTS):
        weight, start = case
        for solver in (TensorPower(start=start), PolarPower(start=start)):
            made = tensors.instance([weight])
            solution = solver.solution(tensors.ended(solver, made))
            assert solution.weights == pytest.approx([2.0]), case
            assert made.measure(solution)["residual"] == 0.0, case


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_the_scale_of_the_tensor_does_not_matter(tensors, scale):
    for solver in (TensorPower(restarts=3), PolarPower()):
        made = tensors.instance(scale * np.linspace(1, 2, 5))
        metrics = made.measure(solver.solution(tensors.ended(solver, made)))
        assert metrics["recovery_error"] < 1e-10


def test_the_flops_are_those_of_the_definitions(tensors):
    n, m = 16, 3
    rng = np.random.default_rng(0)
    T, X = counted(tensors.gaussian(n, rng)), counted(rng.standard_normal((n, m)))

    with counting() as tally:
        Y = (np.dot(T, X) * X).sum(axis=1)
        (X * Y).sum(axis=0)
        Y / np.sqrt((Y * Y).sum(axis=0))
    assert tensor_power.iteration_flops(n, m) == 2 * n**3 * m + 2 * n**2 * m + 5 * n * m
    assert tensor_power.iteration_flops(n, m) == pytest.approx(tally.flops, rel=0.05)

    u, w = X[:, 0], counted(np.float64(2.0))
    with counting() as tally:
        T - np.multiply.outer(np.multiply.outer(w * u, u), u)
    assert tensor_power.deflation_flops(n) == tally.flops == 2 * n**3 + n**2 + n

    U = counted(rng.standard_normal((n, n)))
    with counting() as tally:
        U.T.dot((np.dot(T, U) * U).sum(axis=1))
    assert polar_power.contraction_flops(n) == 2 * n**4 + 4 * n**3
    assert polar_power.contraction_flops(n) == pytest.approx(tally.flops, rel=0.05)


def test_the_work_is_that_of_the_steps(tensors):
    made, n = tensors.instance(np.linspace(1, 2, 5), noise=0.1), 5
    solver = TensorPower(restarts=7, iterations=4, tolerance=0.0)
    work = tensors.ended(solver, made).work
    batches, single = (tensor_power.iteration_flops(n, m) for m in (7, 1))
    assert work.steps == n * 9
    assert work.flops == n * (5 * batches + 4 * single + tensor_power.deflation_flops(n))

    state = tensors.begun(PolarPower(), made)
    PolarPower().advance(made.oracle, state, 3)
    expected = 4 * polar_power.contraction_flops(n) + 3 * flops.polar(n, n)
    assert (state.work.steps, state.work.flops) == (3, expected)

    start = flops.gemm(n**2, 1, n) + flops.eigh(n)
    work = tensors.begun(PolarPower(start="contraction"), made).work
    assert work.flops == start + polar_power.contraction_flops(n)

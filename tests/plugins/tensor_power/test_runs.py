"""Common properties of both solvers: starts and anytime solutions."""

import numpy as np
import pytest
from kinds import one_of
from orthobench_kit.symmetric_tensors import contracted
from orthobench_orthogonal_tensor import STARTS
from orthobench_tensor_power.solvers.polar_power import PolarPower
from orthobench_tensor_power.solvers.tensor_power import TensorPower

from orthobench.contract.solver import Status
from orthobench.tools.geometry import drift

QUICK = [
    TensorPower(restarts=4, iterations=6, tolerance=0.0),
    TensorPower(restarts=12),
    PolarPower(),
]
STARTED = [cls(start=start) for cls in (TensorPower, PolarPower) for start in STARTS]


def named(solver):
    return " ".join(map(str, (solver.name, *vars(solver).values())))


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("solver", one_of(4, [*STARTED, *QUICK]), ids=named)
def test_solution_is_orthonormal_with_its_weights_at_any_time(tensors, solver, noise):
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


def test_before_its_first_factor_a_solver_stands_at_the_common_start(tensors):
    made = tensors.instance([3.0, 2.0, 1.0, 0.5])
    for solver in (TensorPower(), PolarPower()):
        point = solver.solution(tensors.begun(solver, made)).point
        np.testing.assert_allclose(np.abs(point.T @ made.oracle.start), np.eye(4), atol=1e-13)

"""The judge checks the end of a run: nothing done, and not stationary."""

from dataclasses import dataclass

import numpy as np
import pytest
from orthobench_stiefel import StiefelOracle

import orthobench as ob
from orthobench.api import SolverError
from orthobench.contract import Solution, Solver, State, Status
from orthobench.harness.stopping import RunStatus

N, P = 6, 2
A = np.diag(np.arange(1.0, N + 1))


def trace_problem(**known):
    return ob.stiefel(lambda X: np.trace(X.T @ A @ X), lambda X: 2 * A @ X, n=N, p=P, **known)


@dataclass(slots=True, kw_only=True)
class Point(State):
    X: np.ndarray


@dataclass(frozen=True)
class Claims(Solver[StiefelOracle, Point]):
    """Says that it converged: at once, after a step to nowhere, or after a step away."""

    name = "claims"
    converges = True
    steps: int = 0
    move: float = 0.0

    def __post_init__(self):
        pass

    def init(self, oracle, rng):
        state = Point(X=oracle.start.copy())
        state.status = Status.RUNNING if self.steps else Status.CONVERGED
        return state

    def step(self, oracle, state):
        state.work.steps += 1
        state.X = np.linalg.qr(state.X + self.move * A @ state.X)[0]
        if not self.move:
            state.X = oracle.start.copy()
        if state.work.steps == self.steps:
            state.status = Status.CONVERGED

    def solution(self, state):
        return Solution(state.X.copy())


@pytest.mark.parametrize(
    ("solver", "status"),
    [
        (Claims(), RunStatus.NOTHING_DONE),
        (Claims(steps=2), RunStatus.NOTHING_DONE),
        (Claims(steps=2, move=0.1), RunStatus.NOT_STATIONARY),
    ],
)
def test_claims_of_convergence_are_checked(solver, status):
    try:
        outcome = ob.solve(solver, trace_problem())
        assert outcome.stop.converged  # so says the solver
    except SolverError as error:
        outcome = error.outcome
    assert outcome.trace[-1].metrics["relative_gradient_norm"] > 1e-3
    assert outcome.stop.status is status
    assert status.failed == (status is RunStatus.NOTHING_DONE)


def test_start_at_the_optimum_may_be_the_end():
    start = np.eye(N)[:, :P]
    outcome = ob.solve(Claims(), trace_problem(start=start, best=3.0))
    assert outcome.stop.status is RunStatus.DONE
    assert ob.solve(Claims(), trace_problem(start=start)).stop.status is RunStatus.DONE


def test_convergence_at_a_stationary_point_is_done():
    outcome = ob.solve("wen-yin", trace_problem())
    assert outcome.trace[-1].metrics["relative_gradient_norm"] < 1e-3
    assert outcome.stop.status is RunStatus.DONE


def test_complete_schedule_is_not_convergence():
    A = np.diag(np.geomspace(1.0, 1e-12, 20))
    outcome = ob.solve("newton-schulz", ob.polar(A))
    assert outcome.trace[-1].metrics["distance"] > 0.5
    assert outcome.stop.reason == "complete after 8 steps"
    assert not outcome.stop.converged


def test_a_decomposition_with_half_of_the_digits_is_not_believed():
    U, V = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 20, 20)))[0]
    A = U * np.r_[1.0, np.full(19, 1e-7)] @ V
    outcome = ob.solve("polar-eigh", ob.polar(A))
    assert outcome.stop.converged
    assert outcome.trace[-1].metrics["distance"] > 1e-3
    assert outcome.stop.status is RunStatus.NOT_STATIONARY
    assert "where the distance to the solution is" in outcome.stop.reason
    assert ob.solve("polar-svd", ob.polar(A)).stop.status is RunStatus.DONE

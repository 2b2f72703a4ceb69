"""Methods that cannot be stepped: what is kept from one run from the start to the next."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_kit.rerun import Batch, Rerun, Run

from orthobench.contract import DataError
from orthobench.contract.problem import Solution
from orthobench.contract.solver import Status


class Counted(Rerun):
    """Ends after some iterations, or fails at one."""

    name = "counted"

    def __init__(self, ends=10**6, fails=10**6):
        self.ends, self.fails = ends, fails

    def prepare(self, oracle):
        return "data", Solution(np.zeros((2, 1))), 1000

    def run(self, oracle, state, iterations):
        assert state.prepared == "data"
        done = min(iterations, self.ends)
        failure = "it broke" if iterations >= self.fails else ""
        return Run(Solution(np.full((2, 1), done)), done, 10 * done, failure, 3 * done)


def begun(solver):
    return solver.init(None, np.random.default_rng(0))


def test_steps_add_up_and_counts_are_those_of_one_run():
    solver = Counted()
    state = begun(solver)
    assert (state.work.steps, state.work.flops) == (0, 1000)
    for count in (1, 3):
        solver.advance(None, state, count)
    solver.advance(None, state, 1)
    work = state.work
    assert (work.steps, work.flops, work.samples) == (5, 1050, 15)
    assert solver.reruns  # as those of flops, its seconds are of the last call alone
    assert solver.converges
    assert state.status is Status.RUNNING
    assert state.seed == np.random.default_rng(0).integers(2**31)


@pytest.mark.parametrize(("allowed", "status"), [(4, Status.RUNNING), (5, Status.CONVERGED)])
def test_it_converges_where_it_does_fewer_iterations_than_are_allowed(allowed, status):
    solver = Counted(ends=4)
    state = begun(solver)
    solver.advance(None, state, allowed)
    assert (state.status, state.work.steps) == (status, 4)
    solver.advance(None, state, 1)
    assert (state.status, state.work.steps) == (Status.CONVERGED, 4)
    solver.run = None  # is not called any more
    solver.advance(None, state, 1)


class Fitted(Batch):
    """The first k unit vectors, or fewer."""

    name, fewer = "fitted", 0

    def __init__(self):
        self.seen = []

    def fit(self, X, k, state):
        self.seen.append((X.shape, k))
        return np.eye(X.shape[1], k - self.fewer), len(X)


def stream(*rows):
    taken = iter(rows)
    start = np.eye(4)[:, ::-1][:, :2]
    return SimpleNamespace(start=start, n=4, k=2, take=lambda count: np.array(next(taken)))


def test_all_samples_so_far_are_fitted():
    assert Fitted.reruns  # so that of the time of all fits that of the last counts
    oracle, solver = stream(np.ones((1, 4)), np.ones((2, 4)), np.ones((1, 4))), Fitted()
    state = begun_with(solver, oracle)
    np.testing.assert_array_equal(solver.solution(state).point, oracle.start)
    solver.advance(oracle, state, 1)
    first = solver.solution(state).point
    np.testing.assert_allclose(np.abs(first), np.eye(4)[:, [0, 3]])
    solver.advance(oracle, state, 2)
    solver.advance(oracle, state, 1)
    assert solver.seen == [((1, 4), 1), ((3, 4), 2), ((4, 4), 2)]
    assert (state.work.steps, state.work.samples, state.work.flops) == (4, 4, 4)
    assert solver.reruns  # as those of flops, its seconds are of the last call alone
    assert solver.batch == state.work.samples / state.work.steps
    np.testing.assert_array_equal(solver.solution(state).point, np.eye(4, 2))


def begun_with(solver, oracle):
    return solver.init(oracle, np.random.default_rng(0))


def test_zeros_are_not_fitted_until_there_is_an_entry():
    oracle = stream(np.zeros((2, 4)), np.eye(1, 4), np.zeros((1, 4)))
    solver = Fitted()
    state = begun_with(solver, oracle)
    for count in (2, 1, 1):
        solver.advance(oracle, state, count)
    assert solver.seen == [((3, 4), 2), ((4, 4), 2)]


def test_samples_that_are_not_finite_are_refused():
    oracle, solver = stream(np.full((1, 4), np.nan)), Fitted()
    with pytest.raises(DataError, match="the samples hold NaN or an infinity"):
        solver.advance(oracle, begun_with(solver, oracle), 1)

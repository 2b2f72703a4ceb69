"""Stopping rules: rounding, objectives that vanish, cycles."""

from itertools import product

import numpy as np
from orthobench_tucker import GivenTensorOracle, MomentOracle
from orthobench_tucker.objective import (
    count_returns,
    fail_if_cycling,
    fail_if_vanishing,
    relative_gradient,
    stop_at_rounding,
)

from orthobench.contract.solver import State, Status


def test_a_gradient_is_rounding_unless_it_is_ten_times_its_noise():
    for case in [
        (0.011, 1.0, False, Status.FAILED, "zero up to rounding"),
        (1e-9, 0.99e-8, False, Status.CONVERGED, ""),
        (1e-9, 0.99e-8, True, Status.CONVERGED, ""),
        (1e-9, 1.01e-8, False, Status.RUNNING, ""),
        (1e-9, 1.01e-8, True, Status.FAILED, "the relative gradient, 1.0e-08, is not rounding"),
    ]:
        noise, slope, stuck, status, reason = case
        state = State()
        stop_at_rounding(state, noise, slope, 1.0, stuck=stuck)
        assert state.status is status, case
        assert state.reason.endswith(reason), case


def test_nothing_has_converged_where_f_vanishes():
    assert relative_gradient(0.0, 0.0) == np.inf
    assert relative_gradient(3.0, 2.0) == 1.5


def turned(angle):
    return np.array([[np.cos(angle)], [np.sin(angle)]])


def test_returns_are_counted_by_subspaces_and_begin_anew():
    there, back = turned(0.0), turned(0.5)
    returns = 0
    for step in range(1, 9):
        bases = (there, back, -there) if step % 2 else (back, there, -back)
        returns = count_returns(returns, bases, 1e-6)
        assert returns == step
    state = State()
    fail_if_cycling(state, returns - 1, "")
    assert state.status is Status.RUNNING
    fail_if_cycling(state, returns, "stop")
    assert state.reason.startswith("oscillates between two subspaces since step")
    assert count_returns(returns, (there, back, turned(1e-3)), 1e-6) == 0
    assert count_returns(returns, (there, turned(1e-7), there), 1e-6) == 0


def test_core_vanishes_relative_to_its_size_without_cancellation():
    for case in product([1e-30, 1.0, 1e30], [2, 3, 4]):
        scale, order = case
        X = scale * np.random.default_rng(0).standard_normal((500, 4))
        Q = np.eye(4)[:, :2]
        lengths, inside = np.linalg.norm(X, axis=1), np.linalg.norm(X @ Q, axis=1)
        for oracle, unit in (
            (MomentOracle(X, order, 2), 1e-13),
            (GivenTensorOracle(np.eye(4), 2), 0),
        ):
            for m in (order - 1, order):
                size = unit * np.mean(lengths ** (order - m) * inside**m)
                for factor, status in ((2.0, Status.RUNNING), (0.5, Status.FAILED)):
                    state = State()
                    least = factor * size if unit else factor - 0.5
                    fail_if_vanishing(state, oracle, Q, least, m)
                    assert state.status is status, case

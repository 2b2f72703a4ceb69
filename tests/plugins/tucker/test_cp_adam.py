"""cp-adam: gradients, Adam and epochs against their definitions, recoveries, units, streams."""

import pickle
from itertools import product

import numpy as np
import pytest
from orthobench_kit.streams import SamplerSource
from orthobench_tucker import MomentOracle, MomentStream, SampleMoment, sample_moments
from orthobench_tucker._kernels.cp import Settings, descend
from orthobench_tucker.judge import violation
from orthobench_tucker.reference import composed, cp_adam, cp_gradient
from orthobench_tucker.sample_moments import moment_tensor
from orthobench_tucker.solvers.cp_adam import CPAdam, CPIterate, objective, solution

from orthobench import Budget
from orthobench.contract.problem import Instance
from orthobench.contract.solver import Status
from orthobench.harness.identity import Streams
from orthobench.harness.run import run
from orthobench.harness.stopping import RunStatus
from orthobench.tools.geometry import random_point

SMALL = CPAdam(components=4, batch=10, epoch=7, judged=60)
ORDERS = [2, 3, 4, 5]


def skewed(n=6, p=200, seed=0):
    """Skewed samples of low rank with a little noise."""
    rng = np.random.default_rng(seed)
    factors = rng.exponential(size=(p, 3)) @ rng.standard_normal((3, n))
    return factors + 0.1 * rng.standard_normal((p, n))


def unit(X):
    """Samples whose entries have mean square one."""
    return X / np.sqrt(np.mean(X**2))


def begin(solver, X, order, passes=20, seed=0):
    oracle = MomentOracle(X, order, 2, passes=passes)
    return oracle, solver.init(oracle, np.random.default_rng(seed))


def go(solver, oracle, state, steps):
    oracle.prepare(steps * solver.batch)
    solver.advance(oracle, state, steps)


def distance(point, X, order):
    """|M̂ - M|² by tensors with all their entries."""
    iterate = CPIterate(point, point, point, 0)
    n = X.shape[1]
    w = iterate.weights(n)
    return np.sum(
        (composed(iterate.components(n).T, w / len(w), order) - moment_tensor(X, order)) ** 2
    )


@pytest.mark.parametrize("order", ORDERS)
def test_the_gradient_is_that_of_the_distance_of_tensors(order):
    rng = np.random.default_rng(order)
    X, rows, weights = unit(skewed(4, 7)), rng.standard_normal((3, 4)), rng.standard_normal(3)
    slope = np.concatenate([part.T.ravel() for part in cp_gradient(rows.T, weights, X, order)])
    point, h = CPIterate.at(rows, weights).point, 1e-5
    steps = h * np.eye(len(point))
    differences = [
        (distance(point + e, X, order) - distance(point - e, X, order)) / (2 * h) for e in steps
    ]
    np.testing.assert_allclose(slope, differences, rtol=1e-6, atol=1e-6 * np.abs(slope).max())


@pytest.mark.parametrize("order", ORDERS)
def test_the_objective_is_the_distance_less_a_constant(order, monkeypatch):
    monkeypatch.setattr(sample_moments, "BLOCK_BYTES", 8 * 3 * 5)
    rng, X = np.random.default_rng(0), unit(skewed(4, 17))
    iterate = CPIterate.at(rng.standard_normal((3, 4)), rng.standard_normal(3))
    square = np.sum(moment_tensor(X, order) ** 2)
    expected = distance(iterate.point, X, order) - square
    rounding = 1e-13 * (square + abs(expected))
    assert objective(iterate, X, order) == pytest.approx(expected, abs=rounding)
    assert objective(iterate, 8 * X, order, 1 / 8) == pytest.approx(expected, abs=rounding)


@pytest.mark.parametrize("order", ORDERS)
def test_descending_is_adam_along_the_gradient(order):
    b, n, r, inverse = 5, 4, 3, 0.7
    X, rng = skewed(n, 6 * b), np.random.default_rng(1)
    iterate = CPIterate.at(rng.standard_normal((r, n)), rng.standard_normal(r))
    start = iterate.components(n).T, iterate.weights(n)
    V, w = cp_adam(*start, inverse * X, order, b, 0.01)
    assert descend(iterate, X, inverse, 0.01, Settings(order, b, 0.9, 0.999, 1e-8)) == (6, True)
    np.testing.assert_allclose(iterate.components(n).T, V, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(iterate.weights(n), w, rtol=1e-10, atol=1e-12)


def test_the_solution_is_the_model_in_the_units_of_the_data():
    for case in product([1, 4, 11], ORDERS):
        components, order = case
        rng = np.random.default_rng(components)
        rows, weights = rng.standard_normal((components, 5)), rng.standard_normal(components)
        found = solution(CPIterate.at(rows, weights), 5, order, 3.0)
        expected = 3.0**order * composed(rows.T, weights / components, order)
        off = composed(found.point, found.weights, order) - expected
        assert np.abs(off).max() < 1e-13 * np.abs(expected).max(), case
        assert violation(found) < 1e-14, case
        assert order % 2 == 0 or np.all(found.weights >= 0), case


def planted(n, r, orthogonal, seed, p=4000):
    """Samples along a few directions, of heavy lengths: their moment is a CP model exactly."""
    rng = np.random.default_rng(seed)
    A = random_point(n, r, rng) if orthogonal else rng.standard_normal((n, r))
    A /= np.linalg.norm(A, axis=0)
    which, lengths = np.tile(np.arange(r), p // r), rng.exponential(size=p)
    weights = [np.mean(lengths**3 * (which == i)) for i in range(r)]
    return lengths[:, None] * A.T[which], A, np.array(weights)


@pytest.mark.parametrize("orthogonal", [True, False])
@pytest.mark.parametrize("seed", [2, 5])
def test_planted_components_are_recovered(orthogonal, seed):
    X, A, weights = planted(6, 2, orthogonal, seed)
    solver = CPAdam(epoch=80, judged=4000, improvement=1e-6)
    oracle, state = begin(solver, X, 3, passes=100, seed=seed)
    go(solver, oracle, state, 80 * 100)
    found = solver.solution(state)
    match = (A.T @ found.point).argmax(axis=1)
    assert sorted(match) == [0, 1]
    np.testing.assert_allclose(found.point[:, match], A, atol=5e-3)
    np.testing.assert_allclose(found.weights[match], weights, rtol=1e-2)
    assert SampleMoment(X, 3).relative_error(found) < 5e-5


def epochs(solver, X, order, count):
    """The states at the end of each epoch, copied."""
    oracle, state = begin(solver, X, order, passes=200)
    for _ in range(count):
        go(solver, oracle, state, solver.epoch)
        yield pickle.loads(pickle.dumps(state))  # noqa: S301


def test_a_failed_epoch_is_undone_and_lowers_the_rate():
    solver = CPAdam(components=4, batch=10, epoch=7, judged=60, step_size=3.0, fails=2)
    X = skewed()
    oracle, state = begin(solver, X, 3)
    go(solver, oracle, state, 6)
    assert np.isnan(state.value)
    assert state.best.iterations == 0
    start = state.best.copy()
    go(solver, oracle, state, 1)
    assert state.fails == 1
    for ours, theirs in zip(state.iterate, start, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert state.value == objective(start, X[:60], 3, 1 / state.scale)
    expected = start.copy()
    rest = X[70:140]
    kept = Settings(3, 10, 0.9, 0.999, 1e-8)
    descend(expected, rest[:60], 1 / state.scale, solver.step_size * solver.decay, kept)
    go(solver, oracle, state, 6)
    np.testing.assert_array_equal(state.iterate.point, expected.point)


def test_an_epoch_that_gains_too_little_fails():
    X, gains = skewed(), {}
    for improvement in (0.0, 0.999):
        solver = CPAdam(components=4, batch=10, epoch=7, judged=60, improvement=improvement)
        oracle, state = begin(solver, X, 3)
        go(solver, oracle, state, 14)
        gains[improvement] = state.fails
    assert gains == {0.0: 0, 0.999: 1}


def test_a_run_ends_converged_at_its_best_after_so_many_failed_epochs():
    solver, X = CPAdam(components=4, batch=10, epoch=7, judged=60, fails=2), skewed()
    states = list(epochs(solver, X, 3, 60))
    fails = [state.fails for state in states]
    assert fails[-1] == 3
    assert np.all(np.diff([0, *fails]) <= 1)
    values = [state.value for state in states]
    assert np.all(np.diff(values) <= 0)
    for state in states:
        assert (state.status is Status.CONVERGED) == (state.fails > 2)
        here = objective(state.iterate, X[:60], 3, 1 / state.scale)
        assert here == pytest.approx(state.value, rel=1e-12)
    assert states[-1].work.steps == 7 * (1 + fails.index(3))
    assert states[-1].iterate.iterations == states[-1].work.steps - 7 * 3


def test_batches_of_zeros_at_first_change_nothing():
    X, found = skewed(), []
    for data, steps in ((X, 6), (np.vstack([np.zeros((20, 6)), X]), 8)):
        oracle, state = begin(SMALL, data, 3)
        go(SMALL, oracle, state, 1)
        go(SMALL, oracle, state, steps - 1)
        found.append(SMALL.solution(state))
    np.testing.assert_array_equal(found[0].point, found[1].point)
    np.testing.assert_array_equal(found[0].weights, found[1].weights)


def test_an_overflow_fails_with_its_reason():
    X = skewed()
    X[75] = 1e90
    oracle, state = begin(SMALL, X, 4)
    go(SMALL, oracle, state, 12)
    assert state.status is Status.FAILED
    assert state.reason == "the gradient of step 8 overflows: rescale the data"
    assert state.work.steps == 8
    oracle = MomentStream(SamplerSource(lambda rng, count: np.resize(X, (count, 6)), 6), 4, 2)
    made = Instance(oracle, lambda found: {"columns": found.point.shape[1]}, violation=violation)
    outcome = run(made, SMALL, Budget(steps=20), Streams.of("problem", "cp-adam", 0))
    assert outcome.stop.status is RunStatus.DIVERGED
    assert "step 8" in outcome.stop.reason

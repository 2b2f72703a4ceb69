"""What both streaming solvers keep to: chunks, pickles, orthonormality, and no silent NaN."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from orthobench_tucker import symmetric_tucker
from orthobench_tucker.solvers.shoevd import SHOEVD
from orthobench_tucker.solvers.spgd import SPGD

from orthobench import Budget
from orthobench.contract.solver import Status
from orthobench.harness.identity import Streams
from orthobench.harness.judging import FEASIBLE, VIOLATION
from orthobench.harness.run import run
from orthobench.harness.stopping import RunStatus
from orthobench.tools.geometry import random_point, subspace_error

SOLVERS = [SPGD(batch=20, hoevd_steps=4), SPGD(batch=20, hoevd_steps=0), SHOEVD(batch=20)]
NAMES = ["spgd", "spgd without phase I", "shoevd"]


def largest_defect(rows):
    return np.abs(rows @ rows.T - np.eye(len(rows))).max()


def test_chunks_leave_the_same_bits(streaming):
    for case in product(SOLVERS, [(9, 2), (700, 5)], [(10,), (1,) * 10, (3, 7), (4, 6), (5, 1, 4)]):
        solver, size, counts = case
        rows, _ = streaming.factor_model(*size, 200)
        whole = streaming.run(solver, streaming.stream(rows, 4, size[1]), 10)
        parts = streaming.run(solver, streaming.stream(rows, 4, size[1]), *counts)
        np.testing.assert_array_equal(parts.rows, whole.rows, err_msg=f"{case}")
        np.testing.assert_array_equal(parts.gamma, whole.gamma, err_msg=f"{case}")
        assert parts.work == whole.work, case


def test_a_pickled_state_goes_on_with_the_same_bits(streaming):
    for case in product(SOLVERS, [2, 4, 7]):
        solver, at = case
        rows, _ = streaming.factor_model(9, 2, 200)
        oracle = streaming.stream(rows, 3, 2)
        state = pickle.loads(pickle.dumps(streaming.run(solver, oracle, at)))  # noqa: S301 - our own
        solver.advance(oracle, state, 10 - at)
        whole = streaming.run(solver, streaming.stream(rows, 3, 2), 10)
        np.testing.assert_array_equal(state.rows, whole.rows, err_msg=f"{case}")
        assert state.work == whole.work, case


def test_points_stay_orthonormal_also_where_a_batch_is_smaller_than_the_rank(streaming):
    for case in product(
        [2, 3, 4, 5], [(30, 8, 3), (30, 8, 50), (400, 12, 1), (5, 5, 2)], [1e-3, 1.0, 1000.0, 1e12]
    ):
        d, (n, r, b), c = case
        rows, _ = streaming.factor_model(n, min(r, 4), 30 * b, noise=1.0)
        for solver in (
            SPGD(batch=b, step_size=c, hoevd_steps=10, hoevd_step=c),
            SHOEVD(batch=b, step_size=c),
        ):
            oracle = streaming.stream(rows, d, r)
            state = streaming.run(solver, oracle)
            for _ in range(30):
                solver.advance(oracle, state, 1)
                assert largest_defect(state.rows) <= 1e-14, case
            assert state.status is Status.RUNNING, case


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_the_solution_is_a_copy(streaming, solver):
    rows, _ = streaming.factor_model(9, 2, 200)
    oracle = streaming.stream(rows, 3, 2)
    state = streaming.run(solver, oracle, 5)
    point = solver.solution(state).point
    before = point.copy()
    solver.advance(oracle, state, 5)
    np.testing.assert_array_equal(point, before)
    assert not np.array_equal(state.rows.T, before)


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_a_batch_of_zeros_changes_nothing(streaming, solver):
    rows, _ = streaming.factor_model(9, 2, 200)
    rows[:120] = 0
    oracle = streaming.stream(rows, 3, 2)
    state = streaming.run(solver, oracle, 6)
    np.testing.assert_array_equal(state.rows.T, oracle.start)
    solver.advance(oracle, state, 4)
    assert np.isfinite(state.rows).all()
    assert not np.allclose(state.rows.T, oracle.start)


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_a_column_without_gradient_stays(streaming, solver):
    """Samples orthogonal to the second column, which is orthogonal to what the first becomes."""
    start = np.eye(9, 2)
    rows, _ = streaming.factor_model(9, 2, 200)
    rows[:, 1] = 0
    state = streaming.run(solver, streaming.stream(rows, 3, 2, start), 10)
    np.testing.assert_allclose(state.rows[1], start[:, 1], atol=1e-14)
    assert np.abs(state.rows[0] - start[:, 0]).max() > 0.1


def test_samples_that_vanish_leave_a_point(streaming):
    for case in product(SOLVERS, [1e-300, 1e-150, 1e-60, 1e-20]):
        solver, scale = case
        rows, _ = streaming.factor_model(9, 2, 200)
        state = streaming.run(solver, streaming.stream(scale * rows, 4, 2), 10)
        assert state.status is Status.RUNNING, case
        assert largest_defect(state.rows) <= 1e-14, case


def test_samples_that_overflow_fail_the_run_and_say_so(streaming):
    for case in product(SOLVERS, [1e25, 1e60, 1e150]):
        solver, scale = case
        rows, _ = streaming.factor_model(9, 2, 200)
        rows[60:80] *= scale
        oracle = streaming.stream(rows, 4, 2)
        state = streaming.run(solver, oracle, 10)
        if scale == 1e25:  # |G|² is about 1e200 squared
            assert "batch 4 overflows: rescale the samples" in state.reason, case
        assert state.status is Status.FAILED, case
        assert (state.work.steps, state.work.samples) == (3, 60), case
        assert largest_defect(state.rows) <= 1e-14, case
        before = streaming.run(solver, streaming.stream(rows, 4, 2), 3)
        np.testing.assert_array_equal(state.rows, before.rows, err_msg=f"{case}")
        np.testing.assert_array_equal(state.gamma, before.gamma, err_msg=f"{case}")
        solver.advance(oracle, state, 3)
        assert state.work.steps == 3, case
        # what is left after whole batches, one of which overflows, is not taken
        oracle = streaming.stream(rows[:90], 4, 2)
        oracle.prepare(120)  # more than there are
        state = streaming.run(solver, oracle, 6)
        assert (state.work.steps, state.work.samples) == (3, 60), case


def test_the_unit_of_samples_does_not_matter(streaming):
    for case in product(SOLVERS, [2, 3, 4], [-60, -10, 7, 40]):
        solver, d, power = case
        rows, _ = streaming.factor_model(9, 2, 200)
        state = streaming.run(solver, streaming.stream(rows, d, 2), 10)
        other = streaming.run(solver, streaming.stream(rows * 2.0**power, d, 2), 10)
        np.testing.assert_allclose(other.rows, state.rows, rtol=0, atol=1e-12, err_msg=f"{case}")


def test_returns_as_fractions_are_learnt_from(streaming):
    rows, basis = streaming.factor_model(40, 3, 50 * 100)
    for solver in (SPGD(hoevd_steps=10), SHOEVD()):
        state = streaming.run(solver, streaming.stream(1e-4 * rows, 4, 3), 100)
        assert subspace_error(state.rows.T, basis) < 0.1


@pytest.mark.parametrize("solver", [SPGD(hoevd_steps=10), SHOEVD()], ids=["spgd", "shoevd"])
@pytest.mark.parametrize("d", [3, 4])
def test_a_run_on_samples_through_the_harness(streaming, solver, d):
    rows, basis = streaming.factor_model(40, 3, 50 * 100)
    instance = symmetric_tucker(rows, order=d, rank=3, basis=basis, core=True)
    outcome = run(instance, solver, Budget(), Streams.of("factors", solver.name, 0))
    assert outcome.stop.status is RunStatus.DONE
    assert (outcome.work.steps, outcome.work.samples) == (100, 5000)
    assert outcome.core.shape == (3,) * d
    last = outcome.trace[-1].metrics
    assert last["subspace_error"] < 0.1
    assert last["relative_error"] < 0.1
    assert max(mark.metrics[VIOLATION] for mark in outcome.trace) < FEASIBLE


@pytest.mark.parametrize("solver", [SPGD(hoevd_steps=10), SHOEVD()], ids=["spgd", "shoevd"])
def test_a_run_on_a_sampler_through_the_harness(solver):
    basis = random_point(40, 3, np.random.default_rng(0))

    def sampler(rng, count):
        noise = rng.standard_normal((count, 40)) / 20
        return (rng.exponential(size=(count, 3)) - 1) @ basis.T + noise

    test = sampler(np.random.default_rng(1), 4000)
    instance = symmetric_tucker(sampler, order=3, rank=3, test=test, basis=basis)
    streams = Streams.of("factors", solver.name, 0)
    outcome = run(instance, solver, Budget(samples=6000), streams)
    assert outcome.stop.status is RunStatus.BUDGET
    assert outcome.work.samples == 6000
    assert outcome.trace[-1].metrics["subspace_error"] < 0.1
    again = run(instance, solver, Budget(samples=6000), streams)
    np.testing.assert_array_equal(again.solution, outcome.solution)


def test_an_overflow_is_a_diverged_run_that_says_why():
    def sampler(rng, count):
        return 1e60 * rng.standard_normal((count, 10))

    test = np.random.default_rng(1).standard_normal((20, 10))
    instance = symmetric_tucker(sampler, order=3, rank=2, test=test)
    outcome = run(instance, SPGD(), Budget(steps=5), Streams.of("huge", "spgd", 0))
    assert outcome.stop.status is RunStatus.DIVERGED
    assert "rescale the samples" in outcome.stop.reason

"""Common properties of both streaming solvers: orthonormality, and no silent NaN."""

from itertools import product

import numpy as np
from orthobench_tucker.solvers.shoevd import SHOEVD
from orthobench_tucker.solvers.spgd import SPGD

from orthobench.contract.solver import Status

SOLVERS = [SPGD(batch=20, hoevd_steps=4), SPGD(batch=20, hoevd_steps=0), SHOEVD(batch=20)]


def largest_defect(rows):
    return np.abs(rows @ rows.T - np.eye(len(rows))).max()


def test_points_stay_orthonormal_for_batches_below_the_rank(streaming):
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
